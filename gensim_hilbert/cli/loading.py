"""What a path is: counts, a saved model, vectors in some format, or what an interruption has left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gensim_hilbert.cli.names import closest
from gensim_hilbert.counting.layout import partial_of

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

PICKLE = b"\x80"  # how all pickles of this century begin
COUNTS, CHECKPOINT, MODEL = "pair counts", "an interrupted training", "a saved model"
VECTORS, TEXT, BINARY = "vectors", "vectors in word2vec's text format", "vectors in word2vec's binary format"


def refuse_standard_input(ctx: click.Context, param: click.Parameter, corpus: tuple[str, ...]) -> tuple[str, ...]:
    """Texts are read for their words, and then again."""
    if "-" in corpus:
        raise click.BadParameter("a text is read more than once: save standard input to a file first", ctx, param)
    return corpus


def checkpoint_beside(model: Path) -> Path:
    """Where the checkpoint of a model lies while it is trained."""
    return model.with_name(model.name + ".checkpoint")


def kind_of(path: Path) -> str:
    """One of the above; `VECTORS` is what the rest may be."""
    import smart_open

    if not path.exists():
        hint = ""
        if partial_of(path).exists():
            hint = "; counting it was interrupted: give the same command again"
        elif checkpoint_beside(path).exists():
            hint = f"; its training was interrupted: go on by `gensim-hilbert train --resume -o {path}`"
        raise FileNotFoundError(f"{path} does not exist{hint}")
    if path.is_dir():
        if (path / "manifest.json").exists():
            return COUNTS
        return CHECKPOINT if any(path.glob("training-*")) else VECTORS
    with smart_open.open(path, "rb") as file:
        header, _, rest = file.read(1 << 16).partition(b"\n")
    if header.startswith(PICKLE):
        return MODEL
    sizes = header.split()
    if len(sizes) != 2 or not all(size.isdigit() for size in sizes):
        return VECTORS
    # Behind the first word, a text file has numbers to read; the bytes of a binary one would hardly pass for them.
    try:
        [float(number) for number in rest.partition(b"\n")[0].split()[-int(sizes[1]) :]]
    except ValueError:
        return BINARY
    return TEXT


def load(path: Path) -> Any:
    """A model, or KeyedVectors."""
    kind = kind_of(path)
    if kind == MODEL:
        return load_pickled(path)
    if kind in (COUNTS, CHECKPOINT):
        raise ValueError(f"{path} holds {kind}, no vectors: train first, by `gensim-hilbert train`")
    from gensim_hilbert.export import load_vectors

    return load_vectors(path)


def load_pickled(path: Path) -> Any:
    """Whatever gensim has saved there, by the `load` of its own class."""
    from gensim.utils import SaveLoad

    from gensim_hilbert.model import HilbertMLE

    try:
        model = SaveLoad.load(str(path))
    except OSError:
        raise
    except Exception as error:  # a damaged pickle can raise any
        raise ValueError(f"{path} is no model saved by gensim, or damaged: {error}") from error
    # Only now it is known what it is; its own `load` brings the counts along.
    return HilbertMLE.load(str(path)) if isinstance(model, HilbertMLE) else model


def words_of(model: Any, path: Path) -> KeyedVectors:
    """The vectors of a model, or the vectors themselves."""
    words = getattr(model, "wv", model)
    if not hasattr(words, "key_to_index"):
        raise ValueError(f"{path} is a {type(model).__name__}, which has no word vectors")
    return words


def require(word: str, words: KeyedVectors, path: Path) -> None:
    """One sentence about a word that has no vector."""
    if word not in words:
        raise KeyError(
            f"{word!r} is not among the {len(words.key_to_index):,} words of {path}{closest(word, words.index_to_key)}"
        )


def with_covectors(model: Any, path: Path) -> Any:
    """A model that tells PMI, or one sentence about why not."""
    if not hasattr(model, "most_cooccurring"):
        raise ValueError(f"{path} is a {type(model).__name__}, without covectors: PMI needs a saved HilbertMLE")
    return model
