"""Pairs across the cuts between blocks.

Blocks are counted on their own. If a line runs from one block into the next, the few words on both sides of the cut are
kept, and the pairs between them are added when all blocks are done.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensim_hilbert.counting.settings import Window
from gensim_hilbert.untrusted import is_whole


@dataclass(frozen=True)
class Seam:
    """The ids at both ends of a stretch that begins or ends inside a line."""

    source: int
    start: int
    inside: bool  # It begins inside a line.
    open: bool  # It ends inside a line.
    through: bool  # It holds no line end: one line runs all the way through.
    head: tuple[int, ...]  # the first ids of the line in which it begins, as many as the window reaches
    tail: tuple[int, ...]  # the last ids of the line in which it ends

    def to_json(self) -> list[Any]:
        """Return its entry in the journal."""
        return [self.source, self.start, self.inside, self.open, self.through, list(self.head), list(self.tail)]

    @classmethod
    def from_json(cls, row: list[Any]) -> Seam:
        """Make one of its entry in the journal, or raise a ValueError if that is none."""
        source, start, inside, is_open, through, head, tail = row
        if not all(map(is_whole, [source, start, *head, *tail])):
            raise ValueError(f"the seam at {start!r} cannot be right")
        return cls(source, start, inside, is_open, through, tuple(head), tuple(tail))


def stitch(seams: Iterable[Seam], window: Window, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs across all cuts as (row, column, count), not yet summed; ids of `size` and above are gaps."""
    triples: list[tuple[int, int, int]] = []
    line: tuple[int, ...] = ()  # the last ids of the line so far
    for seam in sorted(seams, key=lambda seam: (seam.source, seam.start)):
        if not seam.inside:
            line = ()
        for i, left in enumerate(reversed(line)):
            for distance, right in enumerate(seam.head[: window.reach - i], start=i + 1):
                if left < size and right < size:
                    triples += cross(left, right, distance, window)
        if not seam.open:
            line = ()
        elif seam.through:
            line = (line + seam.tail)[-window.reach :]
        else:
            line = seam.tail
    columns = np.array(triples, dtype=np.uint64).reshape(-1, 3)
    return columns[:, 0].astype(np.uint32), columns[:, 1].astype(np.uint32), columns[:, 2].copy()


def cross(left: int, right: int, distance: int, window: Window) -> list[tuple[int, int, int]]:
    """Return what one pair adds to the table of contexts x terms, or to its upper half if that is all we store."""
    as_left = window.left[distance - 1] if distance <= len(window.left) else 0
    as_right = window.right[distance - 1] if distance <= len(window.right) else 0
    if window.mirrored:
        return [(min(left, right), max(left, right), as_left * (1 + (left == right)))]
    return [(i, j, weight) for i, j, weight in ((left, right, as_left), (right, left, as_right)) if weight]
