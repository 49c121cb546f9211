"""Swivel: least squares on the PMI of pairs that occur, and a soft upper bound for those that do not.

    N > 0:  L = 1/2 sqrt(N_ij) (psi_ij - PMI_ij)^2,      dL/dpsi_ij = sqrt(N_ij) [psi_ij - PMI_ij]
    N = 0:  L = ln(1 + exp(psi_ij - PMI*_ij)),           dL/dpsi_ij = sigma(psi_ij - PMI*_ij)

PMI* is what PMI would be if the pair had been counted once. Losses are scaled to a mean weight of 1 over all cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gensim_hilbert.objectives import Biases, Cost, Objective, Pairs, precise_dot

if TYPE_CHECKING:
    import torch


@dataclass
class Swivel(Objective):
    """psi is PMI for pairs that occur, and stays below PMI* for others.

    Parameters
    ----------
    exponent : float
        Pairs that occur have their counts to this power as weights.
    """

    exponent: float = 0.5

    def prepare(self) -> None:
        """Compute the weights of words, which are sums of the weights of their cells."""
        size = len(self.counts)
        seen = self.sums(lambda counts: np.ones(len(counts)))
        weights = self.sums(lambda counts: counts**self.exponent)
        contexts, terms = (size - n + weight for n, weight in zip(seen, weights, strict=True))
        self.mean = float(contexts.mean())  # weight of a row
        self.scale = size / self.mean
        self.by_cells = contexts / self.mean, terms / self.mean

    @property
    def weights(self) -> Biases:
        """Sums over the cells of each word: roots of counts, and 1 for pairs that do not occur."""
        return self.by_cells

    @property
    def evidence(self) -> float:
        """Counts behind the average row, where a pair that does not occur is as good as one that is counted once."""
        return self.mean

    def phi(self, pairs: Pairs) -> torch.Tensor:
        """Return PMI."""
        return (pairs.values / (pairs.a * pairs.b)).log()

    def differentiate_pairs_(self, psi: torch.Tensor, pairs: Pairs) -> Cost:
        """Turn psi into sqrt(N_ij) (psi_ij - PMI_ij)."""
        psi.sub_(self.phi(pairs))
        slope = self.scale * pairs.values**self.exponent * psi
        loss = precise_dot(slope, psi) / 2
        psi.copy_(slope)
        return Cost(loss)

    def differentiate_background_(self, psi: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Turn psi into sigma(psi_ij - PMI*_ij), where PMI*_ij = -ln(a_i b_j)."""
        from torch.nn.functional import softplus

        psi.add_(a.log()).add_(b.log())
        losses = softplus(psi).mul_(self.scale)
        psi.sigmoid_().mul_(self.scale)
        return losses
