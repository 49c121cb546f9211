"""The space that covectors span, and the loss of a vector in it: plain values, without torch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np

from gensim_hilbert.automatic import AUTO
from gensim_hilbert.objectives.hilbert import Hilbert, tempered, tempering
from gensim_hilbert.training.prior import PRIOR_COUNTS, PRIOR_EXPONENT, prior_strength

LEAST_STRENGTH = 1e-12  # Share of the strongest axis below which the prior's metric treats an axis as absent.


@dataclass(frozen=True)
class Space:
    """Covectors that stay as they are.

    Parameters
    ----------
    words : list of str
        The words whose covectors these are.
    covectors : array
        One covector per word.
    metric : array
        The matrix G by which the prior measures vectors: a vector v has the prior's loss of v^T G^-1 v.
    psi_offset : float
        What covector . vector exceeds PMI by.
    temperature, sample : float or "auto"
        Those of the model, which are also those of models in its space, unless others are asked for.
    """

    words: list[str]
    covectors: np.ndarray
    metric: np.ndarray
    psi_offset: float = 0.0
    temperature: float | str = AUTO
    sample: float | str = AUTO

    @property
    def vector_size(self) -> int:
        """Number of dimensions."""
        return int(self.covectors.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of words and covectors."""
        digest = sha256("\0".join(map(repr, self.words)).encode("utf-8", "surrogatepass"))
        for array in (self.covectors, self.metric, np.float64(self.psi_offset)):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def covectors_of(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return one covector for each of other words, zeros for unknown ones, and which words are known."""
        rows = np.fromiter((self.index.get(word, -1) for word in words), dtype=np.int64, count=len(words))
        known = rows >= 0
        covectors = np.zeros((len(words), self.vector_size), dtype=np.float32)
        covectors[known] = self.covectors[rows[known]]
        return covectors, known


class TermLosses:
    """The numbers in the Hilbert loss of a term, as training has them: a, b, s and lambda.

    Parameters
    ----------
    objective : Hilbert
        Its temperature and threshold.
    contexts, terms : array
        The marginals of all words in the counts.
    l2 : float or "auto"
        Strength of the prior, in counts.
    vector_size : int
        Number of dimensions.
    usual_l2 : float
        What "auto" is at 100 dimensions.
    """

    def __init__(
        self,
        objective: Hilbert,
        contexts: np.ndarray,
        terms: np.ndarray,
        l2: float | str,
        vector_size: int,
        usual_l2: float = PRIOR_COUNTS,
    ):
        self.objective, self.total, size = objective, float(contexts.sum()), len(contexts)
        tempers = float(objective.temperature), objective.threshold
        self.contexts, context_ratios = tempered(contexts / self.total, *tempers)
        self.context_factors = context_ratios / self.total
        p = terms / self.total
        self.mean = float((p * tempering(p, *tempers)).mean())
        # In the loss of the whole table, which is a mean, every word has V cells.
        self.prior = size * prior_strength(l2, vector_size, self.total / size, usual_l2)

    def multipliers(self, marginals: np.ndarray) -> np.ndarray:
        """Return the number b of terms with these marginals."""
        return np.asarray(marginals / self.total * self.term_factors(marginals))

    def term_factors(self, marginals: np.ndarray) -> np.ndarray:
        """Return by what the counts of terms with these marginals are multiplied."""
        tempers = float(self.objective.temperature), self.objective.threshold
        return np.asarray(tempering(marginals / self.total, *tempers) / self.mean)

    def values(self, counts: np.ndarray, contexts: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Return s for counts of contexts with terms, given the factor of the term for each count."""
        return np.asarray(counts * self.context_factors[contexts] * factors)

    def priors(self, multipliers: np.ndarray) -> np.ndarray:
        """Return lambda, the weight of the prior, of rows with these multipliers."""
        return np.asarray(self.prior * multipliers**PRIOR_EXPONENT)


def prior_metric(covectors: np.ndarray, vectors: np.ndarray, priors: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the matrix G by which the prior measures vectors of a model, whatever gauge the model is shown in.

    The prior is a sum of squares of both sides, and the fit is free to choose A in psi = (W A) (V A^-T)^T. It chooses
    the A for which that sum is smallest. With the moments M_W = W^T P W and M_V = V^T P V, where P are the priors of
    words, this is G = A A^T with G M_W G = M_V: the geometric mean of M_W^-1 and M_V.
    """
    m_w, m_v = (
        (side.T * weights) @ side
        for side, weights in zip((covectors.astype(np.float64), vectors.astype(np.float64)), priors, strict=True)
    )
    root, inverse = matrix_roots(m_w)
    inner, _ = matrix_roots(root @ m_v @ root)
    return np.asarray(inverse @ inner @ inverse)


def matrix_roots(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the square root of a positive semidefinite matrix and its inverse; axes that are absent count as weak."""
    squares, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    strongest = squares[-1] if squares[-1] > 0 else 1.0
    squares = np.maximum(squares, LEAST_STRENGTH * strongest)
    return (axes * np.sqrt(squares)) @ axes.T, (axes / np.sqrt(squares)) @ axes.T
