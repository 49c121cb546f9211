"""Writes vectors in the formats of other tools."""

from __future__ import annotations

import logging
import os
from typing import Any

import numpy as np
from gensim.models import KeyedVectors

from gensim_hilbert.compact import frequent_rows, refuse_sizes, strongest_axes, turned
from gensim_hilbert.export.formats import FORMATS, MODEL_FOLDER, VectorTable
from gensim_hilbert.files import Staging
from gensim_hilbert.keys import text_keys
from gensim_hilbert.locations import name_of, uncompressed_name

logger = logging.getLogger(__name__)


def export(
    model: Any,
    path: str | os.PathLike[str],
    format: str | None = None,
    what: str = "vectors",
    *,
    dtype: str = "float32",
    max_vocab: int | None = None,
    pca: int | None = None,
    skip_unfit: bool = False,
    keys: str | None = None,
    transport_params: dict[str, Any] | None = None,
    **options: Any,
) -> int:
    """Write vectors in the format of another tool.

    Local files are written under temporary names and renamed when they are whole, so that after an error the old files
    are still there. A folder is replaced as a whole, if it holds nothing but such an export. Words are written in the
    order of `index_to_key`.

    Parameters
    ----------
    model : HilbertMLE, gensim.models.Word2Vec or gensim.models.KeyedVectors
        The model whose vectors are written.
    path : str or PathLike
        A file, a folder for "model2vec" and "projector", or a URI that smart_open writes to. Text and binary word2vec
        files are compressed if the name ends in .gz, .bz2, .xz, .zst or .lz4.
    format : str, optional
        By default, the ending of the name tells it:

        - "word2vec" (.w2v, .word2vec): text with a header, for gensim, spaCy and most others
        - "word2vec-binary" (.bin): the same in binary
        - "glove" (.glove, glove*.txt): text without a header
        - "fasttext" (.vec): the same as "word2vec"; with a name in .bin, a model for fastText, which then knows words
          that were never seen, if this one does
        - "model2vec": a folder for `model2vec.StaticModel.from_pretrained` and for
          `sentence_transformers.SentenceTransformer`
        - "projector": a folder with vectors.tsv and metadata.tsv for TensorBoard
        - "numpy" (.npy): NAME.npy, and NAME.words.json with words and counts
        - "parquet" (.parquet): columns word, count and vector; needs the extra [parquet]
        - "folder": a model folder, as `HilbertMLE.save_pretrained` writes it, without counts
    what : {"vectors", "covectors", "sum"}
        What to write: `model.wv`, the covectors, or the sums of both as `HilbertMLE(vectors="v+w")` returns them.
        KeyedVectors have only the first.
    dtype : {"float32", "float16", "int8"}
        How numbers are written. "float16" takes half of the space, and is for "model2vec", "numpy", "parquet" and
        "folder". "int8", with one scale per row, takes a quarter, and is for "model2vec", "numpy" and "folder". The
        scales are the weights of model2vec, which sentence-transformers does not read.
    max_vocab : int, optional
        Write so many of the most frequent words only.
    pca : int, optional
        Write vectors along so many of their strongest axes only. The axes go through the origin, so that cosines change
        as little as possible.
    skip_unfit : bool
        Whether to leave out words that the format cannot hold, such as those with spaces in most text formats, and to
        log how many there are. Otherwise they are an error, and nothing is written. "numpy" holds all words.
    keys : "str", optional
        Whether to write `str(key)` for keys that are not str, such as the numbers of the nodes of a graph. Otherwise
        they are an error, except for "numpy", which holds numbers, bytes and tuples, too.
    transport_params : dict, optional
        Passed to smart_open if `path` is a URI.
    **options
        Only for "model2vec": how it finds words in a text, and how it weights them. By default, words are separated
        by white space. With `lowercase=True`, texts are lowercased first; with `split_punctuation=True`, punctuation
        is split off. Vectors of a HilbertMLE are written so that texts get the same vectors as from `model.encode`:
        weights, whitening and the removed component are part of the rows. `weighting="mean"` writes vectors as they
        are, which is the default for other models, and `weighting="sif"` treats those likewise.

    Returns
    -------
    int
        The number of words that were written.

    Raises
    ------
    ValueError
        If the name does not tell the format, or the format cannot hold a word; the message then names the word and the
        formats that can.

    Examples
    --------
    >>> export(model, "vectors.bin")
    >>> export(model, "vectors.txt.gz", format="word2vec", what="sum")
    >>> export(model, "model.bin", format="fasttext")
    >>> export(model, "small", format="model2vec", dtype="int8", max_vocab=50_000, pca=128)
    >>> export(model, "news-vectors", format="model2vec", lowercase=True, split_punctuation=True)
    """
    name = name_of(path)
    chosen = guess_format(name) if format is None else format
    if chosen not in (*FORMATS, MODEL_FOLDER):
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, {MODEL_FOLDER}, got {format!r}")
    for option in options:
        if chosen == MODEL_FOLDER or option not in FORMATS[chosen].options:
            raise TypeError(f"format={chosen!r} has no option {option!r}")
    if chosen == MODEL_FOLDER:
        return write_folder(model, name, what, dtype=dtype, max_vocab=max_vocab, pca=pca)
    table = table_of(model, what)
    refuse_sizes(dtype, max_vocab, pca, table.matrix.shape[1])
    refuse_dtype(dtype, chosen)
    if keys is not None or not FORMATS[chosen].holds_other_keys:
        table = table._replace(words=text_keys(table.words, keys, f"format={chosen!r}"))
    table = reduced(fitting_words(table, chosen, skip_unfit), max_vocab, pca)
    if dtype != "float32":
        options["dtype"] = dtype
    with Staging(transport_params) as staging:
        FORMATS[chosen].write(staging, name, table, **options)
    logger.info("wrote %s of %d words to %s as %s", what, len(table.words), name, chosen)
    return len(table.words)


def write_folder(model: Any, name: str, what: str, **sizes: Any) -> int:
    """Write a model folder without counts; return the number of its words."""
    if what != "vectors" or not hasattr(model, "save_pretrained"):
        raise ValueError(f"format={MODEL_FOLDER!r} holds a whole HilbertMLE, got {what} of {type(model).__name__}")
    model.save_pretrained(name, counts=False, **sizes)
    return min(len(model.wv), sizes["max_vocab"] or len(model.wv))


def refuse_dtype(dtype: str, format: str) -> None:
    """Raise an error for numbers that a format cannot hold."""
    if dtype not in FORMATS[format].dtypes:
        able = [repr(name) for name, properties in FORMATS.items() if dtype in properties.dtypes]
        raise ValueError(
            f"format={format!r} cannot hold dtype={dtype!r}; formats that can: {', '.join(able)}, {MODEL_FOLDER!r}"
        )


def reduced(table: VectorTable, max_vocab: int | None, pca: int | None) -> VectorTable:
    """Return the most frequent words only, along their strongest axes only."""
    rows = frequent_rows(table.counts, len(table.words), max_vocab)
    if len(rows) < len(table.words):
        counts = None if table.counts is None else np.asarray(table.counts)[rows]
        words = [table.words[row] for row in rows.tolist()]
        table = table._replace(words=words, matrix=table.matrix[rows], counts=counts, rows=table.rows[rows])
    return table if pca is None else table._replace(matrix=turned(table.matrix, strongest_axes(table.matrix, pca)))


def guess_format(name: str) -> str:
    """Return the format that the ending of a name tells."""
    base = uncompressed_name(name)
    for format, properties in FORMATS.items():
        if base.endswith(properties.suffixes):
            return format
    if base.startswith("glove") and base.endswith(".txt"):
        return "glove"
    known = "; ".join(f"{format!r} ({properties.summary})" for format, properties in FORMATS.items())
    raise ValueError(f"the name {name} does not tell the format; set format= (--format) to one of {known}")


def table_of(model: Any, what: str) -> VectorTable:
    """Collect the words of a model or of KeyedVectors and the matrix that is asked for."""
    if what not in ("vectors", "covectors", "sum"):
        raise ValueError(f"what must be one of vectors, covectors, sum, got {what!r}")
    keyed = getattr(model, "wv", model)
    if not isinstance(keyed, KeyedVectors):
        raise TypeError(f"a model or KeyedVectors can be exported, got {type(model).__name__}")
    if not len(keyed):
        raise ValueError("there are no words to export; train the model first")
    matrix = keyed.vectors
    # A model that was trained with vectors="v+w" has the sums in wv already.
    if what == "covectors" or (what == "sum" and getattr(model, "vectors_option", "v") != "v+w"):
        covectors = getattr(model, "syn1neg", None)
        if covectors is None:
            raise ValueError(f"what={what!r} needs a model with covectors, and this {type(model).__name__} has none")
        if len(covectors) != len(keyed):
            raise ValueError(
                f"what={what!r} needs one covector per word, and this {type(model).__name__} has {len(covectors):,} "
                f"covectors for {len(keyed):,} words; train it on a text with all words"
            )
        matrix = covectors
        if what == "sum":
            from gensim_hilbert.training.gauge import summed  # It loads torch.

            matrix = summed(covectors, keyed.vectors)
    counts = keyed.expandos.get("count")
    if counts is not None and len(counts) != len(keyed):
        counts = None
    rows = np.arange(len(keyed))
    return VectorTable(keyed.index_to_key, np.ascontiguousarray(matrix, dtype=np.float32), counts, model, what, rows)


def fitting_words(table: VectorTable, format: str, skip_unfit: bool) -> VectorTable:
    """Return the words that a format can hold; others raise an error, unless they are to be left out."""
    holds = FORMATS[format].holds
    fit = [row for row, word in enumerate(table.words) if not isinstance(word, str) or holds(word)]
    unfit = len(table.words) - len(fit)
    if not unfit:
        return table
    if not skip_unfit:
        word = next(word for word in table.words if not holds(word))
        others = f" nor {unfit - 1} more" if unfit > 1 else ""
        able = ", ".join(repr(name) for name, properties in FORMATS.items() if properties.holds(word))
        shown = repr(word) if len(word) <= 60 else f"{word[:60]!r}..."
        raise ValueError(
            f"format={format!r} cannot hold the word {shown}{others}; formats that can hold it: {able}; or leave such "
            "words out with skip_unfit=True (--skip-unfit)"
        )
    logger.warning("left out %d words that format=%r cannot hold", unfit, format)
    if not fit:
        raise ValueError(f"format={format!r} can hold none of the words")
    counts = None if table.counts is None else np.asarray(table.counts)[fit]
    words, rows = [table.words[row] for row in fit], table.rows[fit]
    return table._replace(words=words, matrix=table.matrix[fit], counts=counts, rows=rows)
