"""The Gaussian prior on vectors and covectors: how strong it is."""

from __future__ import annotations

import math

import numpy as np

PRIOR_COUNTS = 40.0  # Strength of the prior at 100 dimensions: the weight of so many counted pairs of each word.
# The same for objectives without a background, and for Gibbs. See benchmarks/RESULTS.md for how they were chosen.
PRIOR_COUNTS_OF_PAIRS_ALONE, PRIOR_COUNTS_OF_STREAM = 50.0, 25.0
PRIOR_EXPONENT = 0.5  # The prior of a word grows with its weight to this power.
STRONGEST_PRIOR = 0.2  # Upper bound: on tiny corpora the formula would shrink all vectors to zero.


def prior_strength(l2: float | str, vector_size: int, evidence: float, counts: float = PRIOR_COUNTS) -> float:
    """Return the weight of the prior in the loss of a row, given the counts behind the average row."""
    if l2 == "auto":
        return min(counts * math.sqrt(vector_size / 100) / evidence, STRONGEST_PRIOR)
    return float(l2) / evidence


def prior_of_visits(l2: float | str, vector_size: int, visits: np.ndarray, pairs: float) -> np.ndarray:
    """Return the weight of the prior for each word, beside the pairs of one of its visits as a centre on one side.

    Parameters
    ----------
    l2 : float or "auto"
        Strength of the prior, in counts.
    vector_size : int
        Number of dimensions.
    visits : array
        How often each word is visited in an epoch, on both sides together.
    pairs : float
        How many pairs a visit has, on the average.
    """
    usual = visits.mean()
    strength = prior_strength(l2, vector_size, pairs * usual, PRIOR_COUNTS_OF_STREAM) * pairs * usual
    weights = strength * (visits / usual) ** PRIOR_EXPONENT
    return np.asarray(weights / np.maximum(visits / 2, 0.5), dtype=np.float32)
