"""Reads vectors from whatever file holds them."""

from __future__ import annotations

import logging
import os
from array import array
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np
from gensim.models import KeyedVectors
from gensim.models.fasttext import load_facebook_vectors
from gensim.utils import SaveLoad

from gensim_hilbert._tokens import all_str
from gensim_hilbert.compact import restored
from gensim_hilbert.corpus.arrow_text import import_pyarrow
from gensim_hilbert.export.fasttext_file import check_fasttext
from gensim_hilbert.export.formats import words_beside, words_of_matrix
from gensim_hilbert.export.recognition import Kind, is_number, opened, recognise
from gensim_hilbert.keys import key_from_json
from gensim_hilbert.locations import name_of
from gensim_hilbert.untrusted import damage_named, is_whole, parse_json, read_npy
from gensim_hilbert.vectors.keyed import WordVectors

logger = logging.getLogger(__name__)

CHUNK_BYTES = 1 << 20  # read at a time


def load_vectors(path: str | os.PathLike[str], *, trust_pickle: bool = False) -> KeyedVectors:
    """Read vectors from any file that `export` writes, except for TensorBoard's, and from what gensim has saved.

    Parameters
    ----------
    path : str or PathLike
        Text or binary word2vec (also .vec), GloVe text, NAME.npy with NAME.words.json, Parquet, fastText's .bin, a
        saved `KeyedVectors`, `Word2Vec` or `HilbertMLE`, a model folder, or a folder for model2vec or
        sentence-transformers. The content tells which; all but folders may be compressed or remote, if smart_open opens
        them.
    trust_pickle : bool
        Whether to load what gensim has saved. That is a pickle, which can run any program while it is loaded: do so
        only with files that you trust. All other formats are safe, whoever wrote the file.

    Returns
    -------
    gensim.models.KeyedVectors
        They have the attribute `count` only if the file has counts.

    Raises
    ------
    ValueError
        If the file is none of these, is damaged, or is a pickle that has not been said to be trusted; the message names
        the file and tells where.
    """
    name = name_of(path)
    kind, words, dimensions = recognise(name)
    if kind == Kind.SAVED:
        require_trust(name, trust_pickle)
    with damage_named(name, str(kind)):
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


def require_trust(name: str | os.PathLike[str], trust_pickle: bool) -> None:
    """Raise an error for a pickle, unless the user has said that it is to be trusted."""
    if not trust_pickle:
        raise ValueError(
            f"{name} is a pickle, as gensim's save writes it, which can run any program while it is loaded; if you "
            "trust whoever wrote it, pass trust_pickle=True (--trust-pickle on the command line)"
        )


def keyed_vectors(name: str, words: list[Any], matrix: np.ndarray, counts: np.ndarray | None = None) -> KeyedVectors:
    """Make KeyedVectors of words and rows of a matrix; the first vector of a repeated word counts, as in gensim."""
    if matrix.dtype.kind not in "fiu":
        raise ValueError(f"{name} holds {matrix.dtype}, which are no vectors")
    index: dict[Any, int] = {}
    first = [row for row, word in enumerate(words) if index.setdefault(word, row) == row]
    if len(first) != len(words):
        logger.warning("%s repeats %d words; the first vector of each is used", name, len(words) - len(first))
        counts = None if counts is None else np.asarray(counts)[first]
        words, matrix = list(index), matrix[first]
        index = {word: row for row, word in enumerate(words)}
    kind = KeyedVectors if all_str(words) else WordVectors  # gensim's own class looks up str and int only
    keyed = kind(vector_size=matrix.shape[1])
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
    view = memoryview(data)  # whose slices are no copies
    while len(words) < expected:
        space = data.find(b" ", start)
        end = space + 1 + 4 * size
        if space < 0 or end > len(data):
            more = file.read(max(CHUNK_BYTES, len(data) - start))  # so that long vectors take linear time
            if not more:
                raise ValueError(f"{name} ends within vector {len(words) + 1} of {expected}: it is truncated")
            data, start = data[start:] + more, 0
            view = memoryview(data)
            continue
        try:
            words.append(data[start:space].lstrip(b"\n").decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}, word {len(words) + 1}: {error}") from None
        numbers += view[space + 1 : end]
        start = end
    return keyed_vectors(name, words, np.frombuffer(numbers, dtype="<f4").reshape(len(words), size))


# ------------------------------------------------------------------ others


def from_gensim(name: str) -> KeyedVectors:
    """Read what gensim has saved, a pickle."""
    try:
        saved = SaveLoad.load(name)
    except MemoryError as error:  # Lengths in a damaged pickle may be anything.
        raise ValueError(f"{name} is damaged, or too large for the memory") from error
    keyed = getattr(saved, "wv", saved)
    if not isinstance(keyed, KeyedVectors):
        raise ValueError(f"{name} holds a {type(saved).__name__}, which has no word vectors")
    return keyed


def from_fasttext(name: str) -> KeyedVectors:
    """Read a model in fastText's format by gensim's reader."""
    check_fasttext(name)
    return load_facebook_vectors(name)


def from_numpy(name: str) -> KeyedVectors:
    """Read a matrix, and its words from the file beside it."""
    with opened(name) as file:
        matrix = read_npy(file)
    beside = words_beside(name)
    try:
        with damage_named(beside, "a JSON object with words"):
            with opened(beside) as file:
                facts = words_of_matrix(parse_json(file.read()), crc32(np.ascontiguousarray(matrix).data), beside)
            words = list_of_keys(facts["words"])
            counts = None if facts.get("counts") is None else whole_numbers(facts["counts"])
    except FileNotFoundError:
        raise FileNotFoundError(f"{name} has no words: {beside} should be beside it") from None
    if matrix.ndim != 2 or matrix.shape[0] != len(words) or (counts is not None and len(counts) != len(words)):
        raise ValueError(f"{name} has shape {matrix.shape}, which does not match the {len(words)} words of {beside}")
    if "scales" in facts:
        scales = np.array(facts["scales"], dtype=np.float32)
        if matrix.dtype != np.int8 or scales.shape != (len(words),):
            raise ValueError(f"{beside} has {scales.size} scales for {len(words)} rows of {matrix.dtype}")
        matrix = restored(matrix, scales)
    return keyed_vectors(name, words, matrix, counts)


def list_of_keys(values: Any) -> list[Any]:
    """Return a list of words, or of other keys, or raise a ValueError if it is not one."""
    if not isinstance(values, list):
        raise ValueError("the words are not a list")
    return list(map(key_from_json, values))


def strings(values: Any) -> list[str]:
    """Return a list of words, or raise a ValueError if it is not one."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("the words are not a list of strings")
    return values


def whole_numbers(values: Any) -> np.ndarray:
    """Return counts as an array, or raise a ValueError if they are not whole numbers."""
    if not isinstance(values, list) or not all(map(is_whole, values)):
        raise ValueError("the counts are not a list of whole numbers")
    return np.array(values, dtype=np.int64)


def from_parquet(name: str) -> KeyedVectors:
    """Read the columns `word`, `vector` and, if it is there, `count`."""
    pyarrow = import_pyarrow()
    with opened(name) as file:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(file.read()))
    if not {"word", "vector"} <= set(table.column_names):
        raise ValueError(f"{name} has no columns word and vector, but {table.column_names}")
    table.validate(full=True)
    words = strings(table["word"].to_pylist())
    matrix = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(len(words), -1)
    counts = whole_numbers(table["count"].to_pylist()) if "count" in table.column_names else None
    return keyed_vectors(name, words, matrix, counts)


def from_model_folder(name: str) -> KeyedVectors:
    """Read the vectors of a model folder."""
    from gensim_hilbert.model import HilbertMLE

    return HilbertMLE.from_pretrained(name, counts=False).wv


def from_folder(name: str) -> KeyedVectors:
    """Read a static model of model2vec or sentence-transformers, without the vector of unknown words."""
    from safetensors.numpy import load_file

    nested = os.path.join(name, "0_StaticEmbedding")  # where sentence-transformers saves it
    folder = name if os.path.isfile(os.path.join(name, "model.safetensors")) or not os.path.isdir(nested) else nested
    vectors_file, words_file = (os.path.join(folder, part) for part in ("model.safetensors", "tokenizer.json"))
    for part in (vectors_file, words_file):
        if not os.path.isfile(part):
            raise FileNotFoundError(
                f"{folder} is a folder without {os.path.basename(part)}: it holds no vectors that can be read"
            )
    with damage_named(vectors_file, "a file of vectors"):
        tensors = load_file(vectors_file)
        matrix = tensors["embeddings"] if "embeddings" in tensors else tensors["embedding.weight"]
        if "mapping" in tensors:
            matrix = matrix[tensors["mapping"]]
        if "weights" in tensors:
            matrix = matrix * tensors["weights"][:, None]
    with damage_named(words_file, "a tokenizer"):
        with open(words_file, "rb") as file:
            model = parse_json(file.read())["model"]
        vocabulary = model["vocab"]
        if isinstance(vocabulary, list):  # Unigram: [word, score]
            vocabulary = {word: row for row, (word, _) in enumerate(vocabulary)}
        words = strings(sorted(vocabulary, key=vocabulary.__getitem__))
        unknown = model.get("unk_token")
    if matrix.ndim != 2 or sorted(vocabulary.values()) != list(range(len(matrix))):
        raise ValueError(f"{name} has vectors of shape {matrix.shape}, which do not match its {len(words)} tokens")
    known = [row for row, word in enumerate(words) if word != unknown]
    return keyed_vectors(name, [words[row] for row in known], matrix[known])


FROM_FILE: dict[Kind, Callable[[str], KeyedVectors]] = {
    Kind.FASTTEXT: from_fasttext,
    Kind.FOLDER: from_folder,
    Kind.MODEL_FOLDER: from_model_folder,
    Kind.NUMPY: from_numpy,
    Kind.PARQUET: from_parquet,
    Kind.SAVED: from_gensim,
}
