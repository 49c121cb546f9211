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
from gensim_hilbert.training.device import wide

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
    threshold : float
        Words less frequent than this are not tempered; 0 tempers all, as the paper does.
    """

    def __init__(self, counts: PairCounts, temperature: float = 1.25, threshold: float = 0.0):
        if not temperature >= 1:
            raise ValueError(f"temperature must be 1 or more, got {temperature}")
        if not 0 <= threshold < 1:
            raise ValueError(f"threshold must be a frequency, 0 or more and below 1, got {threshold}")
        self.counts = counts
        self.temperature, self.threshold = temperature, threshold
        contexts, terms = counts.marginals.contexts / counts.total, counts.marginals.terms / counts.total
        self.contexts, self.context_factors = tempered(contexts, temperature, threshold)
        self.terms, self.term_factors = tempered(terms, temperature, threshold)

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
        linear = float(wide(flat[places]) @ wide(values))
        psi.clamp_(max=LARGEST).exp_().mul_(a[:, None]).mul_(b)
        probability = float(wide(psi.sum(dim=1)).sum())
        flat.index_add_(0, places, values, alpha=-1.0)
        return probability, linear

    @property
    def evidence(self) -> float:
        """Counts behind the average row, as the loss weighs them: what a prior competes with."""
        return self.counts.total / len(self.counts)


def tempered(p: np.ndarray, temperature: float, threshold: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """What p becomes, scaled to a mean of 1 over all words, and that divided by p; zero for words that do not occur.

    p^(1/tau); with a threshold t, p min(1, (t / p)^(1 - 1/tau)): the same but for a factor above t, and p below.
    """
    seen = p > 0
    factor = np.zeros_like(p)
    factor[seen] = np.maximum(p[seen], threshold) ** (1 / temperature - 1)
    multiplier = p * factor
    return multiplier / multiplier.mean(), factor / multiplier.mean()
