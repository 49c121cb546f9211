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

from typing import NamedTuple

import torch

from gensim_hilbert.objectives import Cost, Objective, precise_sum
from gensim_hilbert.training.background import Drawn, Sampler, uniform
from gensim_hilbert.training.factors import Factor
from gensim_hilbert.training.kernels import Product
from gensim_hilbert.training.pairs import HostPairs
from gensim_hilbert.training.shards import Shard, Shards

LEVEL_SHARDS = 4  # Shards by which the level of the background is measured before each pass.
POWER = 0.5  # Words are drawn by their weights to this power, below 1 since exp(psi) of rare words varies more.


class Gradients(NamedTuple):
    """The gradients of a shard by the rows of both sides, its loss, and the square of that loss' standard error."""

    to_w: torch.Tensor
    to_v: torch.Tensor
    cost: Cost
    error: float


class DenseGradients:
    """Gradients that visit every cell of a shard."""

    def __init__(self, objective: Objective, kernel: Product, shards: Shards):
        self.objective, self.kernel, self.shards = objective, kernel, shards
        self.scale = shards.n / shards.size

    def loss(self, shard: Shard, w: torch.Tensor, v: torch.Tensor) -> tuple[Cost, torch.Tensor]:
        """Return the exact loss of a shard, and its derivatives by psi."""
        psi = self.kernel.psi(w, v)
        flat, places = psi.view(-1), shard.pairs.places
        there = flat[places]
        rest = 0.0
        if self.objective.has_background:
            losses = self.objective.differentiate_background_(psi, shard.a[:, None], shard.b[None])
            rest = float(precise_sum(losses.sum(dim=1)) - precise_sum(losses.view(-1)[places]))
        else:
            psi.zero_()
        cost = Cost(*map(float, self.objective.differentiate_pairs_(there, shard.pairs.with_words(shard.a, shard.b))))
        flat[places] = there
        return Cost(cost.loss + rest, cost.mass + rest, cost.share), psi

    def __call__(self, shard: Shard, w: torch.Tensor, v: torch.Tensor, number: int) -> Gradients:
        """Return the exact gradients and loss."""
        cost, slope = self.loss(shard, w, v)
        slope.mul_(self.scale)
        return Gradients(self.kernel.slopes(slope, w, v, True), self.kernel.slopes(slope.T, v, w, False), cost, 0.0)


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

    def measure_level(self, w: Factor, v: Factor, offset: int) -> None:
        """Set the level to what the derivatives of the background are over a_i b_j, on average over a few shards.

        These are shards (i, i + offset), where blocks that meet are on one rank.
        Only objectives whose background is exponential in psi have a level: derivatives of others are bounded, while
        a_i b_j is not.
        """
        if self.kernel.extra or not self.objective.background_is_its_derivative:
            return
        host, n = self.shards.on_host(), self.shards.n
        sums = []
        for i in range(0, n, max(1, n // LEVEL_SHARDS)):
            if i not in host.division.own:
                continue
            j = (i + offset) % n
            shard = host[i, j]
            drawn = self.column_samplers[j].draw(0.5)
            numbers, weights = torch.from_numpy(drawn.numbers), torch.from_numpy(drawn.weights)
            b = shard.b.index_select(0, numbers)
            psi = w[i].cpu() @ v[j].cpu().index_select(0, numbers).T
            self.objective.differentiate_background_(psi, shard.a[:, None], b[None])
            by_chance = torch.outer(shard.a, b)
            for matrix in (psi, by_chance):
                for pairs in filter(None, (shard.pairs, shard.selves)):
                    pairs.hide(matrix, drawn.numbers, of_rows=True)
            of_shard = [float(matrix.sum(dim=0).double() @ weights.double()) for matrix in (psi, by_chance)]
            sums.append((i, of_shard))
        total, expected = map(sum, zip(*host.division.by_block(sums), strict=True))
        self.level = total / expected if expected else 0.0

    def draw_columns(self, i: int, j: int, number: int) -> Drawn:
        """Return columns of a shard, drawn for the pass with this number."""
        return self.column_samplers[j].draw(uniform(self.seed, number, i, j, 0))

    def draw_rows(self, i: int, j: int, number: int) -> Drawn:
        """Return rows of a shard, drawn for the pass with this number."""
        return self.row_samplers[i].draw(uniform(self.seed, number, i, j, 1))

    def __call__(self, shard: Shard, w: torch.Tensor, v: torch.Tensor, number: int) -> Gradients:
        """Return gradients and loss, estimated from the draws of the pass with this number."""
        if not self.objective.has_background:
            to_w, to_v = torch.zeros_like(w), torch.zeros_like(v)
            return Gradients(to_w, to_v, self._add_known(shard, shard.pairs, True, w, v, to_w, to_v)[0], 0.0)
        columns, rows = self.draw_columns(shard.i, shard.j, number), self.draw_rows(shard.i, shard.j, number)
        to_w, by_columns = self._sample(shard, w, v, columns, True)
        to_v, by_rows = self._sample(shard, v, w, rows, False)
        cost, levels = self._add_known(shard, shard.pairs, True, w, v, to_w, to_v)
        rest = (by_columns + by_rows) / 2 + self.level * self.shards.by_chance(shard.i, shard.j) - levels
        if shard.selves is not None:
            own, levels = self._add_known(shard, shard.selves, False, w, v, to_w, to_v)
            rest += own.loss - levels
        cost = Cost(cost.loss + rest, cost.mass + rest, cost.share)
        error = by_columns - by_rows
        return Gradients(to_w, to_v, cost, error * error / 4)  # `** 2` would be rounded otherwise than in compiled code

    def _add_known(
        self, shard: Shard, pairs: HostPairs, occur: bool, w: torch.Tensor, v: torch.Tensor, *gradients: torch.Tensor
    ) -> tuple[Cost, float]:
        """Add the gradients of pairs that are computed exactly to those by w and v.

        Returns their loss, as pairs that occur or as words with themselves that do not, and the sum of their level.
        """
        psi, known = self.kernel.pair_psi(w, v, pairs), pairs.with_words(shard.a, shard.b)
        if occur:
            cost = Cost(*map(float, self.objective.differentiate_pairs_(psi, known)))
        else:
            cells = psi.view(-1, 1, 1), known.a.view(-1, 1, 1), known.b.view(-1, 1, 1)
            cost = Cost(float(precise_sum(self.objective.differentiate_background_(*cells))))
        levels = self.level * known.a * known.b
        self.kernel.add_pair_slopes(psi.sub_(levels).mul_(self.scale), pairs, w, v, *gradients)
        return cost, float(precise_sum(levels))

    def _sample(
        self, shard: Shard, rows: torch.Tensor, others: torch.Tensor, drawn: Drawn, of_contexts: bool
    ) -> tuple[torch.Tensor, float]:
        """Return the gradient by the rows of one side, from some rows of the other, with the level of all others.

        Returns as well the estimated loss of all pairs that do not occur, without the level.
        """
        numbers, weights = torch.from_numpy(drawn.numbers), torch.from_numpy(drawn.weights)
        own, other = (shard.a, shard.b) if of_contexts else (shard.b, shard.a)
        some, chosen = others.index_select(0, numbers), other.index_select(0, numbers)
        psi = self.kernel.psi(rows, some)
        words = (own[:, None], chosen[None]) if of_contexts else (chosen[None], own[:, None])
        losses = self.objective.differentiate_background_(psi, *words)
        psi.addr_(own, chosen, alpha=-self.level)
        for pairs in filter(None, (shard.pairs, shard.selves)):
            pairs.hide(psi, drawn.numbers, of_contexts)
            if losses is not psi:
                pairs.hide(losses, drawn.numbers, of_contexts)
        loss = losses.sum(dim=0).double() @ weights.double()
        gradient = self.kernel.slopes(psi.mul_(weights * self.scale), rows, some, of_contexts)
        if self.level:
            gradient.addr_(own, other @ others, alpha=self.level * self.scale)
        return gradient, float(loss)
