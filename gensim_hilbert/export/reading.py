"""Vectors from whatever file holds them."""

from __future__ import annotations

import json
import logging
import lzma
import os
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import smart_open
from gensim.models import KeyedVectors
from gensim.models.fasttext import load_facebook_vectors
from gensim.utils import SaveLoad

from gensim_hilbert.export.formats import FASTTEXT, import_parquet, words_beside
from gensim_hilbert.locations import is_local, missing_package, name_of, uncompressed_name

logger = logging.getLogger(__name__)

PICKLE, PARQUET = b"\x80", b"PAR1"
PRINTABLE = bytes(range(32, 127)) + b"\t\n\r"
LONGEST_LINE = 1 << 24
CHUNK = 1 << 20
READABLE = (
    "word2vec text or binary, GloVe text, NAME.npy with NAME.words.json, Parquet, fastText's .bin, models and vectors "
    "that gensim has saved, and folders with model.safetensors and tokenizer.json"
)


def load_vectors(path: str | os.PathLike[str]) -> KeyedVectors:
    """Read vectors from any file that `export` writes, except for TensorBoard, and from what gensim has saved.

    Models saved by gensim are pickles: load only those you trust.

    Parameters
    ----------
    path : str or PathLike
        Text or binary word2vec (also .vec), GloVe text, NAME.npy with NAME.words.json, Parquet, fastText's .bin, a
        saved `KeyedVectors`, `Word2Vec` or `HilbertMLE`, or a folder for model2vec or sentence-transformers. The
        content tells which; all but folders may be compressed or remote, if smart_open opens them.

    Returns
    -------
    gensim.models.KeyedVectors
        With the attribute `count` only where the file has counts.

    Raises
    ------
    ValueError
        If the file is none of these, or damaged; the message says where.
    """
    name = name_of(path)
    if os.path.isdir(name):
        return from_folder(name)
    if name.endswith(".npy"):
        return from_numpy(name)
    with opened(name) as file:
        first = file.readline(LONGEST_LINE)
        sample = file.read(CHUNK)
    if not first:
        raise ValueError(f"{name} is empty")
    if first.startswith(PICKLE):
        return from_gensim(name, SaveLoad.load)
    if first.startswith(FASTTEXT):
        return from_gensim(name, load_facebook_vectors)
    if first.startswith(PARQUET):
        return from_parquet(name)
    sizes = header_of(first)
    if sizes is not None and 0 in sizes:
        raise ValueError(f"{name} holds no vectors: its first line says {sizes[0]} of {sizes[1]} dimensions")
    with opened(name) as file:
        if sizes is None:
            return from_text(name, enumerate(file, start=1), None, first_line_size(name, first))
        file.readline()
        if looks_binary(name, sample, sizes[1]):
            return from_binary(name, file, *sizes)
        return from_text(name, enumerate(file, start=2), *sizes)


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """A file to read from."""
    try:
        with smart_open.open(name, "rb") as file:
            yield file
    except ImportError as error:
        raise missing_package(name, error) from error
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{name} cannot be decompressed: {error}") from error
    except OSError as error:
        if error.errno is None and is_local(name):  # gzip's and bz2's way to say the same
            raise ValueError(f"{name} cannot be decompressed: {error}") from error
        raise


def keyed_vectors(name: str, words: list[str], matrix: np.ndarray, counts: np.ndarray | None = None) -> KeyedVectors:
    """KeyedVectors over words and rows of a matrix; of words that stand there twice the first counts, as in gensim."""
    index: dict[str, int] = {}
    first = [row for row, word in enumerate(words) if index.setdefault(word, row) == row]
    if len(first) != len(words):
        logger.warning("%s has %d words again; the first vector of each is used", name, len(words) - len(first))
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


def header_of(line: bytes) -> tuple[int, int] | None:
    """Numbers of words and dimensions, if that is what a line says."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) < 19 for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def first_line_size(name: str, line: bytes) -> int:
    """How many numbers stand after the first word."""
    fields = line.rstrip().split(b" ")[1:]
    if not fields or not all(map(is_number, fields)):
        raise ValueError(
            f"{name} holds no vectors that can be read: line 1 is neither a header nor a word with numbers "
            f"({READABLE} can be read)"
        )
    return len(fields)


def is_number(field: bytes) -> bool:
    """True for what float() takes."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def looks_binary(name: str, sample: bytes, size: int) -> bool:
    """True if what follows the first word are float32s: these have bytes that are no text."""
    fields = sample.partition(b"\n")[0].rstrip().rsplit(b" ", size)[1:]
    if len(fields) == size and all(map(is_number, fields)):
        return False
    vector = sample.partition(b" ")[2][: 4 * size]
    return uncompressed_name(name).endswith(".bin") or bool(vector.translate(None, PRINTABLE))


def from_text(name: str, lines: Iterable[tuple[int, bytes]], expected: int | None, size: int) -> KeyedVectors:
    """Words with `size` numbers each, separated by single spaces; a word may have spaces in it, as GloVe's own do."""
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
    """Words, each with a space and `size` float32s after it, and maybe a newline."""
    words: list[str] = []
    numbers = bytearray()
    data, start = b"", 0
    while len(words) < expected:
        space = data.find(b" ", start)
        end = space + 1 + 4 * size
        if space < 0 or end > len(data):
            more = file.read(CHUNK)
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
    """What gensim's `save` wrote, or what else it has a function for."""
    try:
        saved = load(name)
    except OSError:
        raise
    except Exception as error:  # damaged files can raise any
        raise ValueError(f"{name} is a model or vectors that gensim cannot load, or damaged: {error}") from error
    keyed = getattr(saved, "wv", saved)
    if not isinstance(keyed, KeyedVectors):
        raise ValueError(f"{name} holds a {type(saved).__name__}, which has no word vectors")
    return keyed


def from_numpy(name: str) -> KeyedVectors:
    """A matrix, and its words beside it."""
    try:
        with opened(name) as file:
            matrix = np.lib.format.read_array(file, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{name} is no .npy file, or damaged: {error}") from error
    beside = words_beside(name)
    try:
        with opened(beside) as file:
            facts = json.load(file)
        words, counts = [str(word) for word in facts["words"]], facts.get("counts")
    except FileNotFoundError:
        raise FileNotFoundError(f"{name} has no words: {beside} should be beside it") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{beside} is no JSON object with words, or damaged: {error}") from error
    if matrix.ndim != 2 or matrix.shape[0] != len(words) or (counts is not None and len(counts) != len(words)):
        raise ValueError(f"{name} has shape {matrix.shape}, which does not go with the {len(words)} words of {beside}")
    return keyed_vectors(name, words, matrix, counts)


def from_parquet(name: str) -> KeyedVectors:
    """Columns `word`, `vector` and maybe `count`."""
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


def from_folder(name: str) -> KeyedVectors:
    """A static model of model2vec or sentence-transformers: a row a token, but for the unknown one."""
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
        raise ValueError(f"{name} is no folder with a static model, or damaged: {error}") from error
    if isinstance(vocabulary, list):  # Unigram: [word, score]
        vocabulary = {word: row for row, (word, _) in enumerate(vocabulary)}
    if "mapping" in tensors:
        matrix = matrix[tensors["mapping"]]
    if "weights" in tensors:
        matrix = matrix * tensors["weights"][:, None]
    words = sorted(vocabulary, key=vocabulary.__getitem__)
    if matrix.ndim != 2 or sorted(vocabulary.values()) != list(range(len(matrix))):
        raise ValueError(f"{name} has vectors of shape {matrix.shape}, which do not go with its {len(words)} tokens")
    known = [row for row, word in enumerate(words) if word != model.get("unk_token")]
    return keyed_vectors(name, [words[row] for row in known], matrix[known])
