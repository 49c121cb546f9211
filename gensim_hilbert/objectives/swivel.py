"""Swivel: least squares on PMI where pairs occur, a soft upper bound where they do not.

    N > 0:  L = 1/2 sqrt(N_ij) (psi_ij - PMI_ij)^2,      dL/dpsi_ij = sqrt(N_ij) [psi_ij - PMI_ij]
    N = 0:  L = ln(1 + exp(psi_ij - PMI*_ij)),           dL/dpsi_ij = sigma(psi_ij - PMI*_ij)

PMI* is what PMI would be had the pair been counted once. Losses are scaled to weights with a mean of 1 over all cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gensim_hilbert.objectives import Biases, Cost, Objective

if TYPE_CHECKING:
    import torch

    from gensim_hilbert.training.shards import Shard


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

    @property
    def weights(self) -> Biases:
        """Roots of counts, and 1 where there are none."""
        return self.by_cells

    @property
    def evidence(self) -> float:
        """A pair that does not occur tells as much as one that is counted once."""
        return self.mean

    def phi(self, shard: Shard) -> torch.Tensor:
        """PMI."""
        return (shard.values / shard.outer(shard.a, shard.b)).log()

    def differentiate_(self, psi: torch.Tensor, shard: Shard) -> Cost:
        """The bound everywhere, then what takes its place at the pairs that occur."""
        from torch.nn.functional import softplus

        gap = shard.at(psi) - self.phi(shard)
        slope = self.scale * shard.values**self.exponent * gap
        psi.add_(shard.a.log()[:, None]).add_(shard.b.log())  # PMI* = -ln(a_i b_j)
        bound = shard.total(softplus(psi)) - shard.sum(softplus(shard.at(psi)))
        psi.sigmoid_().mul_(self.scale).view(-1)[shard.places] = slope
        return Cost(self.scale * bound + shard.dot(slope, gap) / 2)
