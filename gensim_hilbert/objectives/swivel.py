"""Swivel: least squares on PMI where pairs occur, a soft upper bound where they do not.

    N > 0:  L = 1/2 sqrt(N_ij) (psi_ij - PMI_ij)^2,      dL/dpsi_ij = sqrt(N_ij) [psi_ij - PMI_ij]
    N = 0:  L = ln(1 + exp(psi_ij - PMI*_ij)),           dL/dpsi_ij = sigma(psi_ij - PMI*_ij)

PMI* is what PMI would be had the pair been counted once. Losses are scaled to weights with a mean of 1 over all cells.
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
    """psi is PMI, or below what could have been counted.

    Parameters
    ----------
    exponent : float
        Of counts, in the weight of pairs that occur.
    """

    exponent: float = 0.5

    def prepare(self) -> None:
        """The weights of words, by those of their cells."""
        size = len(self.counts)
        seen = self.sums(lambda counts: np.ones(len(counts)))
        weights = self.sums(lambda counts: counts**self.exponent)
        contexts, terms = (size - n + weight for n, weight in zip(seen, weights, strict=True))
        self.mean = float(contexts.mean())  # of rows
        self.scale = size / self.mean
        self.by_cells = contexts / self.mean, terms / self.mean
        self.background_level = 0.75 * self.scale  # sigma(x) is about exp(x) where pairs are not expected to occur.

    @property
    def weights(self) -> Biases:
        """Roots of counts, and 1 where there are none."""
        return self.by_cells

    @property
    def evidence(self) -> float:
        """A pair that does not occur tells as much as one that is counted once."""
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
