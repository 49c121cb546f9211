"""SGNS, word2vec's skip-gram with negative sampling, as the matrix factorization that it is in expectation.

    L = sum_ij N_ij ln(1 + exp(-psi_ij)) + N-_ij ln(1 + exp(psi_ij)),    N-_ij = k N_j u_i^.75 / sum_i u_i^.75
    dL/dpsi_ij = (N_ij + N-_ij) [sigma(psi_ij) - sigma(phi_ij)],         phi_ij = ln(N_ij / N-_ij)

N-_ij is how often word i is expected among the k noise words of all pairs with term j; u are the occurrences of words.
Apart from the smoothing by .75, phi is PMI - ln k. The counts have been subsampled already.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gensim_hilbert.objectives import Biases, Cost, Objective, Pairs, precise_dot

if TYPE_CHECKING:
    import torch


@dataclass
class SGNS(Objective):
    """psi is PMI - ln k, apart from smoothing.

    Parameters
    ----------
    negative : float
        k, the number of noise words per pair.
    ns_exponent : float
        Noise words are drawn in proportion to their counts to this power.
    """

    negative: float = 5
    ns_exponent: float = 0.75

    def __post_init__(self) -> None:
        if not self.negative > 0:
            raise ValueError(f"SGNS needs noise: negative must be more than 0, got {self.negative}")

    def prepare(self) -> None:
        """Compute the weights of noise with a mean of 1, and the scale with which N + N- has a mean of 1."""
        noise = self.counts.vocabulary.counts.astype(np.float64)
        noise = np.power(noise, self.ns_exponent, out=np.zeros_like(noise), where=noise > 0)
        self.noise = noise / noise.sum()
        self.contexts = self.noise * len(noise)
        self.terms = self.counts.marginals.terms / self.counts.marginals.terms.mean()
        self.share = self.negative / (1 + self.negative)  # of noise in all weights
        scale = len(noise) ** 2 / self.counts.total / (1 + self.negative)
        self.factors = np.full(len(noise), scale), np.ones(len(noise))

    def phi(self, pairs: Pairs) -> torch.Tensor:
        """Return ln(N / N-)."""
        return (pairs.values / (self.share * pairs.a * pairs.b)).log()

    def differentiate_pairs_(self, psi: torch.Tensor, pairs: Pairs) -> Cost:
        """Turn psi into N-_ij sigma(psi_ij) - N_ij sigma(-psi_ij)."""
        from torch.nn.functional import softplus

        noise = self.share * pairs.a * pairs.b
        loss = precise_dot(pairs.values, softplus(-psi)) + precise_dot(noise, softplus(psi))
        psi.sigmoid_().mul_(noise + pairs.values).sub_(pairs.values)
        return Cost(loss)

    def differentiate_background_(self, psi: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Turn psi into N-_ij sigma(psi_ij)."""
        from torch.nn.functional import softplus

        a = self.share * a
        losses = softplus(psi).mul_(a).mul_(b)
        psi.sigmoid_().mul_(a).mul_(b)
        return losses

    @property
    def evidence(self) -> float:
        """Counts behind the average row, noise included."""
        return (1 + self.negative) * self.counts.total / len(self.counts)

    @property
    def psi_offset(self) -> float:
        """The shift of PMI."""
        return -math.log(self.negative)

    def offsets(self, biases: Biases | None) -> Biases | None:
        """Return what the smoothing adds to PMI."""
        frequency = self.counts.marginals.contexts / self.counts.total
        there = (frequency > 0) & (self.noise > 0)
        added = np.full(len(frequency), -self.psi_offset)  # a word without pairs has no PMI
        added[there] = np.log(frequency[there] / self.noise[there])
        return added, np.zeros(len(frequency))
