"""Scores of phrases: gensim's two, and the PMI."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

SCORINGS = ("default", "npmi", "pmi")


@dataclass(frozen=True)
class Counts:
    """Counts of candidates, one entry for each, as gensim's scorers take them."""

    first: np.ndarray  # of the first word
    last: np.ndarray  # of the last word
    together: np.ndarray  # of the candidate


def score(counts: Counts, scoring: str, *, min_count: int, different: int, tokens: int) -> np.ndarray:
    """Return the score of each candidate; minus infinity for those that are too rare.

    Parameters
    ----------
    counts : Counts
        How often the candidates and their words occur.
    scoring : {"default", "npmi", "pmi"}
        Which score.
    min_count : int
        The least count of a phrase. The default score deducts it from the count.
    different : int
        How many different words and candidates there are.
    tokens : int
        How many words the corpus has.
    """
    first, last, together = (part.astype(np.float64) for part in (counts.first, counts.last, counts.together))
    if scoring == "default":
        default: np.ndarray = (together - min_count) / (first * last) * different
        return default
    scores = np.full(len(together), -math.inf)
    frequent = np.flatnonzero(together >= min_count)
    p_first, p_last, p_both = (part[frequent] / tokens for part in (first, last, together))
    pmi = logarithms(p_both / (p_first * p_last))
    scores[frequent] = pmi if scoring == "pmi" else pmi / -logarithms(p_both)
    return scores


def logarithms(numbers: np.ndarray) -> np.ndarray:
    """Return the logarithms that gensim has: those of NumPy may differ from Python's in the last bit."""
    return np.fromiter(map(math.log, numbers.tolist()), np.float64, len(numbers))


def refuse_rules(min_count: int, threshold: float, scoring: str) -> None:
    """Raise an error for what gensim refuses, too."""
    if scoring not in SCORINGS:
        raise ValueError(f"scoring must be one of {', '.join(SCORINGS)}, got {scoring!r}")
    if isinstance(min_count, bool) or int(min_count) != min_count or min_count < 1:
        raise ValueError(f"min_count must be a whole number of 1 or more, got {min_count!r}")
    if not math.isfinite(threshold):
        raise ValueError(f"threshold must be a finite number, got {threshold!r}")
    if scoring == "default" and threshold <= 0:
        raise ValueError(f"threshold must be above 0 for the default scoring, got {threshold!r}")
    if scoring == "npmi" and not -1 <= threshold <= 1:
        raise ValueError(f"threshold must be from -1 to 1 for scoring='npmi', got {threshold!r}; 0.5 is a usual value")
