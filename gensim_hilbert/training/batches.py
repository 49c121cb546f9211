"""Steps of many shards at once, for GPUs: n shards in a row of a Latin square share neither rows nor columns.

All blocks of both sides take part, so one step is a handful of batched products and one update of all rows. Nothing
waits for the device: sums stay there, and are read once per row of shards, by whoever calls `step`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from gensim_hilbert.objectives import Cost, Pairs, precise_dot, precise_sum
from gensim_hilbert.training.background import Drawn
from gensim_hilbert.training.device import sent
from gensim_hilbert.training.factors import Factor
from gensim_hilbert.training.gradients import DenseGradients, SampledGradients
from gensim_hilbert.training.pairs import DevicePairs

LARGEST_BATCH = 1 << 28  # Cells of psi at once in dense steps.


class Row(NamedTuple):
    """A row of shards, or those of this rank: block k of `w` meets block k of `v`, as they are listed in `keys`."""

    w: torch.Tensor
    v: torch.Tensor
    a: torch.Tensor
    b: torch.Tensor
    pairs: DevicePairs
    selves: DevicePairs | None
    keys: list[tuple[int, int]]
    number: int

    def words(self, pairs: DevicePairs) -> Pairs:
        """Return the values of pairs beside the numbers of their words."""
        return pairs.with_words(self.a.reshape(-1), self.b.reshape(-1))

    @property
    def known_rows(self) -> torch.Tensor:
        """The rows of all pairs that are computed exactly."""
        return self.pairs.row_numbers if self.selves is None else torch.cat([
            self.pairs.row_numbers, self.selves.row_numbers
        ])  # fmt: skip

    @property
    def known_columns(self) -> torch.Tensor:
        """The columns of all pairs that are computed exactly."""
        return self.pairs.column_numbers if self.selves is None else torch.cat([
            self.pairs.column_numbers, self.selves.column_numbers
        ])  # fmt: skip


class Batches:
    """Makes the steps of a fit on its device, one row of shards after the other."""

    def __init__(self, gradients: DenseGradients | SampledGradients):
        self.gradients, self.shards = gradients, gradients.shards
        self.objective, self.kernel, self.scale = gradients.objective, gradients.kernel, gradients.scale
        self.numbers = self.shards.division.numbers()
        kept = self.shards.cache is not None
        self.kept: dict[int, tuple[DevicePairs, DevicePairs | None]] | None = {} if kept else None  # By their offset.

    @property
    def level(self) -> float:
        """The level of the background, which is subtracted from samples."""
        return self.gradients.level if isinstance(self.gradients, SampledGradients) else 0.0

    def step(self, w: Factor, v: Factor, offset: int, rate: float, number: int) -> torch.Tensor:
        """Visit the shards (i, i + offset) of all i of this rank, and move their rows, for the time `number`.

        Returns sums over these shards: loss, its squared error, mass, share, squared norm of the gradients, prior.
        """
        row = self._row(w, v, offset, number // self.shards.n)
        to_w, to_v = torch.zeros_like(row.w), torch.zeros_like(row.v)
        flat = [x.view(-1, x.shape[-1]) for x in (row.w, row.v, to_w, to_v)]
        psi, known = self.kernel.pair_psi(flat[0], flat[1], row.pairs), row.words(row.pairs)
        cost = self.objective.differentiate_pairs_(psi, known)
        rest, error = psi.new_zeros(()), psi.new_zeros(())
        if isinstance(self.gradients, SampledGradients) and self.objective.has_background:
            psi.sub_(self.level * known.a * known.b)
            rest, error = self._sampled(row, to_w, to_v)
        elif self.objective.has_background:
            rest = self._dense(row, to_w, to_v)
        self.kernel.add_pair_slopes(psi.mul_(self.scale), row.pairs, *flat)
        prior_w, squares_w = w.step_all(to_w, rate, number)
        prior_v, squares_v = v.step_all(to_v.roll(self._turn(v, offset), dims=0), rate, number)
        cost = Cost(cost.loss + rest, cost.mass + rest, cost.share)
        return stacked(cost.loss, error, cost.mass, cost.share, squares_w + squares_v, prior_w + prior_v)

    def loss(self, w: Factor, v: Factor, offset: int) -> torch.Tensor:
        """Return loss, its squared error, mass and share of the shards (i, i + offset); nothing is moved."""
        row = self._row(w, v, offset, 0)
        psi = self.kernel.pair_psi(row.w.view(-1, row.w.shape[-1]), row.v.view(-1, row.v.shape[-1]), row.pairs)
        cost = self.objective.differentiate_pairs_(psi, row.words(row.pairs))
        rest, error = psi.new_zeros(()), psi.new_zeros(())
        if self.objective.has_background and isinstance(self.gradients, SampledGradients):
            rest, error = self._sampled(row, torch.zeros_like(row.w), torch.zeros_like(row.v))
        elif self.objective.has_background:
            rest = self._dense(row)
        return stacked(cost.loss + rest, error, cost.mass + rest, cost.share)

    def _row(self, w: Factor, v: Factor, offset: int, number: int) -> Row:
        """Return a row of shards, its pairs from the device's memory if they are there."""
        found = None if self.kept is None else self.kept.get(offset)
        keys = [(i, (i + offset) % self.shards.n) for i in self.numbers]
        if found is None:
            shards = [self.shards[key] for key in keys]
            selves = [shard.selves for shard in shards if shard.selves is not None]
            device = self.shards.device
            found = (
                DevicePairs([shard.pairs for shard in shards], device),
                DevicePairs(selves, device) if selves else None,
            )
            if self.kept is not None:
                self.kept[offset] = found
        turn = -self._turn(v, offset)
        a, b = w.places.select(self.shards.a), v.places.select(self.shards.b).roll(turn, dims=0)
        return Row(w.blocks.contiguous(), v.blocks.roll(turn, dims=0), a, b, *found, keys, number)

    def _turn(self, v: Factor, offset: int) -> int:
        """Return where the block that the first block of rows meets stands in `v`; among ranks, blocks are aligned."""
        return 0 if v.places.ranks.size > 1 else offset

    # ------------------------------------------------------------------ pairs that do not occur

    def _dense(self, row: Row, to_w: torch.Tensor | None = None, to_v: torch.Tensor | None = None) -> torch.Tensor:
        """Fill both gradients, if given, from all cells; return the loss.

        As many shards are worked on at once as memory allows.
        """
        blocks, rows, _ = row.w.shape
        together = max(1, LARGEST_BATCH // rows**2)
        loss = row.w.new_zeros(())
        for first in range(0, blocks, together):
            some = slice(first, first + together)
            psi = self.kernel.psi(row.w[some], row.v[some])
            losses = self.objective.differentiate_background_(psi, row.a[some, :, None], row.b[some, None, :])
            local = row.pairs.row_numbers - first * rows, row.pairs.column_numbers % rows
            visible = ones_but_at(psi, local[0] * rows + local[1])
            loss = loss + precise_sum((losses * visible).sum(dim=-1))
            psi.mul_(visible).mul_(self.scale)
            if to_w is not None and to_v is not None:
                to_w[some] = self.kernel.slopes(psi, row.w[some], row.v[some], True)
                to_v[some] = self.kernel.slopes(psi.mT, row.v[some], row.w[some], False)
        return loss

    def _sampled(self, row: Row, to_w: torch.Tensor, to_v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Fill both gradients from samples; return the estimated loss and its squared error."""
        gradients = self.gradients
        assert isinstance(gradients, SampledGradients)
        columns = self._drawn(lambda key: gradients.draw_columns(*key, row.number), row.keys)
        rows = self._drawn(lambda key: gradients.draw_rows(*key, row.number), row.keys)
        by_columns = self._sample(row, *columns, to_w, True)
        by_rows = self._sample(row, *rows, to_v, False)
        loss, error = precise_sum(by_columns + by_rows) / 2, precise_sum((by_columns - by_rows).square()) / 4
        known = row.words(row.pairs)
        everywhere = precise_sum(row.a.sum(dim=1) * row.b.sum(dim=1))
        loss = loss + self.level * (everywhere - precise_dot(known.a, known.b))
        if row.selves is not None:
            loss = loss + self._add_selves(row, row.selves, to_w, to_v)
        return loss, error

    def _add_selves(self, row: Row, selves: DevicePairs, to_w: torch.Tensor, to_v: torch.Tensor) -> torch.Tensor:
        """Add the gradients of words with themselves; return their loss without the level."""
        flat = [x.view(-1, x.shape[-1]) for x in (row.w, row.v, to_w, to_v)]
        psi, known = self.kernel.pair_psi(flat[0], flat[1], selves), row.words(selves)
        cells = psi.view(-1, 1, 1), known.a.view(-1, 1, 1), known.b.view(-1, 1, 1)
        loss = precise_sum(self.objective.differentiate_background_(*cells))
        levels = self.level * known.a * known.b
        self.kernel.add_pair_slopes(psi.sub_(levels).mul_(self.scale), selves, *flat)
        return loss - precise_sum(levels)

    def _drawn(
        self, draw: Callable[[tuple[int, int]], Drawn], keys: list[tuple[int, int]]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return numbers and weights drawn for each shard, one row each; shorter ones end with weights of 0."""
        drawn = [draw(key) for key in keys]
        most = max(len(one.numbers) for one in drawn)
        numbers, weights = np.zeros((len(keys), most), dtype=np.int64), np.zeros((len(keys), most), dtype=np.float32)
        for k, one in enumerate(drawn):
            numbers[k, : len(one.numbers)], weights[k, : len(one.weights)] = one
        return sent(torch.from_numpy(numbers), self.shards.device), sent(torch.from_numpy(weights), self.shards.device)

    def _sample(
        self, row: Row, numbers: torch.Tensor, weights: torch.Tensor, out: torch.Tensor, of_contexts: bool
    ) -> torch.Tensor:
        """Fill `out` with the gradients by the rows of one side, from some rows of the other side of each shard.

        Returns the estimated loss of each shard.
        """
        rows, others, own, other = (row.w, row.v, row.a, row.b) if of_contexts else (row.v, row.w, row.b, row.a)
        known, known_others = (row.known_rows, row.known_columns)[:: 1 if of_contexts else -1]
        some, chosen = others.gather(1, numbers[..., None].expand(-1, -1, others.shape[-1])), other.gather(1, numbers)
        psi = self.kernel.psi(rows, some)
        words = (own[..., None], chosen[:, None]) if of_contexts else (chosen[:, None], own[..., None])
        losses = self.objective.differentiate_background_(psi, *words)
        psi.sub_(self.level * own[..., None] * chosen[:, None])
        slots = self._slots(numbers, weights)[known_others]
        visible = ones_but_at(psi, torch.where(slots < 0, -1, known * numbers.shape[1] + slots))
        loss = ((losses * visible).sum(dim=1) * weights).sum(dim=1)
        weighted = psi.mul_(visible).mul_((weights * self.scale)[:, None])
        out.copy_(self.kernel.slopes(weighted, rows, some, of_contexts))
        if self.level:
            out.add_(own[..., None] * (other[:, None] @ others), alpha=self.level * self.scale)
        return loss

    def _slots(self, numbers: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Return for each row of all blocks where it stands among those drawn, or -1."""
        blocks, rows = len(numbers), self.shards.rows
        # Padding is written to a place of its own, behind all others.
        places = torch.where(weights > 0, numbers + rows * torch.arange(blocks, device=numbers.device)[:, None], -1)
        slots = numbers.new_full((blocks * rows + 1,), -1)
        slots[places.reshape(-1)] = torch.arange(numbers.shape[1], device=numbers.device).repeat(blocks)
        return slots[:-1]


def ones_but_at(psi: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Return a tensor like psi that is 0 at some places of the flattened psi, and 1 elsewhere.

    Places outside of psi are ignored, without asking the device how many there are.
    """
    ones = psi.new_ones(psi.numel() + 1)
    ones[torch.where((places >= 0) & (places < psi.numel()), places, psi.numel())] = 0.0
    return ones[:-1].view(psi.shape)


def stacked(*numbers: Any) -> torch.Tensor:
    """Return numbers of one device, or NaNs of the host, as one tensor on that device."""
    device = next(number.device for number in numbers if isinstance(number, torch.Tensor))
    kind = torch.float32 if device.type == "mps" else torch.float64
    return torch.stack([
        number.to(kind) if isinstance(number, torch.Tensor) else torch.full((), number, dtype=kind, device=device)
        for number in numbers
    ])  # fmt: skip
