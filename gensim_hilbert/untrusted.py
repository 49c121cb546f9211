"""Checks for files that anybody may have written: their names, kinds and sizes are looked at before they are believed.

Whatever is wrong with such a file becomes a ValueError that names it. A number in a header is never taken as the size
of an allocation before the file has been seen to hold that much.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from gensim_hilbert.locations import AnyPath

PIECE_BYTES = 1 << 22  # read at a time
HEADER_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


@contextmanager
def damage_named(path: AnyPath, description: str) -> Iterator[None]:
    """Turn any error of reading a file into a ValueError that names it: damaged files can raise all kinds of them.

    Errors of the operating system stay as they are, and so do ValueErrors that name the file already.
    """
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except OSError as error:
        # Decompressors raise errors without a number. A place before the beginning of a file is an invalid argument.
        if error.filename is None and error.errno in (None, errno.EINVAL) and str(path) not in str(error):
            raise ValueError(f"{path} is not {description}, or damaged: {one_line(error)}") from error
        if error.errno is not None:  # Others have a sentence of their own.
            error.filename = error.filename or os.fspath(path)
        raise
    except Exception as error:
        if isinstance(error, ValueError) and str(path) in str(error):
            raise
        raise ValueError(f"{path} is not {description}, or damaged: {one_line(error)}") from error


def one_line(error: Exception) -> str:
    """Return the message of an error in one line, with its type if the message alone would not say enough."""
    text = " ".join(str(error).split())[:300]
    return text if isinstance(error, ValueError | OSError) and text else f"{type(error).__name__} {text}".strip()


# ---------------------------------------------------------------------------------------------------- names


def plain_name(name: Any) -> str:
    """Return a name that a file gives for another one beside it, or raise a ValueError if it could lead elsewhere."""
    if not isinstance(name, str) or name in ("", ".", "..") or any(c in name for c in "/\\:\0"):
        raise ValueError(f"{name!r} is not the plain name of a file")
    return name


def require_regular(path: AnyPath) -> os.stat_result:
    """Return what the system says of a file, or raise a ValueError if it is a link, a pipe, a device or a folder."""
    facts = os.lstat(path)
    if not stat.S_ISREG(facts.st_mode):
        raise ValueError(f"{path} is not a regular file: nothing else is read here, no links and no devices")
    return facts


# ---------------------------------------------------------------------------------------------------- JSON


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; whatever is wrong with it is a ValueError, also if it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None


def is_shallow(value: Any, depth: int = 32) -> bool:
    """Tell whether a value of JSON is nested so little that functions which call themselves can work on it."""
    level = [value]
    while level and depth:
        parts = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = [inner for part in parts for inner in part]
        depth -= 1
    return not level


def is_whole(value: Any, least: int = 0, below: int = 1 << 63) -> bool:
    """Tell whether a value of JSON is a whole number within bounds."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < below


# ---------------------------------------------------------------------------------------------------- arrays


def npy_bytes(array: np.ndarray) -> bytes:
    """Return an array as the bytes of a .npy file."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def read_npy(file: BinaryIO) -> np.ndarray:
    """Read an array in NumPy's format from a stream, without pickle and never more than there is."""
    version = np.lib.format.read_magic(file)
    if version not in HEADER_READERS:
        raise ValueError(f"version {version} of NumPy's format is not supported")
    shape, in_columns, dtype = HEADER_READERS[version](file)
    if dtype.hasobject or dtype.itemsize == 0:
        raise ValueError(f"it holds an array of type {dtype}, which is not supported")
    if min(shape, default=0) < 0:
        raise ValueError(f"it holds an array of the impossible shape {shape}")
    promised = math.prod(shape) * dtype.itemsize
    data = bytearray()
    while len(data) < promised and (piece := file.read(min(PIECE_BYTES, promised - len(data)))):
        data += piece
    if len(data) < promised:
        raise ValueError(f"it ends after {len(data)} of the {promised} bytes of its array")
    array = np.frombuffer(data, dtype=dtype)
    return array.reshape(shape[::-1]).T if in_columns else array.reshape(shape)


def read_npz(path: AnyPath, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Read some arrays of an .npz file; those that are missing are left out."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        members = set(archive.namelist())
        for name in names:
            if f"{name}.npy" in members:
                with archive.open(f"{name}.npy") as file:
                    found[name] = read_npy(file)  # type: ignore[arg-type]  # It has all that is needed of a stream.
                    if file.read(1):  # The checksum of a member is compared at its end only.
                        raise ValueError(f"{name} is longer than its array")
    return found
