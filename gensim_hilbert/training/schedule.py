"""How much work a fit takes: shards per side, passes, learning rates, and when training has converged."""

from __future__ import annotations

import math
from dataclasses import dataclass

RATE = 0.5  # How far Adam may move a row in its first steps; less if there are more than USUAL_UPDATES.
USUAL_UPDATES = 256
LEAST_UPDATES, MOST_UPDATES = 32, 512  # Updates of each row, for a few sentences and for MUCH_EVIDENCE or more.
MUCH_EVIDENCE = 7e7  # Pairs counted in 25 million words.
GROWTH = 0.45  # Exponent by which updates grow with evidence in between.
MANY_PAIRS, THINNING = 1400, 0.25  # With fewer pairs per word there are fewer updates, by the ratio to this power.
ROWS = 1024  # Rows of a shard at most: it should stay near the cache, and updates are cheaper than passes.
BYTES_PER_CELL = 12  # Memory of a dense shard: psi in float32, as much again for what is made of it, and its pairs.
STRETCH = 1 / 16  # Share of all passes over which the loss is averaged: over fewer it shows no trend.
EARLIEST = 1 / 2  # Share of all passes before which a loss that no longer falls may only be noise of a high rate.
TAIL = 1 / 4  # Share of all passes in which the rate falls to its end after convergence.


@dataclass
class Schedule:
    """Rates of all steps, given how many there are and after how many training has converged.

    Parameters
    ----------
    rate, final_rate : float
        The first rate, and the last one relative to it.
    passes, steps_per_pass : int
        How many passes are made at most, and the steps of each.
    tolerance : float
        Training has converged when a stretch of passes lowers the loss by less than this share of what was won in all.
    """

    rate: float
    final_rate: float
    passes: int
    steps_per_pass: int
    tolerance: float
    converged: int | None = None  # After how many steps.

    @property
    def steps(self) -> int:
        """The number of steps, at most."""
        return self.passes * self.steps_per_pass

    @property
    def end(self) -> int:
        """The number of steps, as far as can be told by now."""
        if self.converged is None:
            return self.steps
        return self.converged + math.ceil(TAIL * self.passes) * self.steps_per_pass

    def rate_at(self, step: int) -> float:
        """Return half a cosine from the first rate to the last; after convergence, the rest of it passes faster."""
        done = step / self.steps
        if self.converged is not None:
            before = self.converged / self.steps
            done = before + (1 - before) * (step - self.converged) / (self.end - self.converged)
        return self.rate * (self.final_rate + (1 - self.final_rate) * 0.5 * (1 + math.cos(math.pi * done)))

    def look_for_convergence(self, losses: list[float], loss_without_vectors: float) -> bool:
        """Compare mean losses of two stretches; return whether training has just been found to have converged.

        Means are compared because at a high rate one pass may well end above the one before. Training does not stop at
        once, since that would leave the noise of the present rate in the vectors.
        """
        done, k = len(losses), math.ceil(STRETCH * self.passes)
        in_time = EARLIEST * self.passes <= done < (1 - TAIL) * self.passes
        if self.converged is not None or not self.tolerance or not in_time:
            return False
        before, now = sum(losses[-2 * k : -k]) / k, sum(losses[-k:]) / k
        if before - now >= self.tolerance * (loss_without_vectors - now):
            return False
        self.converged = done * self.steps_per_pass
        return True


def updates_for(pairs: float, words: int) -> int:
    """Return how many updates of each row so many counted pairs of so many words are worth."""
    share: float = (pairs / MUCH_EVIDENCE) ** GROWTH * min(1.0, pairs / words / MANY_PAIRS) ** THINNING
    return round(min(MOST_UPDATES, max(LEAST_UPDATES, MOST_UPDATES * share)))


def first_rate(vector_size: int, updates: int) -> float:
    """Return the learning rate to begin with."""
    return RATE / math.sqrt(vector_size) * min(1.0, USUAL_UPDATES / updates)


def shards_per_side(size: int, classes: int, free: int | None = None) -> int:
    """Return the power of two for which shards have 512 to 1,024 rows, or as many as the store serves without waste.

    There are more where a dense shard would not fit into the `free` bytes of a GPU's memory.
    """
    room = math.inf if free is None else max(free, BYTES_PER_CELL * ROWS**2)
    n = 1
    while (n < classes and size > ROWS * n) or BYTES_PER_CELL * (size / n) ** 2 > room:
        n *= 2
    return n
