"""Samples of the pairs that do not occur.

Most pairs of words never occur, and each of them matters little. So the gradient of a row is computed from a few
columns only: about m columns are drawn at random, and each is multiplied by one over its probability. Draws are
systematic: of neighbouring columns whose probabilities add up to 1, exactly one is drawn, so that frequent and rare
words are represented evenly. A draw depends on the seed, the pass and the shard alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gensim_hilbert._pairs import Chances

MASK = (1 << 64) - 1


class Drawn(NamedTuple):
    """Numbers of the columns, or rows, that were drawn from a block, with one over their probabilities as weights."""

    numbers: np.ndarray
    weights: np.ndarray


class Sampler:
    """Draws about `most` words of one block, with probabilities in proportion to their weights."""

    def __init__(self, weights: np.ndarray, most: int):
        self.chances = inclusion(np.asarray(weights, dtype=np.float64), most)
        self.ends = np.cumsum(self.chances)
        self.certain = bool(np.all((self.chances == 0) | (self.chances == 1)))
        self.compiled = Chances(self.chances, self.ends, self.certain)  # for code that draws likewise

    def draw(self, u: float) -> Drawn:
        """Return the words at the places u, u + 1, u + 2, ... of the cumulative probabilities; u is from 0 to 1."""
        if self.certain:
            numbers = np.flatnonzero(self.chances)
        else:
            numbers = np.searchsorted(self.ends, np.arange(u, self.ends[-1]), side="right")
            numbers = numbers[numbers < len(self.ends)]
        numbers = numbers.astype(np.int32)
        return Drawn(numbers, (1 / self.chances[numbers]).astype(np.float32))


def inclusion(weights: np.ndarray, most: int) -> np.ndarray:
    """Return probabilities in proportion to weights, at most 1, that add up to `most`; 1 for all if they are fewer."""
    chances = np.zeros(len(weights))
    certain = np.zeros(len(weights), dtype=bool)
    if np.count_nonzero(weights) <= most:
        return (weights > 0).astype(np.float64)
    while True:
        rest = np.where(certain, 0, weights)
        chances = np.where(certain, 1.0, rest * ((most - certain.sum()) / rest.sum()))
        above = (chances > 1) & ~certain
        if not above.any():
            return chances
        certain |= above


def uniform(*key: int) -> float:
    """Return a number from 0 to 1 that depends on the integers of a key, each mixed in as splitmix64 does it."""
    state = 0
    for part in key:
        state = (state ^ part & MASK) + 0x9E3779B97F4A7C15 & MASK
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
        state ^= state >> 31
    return (state >> 11) / (1 << 53)
