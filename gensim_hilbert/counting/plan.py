"""How the memory that the user grants is spent."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from gensim_hilbert.corpus.blocks import BLOCK_BYTES
from gensim_hilbert.counting.runs import READ_BYTES, output_bytes
from gensim_hilbert.counting.settings import Window

MOST_CLASSES = 64
TILE_ROOM = 1 << 13  # entries of a chunk of the store
MOST_IDS = 1 << 26  # of one run: what is lost, at most, when counting is interrupted
LEAST_IDS = 1 << 16
BYTES_PER_ID = 8  # the id and its place in the list of positions


def classes_for(size: int) -> int:
    """How many classes rows and columns fall into: a power of two, fewer for a small vocabulary."""
    classes = 1
    while classes < MOST_CLASSES and size > 1024 * classes:
        classes *= 2
    return classes


@dataclass(frozen=True)
class Plan:
    """Sizes that keep the work within its budget. None of them changes the result."""

    workers: int
    capacity: int  # ids that a worker holds before it writes a run
    share: int  # bytes of text that a worker draws before it reports
    fan_in: int  # runs merged at once

    @classmethod
    def make(cls, size: int, window: Window, workers: int, memory_gb: float, vocabulary_bytes: int) -> Plan:
        """Divide `memory_gb` among the workers; fewer of them where it would not suffice for all."""
        # For each worker, besides its ids while counting and its read buffers while merging:
        counting = 20 * size + output_bytes(size) + 8 * BLOCK_BYTES
        merging = 48 * size + output_bytes(size) + 16 * classes_for(size) * TILE_ROOM
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
            fan_in=int(min(128, (each - merging) / READ_BYTES)),
        )
