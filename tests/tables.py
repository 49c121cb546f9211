"""Tables of pair counts for tests of training."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from gensim_hilbert import PairCounts


def store(table: np.ndarray, words: list[str] | None = None) -> PairCounts:
    """Counts as in the table."""
    return PairCounts.from_scipy(sparse.coo_array(table), words or [f"w{k}" for k in range(len(table))], scale=1)


def random_table(size: int, seed: int = 0, least: int = 0) -> np.ndarray:
    """Words that differ in frequency, and pairs that differ from chance only by accident."""
    random = np.random.default_rng(seed)
    rates = np.outer(random.exponential(size=size) + 0.1, random.exponential(size=size) + 0.1) * 20
    return random.poisson(rates) + least


def clustered_table(size: int = 60) -> np.ndarray:
    """Words of three kinds, each among its own."""
    random = np.random.default_rng(3)
    kind = np.arange(size) % 3
    return random.poisson(np.where(kind[:, None] == kind, 60, 6) * np.outer(*[random.exponential(size=size) + 0.3] * 2))


def drawn_from_a_model(size: int, rank: int, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of pairs whose PMI is of low rank, and that PMI."""
    random = np.random.default_rng(1)
    w, v = random.normal(size=(size, rank)) * 0.5, random.normal(size=(size, rank)) * 0.5
    p = random.dirichlet(np.ones(size) * 3)
    joint = np.outer(p, p) * np.exp(w @ v.T)
    return random.multinomial(pairs, (joint / joint.sum()).ravel()).reshape(size, size), pmi_of(joint)


def pmi_of(table: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(table * table.sum() / np.outer(table.sum(axis=1), table.sum(axis=0)))
