"""Counted and fitted PMI of a fair sample of pairs, read from a few shards and not from the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

PAIRS_WANTED = 400_000
FIRST_DIAGONAL = 27  # not 0, which has each word's pair with itself


@dataclass
class Pairs:
    """Some of the pairs that occur: row numbers of their words, weights, counted PMI, and fitted PMI."""

    contexts: np.ndarray
    terms: np.ndarray
    counts: np.ndarray
    pmi: np.ndarray
    psi: np.ndarray
    sample: str  # what they are of all pairs, in words

    def __len__(self) -> int:
        return len(self.pmi)


def sample_pairs(model: HilbertMLE, wanted: int = PAIRS_WANTED, seed: int = 1) -> Pairs:
    """Return pairs on some diagonals of shards, where every word is a context and a term as often as every other.

    Shards are strided, so the pairs (i, j) with (j - i) mod n = k are n whole shards that share no rows or columns. All
    pairs are taken where there are few of them; where even one diagonal has too many, some are drawn from it.
    """
    counts = model.fitted_counts
    assert counts is not None
    n = counts.manifest["classes"]
    entries = counts.manifest["entries"] * (2 if counts.symmetric else 1)
    diagonals = min(n, max(1, round(wanted / max(1, entries / n))))
    share = min(1.0, wanted / max(1, entries * diagonals / n))
    draw = np.random.default_rng(seed)
    parts = []
    for k in range(diagonals):
        for i in range(n):
            j = (i + FIRST_DIAGONAL + k) % n
            shard = counts.shard(i, j, n).tocoo()
            some = np.flatnonzero(draw.random(shard.nnz) < share) if share < 1 else slice(None)
            parts.append((shard.row[some] * n + i, shard.col[some] * n + j, shard.data[some]))
    contexts, terms, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    seen = weights > 0
    contexts, terms, weights = contexts[seen], terms[seen], weights[seen]
    marginals = counts.marginals
    pmi = np.log(weights) + np.log(counts.total) - np.log(marginals.contexts[contexts]) - np.log(marginals.terms[terms])
    psi = model.queries.pmi_of_rows(contexts, terms)
    if diagonals == n and share == 1:
        sample = f"all {len(pmi):,} pairs of words that occur"
    else:
        part = share * diagonals / n
        sample = f"a fair sample of the pairs of words that occur, 1 in {1 / part:,.0f}: {len(pmi):,} of them"
    return Pairs(contexts, terms, weights, pmi, psi, sample)


@dataclass
class Agreement:
    """How well psi follows PMI on some of the pairs."""

    pairs: int
    correlation: float
    bias: float  # mean of psi - PMI
    spread: float  # standard deviation of that


def agreement(pmi: np.ndarray, psi: np.ndarray) -> Agreement:
    """Return Pearson's correlation, and the mean and the standard deviation of the difference."""
    if len(pmi) < 2 or not pmi.std() or not psi.std():
        return Agreement(len(pmi), float("nan"), float("nan"), float("nan"))
    difference = psi - pmi
    correlation = float(np.corrcoef(pmi, psi)[0, 1])
    return Agreement(len(pmi), correlation, float(difference.mean()), float(difference.std()))


def bands(values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Divide values by powers of ten: return (name, mask) of each part that is not empty."""
    power = np.floor(np.log10(np.maximum(values, 0.1)) + 1e-9).astype(int)
    found = []
    for k in range(int(power.min(initial=0)), int(power.max(initial=0)) + 1):
        mask = power == k
        if mask.any():
            found.append((f"{10**k:,} – {10 ** (k + 1):,}" if k >= 0 else "under 1", mask))
    return found
