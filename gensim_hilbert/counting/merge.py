"""Merges runs into the shards of a store."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple

import numpy as np

from gensim_hilbert._merge import TileScatter
from gensim_hilbert.corpus.dispatch import in_parallel
from gensim_hilbert.counting.layout import CHUNK_ALIGNMENT, INDEX_COLUMNS, new_run, number_dtype, shard_name
from gensim_hilbert.counting.plan import TILE_ROOM
from gensim_hilbert.counting.runs import Run, merge_runs, merged, output_buffer
from gensim_hilbert.objects import Place, created, place_of


class ClassResult(NamedTuple):
    """What is known of one class of rows once its file is written."""

    chunks: np.ndarray  # one row of INDEX_COLUMNS for each chunk
    contexts: np.ndarray  # marginals, scaled
    terms: np.ndarray
    size: int  # bytes of the file


def write_class(
    row_class: int, runs: list[Run], size: int, classes: int, mirrored: bool, directory: str
) -> tuple[int, ClassResult]:
    """Merge one class of rows of all runs and write its file: chunks of the tiles [row class, column class]."""
    contexts, terms = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.uint64)
    scatter = TileScatter(classes, TILE_ROOM, mirrored, contexts, terms)
    number = number_dtype(size, classes)
    index: list[tuple[int, ...]] = []
    with created(place_of(directory) / shard_name(row_class)) as file:

        def flush(tile: int) -> None:
            data, entries, count_bytes = scatter.chunk(tile, number.itemsize, CHUNK_ALIGNMENT)
            if entries:
                index.append((row_class, tile, file.tell(), entries, count_bytes, zlib.crc32(data.data)))
                file.write(data.data)

        for piece in merged(runs, row_class, size, output_buffer(size)):
            position = 0
            while True:
                position, full = scatter.scatter(piece, position)
                if full < 0:
                    break
                flush(full)
        for tile in range(classes):
            flush(tile)
        length = file.tell()
    return row_class, ClassResult(np.array(index, dtype="<i8").reshape(-1, len(INDEX_COLUMNS)), contexts, terms, length)


def reduce_runs(
    runs: list[Run],
    size: int,
    classes: int,
    directory: Place,
    *,
    fan_in: int,
    workers: int,
    executor: Executor | None,
    retries: int = 0,
    journal: Callable[[list[Run], Run], None],
) -> list[Run]:
    """Merge groups of runs until no more than `fan_in` are left.

    A merged run is entered in the journal before its parts are removed.
    """
    merge_group = partial(_merge_group, size=size, classes=classes, directory=directory)
    while len(runs) > fan_in:
        groups = [runs[start : start + fan_in] for start in range(0, len(runs), fan_in)]
        runs = []
        for group, result in in_parallel(merge_group, groups, workers, executor, retries=retries):
            runs.append(result)
            if len(group) > 1:
                journal(group, result)
                for run in group:
                    run.path.unlink()
    return runs


def _merge_group(group: list[Run], size: int, classes: int, directory: Place) -> tuple[list[Run], Run]:
    return group, group[0] if len(group) == 1 else merge_runs(group, size, classes, new_run(directory))
