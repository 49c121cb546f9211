"""Files in the format of safetensors, written without a copy of the arrays and mapped into memory when they are read.

Such a file is the length of its header (uint64, little-endian), the header (JSON with type, shape and place of each
tensor), and the bytes of the tensors, one after the other.
"""

from __future__ import annotations

import json
import math
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

TYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}
DTYPES = {name: np.dtype(kind).newbyteorder("<") for kind, name in TYPES.items()}
LARGEST_HEADER = 100_000_000  # bytes; safetensors' own readers refuse larger ones
ALIGNMENT = 64  # bytes, for the first tensor
PIECE = 1 << 24  # bytes that are written or read at a time
Shape = tuple[int, ...]


class DamagedFile(ValueError):
    """Raised for a file that does not hold what it should."""

    def __init__(self, path: str | os.PathLike[str], reason: object):
        super().__init__(f"{os.fspath(path)} is damaged: {reason}")


# ---------------------------------------------------------------------------------------------------- writing


class ChecksummedFile:
    """A file that is written to, with the number of bytes so far and their CRC-32."""

    def __init__(self, file: BinaryIO):
        self.file = file
        self.bytes = self.crc32 = 0

    def write(self, data: Any) -> None:
        """Write bytes, or whatever has a buffer of them."""
        self.file.write(data)
        self.bytes += memoryview(data).nbytes
        self.crc32 = zlib.crc32(data, self.crc32)


def header_of(tensors: Mapping[str, tuple[np.dtype[Any], Shape]], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the first bytes of a file that will hold tensors of these types and shapes in this order."""
    facts: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name, (dtype, shape) in tensors.items():
        start, end = end, end + dtype.itemsize * math.prod(shape)
        facts[name] = {"dtype": TYPES[dtype.name], "shape": list(shape), "data_offsets": [start, end]}
    text = json.dumps(facts).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def write_tensors(file: BinaryIO | ChecksummedFile, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays as a file of tensors; those of the widest type come first, so that all are aligned."""
    order = sorted(arrays, key=lambda name: -arrays[name].dtype.itemsize)
    file.write(header_of({name: (arrays[name].dtype, arrays[name].shape) for name in order}))
    for name in order:
        for piece in pieces(arrays[name]):
            file.write(piece)


def pieces(array: np.ndarray) -> Iterator[memoryview]:
    """Yield the bytes of an array in C order, little-endian."""
    flat = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)
    for start in range(0, flat.nbytes, PIECE):
        yield flat[start : start + PIECE].data


# ---------------------------------------------------------------------------------------------------- reading


class Tensor(NamedTuple):
    """Where a tensor lies in a file, and what it is."""

    dtype: np.dtype[Any]
    shape: Shape
    offset: int


class TensorFile:
    """A file of tensors that is open for reading; its header has been compared with its size.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path):
        self.path = path
        size = regular_size(path)
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= min(size - 8, LARGEST_HEADER):
                raise DamagedFile(path, f"its header has {length} bytes, the whole file {size}")
            text = file.read(length)
        try:
            self.tensors = dict(_tensors(json.loads(text), 8 + length, size))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DamagedFile(path, f"its header cannot be read ({error})") from None

    def read(self, name: str, mode: str | None = "c") -> np.ndarray:
        """Return a tensor: mapped copy-on-write ("c"), mapped for reading ("r"), or in memory (None)."""
        if name not in self.tensors:
            raise DamagedFile(self.path, f"it has no {name}")
        dtype, shape, offset = self.tensors[name]
        if not math.prod(shape):
            return np.empty(shape, dtype=dtype)
        if mode is None:
            return np.fromfile(self.path, dtype=dtype, count=math.prod(shape), offset=offset).reshape(shape)
        mapped = np.memmap(self.path, dtype=dtype, mode=mode, offset=offset, shape=shape)  # type: ignore[call-overload]
        return np.asarray(mapped)  # It keeps the map alive, and what is computed from it is a plain array, too.


def _tensors(header: dict[str, Any], start: int, size: int) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of a header, which must fill the rest of the file one after the other."""
    header.pop("__metadata__", None)
    expected = 0
    for name, facts in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape = DTYPES[facts["dtype"]], tuple(facts["shape"])
        begin, end = facts["data_offsets"]
        numbers = (*shape, begin, end)
        if any(type(number) is not int or number < 0 for number in numbers):
            raise ValueError(f"{name} has the shape {shape} at {[begin, end]}")
        if begin != expected or end - begin != dtype.itemsize * math.prod(shape) or (start + begin) % dtype.itemsize:
            raise ValueError(f"{name} with the shape {shape} does not fit into the bytes {begin} to {end}")
        expected = end
        yield name, Tensor(dtype, shape, start + begin)
    if start + expected != size:
        raise ValueError(f"tensors end after {start + expected} bytes, the file after {size}")


def regular_size(path: Path) -> int:
    """Return the size of a regular file; anything else, such as a pipe, is an error before it is opened."""
    try:
        facts = os.stat(path)
    except FileNotFoundError:
        raise DamagedFile(path, "it is missing") from None
    if not stat.S_ISREG(facts.st_mode):
        raise DamagedFile(path, "it is not a regular file")
    return facts.st_size


def file_crc32(path: Path) -> int:
    """Return the CRC-32 of all bytes of a file."""
    total = 0
    with open(path, "rb") as file:
        while data := file.read(PIECE):
            total = zlib.crc32(data, total)
    return total
