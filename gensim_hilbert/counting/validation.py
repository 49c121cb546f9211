"""Checks that a store is what layout.py says, before anything in it is used: it may come from anybody.

A checksum tells damage, but whoever crafts a file can compute it as well. So names, types, bounds and sizes are checked
once, when a store is opened or a chunk is read. Everything after that relies on them.
"""

from __future__ import annotations

import io
import os
import stat
import zlib
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from gensim_hilbert.corpus.sentences import SENTENCES
from gensim_hilbert.counting.layout import (
    COUNT_WIDTHS,
    INDEX,
    INDEX_COLUMNS,
    MARGINALS,
    MOST_CLASSES,
    PHRASES,
    SHARDS,
    VOCABULARY,
    chunk_bytes,
    number_dtype,
    padding,
    shard_name,
)
from gensim_hilbert.counting.settings import MOST_SCALE, MOST_WEIGHT, OOV
from gensim_hilbert.objects import Place
from gensim_hilbert.untrusted import damage_named, is_whole, read_npy, require_regular
from gensim_hilbert.vocabulary import ERRORS

CHECKED_WHOLE = (VOCABULARY, INDEX, MARGINALS)  # These, and phrases, have one checksum each; chunks have their own.


class StoreError(ValueError):
    """Raised for a directory that is no store, or a damaged one."""


def check_manifest(manifest: dict[str, Any], path: Place) -> None:
    """Raise an error unless every value of a manifest has its type and is within its bounds."""
    window: Any = manifest.get("window")
    classes, files = manifest.get("classes", 0), manifest.get("files")
    checks = {
        "fingerprint": isinstance(manifest.get("fingerprint"), str),
        "window": is_window(window),
        "mirrored": isinstance(manifest.get("mirrored"), bool),
        "oov": manifest.get("oov") in OOV,
        "sample": is_number(manifest.get("sample")),
        "seed": is_whole(manifest.get("seed"), below=1 << 64),
        "errors": manifest.get("errors") in ERRORS,
        **{name: is_whole(manifest.get(name)) for name in ("words", "tokens", "sentences", "entries", "total")},
        "request": "request" in manifest,
        "preparation": is_preparation(manifest.get("preparation")),
        "classes": is_whole(classes, 1, MOST_CLASSES + 1) and classes & (classes - 1) == 0,  # a power of two
    }
    wrong = next((name for name, is_right in checks.items() if not is_right), None)
    if wrong is None and manifest["mirrored"] and window["left"] != window["right"]:
        wrong = "mirrored"
    # The names are fixed, so that nothing outside of the store can be named.
    if wrong is None and not has_facts(files, [*CHECKED_WHOLE, *map(shard_name, range(classes))]):
        wrong = "files"
    if wrong is not None:
        raise StoreError(f"{path} is damaged: its {wrong!r} cannot be right; count again")


def is_window(window: Any) -> bool:
    """Tell whether a value is the window of a manifest: weights to the left and to the right, and their scale."""
    if not isinstance(window, dict) or set(window) != {"left", "right", "scale"}:
        return False
    sides = window["left"], window["right"]
    return (
        all(isinstance(side, list) and all(is_whole(weight) for weight in side) for side in sides)
        and sum(map(sum, sides)) < MOST_WEIGHT
        and is_whole(window["scale"], 1, MOST_WEIGHT if not any(sides) else MOST_SCALE + 1)
    )


def is_preparation(value: Any) -> bool:
    """Tell whether a value is what a manifest has of a preparation; what it says is read by those who need it."""
    if value is None:
        return True
    if not isinstance(value, dict) or value.get("sentence_ends") not in SENTENCES or "tokenizer" not in value:
        return False
    joiner = value.get("joiner")
    return joiner is None or (isinstance(joiner, dict) and is_whole(joiner.get("phrases")))


def is_number(value: Any) -> bool:
    """Tell whether a value of JSON is a finite number of 0 or more."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def has_facts(files: Any, names: list[str]) -> bool:
    """Tell whether a manifest has the facts of just these files, and maybe of phrases."""
    return (
        isinstance(files, dict)
        and set(files) - {PHRASES} == set(names)
        and all(isinstance(facts, dict) and is_whole(facts.get("bytes")) for facts in files.values())
        and all(is_whole(files[name].get("crc32"), below=1 << 32) for name in {*CHECKED_WHOLE, PHRASES} & set(files))
    )


def check_file(path: Path, facts: dict[str, int]) -> None:
    """Raise an error unless a file is as the manifest says: a regular file, of its size, with its checksum."""
    try:
        size = require_regular(path).st_size
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"{path} is missing") from None
    except ValueError as error:
        raise StoreError(str(error)) from None
    if size != facts["bytes"]:
        raise StoreError(f"{path} has {size} bytes instead of {facts['bytes']}: it is damaged; count again")
    if "crc32" in facts and zlib.crc32(path.read_bytes()) != facts["crc32"]:
        raise StoreError(f"{path} is damaged: its checksum does not match; count again")


def check_files(directory: Path, manifest: dict[str, Any]) -> None:
    """Raise an error unless all files of a store are as its manifest says, and inside it."""
    folder = directory / SHARDS
    try:
        is_folder = stat.S_ISDIR(os.lstat(folder).st_mode)
    except FileNotFoundError:
        is_folder = False
    if not is_folder:
        raise StoreError(f"{folder} is missing, or not a folder of this store")
    for name, facts in manifest["files"].items():
        check_file(directory / name, facts)


def read_array(path: Path, dtype: str, shape: tuple[int | None, int]) -> np.ndarray:
    """Read an array of a store; None stands for any number of rows."""
    try:
        with damage_named(path, "an array of a store"):
            array = read_npy(io.BytesIO(path.read_bytes()))
    except ValueError as error:
        raise StoreError(f"{error}; count again") from error
    expected = (len(array) if shape[0] is None and array.ndim else shape[0], shape[1])
    if array.dtype != np.dtype(dtype) or array.shape != expected:
        raise StoreError(f"{path} is damaged: it holds {array.dtype} of shape {array.shape}; count again")
    return array


def check_sizes(manifest: dict[str, Any], words: int, marginals: np.ndarray, index: np.ndarray, path: Path) -> None:
    """Raise an error unless the sizes in a manifest are those of what it describes."""
    sizes = {"words": words, "entries": int(index[:, 3].sum()), "total": int(marginals[0].sum())}
    for name, size in sizes.items():
        if manifest[name] != size:
            raise StoreError(f"{path} is damaged: it says {name} = {manifest[name]}, but there are {size}; count again")


def check_index(index: np.ndarray, manifest: dict[str, Any], path: Path) -> None:
    """Raise an error unless the chunks of an index are sorted, and fill each shard without gaps or overlaps."""
    classes: int = manifest["classes"]
    row_class, column_class, offset, entries, count_bytes, checksum = index.T
    sizes = np.array([manifest["files"][shard_name(k)]["bytes"] for k in range(classes)])
    is_right = (
        len(index) > 0
        and all(((numbers >= 0) & (numbers < classes)).all() for numbers in (row_class, column_class))
        and np.isin(count_bytes, COUNT_WIDTHS).all()
        and ((checksum >= 0) & (checksum < 1 << 32)).all()
        # An entry takes more than one byte, so that no product below can overflow.
        and ((entries > 0) & (entries <= sizes[row_class]) & (offset >= 0) & (offset <= sizes[row_class])).all()
    )
    if is_right:
        lengths = chunk_bytes(entries, count_bytes, number_dtype(manifest["words"], classes))
        ends = offset + lengths + padding(lengths)
        order = np.lexsort((offset, row_class))
        starts_file = np.r_[True, np.diff(row_class[order]) != 0]
        expected = np.where(starts_file, 0, np.r_[0, ends[order][:-1]])
        filled = np.zeros(classes, dtype=np.int64)
        np.maximum.at(filled, row_class, ends)
        key = np.stack([row_class, column_class, offset])
        is_right = (
            np.array_equal(np.lexsort(key[::-1]), np.arange(len(index)))
            and np.array_equal(offset[order], expected)
            and np.array_equal(filled, sizes)
        )
    if not is_right:
        raise StoreError(f"{path} is damaged: its {', '.join(INDEX_COLUMNS)} cannot be right; count again")
