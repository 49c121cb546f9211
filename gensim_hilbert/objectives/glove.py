"""GloVe: weighted least squares on the logarithm of counts, with a bias for each word.

    L = sum_ij h(N_ij) (psi_ij - ln N_ij)^2,    psi_ij = w_i.v_j + b_i + b_j,    h(N) = min(1, (N / x_max)^alpha)
    dL/dpsi_ij = 2 h(N_ij) [psi_ij - ln N_ij],  0 at N = 0

The fitted biases are close to ln N_i - 1/2 ln N, and w_i.v_j is close to PMI. h is scaled to a mean of 1 over all
cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gensim_hilbert.objectives import Biases, Cost, Objective, Pairs, least_squares_

if TYPE_CHECKING:
    import torch


@dataclass
class GloVe(Objective):
    """psi is the logarithm of counts.

    Parameters
    ----------
    x_max : float
        The weight of a pair does not grow beyond this count. GloVe's demo has 10, for corpora of millions of words.
    alpha : float
        Exponent by which weights grow up to there.
    """

    x_max: float = 100.0
    alpha: float = 0.75

    kernel = "biased"
    has_background = False
    ignored_options: ClassVar[tuple[str, ...]] = ("background", "background_samples")

    def __post_init__(self) -> None:
        if not self.x_max > 0:
            raise ValueError(f"x_max must be more than 0, got {self.x_max}")

    def prepare(self) -> None:
        """Compute the weights of words, which are sums of the weights of their pairs."""
        contexts, terms = self.sums(lambda counts: np.minimum(1, (counts / self.x_max) ** self.alpha))
        self.scale = len(contexts) ** 2 / contexts.sum()
        self.by_pairs = contexts / contexts.mean(), terms / terms.mean()

    @property
    def weights(self) -> Biases:
        """Sums of h over the pairs of each word."""
        return self.by_pairs

    def phi(self, pairs: Pairs) -> torch.Tensor:
        """Return the logarithm of counts."""
        return pairs.values.log()

    def differentiate_pairs_(self, psi: torch.Tensor, pairs: Pairs) -> Cost:
        """Turn psi into 2 h(N_ij) (psi_ij - ln N_ij)."""
        weights = (pairs.values / self.x_max).pow_(self.alpha).clamp_(max=1).mul_(self.scale)
        return least_squares_(psi, weights, self.phi(pairs))

    @property
    def start(self) -> Biases:
        """ln N_i - 1/2 ln N: the rest of ln N_ij is PMI."""
        return log_or_zero(self.contexts), log_or_zero(self.terms)

    def offsets(self, biases: Biases | None) -> Biases | None:
        """Return the part of the words' log frequencies that is not in their biases."""
        assert biases is not None
        return self.start[0] - biases[0], self.start[1] - biases[1]


def log_or_zero(x: np.ndarray) -> np.ndarray:
    """Return the logarithm, or 0 for words that do not occur."""
    return np.log(np.where(x > 0, x, 1))
