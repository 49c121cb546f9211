"""The words of a corpus, divided by their hashes among tables, so that many threads add theirs at the same time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from threading import Lock

import numpy as np

from gensim_hilbert._tokens import WordTable, part_of

MOST_PARTS = 64


class DividedWords:
    """Words with their counts, each in the table that its hash says.

    One table for all would make the thread that adds up the words of 64 others the slowest part of the scan.

    Parameters
    ----------
    workers : int
        Number of threads that add words; there are as many tables.
    """

    def __init__(self, workers: int):
        self.tables = [WordTable() for _ in range(min(MOST_PARTS, workers))]
        self.tokens = self.sentences = 0
        self._locks = [Lock() for _ in self.tables]
        self._lock = Lock()
        self._turns = count()

    def add(self, table: WordTable) -> None:
        """Add the words of another table; several threads may do so at once."""
        parts = len(self.tables)
        divided = table.split(parts)
        with self._lock:
            first = next(self._turns)  # Everybody begins with another table, so that few wait for each other.
            self.tokens += table.tokens
            self.sentences += table.sentences
        for part in ((first + k) % parts for k in range(parts)):
            with self._locks[part]:
                self.tables[part].merge_part(divided, part)

    def __len__(self) -> int:
        return sum(map(len, self.tables))

    def counts(self) -> np.ndarray:
        """Return the count of each word, by its number."""
        return np.concatenate([table.counts() for table in self.tables])

    def first_places(self) -> np.ndarray:
        """Return where each word was first seen, by its number."""
        return np.concatenate([table.first_places() for table in self.tables])

    def count_of(self, word: bytes) -> int:
        """Return the count of one word; 0 if it is not there."""
        return self.tables[part_of(word, len(self.tables))].count_of(word)

    def words(self, selection: Iterable[int] | None = None) -> list[str]:
        """Return the words, or those with the given numbers."""
        if selection is None:
            return [word for table in self.tables for word in table.words()]
        numbers = np.array(list(selection), dtype=np.int64)
        starts = np.cumsum([0, *map(len, self.tables)])
        order = np.argsort(numbers)  # By table: the numbers of one follow those of the one before.
        cuts = np.searchsorted(numbers[order], starts)
        found: np.ndarray = np.empty(len(numbers), dtype=object)
        for table, start, first, last in zip(self.tables, starts, cuts, cuts[1:], strict=False):
            mine = order[first:last]
            found[mine] = table.words((numbers[mine] - start).tolist())
        in_order: list[str] = found.tolist()
        return in_order
