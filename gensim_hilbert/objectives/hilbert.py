"""Hilbert-MLE: the likelihood of the counts under p^_ij = p_i p_j exp(psi_ij), tempered.

The paper's loss, with its multiplier (p_i p_j)^(1/tau) written as a_i b_j:

    L = sum_ij a_i b_j exp(psi_ij) - s_ij psi_ij,    s_ij = a_i b_j exp(PMI_ij)
    dL/dpsi_ij = a_i b_j exp(psi_ij) - s_ij

Tempering does not move the optimum of a cell, but gives rare words more weight. a and b are scaled to a mean of 1, so
that rates and priors mean the same for every corpus and vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gensim_hilbert.automatic import AUTO, automatic_temperature
from gensim_hilbert.objectives import Biases, Cost, Objective, Pairs, precise_dot, precise_sum

if TYPE_CHECKING:
    import torch

    from gensim_hilbert.vocabulary import Vocabulary

# psi is cut off here, or beyond the largest PMI that the rarest words can have. A step may push a few cells further,
# and the next one brings them back. Without the cut, their gradients would swamp Adam's second moments for hundreds of
# steps.
LARGEST = 14.0


@dataclass
class Hilbert(Objective):
    """The default: psi is PMI.

    Parameters
    ----------
    temperature : float or "auto"
        The paper's tau: 1 is plain maximum likelihood, 2 the paper's choice. "auto" becomes a number, by the amount of
        text and whether it was thinned out, when the objective is bound to counts.
    threshold : float
        Words less frequent than this are not tempered; 0 tempers all, as the paper does.
    """

    temperature: float | str = AUTO
    threshold: float = 0.0

    solvers = ("factorization", "gibbs")
    loss_without_vectors = 1.0
    background_is_its_derivative = True

    def __post_init__(self) -> None:
        if self.temperature != AUTO and (isinstance(self.temperature, str) or not self.temperature >= 1):
            raise ValueError(f"temperature must be 1 or more, or 'auto', got {self.temperature!r}")
        if not 0 <= self.threshold < 1:
            raise ValueError(f"threshold must be a frequency, 0 or more and below 1, got {self.threshold}")

    def prepare(self) -> None:
        """Compute the multipliers a and b, and the psi at which exp is cut off."""
        marginals, total = self.counts.marginals, self.counts.total
        rarest = min(side[side > 0].min() for side in marginals)  # p_ij is at most p_i, so PMI is at most -ln p_j
        self.exponential_up_to = self.largest = max(LARGEST, 1 + math.log(total / rarest))
        _, sample, _ = self.counts.as_counted()
        self.temperature = self.temperature_for(self.counts.vocabulary, sample)
        self.contexts, context_ratios = tempered(marginals.contexts / total, self.temperature, self.threshold)
        self.terms, term_factors = tempered(marginals.terms / total, self.temperature, self.threshold)
        self.factors = context_ratios / total, term_factors

    def temperature_for(self, vocabulary: Vocabulary, sample: float) -> float:
        """Return the temperature as a number, also if it is chosen by the text and by how `sample` thins it out."""
        return automatic_temperature(vocabulary, sample) if self.temperature == AUTO else float(self.temperature)

    @property
    def weights(self) -> Biases:
        """The multipliers a and b."""
        return self.contexts, self.terms

    def phi(self, pairs: Pairs) -> torch.Tensor:
        """Return PMI."""
        return pairs.values.log().sub_(pairs.a.log()).sub_(pairs.b.log())

    def differentiate_pairs_(self, psi: torch.Tensor, pairs: Pairs) -> Cost:
        """Turn psi into a_i b_j exp(psi_ij) - s_ij."""
        linear = precise_dot(psi, pairs.values)
        psi.clamp_(max=self.largest).exp_().mul_(pairs.a).mul_(pairs.b)
        mass = precise_sum(psi)
        psi.sub_(pairs.values)
        return Cost(mass - linear, mass, precise_sum(pairs.values))

    def differentiate_background_(self, psi: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Turn psi into a_i b_j exp(psi_ij), which is its own derivative."""
        return psi.clamp_(max=self.largest).exp_().mul_(a).mul_(b)


def tempered(p: np.ndarray, temperature: float, threshold: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the tempered p, scaled to a mean of 1 over all words, and its ratio to p; 0 for words that do not occur.

    The tempered p is p^(1/tau). With a threshold t it is p min(1, (t / p)^(1 - 1/tau)), which is p for p below t, and
    p^(1/tau) times a constant above.
    """
    factor = tempering(p, temperature, threshold)
    multiplier = p * factor
    return multiplier / multiplier.mean(), factor / multiplier.mean()


def tempering(p: np.ndarray, temperature: float, threshold: float = 0.0) -> np.ndarray:
    """Return the ratio of the tempered p, before it is scaled, to p; 0 for words that do not occur."""
    factor = np.zeros_like(p)
    seen = p > 0
    factor[seen] = np.maximum(p[seen], threshold) ** (1 / temperature - 1)
    return factor
