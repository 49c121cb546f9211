"""Sampled gradients for objectives that are exponential in psi, with all loops over cells in compiled code.

The loss is a_i b_j exp(psi_ij) - s_ij psi_ij, that of Hilbert-MLE. The results are those of `SampledGradients`, rounded
otherwise. What is saved are some fifty small operations of torch per shard, each of which makes threads wait for each
other.
"""

from __future__ import annotations

import torch

from gensim_hilbert._pairs import exponential_background, exponential_pairs
from gensim_hilbert.objectives import Cost, Objective
from gensim_hilbert.training.background import Drawn
from gensim_hilbert.training.gradients import SampledGradients, Workspace
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
        self.context_sums, self.term_sums = (side.double().sum(dim=1).tolist() for side in (shards.a, shards.b))

    def __call__(
        self, shard: Shard, w: torch.Tensor, v: torch.Tensor, room: Workspace, number: int
    ) -> tuple[Cost, float]:
        """Fill the workspace with gradients; return an estimate of the loss and the square of its standard error."""
        columns, rows = self.draw_columns(shard.i, shard.j, number), self.draw_rows(shard.i, shard.j, number)
        by_columns = self._sample_side(shard, w, v, columns, room.psi, room.to_w, True)
        by_rows = self._sample_side(shard, v, w, rows, room.psi, room.to_v, False)
        linear, mass, share, known_levels = self._add_known(shard, shard.pairs, w, v, room)
        rest = (by_columns + by_rows) / 2 + self.level * self.context_sums[shard.i] * self.term_sums[shard.j]
        rest -= known_levels
        if shard.selves is not None:
            _, own_mass, _, own_levels = self._add_known(shard, shard.selves, w, v, room)
            rest += own_mass - own_levels
        return Cost(mass + rest - linear, mass + rest, share), (by_columns - by_rows) ** 2 / 4

    def _add_known(
        self, shard: Shard, pairs: HostPairs, w: torch.Tensor, v: torch.Tensor, room: Workspace
    ) -> tuple[float, float, float, float]:
        """Add the gradients of pairs that are computed exactly; return the sums of `exponential_pairs`."""
        psi = pairs.products(w, v, self.kernel.vector_size)
        arrays = psi.numpy(), pairs.starts, pairs.columns, pairs.values.numpy(), shard.a.numpy(), shard.b.numpy()
        sums = exponential_pairs(*arrays, self.level, self.largest, self.scale)
        pairs.add_gradients(psi, w, v, room.to_w, room.to_v, self.kernel.vector_size)
        return sums

    def _sample_side(
        self,
        shard: Shard,
        rows: torch.Tensor,
        others: torch.Tensor,
        drawn: Drawn,
        psi: torch.Tensor,
        out: torch.Tensor,
        of_contexts: bool,
    ) -> float:
        """Fill `out` with the gradient by the rows of one side; return the estimated loss without the level."""
        own, other = (shard.a, shard.b) if of_contexts else (shard.b, shard.a)
        some = others.index_select(0, torch.from_numpy(drawn.numbers))
        weights = other.numpy()[drawn.numbers] * drawn.weights * self.scale
        psi = psi.view(-1)[: len(rows) * len(weights)].view(len(rows), len(weights))
        self.kernel.psi(rows, some, psi)
        total = exponential_background(psi.numpy(), own.numpy(), weights.astype("f4"), self.level, self.largest)
        for pairs in filter(None, (shard.pairs, shard.selves)):
            total -= pairs.hide(psi, drawn.numbers, of_contexts)
        self.kernel.slopes(psi, rows, some, out, of_contexts)
        out.addr_(own, other @ others, alpha=self.level * self.scale)
        return total / self.scale
