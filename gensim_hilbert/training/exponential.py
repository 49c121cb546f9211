"""Sampled gradients for objectives that are exponential in psi, with all loops over cells in compiled code.

The loss is a_i b_j exp(psi_ij) - s_ij psi_ij, that of Hilbert-MLE. The results are those of `SampledGradients`, rounded
otherwise. What is saved are some fifty small operations of torch per shard, each of which makes threads wait for each
other.
"""

from __future__ import annotations

import torch

from gensim_hilbert._pairs import add_exponential_pairs, exponential_sample
from gensim_hilbert.objectives import Cost, Objective
from gensim_hilbert.training.background import Drawn
from gensim_hilbert.training.gradients import SampledGradients
from gensim_hilbert.training.kernels import Product
from gensim_hilbert.training.pairs import HostPairs
from gensim_hilbert.training.shards import Shard, Shards


class ExponentialGradients(SampledGradients):
    """Gradients that are exact where pairs occur and sampled elsewhere, on the host.

    Parameters
    ----------
    objective, kernel, shards, columns, seed
        As for `SampledGradients`; `objective.exponential_up_to` must be a number.
    """

    def __init__(self, objective: Objective, kernel: Product, shards: Shards, columns: int, seed: int):
        super().__init__(objective, kernel, shards, columns, seed)
        assert objective.exponential_up_to is not None
        self.largest = objective.exponential_up_to

    def _add_known(
        self, shard: Shard, pairs: HostPairs, occur: bool, w: torch.Tensor, v: torch.Tensor, *gradients: torch.Tensor
    ) -> tuple[Cost, float]:
        """Add the gradients of pairs that are computed exactly; those that do not occur have values of 0."""
        linear, mass, share, levels = add_exponential_pairs(
            w.numpy(), v.numpy(), pairs.starts, pairs.columns, pairs.values.numpy(), shard.a.numpy(), shard.b.numpy(),
            self.level, self.largest, self.scale, *(side.numpy() for side in gradients),
        )  # fmt: skip
        return Cost(mass - linear, mass, share), levels

    def _sample(
        self, shard: Shard, rows: torch.Tensor, others: torch.Tensor, drawn: Drawn, of_contexts: bool
    ) -> tuple[torch.Tensor, float]:
        """Return the gradient by the rows of one side, and the estimated loss of pairs that do not occur."""
        own, other = (shard.a, shard.b) if of_contexts else (shard.b, shard.a)
        gradient, selves = torch.empty_like(rows), shard.selves
        loss = exponential_sample(
            rows.numpy(), others.numpy(), own.numpy(), other.numpy(), drawn.numbers, drawn.weights,
            shard.pairs.starts, shard.pairs.columns, of_contexts, self.level, self.largest, self.scale,
            gradient.numpy(), None if selves is None else (selves.starts, selves.columns),
        )  # fmt: skip
        return gradient, loss
