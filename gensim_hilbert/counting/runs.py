"""Runs: files of counted rows, sorted by (row mod classes, row). See cython_ext/runs.pxd for their records."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import TracebackType
from typing import Any

import numpy as np

from gensim_hilbert._counting import PairCounter
from gensim_hilbert._merge import DAMAGED, DONE, FULL, LARGEST_RECORD, RowMerger, records, row_bytes, zeros
from gensim_hilbert.counting.layout import RUN_SUFFIX
from gensim_hilbert.objects import ObjectPath, Place, created, opened_at
from gensim_hilbert.untrusted import is_whole, plain_name, require_regular

READ_BYTES = 4 * LARGEST_RECORD  # buffer for one run while merging, at least


@dataclass(frozen=True)
class Run:
    """A run file, the offsets at which its classes begin and the last one ends, and its checksum."""

    path: Place
    offsets: tuple[int, ...]
    checksum: int

    def to_json(self) -> list[Any]:
        """Return its entry in the journal."""
        return [self.path.name, list(self.offsets), self.checksum]

    @classmethod
    def from_json(cls, directory: Place, row: list[Any]) -> Run:
        """Make one of its entry in the journal, or raise a ValueError if that is none."""
        name, offsets, checksum = row
        if not all(map(is_whole, offsets)) or [0, *offsets] != sorted([0, *offsets]) or not offsets:
            raise ValueError(f"the offsets of the run {name!r} cannot be right")
        if not plain_name(name).endswith(RUN_SUFFIX):
            raise ValueError(f"{name!r} is not the name of a run")
        return cls(directory / name, tuple(offsets), checksum)

    def is_whole(self) -> bool:
        """Tell whether the file is complete and unchanged; of an object only its size is looked at."""
        try:
            if isinstance(self.path, ObjectPath):
                return self.path.facts()[0] == self.offsets[-1]
            require_regular(self.path)
            with open(self.path, "rb") as file:
                checksum = size = 0
                while data := file.read(1 << 20):
                    checksum = zlib.crc32(data, checksum)
                    size += len(data)
        except (OSError, ValueError):
            return False
        return (size, checksum) == (self.offsets[-1], self.checksum)


class RunWriter:
    """Writes a run class by class; after an error the file is removed."""

    def __init__(self, path: Place):
        self.path = path
        self.creation = created(path)
        self.file = self.creation.__enter__()
        self.offsets = [0]
        self.checksum = self.size = 0

    def write(self, data: Any) -> None:
        """Append records of the class at hand."""
        self.file.write(data)
        self.checksum = zlib.crc32(data, self.checksum)
        self.size += len(data)

    def end_class(self) -> None:
        """End a class: the next record belongs to the next one."""
        self.offsets.append(self.size)

    @property
    def run(self) -> Run:
        """The run that has been written."""
        return Run(self.path, tuple(self.offsets), self.checksum)

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.creation.__exit__(kind, error, trace)


def write_counted(counter: PairCounter, size: int, classes: int, out: np.ndarray, path: Place) -> Run:
    """Write all rows of a counter whose positions have been placed."""
    with RunWriter(path) as writer:
        for first in range(classes):
            row = first
            while row < size:
                used, row = counter.rows(row, classes, out)
                writer.write(out[:used])
            writer.end_class()
    return writer.run


def write_triples(
    rows: np.ndarray, columns: np.ndarray, counts: np.ndarray, size: int, classes: int, path: Place
) -> Run:
    """Write (row, column, count) triples, adding up duplicates."""
    key = rows.astype(np.uint64) * np.uint64(max(size, 1)) + columns.astype(np.uint64)
    key, place = np.unique(key, return_inverse=True)
    sums = np.zeros(len(key), dtype=np.uint64)
    np.add.at(sums, place, counts.astype(np.uint64))
    rows, columns = (part.astype(np.uint32) for part in divmod(key, np.uint64(max(size, 1))))
    with RunWriter(path) as writer:
        for first in range(classes):
            mine = np.flatnonzero((rows % classes == first) & (sums > 0))
            writer.write(records(rows[mine], columns[mine], sums[mine], size))
            writer.end_class()
    return writer.run


class ClassReader:
    """Reads one class of one run through a buffer."""

    def __init__(self, run: Run, row_class: int, buffer: np.ndarray):
        start, stop = run.offsets[row_class : row_class + 2]
        self.file = opened_at(run.path, start, stop, buffering=0)  # closed by `merged`
        self.left, self.buffer, self.room = stop - start, buffer, buffer.data

    def refill(self, merger: RowMerger, k: int) -> None:
        """Move what is unread to the front, and read on behind it."""
        filled = merger.keep_rest(k)
        end = min(len(self.room), filled + self.left)
        while filled < end:
            got = self.file.readinto(self.room[filled:end])
            if not got:
                raise OSError(f"{self.file.name} ends too early: {self.left} bytes are missing")
            filled, self.left = filled + got, self.left - got
        merger.supply(k, filled, self.left == 0)


def merged(
    runs: list[Run], row_class: int, size: int, out: np.ndarray, read_bytes: int = READ_BYTES
) -> Iterator[np.ndarray]:
    """Yield the sum of one class over all runs, as pieces of `out` that are filled with records.

    Each run is read through a buffer of `read_bytes`, or less if its class is smaller.
    """
    runs = [run for run in runs if run.offsets[row_class + 1] > run.offsets[row_class]]
    rooms = [min(read_bytes, run.offsets[row_class + 1] - run.offsets[row_class]) for run in runs]
    ends = [0, *accumulate(rooms)]
    buffers = zeros(ends[-1], np.uint8)
    readers: list[ClassReader] = []
    try:
        for run, (start, stop) in zip(runs, pairwise(ends), strict=True):
            readers.append(ClassReader(run, row_class, buffers[start:stop]))
        merger = RowMerger(size, [reader.buffer for reader in readers])
        for k, reader in enumerate(readers):
            reader.refill(merger, k)
        used = 0
        while True:
            more, status = merger.merge(out[used:]) if len(out) - used >= row_bytes(size) else (0, FULL)
            used += more
            if status == DAMAGED:
                name = readers[merger.damaged].file.name
                raise ValueError(f"{name} is damaged: it holds a row that cannot be right; remove it and count again")
            if status >= 0:
                readers[status].refill(merger, status)
            else:
                yield out[:used]
                used = 0
                if status == DONE:
                    return
    finally:
        for reader in readers:
            reader.file.close()


def merge_runs(runs: list[Run], size: int, classes: int, path: Place) -> Run:
    """Add several runs up into one."""
    out = output_buffer(size)
    with RunWriter(path) as writer:
        for row_class in range(classes):
            for piece in merged(runs, row_class, size, out):
                writer.write(piece)
            writer.end_class()
    return writer.run


def output_bytes(size: int) -> int:
    """Return the size of a buffer that has room for the records of a few rows."""
    return max(1 << 20, 2 * row_bytes(size))


def output_buffer(size: int) -> np.ndarray:
    """Make the buffer through which a worker writes."""
    return zeros(output_bytes(size), np.uint8)
