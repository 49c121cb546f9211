"""The loss of a shard and its gradients by the rows of both sides, exact or with a sampled background.

Pairs that occur are always computed exactly. Their psi is large; if they were sampled, it could run away between two
draws. All other pairs are the background, for which there are two ways. The dense way visits every cell. The sampled
way draws m of the shard's columns for the gradients of its rows, and m of its rows for the gradients of its columns,
and leaves out pairs that occur. The two samples are independent estimates of the same sum of losses, so half of their
difference is an estimate of the standard error of their mean.

Two things reduce the noise of samples. The derivative of the background is about c a_i b_j, where c is the objective's
level. The sum of this part over all columns is computed exactly, and only D_ij - c a_i b_j is sampled. And the psi of a
word with itself may be far beyond all others, so that these pairs are computed exactly even if they do not occur.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from gensim_hilbert.objectives import Cost, Objective, precise_sum
from gensim_hilbert.training.background import Drawn, Sampler, uniform
from gensim_hilbert.training.factors import Factor
from gensim_hilbert.training.kernels import Product
from gensim_hilbert.training.shards import Shard, Shards

LEVEL_SHARDS = 4  # Shards by which the level of the background is measured before each pass.
POWER = 0.5  # Words are drawn by their weights to this power, below 1 since exp(psi) of rare words varies more.


@dataclass
class Workspace:
    """Buffers for one shard at a time; allocating them anew would take longer than some of the work."""

    psi: torch.Tensor
    to_w: torch.Tensor
    to_v: torch.Tensor


class DenseGradients:
    """Gradients that visit every cell of a shard."""

    def __init__(self, objective: Objective, kernel: Product, shards: Shards):
        self.objective, self.kernel, self.shards = objective, kernel, shards
        self.scale = shards.n / shards.size

    def workspace(self, width: int) -> Workspace:
        """Return buffers for one thread."""
        rows, device = self.shards.rows, self.shards.device
        sizes = (rows, rows), (rows, width), (rows, width)
        return Workspace(*(torch.empty(*size, device=device) for size in sizes))

    def loss(self, shard: Shard, w: torch.Tensor, v: torch.Tensor, psi: torch.Tensor) -> Cost:
        """Return the exact loss of a shard; `psi` becomes the derivative."""
        self.kernel.psi(w, v, psi)
        flat, places = psi.view(-1), shard.pairs.places
        there = flat[places]
        rest: torch.Tensor | float = 0.0
        if self.objective.has_background:
            losses = self.objective.differentiate_background_(psi, shard.a[:, None], shard.b[None])
            rest = precise_sum(losses.sum(dim=1)) - precise_sum(losses.view(-1)[places])
        else:
            psi.zero_()
        cost = self.objective.differentiate_pairs_(there, shard.pairs.with_words(shard.a, shard.b))
        flat[places] = there
        return Cost(cost.loss + rest, cost.mass + rest, cost.share)

    def __call__(
        self, shard: Shard, w: torch.Tensor, v: torch.Tensor, room: Workspace, number: int
    ) -> tuple[Cost, float]:
        """Fill the workspace with gradients; return the loss and the square of its standard error, which is 0."""
        cost = self.loss(shard, w, v, room.psi)
        room.psi.mul_(self.scale)
        self.kernel.slopes(room.psi, w, v, room.to_w, True)
        self.kernel.slopes(room.psi.T, v, w, room.to_v, False)
        return cost, 0.0


class SampledGradients:
    """Gradients that are exact where pairs occur and sampled elsewhere.

    Parameters
    ----------
    objective, kernel, shards
        What is fitted.
    columns : int
        How many columns, and rows, are drawn for each shard on average.
    seed : int
        Draws depend on it, and on the pass and the shard.
    """

    def __init__(self, objective: Objective, kernel: Product, shards: Shards, columns: int, seed: int):
        self.objective, self.kernel, self.shards, self.seed = objective, kernel, shards, seed
        self.scale = shards.n / shards.size
        self.columns = columns
        self.most = min(math.ceil(1.5 * columns), shards.rows)
        self.level = 0.0
        self.begin_pass(0.5)

    def begin_pass(self, done: float) -> None:
        """Set the number of columns to draw: half of `columns` at the beginning, and three times as many at the end.

        `done` is the share of all passes that is done. At first steps are long, and noise does not matter much; at the
        end it does.
        """
        if not self.objective.has_background:
            return
        most = min(round((0.5 + done) * self.columns), self.shards.rows)
        n, sides = self.shards.n, (self.objective.contexts, self.objective.terms)
        self.row_samplers, self.column_samplers = (
            [Sampler(side[k::n] ** POWER, most) for k in range(n)] for side in sides
        )

    def measure_level(self, w: Factor, v: Factor) -> None:
        """Set the level to what the derivatives of the background are over a_i b_j, on average over a few shards.

        Only objectives whose background is exponential in psi have a level: derivatives of others are bounded, while
        a_i b_j is not.
        """
        if self.kernel.extra or not self.objective.background_is_its_derivative:
            return
        host, n = self.shards.on_host(), self.shards.n
        total, expected = 0.0, 0.0
        for i in range(0, n, max(1, n // LEVEL_SHARDS)):
            shard = host[i, (i + n // 2) % n]
            drawn = self.column_samplers[shard.j].draw(0.5)
            numbers, weights = torch.from_numpy(drawn.numbers), torch.from_numpy(drawn.weights)
            b = shard.b.index_select(0, numbers)
            psi = w[i].cpu() @ v[shard.j].cpu().index_select(0, numbers).T
            self.objective.differentiate_background_(psi, shard.a[:, None], b[None])
            by_chance = torch.outer(shard.a, b)
            for matrix in (psi, by_chance):
                for pairs in filter(None, (shard.pairs, shard.selves)):
                    pairs.hide(matrix, drawn.numbers, of_rows=True)
            total += float(psi.sum(dim=0).double() @ weights.double())
            expected += float(by_chance.sum(dim=0).double() @ weights.double())
        self.level = total / expected if expected else 0.0

    def draw_columns(self, i: int, j: int, number: int) -> Drawn:
        """Return columns of a shard, drawn for the pass with this number."""
        return self.column_samplers[j].draw(uniform(self.seed, number, i, j, 0))

    def draw_rows(self, i: int, j: int, number: int) -> Drawn:
        """Return rows of a shard, drawn for the pass with this number."""
        return self.row_samplers[i].draw(uniform(self.seed, number, i, j, 1))

    def workspace(self, width: int) -> Workspace:
        """Return buffers for one thread."""
        rows, device = self.shards.rows, self.shards.device
        sizes = (rows, self.most), (rows, width), (rows, width)
        return Workspace(*(torch.empty(*size, device=device) for size in sizes))

    def __call__(
        self, shard: Shard, w: torch.Tensor, v: torch.Tensor, room: Workspace, number: int
    ) -> tuple[Cost, float]:
        """Fill the workspace with gradients; return an estimate of the loss and the square of its standard error.

        Draws are those of the pass with this number.
        """
        psi, known = self.kernel.pair_psi(w, v, shard.pairs), shard.pairs.with_words(shard.a, shard.b)
        cost, error = self.objective.differentiate_pairs_(psi, known), 0.0
        if self.objective.has_background:
            levels = self.level * known.a * known.b
            psi.sub_(levels)
            columns, rows = self.draw_columns(shard.i, shard.j, number), self.draw_rows(shard.i, shard.j, number)
            by_columns = self._sample(shard, w, v, columns, room.psi, room.to_w, True)
            by_rows = self._sample(shard, v, w, rows, room.psi, room.to_v, False)
            rest, error = (by_columns + by_rows) / 2, float(by_columns - by_rows) ** 2 / 4
            rest = rest + self.level * precise_sum(shard.a) * precise_sum(shard.b) - precise_sum(levels)
            if shard.selves is not None:
                rest = rest + self._add_selves(shard, w, v, room)
            cost = Cost(cost.loss + rest, cost.mass + rest, cost.share)
        else:
            room.to_w.zero_()
            room.to_v.zero_()
        self.kernel.add_pair_slopes(psi.mul_(self.scale), shard.pairs, w, v, room.to_w, room.to_v)
        return cost, error

    def _add_selves(self, shard: Shard, w: torch.Tensor, v: torch.Tensor, room: Workspace) -> torch.Tensor:
        """Add the gradients of words with themselves; return their loss without the level."""
        assert shard.selves is not None
        psi, known = self.kernel.pair_psi(w, v, shard.selves), shard.selves.with_words(shard.a, shard.b)
        cells = psi.view(-1, 1, 1), known.a.view(-1, 1, 1), known.b.view(-1, 1, 1)
        losses = self.objective.differentiate_background_(*cells)
        loss, levels = precise_sum(losses), self.level * known.a * known.b
        psi.sub_(levels).mul_(self.scale)
        self.kernel.add_pair_slopes(psi, shard.selves, w, v, room.to_w, room.to_v)
        return loss - precise_sum(levels)

    def _sample(
        self,
        shard: Shard,
        rows: torch.Tensor,
        others: torch.Tensor,
        drawn: Drawn,
        psi: torch.Tensor,
        out: torch.Tensor,
        of_contexts: bool,
    ) -> torch.Tensor:
        """Fill `out` with the gradient by the rows of one side, from some rows of the other.

        Returns the estimated loss of all pairs that do not occur, without the level.
        """
        numbers, weights = torch.from_numpy(drawn.numbers), torch.from_numpy(drawn.weights)
        own, other = (shard.a, shard.b) if of_contexts else (shard.b, shard.a)
        some, chosen = others.index_select(0, numbers), other.index_select(0, numbers)
        psi = psi.view(-1)[: len(rows) * len(numbers)].view(len(rows), len(numbers))
        self.kernel.psi(rows, some, psi)
        words = (own[:, None], chosen[None]) if of_contexts else (chosen[None], own[:, None])
        losses = self.objective.differentiate_background_(psi, *words)
        psi.addr_(own, chosen, alpha=-self.level)
        for pairs in filter(None, (shard.pairs, shard.selves)):
            pairs.hide(psi, drawn.numbers, of_contexts)
            if losses is not psi:
                pairs.hide(losses, drawn.numbers, of_contexts)
        loss = losses.sum(dim=0).double() @ weights.double()
        self.kernel.slopes(psi.mul_(weights * self.scale), rows, some, out, of_contexts)
        if self.level:
            out.addr_(own, other @ others, alpha=self.level * self.scale)
        return loss
