"""PPMI-SVD: the best low rank approximation of positive PMI, shifted.

    L = sum_ij (psi_ij - phi_ij)^2,           phi_ij = max(PMI_ij - ln k, 0)
    dL/dpsi_ij = 2 [psi_ij - phi_ij],         2 psi_ij at N = 0

Its minimum is the truncated SVD U S V^T of a sparse matrix, which is found without shards, rates or a prior. The
exponent of singular values in vectors, V S^p, is the model's `gauge`; covectors are U S^(1 - p).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gensim_hilbert.objectives import Cost, Objective

if TYPE_CHECKING:
    import torch
    from scipy import sparse

    from gensim_hilbert.training.shards import Shard


@dataclass
class PPMI(Objective):
    """psi is what is positive of PMI - ln k.

    Parameters
    ----------
    shift : float
        k: as many noise words of SGNS shift PMI by as much.
    """

    shift: float = 1.0

    gauge = 0.5
    subwords = False  # an SVD gives vectors, not what they could be made of
    ignored_options = ("l2", "device", "precision")

    def __post_init__(self) -> None:
        if not self.shift > 0:
            raise ValueError(f"shift must be more than 0, got {self.shift}; 1 does not shift")

    def table_for_svd(self) -> sparse.csr_array:
        """Return phi as a sparse matrix: the loss is the squared distance from it, and least for its truncated SVD."""
        table = self.counts.to_scipy().tocoo()
        pmi = np.log(table.data / (self.contexts[table.row] * self.terms[table.col])) - math.log(self.shift)
        table.data = np.maximum(pmi, 0)
        table.eliminate_zeros()
        return table.tocsr()

    def phi(self, shard: Shard) -> torch.Tensor:
        """Positive PMI, shifted."""
        pmi = (shard.values / shard.outer(shard.a, shard.b)).log()
        return pmi.sub_(math.log(self.shift)).clamp_(min=0)

    def differentiate_(self, psi: torch.Tensor, shard: Shard) -> Cost:
        """Of all cells alike."""
        shard.add_(psi, -self.phi(shard))
        loss = shard.total(psi.square())
        psi.mul_(2)
        return Cost(loss)

    @property
    def psi_offset(self) -> float:
        """The shift."""
        return -math.log(self.shift)
