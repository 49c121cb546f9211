"""How the vector of a word enters that of a text: a weight, and one matrix for all words.

Let p be the frequency of a word and v its vector. The vector of a text is the mean over its words of

    w v A / |v|,   w = a / (a + p)   (smooth inverse frequency, Arora et al. 2017).

The matrix A is learnt from the frequencies alone. It first makes texts of random words vary alike in all directions
(whitening): A = M^(-1/2), where M = sum of p (w / |v|)^2 v v' is the second moment of a random word. Then it removes
the component that all texts share, which is the mean of random words. That mean and the first singular vector of a
sample of sentences have a cosine of .998, and give the same scores (benchmarks/RESULTS.md); but the mean is known for
every model, also for one that has never seen a sentence, and nothing has to be kept with the model.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

logger = logging.getLogger(__name__)

WEIGHTINGS = ("sif", "mean")
ROWS_AT_A_TIME = 1 << 14
TYPICAL_WORDS = 20  # in a text
LEAST_VARIANCE = 1e-3  # of a direction, as a share of the mean over all: what varies less is not stretched further


@dataclass(frozen=True)
class Weighting:
    """What `encode` is asked to do with words; see there."""

    weighting: str = "sif"
    a: float = 1e-3
    whiten: bool = True
    remove: int = 1

    @classmethod
    def of(cls, weighting: str, a: float, whiten: bool | None, remove: int | None, *, corpus: bool = True) -> Weighting:
        """Return the settings with their defaults, or raise an error; `corpus`: components are those of the corpus."""
        if weighting not in WEIGHTINGS:
            raise ValueError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {weighting!r}")
        is_sif = weighting == "sif"
        if not (isinstance(a, float | int) and math.isfinite(a) and a > 0):
            raise ValueError(f"a must be a positive number, such as 0.001, got {a!r}")
        whiten, remove = is_sif if whiten is None else bool(whiten), int(is_sif) if remove is None else index(remove)
        if remove < 0:
            raise ValueError(f"remove must be a number of components, 0 for none, got {remove!r}")
        if corpus and whiten and remove > 1:
            raise ValueError(
                f"remove={remove!r} is too much: after whitening, random texts have one component in common; use "
                "whiten=False, or common='texts' for the components of the texts themselves"
            )
        return cls(weighting, float(a), whiten, remove if corpus else 0)

    @property
    def is_plain(self) -> bool:
        """Whether vectors are added as they are."""
        return self.weighting == "mean" and not self.whiten and not self.remove


def frequencies(vectors: KeyedVectors) -> np.ndarray:
    """Return the frequency of each word; that of Zipf's law by its place if it is not known."""
    counts, number = vectors.expandos.get("count"), len(vectors)
    places = np.arange(number, 0, -1)
    # For files that have no counts, gensim makes these up.
    if counts is None or len(counts) != number or np.array_equal(counts, places) or not np.any(counts):
        logger.info("the words have no counts: their frequencies are estimated from their order, by Zipf's law")
        counts = 1 / places[::-1]
    shares = np.asarray(counts, dtype=np.float64)
    return np.asarray(shares / shares.sum())


def word_weights(vectors: np.ndarray, p: np.ndarray, settings: Weighting) -> np.ndarray:
    """Return the factor of each vector: with SIF, its weight for a vector of length 1."""
    if settings.weighting == "mean":
        return np.ones(len(vectors), dtype=np.float32)
    weights = settings.a / (settings.a + p)
    for start in range(0, len(vectors), ROWS_AT_A_TIME):
        some = slice(start, start + ROWS_AT_A_TIME)
        lengths = np.linalg.norm(vectors[some].astype(np.float64), axis=1)
        weights[some] = np.divide(weights[some], lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return weights.astype(np.float32)


def text_matrix(vectors: np.ndarray, p: np.ndarray, weights: np.ndarray, settings: Weighting) -> np.ndarray:
    """Return the matrix A, which whitens and removes what random texts have in common."""
    size = vectors.shape[1]
    moment, mean = np.zeros((size, size)), np.zeros(size)
    for start in range(0, len(vectors), ROWS_AT_A_TIME):
        some = slice(start, start + ROWS_AT_A_TIME)
        rows = vectors[some] * weights[some, None]
        mean += p[some] @ rows
        if settings.whiten or settings.remove > 1:
            rows *= np.sqrt(p[some, None])
            moment += rows.T @ rows
    matrix = np.eye(size)
    if settings.whiten:
        matrix = whitening(moment)
        mean = mean @ matrix
    if settings.remove > 1:
        random_text = np.outer(mean, mean) * (1 - 1 / TYPICAL_WORDS) + moment / TYPICAL_WORDS
        common = strongest(random_text, settings.remove)
    else:
        common = mean[None, : size * settings.remove]
        common = common / (np.linalg.norm(common) or 1)
    return (matrix - matrix @ common.T @ common).astype(np.float32) if common.size else matrix.astype(np.float32)


def whitening(moment: np.ndarray) -> np.ndarray:
    """Return the matrix after which all directions vary alike, but those in which hardly anything varies."""
    values, axes = np.linalg.eigh(moment)
    least = LEAST_VARIANCE * max(values.mean(), np.finfo(np.float64).tiny)
    strengths = np.sqrt(values.mean() / np.maximum(values, least))
    return np.asarray((axes * strengths) @ axes.T)


def strongest(moment: np.ndarray, number: int) -> np.ndarray:
    """Return so many directions of unit length with the largest second moments, the largest first."""
    _, axes = np.linalg.eigh(moment)
    return np.ascontiguousarray(axes[:, ::-1][:, :number].T)


def remove_components(rows: np.ndarray, components: np.ndarray) -> None:
    """Remove the parts of vectors of texts along directions that they have in common, in place."""
    directions = components.astype(np.float32)
    rows -= (rows @ directions.T) @ directions


def common_components(rows: np.ndarray, number: int) -> np.ndarray:
    """Return the directions that the vectors of texts have most in common."""
    moment = np.zeros((rows.shape[1], rows.shape[1]))
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        some = rows[start : start + ROWS_AT_A_TIME].astype(np.float64)
        moment += some.T @ some
    return strongest(moment, number)
