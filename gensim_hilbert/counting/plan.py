"""How the memory that the user grants is spent."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from math import ceil

from gensim_hilbert.corpus.blocks import BLOCK_BYTES
from gensim_hilbert.corpus.executors import RETRIES
from gensim_hilbert.counting.layout import classes_for
from gensim_hilbert.counting.runs import READ_BYTES, output_bytes
from gensim_hilbert.counting.settings import Window

TILE_ROOM = 1 << 13  # entries of one chunk of the store
WAITING_BYTES = 1 << 20  # of chunks that are written at once
MOST_IDS = 1 << 26  # in one run: at most this much work is lost when counting is interrupted
LEAST_IDS = 1 << 16
MOST_RUNS_AT_ONCE = 128
MOST_READ_BYTES = 1 << 20  # buffer for one run while merging; larger ones would not help
MOST_MEMORY_GB = 1_000_000
BYTES_PER_ID = 8  # the id, and its place in the list of positions
BYTES_PER_SORTED_ENTRY = 100  # of a store, while its entries are sorted to be merged


@dataclass(frozen=True)
class Resources:
    """What the work may use. None of it changes the result."""

    workers: int
    memory_gb: float = 2.0
    executor: Executor | None = None
    progress: bool = False  # whether a bar is shown
    retries: int = RETRIES  # of a task on the executor

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise ValueError(f"retries must be 0 or more, got {self.retries}")
        if not 0 < self.memory_gb <= MOST_MEMORY_GB:
            raise ValueError(
                f"memory_gb must be a number of gigabytes above 0 and up to {MOST_MEMORY_GB}, got {self.memory_gb}"
            )


@dataclass(frozen=True)
class Plan:
    """Sizes that keep the work within its budget. None of them changes the result."""

    workers: int
    capacity: int  # ids that a worker holds before it writes a run
    share: int  # bytes of text that a worker draws before it reports
    fan_in: int  # runs that are merged at once

    @classmethod
    def make(cls, size: int, window: Window, workers: int, memory_gb: float, vocabulary_bytes: int) -> Plan:
        """Divide `memory_gb` among the workers; there are fewer of them if it would not suffice for all."""
        # For each worker, besides its ids while counting and its read buffers while merging:
        counting = 20 * size + output_bytes(size) + 8 * BLOCK_BYTES
        merging = 48 * size + output_bytes(size) + 16 * classes_for(size) * TILE_ROOM + WAITING_BYTES
        least_ids = LEAST_IDS + 8 * window.reach
        least = max(counting + BYTES_PER_ID * least_ids, merging + 2 * READ_BYTES)
        shared = vocabulary_bytes + 16 * size  # the marginals
        budget = memory_gb * (1 << 30) - shared
        if not budget >= least:
            needed = ceil((shared + least) / (1 << 30) * 1000) / 1000
            raise ValueError(f"memory_gb={memory_gb} is too small for {size} words: {needed} is the least")
        workers = min(workers, int(budget / least))
        each = budget / workers
        capacity = int(min(MOST_IDS, (each - counting) / BYTES_PER_ID))
        return cls(
            workers,
            capacity,
            share=max(BLOCK_BYTES, min(1 << 28, 4 * capacity)),
            fan_in=int(min(MOST_RUNS_AT_ONCE, (each - merging) / READ_BYTES)),
        )

    def read_bytes(self, runs: int) -> int:
        """Return the buffer for each of so many runs that are merged at once: the more they are, the smaller."""
        return min(MOST_READ_BYTES, max(READ_BYTES, self.fan_in * READ_BYTES // max(runs, 1)))

    @property
    def sorted_entries(self) -> int:
        """How many entries of a store a worker may sort at once."""
        return max(1, self.capacity * BYTES_PER_ID // BYTES_PER_SORTED_ENTRY)
