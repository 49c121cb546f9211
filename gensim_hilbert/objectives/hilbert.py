"""Hilbert-MLE: the likelihood of the counts under p^_ij = p_i p_j exp(psi_ij), tempered.

The paper's loss, with its multiplier (p_i p_j)^(1/tau) written as a_i b_j:

    L = sum_ij a_i b_j exp(psi_ij) - s_ij psi_ij,    s_ij = a_i b_j exp(PMI_ij)
    dL/dpsi_ij = a_i b_j exp(psi_ij) - s_ij

Tempering moves no optimum; it lets rare words weigh more. a and b are scaled to a mean of 1, so that rates and priors
mean the same for every corpus and vocabulary.
"""

from __future__ import annotations

import numpy as np
import torch

from gensim_hilbert.counting.pair_counts import PairCounts

# psi is cut off here. A step may send a few cells beyond, and the next one bring them back; uncut, their gradients
# would swamp Adam's second moments for hundreds of steps.
LARGEST = 14.0


class Hilbert:
    """The multipliers of a table of counts, and what its entries become.

    Parameters
    ----------
    counts : PairCounts
        The table.
    temperature : float
        The paper's tau: 1 is plain maximum likelihood, 2 the paper's choice.
    """

    def __init__(self, counts: PairCounts, temperature: float = 1.25):
        if not temperature >= 1:
            raise ValueError(f"temperature must be 1 or more, got {temperature}")
        self.counts = counts
        self.temperature = temperature
        self.contexts, self.context_factors = tempered(counts.marginals.contexts / counts.total, temperature)
        self.terms, self.term_factors = tempered(counts.marginals.terms / counts.total, temperature)

    def positives(self, i: int, j: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, columns and values s of the shard [i::n, j::n], numbered within it."""
        shard = self.counts.shard(i, j, n).tocoo()
        rows, columns = shard.row, shard.col
        values = shard.data / self.counts.total * self.context_factors[i::n][rows] * self.term_factors[j::n][columns]
        return rows, columns, values

    @staticmethod
    def differentiate_(
        psi: torch.Tensor, a: torch.Tensor, b: torch.Tensor, places: torch.Tensor, values: torch.Tensor
    ) -> tuple[float, float]:
        """Turn the psi of a shard into dL/dpsi, in place; returns sum a_i b_j exp(psi_ij) and sum s_ij psi_ij.

        `places` are those of the positives `values` in the flattened shard. The difference of the sums is the loss.
        """
        flat = psi.view(-1)
        linear = float(flat[places].double() @ values.double())
        psi.clamp_(max=LARGEST).exp_().mul_(a[:, None]).mul_(b)
        probability = float(psi.sum(dim=1).sum(dtype=torch.float64))
        flat.index_add_(0, places, values, alpha=-1.0)
        return probability, linear

    @property
    def evidence(self) -> float:
        """Counts behind the average row, as the loss weighs them: what a prior competes with."""
        return self.counts.total / len(self.counts)


def tempered(p: np.ndarray, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """p^(1/tau), scaled to a mean of 1 over the words that occur, and that divided by p; zero for words that do not."""
    seen = p > 0
    multiplier = np.zeros_like(p)
    multiplier[seen] = p[seen] ** (1 / temperature)
    multiplier /= multiplier.mean()
    factor = np.zeros_like(p)
    factor[seen] = multiplier[seen] / p[seen]
    return multiplier, factor
