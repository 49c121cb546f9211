"""Steps of many shards at once, for GPUs: n shards in a row of a Latin square share neither rows nor columns.

All blocks of both sides take part, so one step is a handful of batched products and one update of all rows. Nothing
waits for the device: sums stay there, and are read once per row of shards, by whoever calls `step`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from gensim_hilbert.objectives import Cost, precise_sum
from gensim_hilbert.training.background import Drawn
from gensim_hilbert.training.device import sent
from gensim_hilbert.training.factors import Factor
from gensim_hilbert.training.gradients import DenseGradients, SampledGradients
from gensim_hilbert.training.pairs import DevicePairs

LARGEST_BATCH = 1 << 28  # Cells of psi at once in dense steps.


class Row(NamedTuple):
    """A row of shards: block i of `w` meets block i of `v`, which are turned by `offset`."""

    w: torch.Tensor
    v: torch.Tensor
    a: torch.Tensor
    b: torch.Tensor
    pairs: DevicePairs
    offset: int
    number: int


class Batches:
    """Makes the steps of a fit on its device, one row of shards after the other."""

    def __init__(self, gradients: DenseGradients | SampledGradients):
        self.gradients, self.shards = gradients, gradients.shards
        self.objective, self.kernel, self.scale = gradients.objective, gradients.kernel, gradients.scale
        kept = self.shards.cache is not None
        self.rows_of_shards: dict[int, DevicePairs] | None = {} if kept else None  # By their offset.

    def step(self, w: Factor, v: Factor, offset: int, rate: float, number: int) -> torch.Tensor:
        """Visit the shards (i, i + offset) of all i, and move all rows.

        Returns sums over these shards: loss, its squared error, mass, share, squared norm of the gradients, prior.
        """
        pairs = self._pairs(offset)
        columns = v.blocks.roll(-offset, dims=0)
        to_w, to_v = torch.zeros_like(w.blocks), torch.zeros_like(columns)
        flat = [x.view(-1, x.shape[-1]) for x in (w.blocks, columns, to_w, to_v)]
        a, b = self.shards.a, self.shards.b.roll(-offset, dims=0)
        there = self.kernel.pair_psi(flat[0], flat[1], pairs)
        cost = self.objective.differentiate_pairs_(there, pairs.with_words(a.reshape(-1), b.reshape(-1)))
        rest, error = there.new_zeros(()), there.new_zeros(())
        if self.objective.has_background:
            ways = self._sampled if isinstance(self.gradients, SampledGradients) else self._dense
            rest, error = ways(Row(w.blocks, columns, a, b, pairs, offset, number), to_w, to_v)
        self.kernel.add_pair_slopes(there.mul_(self.scale), pairs, *flat)
        prior_w, squares_w = w.step_all(to_w, rate)
        prior_v, squares_v = v.step_all(to_v.roll(offset, dims=0), rate)
        cost = Cost(cost.loss + rest, cost.mass + rest, cost.share)
        return stacked(cost.loss, error, cost.mass, cost.share, squares_w + squares_v, prior_w + prior_v)

    def loss(self, w: Factor, v: Factor, offset: int) -> torch.Tensor:
        """Return loss, mass and share of the shards (i, i + offset), exactly and without moving anything."""
        pairs, columns = self._pairs(offset), v.blocks.roll(-offset, dims=0)
        a, b = self.shards.a, self.shards.b.roll(-offset, dims=0)
        flat = (x.reshape(-1, x.shape[-1]) for x in (w.blocks, columns))
        there = self.kernel.pair_psi(*flat, pairs)
        cost = self.objective.differentiate_pairs_(there, pairs.with_words(a.reshape(-1), b.reshape(-1)))
        rest = there.new_zeros(())
        if self.objective.has_background:
            rest, _ = self._dense(Row(w.blocks, columns, a, b, pairs, offset, 0), None, None)
        return stacked(cost.loss + rest, cost.mass + rest, cost.share)

    def _pairs(self, offset: int) -> DevicePairs:
        """Return the pairs of a row of shards, from the device's memory if they are there."""
        if self.rows_of_shards is not None and offset in self.rows_of_shards:
            return self.rows_of_shards[offset]
        keys = [(i, (i + offset) % self.shards.n) for i in range(self.shards.n)]
        pairs = DevicePairs((self.shards[key].pairs for key in keys), self.shards.device)
        if self.rows_of_shards is not None:
            self.rows_of_shards[offset] = pairs
        return pairs

    # ------------------------------------------------------------------ pairs that do not occur

    def _dense(
        self, row: Row, to_w: torch.Tensor | None, to_v: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Fill both gradients, if given, from all cells; return the loss and its squared error, which is 0.

        As many shards are worked on at once as memory allows.
        """
        blocks, rows, _ = row.w.shape
        together = max(1, LARGEST_BATCH // rows**2)
        loss = row.w.new_zeros(())
        for first in range(0, blocks, together):
            some = slice(first, first + together)
            psi = row.w.new_empty(len(row.w[some]), rows, rows)
            self.kernel.psi(row.w[some], row.v[some], psi)
            losses = self.objective.differentiate_background_(psi, row.a[some, :, None], row.b[some, None, :])
            local = row.pairs.row_numbers - first * rows, row.pairs.column_numbers % rows
            visible = self._visible(psi, local[0] * rows + local[1])
            loss = loss + precise_sum((losses * visible).sum(dim=-1))
            psi.mul_(visible).mul_(self.scale)
            if to_w is not None and to_v is not None:
                self.kernel.slopes(psi, row.w[some], row.v[some], to_w[some], True)
                self.kernel.slopes(psi.mT, row.v[some], row.w[some], to_v[some], False)
        return loss, row.w.new_zeros(())

    def _sampled(self, row: Row, to_w: torch.Tensor, to_v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Fill both gradients from samples; return the estimated loss and its squared error."""
        gradients = self.gradients
        assert isinstance(gradients, SampledGradients)
        keys = [(i, (i + row.offset) % self.shards.n) for i in range(self.shards.n)]
        columns = self._drawn(lambda key: gradients.draw_columns(*key, row.number), keys)
        rows = self._drawn(lambda key: gradients.draw_rows(*key, row.number), keys)
        by_columns = self._rows_gradient(row, *columns, to_w)
        by_rows = self._columns_gradient(row, *rows, to_v)
        return precise_sum(by_columns + by_rows) / 2, precise_sum((by_columns - by_rows).square()) / 4

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

    def _rows_gradient(
        self, row: Row, numbers: torch.Tensor, weights: torch.Tensor, to_w: torch.Tensor
    ) -> torch.Tensor:
        """Fill the gradients of rows from some columns of each shard; return the estimated loss of each shard."""
        blocks, rows, width = row.w.shape
        some = row.v.gather(1, numbers[..., None].expand(-1, -1, width))
        psi = row.w.new_empty(blocks, rows, numbers.shape[1])
        self.kernel.psi(row.w, some, psi)
        losses = self.objective.differentiate_background_(psi, row.a[..., None], row.b.gather(1, numbers)[:, None])
        slots = self._slots(numbers, weights)[row.pairs.column_numbers]
        place = torch.where(slots < 0, -1, row.pairs.row_numbers * numbers.shape[1] + slots)
        visible = self._visible(psi, place)
        loss = ((losses * visible).sum(dim=1) * weights).sum(dim=1)
        psi.mul_(visible).mul_((weights * self.scale)[:, None])
        self.kernel.slopes(psi, row.w, some, to_w, True)
        return loss

    def _columns_gradient(
        self, row: Row, numbers: torch.Tensor, weights: torch.Tensor, to_v: torch.Tensor
    ) -> torch.Tensor:
        """Fill the gradients of columns from some rows of each shard; return the estimated loss of each shard."""
        blocks, rows, width = row.w.shape
        some = row.w.gather(1, numbers[..., None].expand(-1, -1, width))
        psi = row.w.new_empty(blocks, numbers.shape[1], rows)
        self.kernel.psi(some, row.v, psi)
        losses = self.objective.differentiate_background_(psi, row.a.gather(1, numbers)[..., None], row.b[:, None])
        slots = self._slots(numbers, weights)[row.pairs.row_numbers]
        block, column = row.pairs.column_numbers // rows, row.pairs.column_numbers % rows
        place = torch.where(slots < 0, -1, (block * numbers.shape[1] + slots) * rows + column)
        visible = self._visible(psi, place)
        loss = ((losses * visible).sum(dim=2) * weights).sum(dim=1)
        psi.mul_(visible).mul_((weights * self.scale)[..., None])
        self.kernel.slopes(psi.mT, row.v, some, to_v, False)
        return loss

    def _slots(self, numbers: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Return for each row of all blocks where it stands among those drawn, or -1."""
        blocks, rows = len(numbers), self.shards.rows
        # Padding is written to a place of its own, behind all others.
        places = torch.where(weights > 0, numbers + rows * torch.arange(blocks, device=numbers.device)[:, None], -1)
        slots = numbers.new_full((blocks * rows + 1,), -1)
        slots[places.reshape(-1)] = torch.arange(numbers.shape[1], device=numbers.device).repeat(blocks)
        return slots[:-1]

    @staticmethod
    def _visible(psi: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Return a matrix like psi that is 0 at some places of the flattened psi, and 1 elsewhere.

        Places outside of psi are ignored, without asking the device how many there are.
        """
        visible = psi.new_ones(psi.numel() + 1)
        visible[torch.where((places >= 0) & (places < psi.numel()), places, psi.numel())] = 0.0
        return visible[:-1].view(psi.shape)


def stacked(*numbers: Any) -> torch.Tensor:
    """Return numbers of one device, or NaNs of the host, as one tensor on that device."""
    device = next(number.device for number in numbers if isinstance(number, torch.Tensor))
    kind = torch.float32 if device.type == "mps" else torch.float64
    return torch.stack([
        number.to(kind) if isinstance(number, torch.Tensor) else torch.full((), number, dtype=kind, device=device)
        for number in numbers
    ])  # fmt: skip
