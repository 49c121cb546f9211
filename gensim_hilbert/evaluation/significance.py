"""How far a score can be trusted, and whether two scores differ.

Pairs of a similarity set are resampled one by one. Questions of an analogy set are not independent of one another: 50
pairs of words make 2,450 questions. So word pairs are resampled, and a question counts as often as both of its pairs
were drawn, multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import binomtest, norm

RESAMPLES = 1000
LEVEL = 0.05
ENTRIES = 1 << 22  # of resamples, in memory at a time


class Difference(NamedTuple):
    """The first score minus the second, on what both cover; `p` is the probability of as much by chance."""

    value: float
    low: float
    high: float
    p: float
    items: int


def draws(items: int, seed: int) -> Iterator[np.ndarray]:
    """Yield how often each item is drawn, one row per resample, in blocks of rows."""
    random = np.random.default_rng(seed)
    rows = max(1, ENTRIES // max(items, 1))
    for start in range(0, RESAMPLES, rows):
        count = min(rows, RESAMPLES - start)
        drawn = random.integers(items, size=(count, items)) + np.arange(count)[:, None] * items
        yield np.bincount(drawn.ravel(), minlength=count * items).reshape(count, items).astype(np.float64)


def midranks(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the ranks of values that occur `counts` times, one row per resample; equal values share their mean rank.

    The order of values is the same in all resamples: one sort serves all.
    """
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf) > 0)
    alike = np.add.reduceat(counts[:, order], starts, axis=1)
    ranks = np.cumsum(alike, axis=1) - (alike - 1) / 2
    group = np.empty(len(values), dtype=np.intp)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(values)))
    return ranks[:, group]


def resampled_spearman(gold: np.ndarray, scores: Sequence[np.ndarray], seed: int) -> np.ndarray:
    """Return Spearman's rho of each of the scores with gold in every resample, the same resamples for all."""
    found: list[list[np.ndarray]] = [[] for _ in scores]
    for counts in draws(len(gold), seed):
        middle = (len(gold) + 1) / 2
        golden = midranks(gold, counts) - middle
        weighed = golden * counts
        scale = np.einsum("rk,rk->r", weighed, golden)
        for values, rhos in zip(scores, found, strict=True):
            ranks = midranks(values, counts) - middle
            spread = np.sqrt(scale * np.einsum("rk,rk,rk->r", counts, ranks, ranks))
            rho = np.einsum("rk,rk->r", weighed, ranks)
            rhos.append(np.divide(rho, spread, out=np.zeros_like(rho), where=spread > 0))
    return np.array([np.concatenate(rhos) for rhos in found])


def resampled_pearson(gold: np.ndarray, scores: Sequence[np.ndarray], seed: int) -> np.ndarray:
    """Return Pearson's correlation of each of the scores with gold in every resample, the same resamples for all."""
    found: list[list[np.ndarray]] = [[] for _ in scores]
    golden = gold - gold.mean()  # Sums of small numbers lose less.
    centred = [values - values.mean() for values in scores]
    for counts in draws(len(gold), seed):
        middle = counts @ golden / len(gold)
        scale = counts @ golden**2 / len(gold) - middle**2
        for values, correlations in zip(centred, found, strict=True):
            mean = counts @ values / len(gold)
            spread = np.sqrt(np.maximum(scale * (counts @ values**2 / len(gold) - mean**2), 0))
            shared = counts @ (golden * values) / len(gold) - middle * mean
            correlations.append(np.divide(shared, spread, out=np.zeros_like(shared), where=spread > 0))
    return np.array([np.concatenate(correlations) for correlations in found])


def resampled_mean(values: np.ndarray, pairs: np.ndarray, seed: int) -> np.ndarray:
    """Return the mean of values of questions in every resample of the word pairs that they are made of."""
    size = int(pairs.max()) + 1
    place = (pairs[:, 0], pairs[:, 1])
    table, there = (csr_array((x, place), shape=(size, size)) for x in (values, np.ones(len(values))))
    means = []
    for counts in draws(size, seed):
        total, items = ((counts * (matrix @ counts.T).T).sum(axis=1) for matrix in (table, there))
        means.append(np.divide(total, items, out=np.full_like(total, values.mean()), where=items > 0))
    return np.concatenate(means)


def interval(resampled: np.ndarray) -> tuple[float, float]:
    """Return the interval that 95% of the resamples lie in."""
    low, high = np.quantile(resampled, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


def difference(value: float, resampled: np.ndarray, items: int) -> Difference:
    """Return a difference with its interval and p.

    p is computed by the standard deviation of the resamples, since counting 1,000 of them tells no small p.
    """
    spread = float(resampled.std(ddof=1))
    p = 2 * float(norm.sf(abs(value) / spread)) if spread > 0 else float(value == 0)
    return Difference(value, *interval(resampled), p, items)


def mcnemar(first: np.ndarray, second: np.ndarray) -> float:
    """Return the exact p of McNemar's test: a coin decides who is right where only one of two is."""
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    if not only_first + only_second:
        return 1.0
    return float(binomtest(only_first, only_first + only_second).pvalue)


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number, by Holm's method."""
    order = np.argsort(p)
    corrected = np.minimum(np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1)), 1)
    result = np.empty(len(p))
    result[order] = corrected
    return [float(value) for value in result]
