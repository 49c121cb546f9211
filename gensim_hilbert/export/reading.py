"""Reads vectors from whatever file holds them."""

from __future__ import annotations

import json
import logging
import os
from array import array
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import numpy as np
from gensim.models import KeyedVectors
from gensim.models.fasttext import load_facebook_vectors
from gensim.utils import SaveLoad

from gensim_hilbert.export.formats import import_parquet, words_beside
from gensim_hilbert.export.recognition import Kind, is_number, opened, recognise
from gensim_hilbert.locations import name_of

logger = logging.getLogger(__name__)

CHUNK_BYTES = 1 << 20  # read at a time


def load_vectors(path: str | os.PathLike[str]) -> KeyedVectors:
    """Read vectors from any file that `export` writes, except for TensorBoard's, and from what gensim has saved.

    Models saved by gensim are pickles, which can run any code: load only those you trust.

    Parameters
    ----------
    path : str or PathLike
        Text or binary word2vec (also .vec), GloVe text, NAME.npy with NAME.words.json, Parquet, fastText's .bin, a
        saved `KeyedVectors`, `Word2Vec` or `HilbertMLE`, a model folder, or a folder for model2vec or
        sentence-transformers. The content tells which; all but folders may be compressed or remote, if smart_open opens
        them.

    Returns
    -------
    gensim.models.KeyedVectors
        They have the attribute `count` only if the file has counts.

    Raises
    ------
    ValueError
        If the file is none of these, or is damaged; the message tells where.
    """
    name = name_of(path)
    kind, words, dimensions = recognise(name)
    if kind in FROM_GENSIM:
        return from_gensim(name, FROM_GENSIM[kind])
    if kind in FROM_FILE:
        return FROM_FILE[kind](name)
    with opened(name) as file:
        if kind == Kind.GLOVE:
            return from_text(name, enumerate(file, start=1), None, dimensions)
        assert words is not None
        file.readline()
        if kind == Kind.WORD2VEC_BINARY:
            return from_binary(name, file, words, dimensions)
        return from_text(name, enumerate(file, start=2), words, dimensions)


def keyed_vectors(name: str, words: list[str], matrix: np.ndarray, counts: np.ndarray | None = None) -> KeyedVectors:
    """Make KeyedVectors of words and rows of a matrix; the first vector of a repeated word counts, as in gensim."""
    index: dict[str, int] = {}
    first = [row for row, word in enumerate(words) if index.setdefault(word, row) == row]
    if len(first) != len(words):
        logger.warning("%s repeats %d words; the first vector of each is used", name, len(words) - len(first))
        counts = None if counts is None else np.asarray(counts)[first]
        words, matrix = list(index), matrix[first]
        index = {word: row for row, word in enumerate(words)}
    keyed = KeyedVectors(vector_size=matrix.shape[1])
    keyed.index_to_key, keyed.key_to_index = words, index
    keyed.vectors = np.ascontiguousarray(matrix, dtype=np.float32)
    if counts is not None:
        keyed.expandos["count"] = np.asarray(counts, dtype=np.int64)
    return keyed


# ------------------------------------------------------------------ word2vec and GloVe


def from_text(name: str, lines: Iterable[tuple[int, bytes]], expected: int | None, size: int) -> KeyedVectors:
    """Read words with `size` numbers each, separated by single spaces; GloVe has words with spaces in them."""
    words: list[str] = []
    numbers = array("f")
    for place, line in lines:
        if not line.strip():
            continue
        word, *fields = line.rstrip().rsplit(b" ", size)
        before = word.rpartition(b" ")
        try:
            row = [float(field) for field in fields]
            if len(row) != size or (before[1] and is_number(before[2])):
                raise ValueError(f"there are {len(line.split()) - 1} numbers, not {size}")
            words.append(word.decode("utf-8"))
        except ValueError as error:
            raise ValueError(f"{name}, line {place}: {error}") from None
        numbers.extend(row)
    if expected is not None and len(words) != expected:
        raise ValueError(f"{name} has {len(words)} vectors, but its first line says {expected}: it is damaged")
    return keyed_vectors(name, words, np.frombuffer(numbers, dtype=np.float32).reshape(len(words), size))


def from_binary(name: str, file: BinaryIO, expected: int, size: int) -> KeyedVectors:
    """Read words, each followed by a space, `size` float32s, and perhaps a newline."""
    words: list[str] = []
    numbers = bytearray()
    data, start = b"", 0
    while len(words) < expected:
        space = data.find(b" ", start)
        end = space + 1 + 4 * size
        if space < 0 or end > len(data):
            more = file.read(CHUNK_BYTES)
            if not more:
                raise ValueError(f"{name} ends within vector {len(words) + 1} of {expected}: it is truncated")
            data, start = data[start:] + more, 0
            continue
        try:
            words.append(data[start:space].lstrip(b"\n").decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}, word {len(words) + 1}: {error}") from None
        numbers += data[space + 1 : end]
        start = end
    return keyed_vectors(name, words, np.frombuffer(numbers, dtype="<f4").reshape(len(words), size))


# ------------------------------------------------------------------ others


def from_gensim(name: str, load: Callable[[str], Any]) -> KeyedVectors:
    """Read a file by one of gensim's own functions."""
    try:
        saved = load(name)
    except OSError:
        raise
    except Exception as error:  # Damaged files can raise any error.
        raise ValueError(f"{name} is a model or vectors that gensim cannot load, or damaged: {error}") from error
    keyed = getattr(saved, "wv", saved)
    if not isinstance(keyed, KeyedVectors):
        raise ValueError(f"{name} holds a {type(saved).__name__}, which has no word vectors")
    return keyed


def from_numpy(name: str) -> KeyedVectors:
    """Read a matrix, and its words from the file beside it."""
    try:
        with opened(name) as file:
            matrix = np.lib.format.read_array(file, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{name} is not a .npy file, or damaged: {error}") from error
    beside = words_beside(name)
    try:
        with opened(beside) as file:
            facts = json.load(file)
        words, counts = [str(word) for word in facts["words"]], facts.get("counts")
    except FileNotFoundError:
        raise FileNotFoundError(f"{name} has no words: {beside} should be beside it") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{beside} is not a JSON object with words, or damaged: {error}") from error
    if matrix.ndim != 2 or matrix.shape[0] != len(words) or (counts is not None and len(counts) != len(words)):
        raise ValueError(f"{name} has shape {matrix.shape}, which does not match the {len(words)} words of {beside}")
    return keyed_vectors(name, words, matrix, counts)


def from_parquet(name: str) -> KeyedVectors:
    """Read the columns `word`, `vector` and, if it is there, `count`."""
    pyarrow, parquet = import_parquet()
    try:
        with opened(name) as file:
            table = parquet.read_table(pyarrow.BufferReader(file.read()))
        words, column = table["word"].to_pylist(), table["vector"].combine_chunks()
        matrix = column.flatten().to_numpy().reshape(len(words), -1)
        counts = table["count"].to_numpy() if "count" in table.column_names else None
    except (pyarrow.ArrowException, KeyError, ValueError) as error:
        raise ValueError(f"{name} has no columns word and vector, or is damaged: {error}") from error
    return keyed_vectors(name, words, matrix, counts)


def from_model_folder(name: str) -> KeyedVectors:
    """Read the vectors of a model folder."""
    from gensim_hilbert.model import HilbertMLE

    return HilbertMLE.from_pretrained(name, counts=False).wv


def from_folder(name: str) -> KeyedVectors:
    """Read a static model of model2vec or sentence-transformers, without the vector of unknown words."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    nested = os.path.join(name, "0_StaticEmbedding")  # where sentence-transformers saves it
    folder = name if os.path.isfile(os.path.join(name, "model.safetensors")) or not os.path.isdir(nested) else nested
    for part in ("model.safetensors", "tokenizer.json"):
        if not os.path.isfile(os.path.join(folder, part)):
            raise FileNotFoundError(f"{folder} is a folder without {part}: it holds no vectors that can be read")
    try:
        tensors = load_file(os.path.join(folder, "model.safetensors"))
        with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
            model = json.load(file)["model"]
        matrix = tensors["embeddings"] if "embeddings" in tensors else tensors["embedding.weight"]
        vocabulary = model["vocab"]
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{name} is not a folder with a static model, or damaged: {error}") from error
    if isinstance(vocabulary, list):  # Unigram: [word, score]
        vocabulary = {word: row for row, (word, _) in enumerate(vocabulary)}
    if "mapping" in tensors:
        matrix = matrix[tensors["mapping"]]
    if "weights" in tensors:
        matrix = matrix * tensors["weights"][:, None]
    words = sorted(vocabulary, key=vocabulary.__getitem__)
    if matrix.ndim != 2 or sorted(vocabulary.values()) != list(range(len(matrix))):
        raise ValueError(f"{name} has vectors of shape {matrix.shape}, which do not match its {len(words)} tokens")
    known = [row for row, word in enumerate(words) if word != model.get("unk_token")]
    return keyed_vectors(name, [words[row] for row in known], matrix[known])


FROM_GENSIM: dict[Kind, Callable[[str], Any]] = {Kind.SAVED: SaveLoad.load, Kind.FASTTEXT: load_facebook_vectors}
FROM_FILE = {
    Kind.MODEL_FOLDER: from_model_folder,
    Kind.FOLDER: from_folder,
    Kind.NUMPY: from_numpy,
    Kind.PARQUET: from_parquet,
}
