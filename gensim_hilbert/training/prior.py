"""The Gaussian prior on vectors and covectors: how strong it is."""

from __future__ import annotations

import math

PRIOR_COUNTS = 50.0  # Strength of the prior at 100 dimensions: the weight of so many counted pairs of each word.
PRIOR_EXPONENT = 0.5  # The prior of a word grows with its weight to this power.
STRONGEST_PRIOR = 0.2  # Upper bound: on tiny corpora the formula would shrink all vectors to zero.


def prior_strength(l2: float | str, vector_size: int, evidence: float) -> float:
    """Return the weight of the prior in the loss of a row, given the counts behind the average row."""
    if l2 == "auto":
        return min(PRIOR_COUNTS * math.sqrt(vector_size / 100) / evidence, STRONGEST_PRIOR)
    return float(l2) / evidence
