"""How the memory that the user grants is spent."""

from __future__ import annotations

from dataclasses import dataclass

from gensim_hilbert._merge import row_bytes
from gensim_hilbert.corpus import BLOCK_BYTES
from gensim_hilbert.counting.runs import READ_BYTES
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
    def make(cls, size: int, window: Window, workers: int, memory_gb: float, table_bytes: int) -> Plan:
        """Divide `memory_gb` among the workers; fewer of them where it would not suffice for all."""
        budget = memory_gb * (1 << 30) - table_bytes
        while True:
            each = budget / workers - 20 * size - 2 * row_bytes(size) - 8 * BLOCK_BYTES
            capacity = min(MOST_IDS, int(each / BYTES_PER_ID))
            if capacity >= LEAST_IDS + 8 * window.reach:
                break
            if workers == 1:
                least = (table_bytes + budget / workers - each + BYTES_PER_ID * (LEAST_IDS + 8 * window.reach)) / (
                    1 << 30
                )
                raise ValueError(f"memory_gb={memory_gb} is too small for {size} words: {least:.3f} is the least")
            workers -= 1
        merging = budget / workers - 40 * size - 16 * MOST_CLASSES * TILE_ROOM - 2 * row_bytes(size)
        fan_in = max(2, min(128, int(merging / READ_BYTES)))
        return cls(workers, capacity, share=max(BLOCK_BYTES, min(1 << 28, 4 * capacity)), fan_in=fan_in)
