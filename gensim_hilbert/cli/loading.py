"""What a path holds: counts, a saved model, vectors in some format, or the remains of an interruption."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gensim_hilbert.cli.names import closest
from gensim_hilbert.counting.layout import MANIFEST, counts_beside, partial_of
from gensim_hilbert.export.recognition import Kind, recognise

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

trust_pickle = click.option(
    "--trust-pickle",
    is_flag=True,
    help="Load pickles, such as gensim's save writes. They can run any program: only for files that you trust.",
)
COUNTS, CHECKPOINT = "pair counts", "an interrupted training"
MODEL, MODEL_FOLDER = str(Kind.SAVED), str(Kind.MODEL_FOLDER)


def refuse_standard_input(ctx: click.Context, param: click.Parameter, corpus: tuple[str, ...]) -> tuple[str, ...]:
    """Raise an error for `-`: a text is read more than once, first for its words."""
    if "-" in corpus:
        raise click.BadParameter("a text is read more than once: save standard input to a file first", ctx, param)
    return corpus


def checkpoint_beside(model: Path) -> Path:
    """Return the place of the checkpoint of a model while it is trained."""
    return model.with_name(model.name + ".checkpoint")


def kind_of(path: Path) -> str:
    """Tell what a path holds, in words: COUNTS, CHECKPOINT, or one of the kinds of vectors, such as MODEL_FOLDER."""
    if not path.exists():
        hint = ""
        if partial_of(path).exists():
            hint = "; counting it was interrupted: give the same command again"
        elif checkpoint_beside(path).exists():
            hint = f"; its training was interrupted: go on by `gensim-hilbert train --resume -o {path}`"
        raise FileNotFoundError(f"{path} does not exist{hint}")
    if (path / MANIFEST).exists():
        return COUNTS
    if path.is_dir() and any(path.glob("training-*")):
        return CHECKPOINT
    return str(recognise(str(path)).kind)


def files_of(path: Path) -> list[Path]:
    """Return a model and what belongs to it and lies beside it: words, counts, and arrays in files of their own."""
    beside = [path.with_suffix(".words.json")] if path.suffix == ".npy" else []
    arrays = path.parent.glob(f"{glob.escape(path.name)}.*.npy")
    return [path, counts_beside(path), *beside, *arrays]


def load(path: Path, trust_pickle: bool) -> Any:
    """Load a model, or KeyedVectors; pickles only if the user trusts them."""
    kind = kind_of(path)
    if kind == MODEL_FOLDER:
        from gensim_hilbert.model import HilbertMLE

        return HilbertMLE.from_pretrained(path)
    if kind == MODEL:
        return load_pickled(path, trust_pickle)
    if kind in (COUNTS, CHECKPOINT):
        how = "train first, by `gensim-hilbert train --counts`"
        if kind == CHECKPOINT:
            how = "complete it first, by `gensim-hilbert train --resume` or the same Python call"
        raise ValueError(f"{path} holds {kind}, no vectors: {how}")
    from gensim_hilbert.export import load_vectors

    return load_vectors(path)


def load_pickled(path: Path, trust_pickle: bool) -> Any:
    """Load whatever gensim has saved there, if the user trusts it; models find their counts, whoever loads them."""
    from gensim.utils import SaveLoad

    from gensim_hilbert.export.reading import require_trust

    require_trust(path, trust_pickle)
    try:
        return SaveLoad.load(str(path))
    except OSError:
        raise
    except Exception as error:  # A damaged pickle can raise any error.
        raise ValueError(f"{path} is no model saved by gensim, or damaged: {error}") from error


def words_of(model: Any, path: Path) -> KeyedVectors:
    """Return the vectors of a model, or the vectors themselves."""
    words = getattr(model, "wv", model)
    if not hasattr(words, "key_to_index"):
        raise ValueError(f"{path} is a {type(model).__name__}, which has no word vectors")
    return words


def key_of(word: str, model: Any, words: KeyedVectors, path: Path) -> Any:
    """Return the key that a word on the command line stands for, or raise an error that names similar words.

    If the word is none, it is written as the tokenizer of the model writes it.
    """
    key = known_key(word, words.key_to_index)
    if key not in words.key_to_index and getattr(model, "tokenizer", None) is not None:
        found = model.tokenize(word)
        if len(found) == 1 and found[0] in words.key_to_index:
            return found[0]
    if key not in words:
        similar = closest(word, map(str, words.index_to_key))
        raise KeyError(f"{word!r} is not among the {len(words.key_to_index):,} words of {path}{similar}")
    return key


def known_key(word: str, keys: Mapping[Any, int]) -> Any:
    """Return a word as it is if it is a key, or else the one key that is written like that, such as a number."""
    if word in keys:
        return word
    alike = [key for key in keys if not isinstance(key, str) and str(key) == word]
    return alike[0] if len(alike) == 1 else word


def require_covectors(model: Any, path: Path) -> None:
    """Raise an error for a model that knows no PMI."""
    if not hasattr(model, "most_cooccurring"):
        raise ValueError(f"{path} is a {type(model).__name__}, without covectors: PMI needs a saved HilbertMLE")
