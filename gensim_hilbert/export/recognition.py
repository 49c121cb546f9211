"""Recognises files of vectors by what is in them."""

from __future__ import annotations

import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import BinaryIO, NamedTuple

import smart_open

from gensim_hilbert.locations import is_local, missing_package, uncompressed_name
from gensim_hilbert.pretrained.layout import is_model_folder

PICKLE_START = b"\x80"  # Every pickle since protocol 2 starts with this byte.
FASTTEXT_START = b"\xba\x16\x4f\x2f"
PARQUET_START = b"PAR1"
PRINTABLE = bytes(range(32, 127)) + b"\t\n\r"
LONGEST_LINE = 1 << 24  # bytes
SAMPLE_BYTES = 1 << 20
READABLE = (
    "word2vec text or binary, GloVe text, NAME.npy with NAME.words.json, Parquet, fastText's .bin, models and vectors "
    "that gensim has saved, model folders, and folders with model.safetensors and tokenizer.json"
)


class Kind(StrEnum):
    """What a file or folder of vectors can be."""

    FOLDER = "a folder with a static model"
    MODEL_FOLDER = "a model folder"
    NUMPY = "vectors in NumPy's format"
    SAVED = "a saved model"
    FASTTEXT = "a model in fastText's format"
    PARQUET = "vectors in Parquet"
    WORD2VEC_TEXT = "vectors in word2vec's text format"
    WORD2VEC_BINARY = "vectors in word2vec's binary format"
    GLOVE = "vectors in GloVe's text format"


class Recognised(NamedTuple):
    """What a file of vectors is, and what its first line tells of its sizes."""

    kind: Kind
    words: int | None = None
    dimensions: int = 0


def recognise(name: str) -> Recognised:
    """Tell what a file or folder of vectors is by its first bytes; raises a ValueError if it is none.

    Only folders and .npy files, which have their words beside them, are told by their names.
    """
    if os.path.isdir(name):
        return Recognised(Kind.MODEL_FOLDER if is_model_folder(name) else Kind.FOLDER)
    if name.endswith(".npy"):
        return Recognised(Kind.NUMPY)
    with opened(name) as file:
        first = file.readline(LONGEST_LINE)
        sample = file.read(SAMPLE_BYTES)
    if not first:
        raise ValueError(f"{name} is empty")
    for start, kind in (
        (PICKLE_START, Kind.SAVED),
        (FASTTEXT_START, Kind.FASTTEXT),
        (PARQUET_START, Kind.PARQUET),
    ):
        if first.startswith(start):
            return Recognised(kind)
    sizes = header_of(first)
    if sizes is None:
        return Recognised(Kind.GLOVE, None, dimensions_of(name, first))
    if 0 in sizes:
        raise ValueError(f"{name} holds no vectors: its first line says {sizes[0]} of {sizes[1]} dimensions")
    kind = Kind.WORD2VEC_BINARY if looks_binary(name, sample, sizes[1]) else Kind.WORD2VEC_TEXT
    return Recognised(kind, *sizes)


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """Open a file to read from; what decompressors raise becomes a ValueError that names it."""
    if is_local(name) and os.path.exists(name) and not os.path.isfile(name):
        raise ValueError(
            f"{name} is a pipe, a device or a folder, and vectors are read more than once: save them first"
        )
    try:
        with smart_open.open(name, "rb") as file:
            yield file
    except ImportError as error:
        raise missing_package(name, error) from error
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{name} cannot be decompressed: {error}") from error
    except OSError as error:
        if error.errno is None and is_local(name):  # This is how gzip and bz2 say the same.
            raise ValueError(f"{name} cannot be decompressed: {error}") from error
        raise


def header_of(line: bytes) -> tuple[int, int] | None:
    """Return the numbers of words and dimensions if a line consists of these."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) < 19 for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def dimensions_of(name: str, line: bytes) -> int:
    """Return how many numbers follow the first word of a line."""
    fields = line.rstrip().split(b" ")[1:]
    if not fields or not all(map(is_number, fields)):
        raise ValueError(
            f"{name} holds no vectors that can be read: line 1 is neither a header nor a word with numbers "
            f"({READABLE} can be read)"
        )
    return len(fields)


def is_number(field: bytes) -> bool:
    """Tell whether float() takes a field."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def looks_binary(name: str, sample: bytes, dimensions: int) -> bool:
    """Tell whether float32s follow the first word: these have bytes that no text has."""
    fields = sample.partition(b"\n")[0].rstrip().rsplit(b" ", dimensions)[1:]
    if len(fields) == dimensions and all(map(is_number, fields)):
        return False
    vector = sample.partition(b" ")[2][: 4 * dimensions]
    return uncompressed_name(name).endswith(".bin") or bool(vector.translate(None, PRINTABLE))
