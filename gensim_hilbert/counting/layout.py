"""The layout of a store of pair counts: names, types and sizes of its files. docs/formats.md describes every byte.

    manifest.json       settings, sizes and checksums; written last, so that a directory without it is not a store
    vocabulary.jsonl    [word, count], one per line
    marginals.npy       uint64 (2, V): contexts, terms; scaled
    phrases.jsonl       the phrases that were joined in the text, if there are any
    index.npy           int64, one row per chunk: row class, column class, offset, entries, bytes per count, CRC-32
    shards/RR.bin       the chunks of the rows of class RR: counts, rows, columns

Rows and columns fall into `classes` classes by their remainder. A tile [r::classes, c::classes] is a few chunks in one
file, so that `shard(i, j, n)` reads nothing but its own entries if n divides `classes`. If the table equals its
transpose, only entries with row <= column are stored.

While a store is put together in NAME.partial, a journal, runs, and the thresholds of subsampling are there, too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, overload
from uuid import uuid4

import numpy as np

from gensim_hilbert.objects import ObjectPath, Place, place_of

FORMAT = "gensim_hilbert pair counts"
SCHEMA = 1

MANIFEST = "manifest.json"
VOCABULARY = "vocabulary.jsonl"
MARGINALS = "marginals.npy"
INDEX = "index.npy"
PHRASES = "phrases.jsonl"
SHARDS = "shards"
SAVED_WITH_MODEL = "saved-with-model"  # an empty file in counts that belong to a model and are replaced with it

JOURNAL = "journal.jsonl"
SCAN = "words.jsonl"  # the journal of the scan for words
KEEP_BELOW = "keep.npy"  # with `sample`: a token stays if its random draw is not above the number of its word
RUN_SUFFIX = ".run"

INDEX_COLUMNS = ("row_class", "column_class", "offset", "entries", "count_bytes", "crc32")
COUNT_WIDTHS = (1, 2, 4, 8)  # bytes per count; the counts of a chunk share the narrowest that holds them
CHUNK_ALIGNMENT = 8  # bytes
MOST_CLASSES = 64
WORDS_PER_CLASS = 1024


def classes_for(size: int) -> int:
    """Return the number of classes of rows and columns: a power of two, smaller for a small vocabulary."""
    classes = 1
    while classes < MOST_CLASSES and size > WORDS_PER_CLASS * classes:
        classes *= 2
    return classes


def shard_name(row_class: int) -> str:
    """Return the name of the file of one class of rows."""
    return f"{SHARDS}/{row_class:02d}.bin"


def number_dtype(size: int, classes: int) -> np.dtype[Any]:
    """Return the type of row and column numbers within a tile."""
    return np.dtype("<u2" if size <= classes << 16 else "<u4")


def chunk_bytes(entries: int, count_bytes: int, number: np.dtype[Any]) -> int:
    """Return the size of a chunk without its padding."""
    return entries * (count_bytes + 2 * number.itemsize)


def padding(length: int) -> int:
    """Return the number of zero bytes that follow a chunk of that length."""
    return -length % CHUNK_ALIGNMENT


def new_run(directory: str | Place) -> Place:
    """Return a name for a run that nobody else uses: a task that was given up may still be writing its own."""
    return place_of(os.fspath(directory)) / f"{uuid4().hex}{RUN_SUFFIX}"


@overload
def partial_of(directory: Path) -> Path: ...
@overload
def partial_of(directory: ObjectPath) -> ObjectPath: ...
def partial_of(directory: Place) -> Place:
    """Return the folder in which a store is put together before it takes its name."""
    return directory.with_name(directory.name + ".partial")


def counts_beside(model: str | os.PathLike[str]) -> Path:
    """Return the place of the counts that were saved with a model."""
    return Path(os.fspath(model) + ".counts")
