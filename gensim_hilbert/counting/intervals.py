"""Credible intervals for PMI: what counts leave open about how much more often two words meet than by chance.

A meeting is an occurrence of two words within one window. The model says that meetings are drawn independently, each
from one of four cells: both words, the context with another term, the term with another context, or neither. With
Jeffreys' prior, the posterior of the four probabilities is a Dirichlet distribution whose parameters are the numbers of
meetings plus 1/2. Tables hold weights instead of numbers of meetings; `meeting_weight` converts one to the other.

The posterior mean of PMI is known in closed form, and its variance up to one covariance, for which the delta method is
used. The quantiles are those of the logarithm of a gamma variable with that variance: this is the exact distribution of
the logarithm of a small count, and approaches the normal distribution for large ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, gammaincinv, polygamma

from gensim_hilbert.counting.settings import Window

PRIOR = 0.5  # Jeffreys' prior: half a meeting in each of the four cells
NEWTON_STEPS = 8  # Newton's method converges quadratically here, from below, for any variance.


class PmiInterval(NamedTuple):
    """The PMI that was counted, and the bounds of its credible interval; three floats, or three arrays."""

    value: Any
    low: Any
    high: Any


class Meetings(NamedTuple):
    """Numbers of meetings, as floats or as arrays that broadcast: of both words, of each, and of all words."""

    both: Any
    context: Any
    term: Any
    total: Any


def refuse_level(level: float) -> None:
    """Raise an error unless `level` can be the probability of an interval."""
    if isinstance(level, bool) or not 0 < level < 1:
        raise ValueError(f"interval must be a probability between 0 and 1, such as 0.95, got {level!r}")


def meeting_weight(window: Window) -> float:
    """Return the weight that counts as one meeting if all distances of a window are equally probable.

    The sum of the weights w of n meetings has the mean n E(w) and the variance n E(w^2). So does E(w^2) / E(w) times a
    Poisson variable. If the weights are all equal, or unknown as for imported counts, this is what they are, or 1.
    """
    weights = np.array(window.left + window.right, dtype=np.float64) / window.scale
    return float(weights @ weights / weights.sum()) if weights.any() else 1.0


def pmi_quantiles(meetings: Meetings, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds between which PMI lies with the probability `level`, and as probably below as above them.

    The lower bound of a pair that never occurs is minus infinity: no data can exclude that two words never meet.
    """
    refuse_level(level)
    both = np.asarray(meetings.both, dtype=np.float64) + PRIOR
    context, term = (np.asarray(one, dtype=np.float64) + 2 * PRIOR for one in (meetings.context, meetings.term))
    # Rounding must not make the fourth cell negative.
    total = np.maximum(np.asarray(meetings.total, dtype=np.float64) + 4 * PRIOR, context + term - both + PRIOR)
    mean = digamma(both) - digamma(context) - digamma(term) + digamma(total)
    variance = polygamma(1, both) - polygamma(1, context) - polygamma(1, term) + polygamma(1, total)
    variance += 2 * both / (context * term) - 2 / total
    shape = trigamma_inverse(variance)
    low, high = (
        mean + np.log(gammaincinv(shape, probability)) - digamma(shape)
        for probability in ((1 - level) / 2, (1 + level) / 2)
    )
    return np.where(np.asarray(meetings.both) > 0, low, -np.inf), high


def trigamma_inverse(variance: np.ndarray) -> np.ndarray:
    """Return the shape of the gamma distribution whose logarithm has a given variance."""
    shape = 0.5 + 1 / variance
    for _ in range(NEWTON_STEPS):
        value = polygamma(1, shape)
        shape = shape + value * (1 - value / variance) / polygamma(2, shape)
    return shape
