"""Merges runs into the shards of a store."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple

import numpy as np

from gensim_hilbert._merge import TileScatter, zeros
from gensim_hilbert.corpus.dispatch import in_parallel
from gensim_hilbert.counting.layout import CHUNK_ALIGNMENT, new_run, number_dtype, shard_name
from gensim_hilbert.counting.plan import TILE_ROOM, WAITING_BYTES
from gensim_hilbert.counting.runs import READ_BYTES, Run, merge_runs, merged, output_buffer
from gensim_hilbert.objects import Place, created, place_of


class ClassResult(NamedTuple):
    """What is known of one class of rows once its file is written."""

    chunks: np.ndarray  # one row of INDEX_COLUMNS for each chunk
    contexts: np.ndarray | None  # marginals of its rows, scaled; None if they are those of terms
    terms: np.ndarray  # marginals of all words, scaled
    size: int  # bytes of the file


def write_class(
    row_class: int,
    runs: list[Run],
    size: int,
    classes: int,
    mirrored: bool,
    directory: str,
    read_bytes: int = READ_BYTES,
) -> tuple[int, ClassResult]:
    """Merge one class of rows of all runs and write its file: chunks of the tiles [row class, column class]."""
    terms = zeros(size, np.uint64)
    contexts = terms if mirrored else zeros(size, np.uint64)
    scatter = TileScatter(
        row_class, classes, TILE_ROOM, mirrored, contexts, terms, number_dtype(size, classes).itemsize,
        CHUNK_ALIGNMENT, WAITING_BYTES,
    )  # fmt: skip
    index: list[np.ndarray] = []
    with created(place_of(directory) / shard_name(row_class)) as file:

        def write_chunks() -> None:
            data, chunks = scatter.take()
            index.append(chunks)
            file.write(data.data)

        for piece in merged(runs, row_class, size, output_buffer(size), read_bytes):
            position, has_more = 0, True
            while has_more:
                position, has_more = scatter.scatter(piece, position)
                if has_more:
                    write_chunks()
        while scatter.pack_rest():
            write_chunks()
        write_chunks()
    own = None if mirrored else contexts[row_class::classes].copy()
    return row_class, ClassResult(np.concatenate(index), own, terms, scatter.taken)


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
