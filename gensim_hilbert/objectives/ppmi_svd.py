"""PPMI-SVD: the best low rank approximation of positive PMI, shifted.

    L = sum_ij (psi_ij - phi_ij)^2,           phi_ij = max(PMI_ij - ln k, 0)
    dL/dpsi_ij = 2 [psi_ij - phi_ij],         2 psi_ij at N = 0

Its minimum is the truncated SVD U S V^T of a sparse matrix, which is found without shards, rates or a prior. The
model's `gauge` divides S between covectors and vectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gensim_hilbert.objectives import Cost, Objective, Pairs, precise_sum

if TYPE_CHECKING:
    import torch
    from scipy import sparse


@dataclass
class PPMI(Objective):
    """psi is the positive part of PMI - ln k.

    Parameters
    ----------
    shift : float
        k. SGNS with k noise words per pair shifts PMI by as much.
    """

    shift: float = 1.0

    subwords = False  # an SVD gives vectors, not the n-grams that they could be made of
    ignored_options = ("l2", "passes", "background", "background_samples", "device", "precision")

    def __post_init__(self) -> None:
        if not self.shift > 0:
            raise ValueError(f"shift must be more than 0, got {self.shift}; 1 does not shift")

    def table_for_svd(self) -> sparse.csr_array:
        """Return phi as a sparse matrix."""
        table = self.counts.to_scipy().tocoo()
        pmi = np.log(table.data / (self.contexts[table.row] * self.terms[table.col])) - math.log(self.shift)
        table.data = np.maximum(pmi, 0)
        table.eliminate_zeros()
        return table.tocsr()

    def phi(self, pairs: Pairs) -> torch.Tensor:
        """Return positive PMI, shifted."""
        pmi = (pairs.values / (pairs.a * pairs.b)).log()
        return pmi.sub_(math.log(self.shift)).clamp_(min=0)

    def differentiate_pairs_(self, psi: torch.Tensor, pairs: Pairs) -> Cost:
        """Turn psi into 2 (psi_ij - phi_ij)."""
        psi.sub_(self.phi(pairs))
        loss = precise_sum(psi.square())
        psi.mul_(2)
        return Cost(loss)

    def differentiate_background_(self, psi: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Turn psi into 2 psi_ij."""
        losses = psi.square()
        psi.mul_(2)
        return losses

    @property
    def psi_offset(self) -> float:
        """The shift of PMI."""
        return -math.log(self.shift)
