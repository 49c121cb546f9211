"""Losses of shards: their sums over a pass, and the loss of a fit as it stands."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from gensim_hilbert.objectives import Biases, Cost, Objective
from gensim_hilbert.training.batches import Batches
from gensim_hilbert.training.device import threads
from gensim_hilbert.training.factors import Factor
from gensim_hilbert.training.fit import Report
from gensim_hilbert.training.gradients import DenseGradients, SampledGradients
from gensim_hilbert.training.kernels import Product
from gensim_hilbert.training.order import reversed_digits
from gensim_hilbert.training.ring import Ring
from gensim_hilbert.training.shards import Shard, Shards
from gensim_hilbert.training.team import Team

EXACT_WORDS = 65_536  # Up to so many words all cells are visited.
EVALUATION_COLUMNS = 1024  # Columns of each shard from which the loss of more words is estimated.
LARGE_SHARD = 2048  # Rows beyond which dense shards are worked on one at a time, for memory's sake.


@dataclass
class Sums:
    """Sums over the shards of a pass that have been visited so far."""

    shards: int = 0
    loss: float = 0.0
    error: float = 0.0  # Squared standard error of the loss.
    mass: float = 0.0  # The model's probabilities.
    share: float = 0.0  # What they should add up to.
    gradient: float = 0.0  # Squared norms of gradients.

    def add(self, cost: Cost, error: float, gradient: float, shards: int = 1) -> None:
        """Add one shard, or several."""
        self.shards += shards
        self.loss += cost.loss
        self.error += error
        self.mass += cost.mass
        self.share += cost.share
        self.gradient += gradient

    def report(self, passes: float, scale: float) -> Report:
        """Return the sums as means, the loss times `scale`."""
        return Report(
            passes=passes,
            loss=self.loss / self.shards * scale,
            unitarity=self.mass / self.share if self.share else math.nan,
            gradient=math.sqrt(self.gradient / self.shards),
            error=math.sqrt(self.error) / self.shards * scale,
        )


def sum_losses(
    objective: Objective, kernel: Product, shards: Shards, ring: Ring, w: Factor, v: Factor, seed: int
) -> Sums:
    """Return the sums of the losses of all shards; nothing is moved, except blocks of `v` from rank to rank."""
    dense, sums = DenseGradients(objective, kernel, shards), Sums()
    is_exact = len(objective.counts) <= EXACT_WORDS or not objective.has_background
    sampled = None if is_exact else SampledGradients(objective, kernel, shards, EVALUATION_COLUMNS, seed)
    if shards.device.type != "cpu":
        of_rows = []
        for offset in reversed_digits(shards.n):
            ring.align(offset, v.parts)
            if ring.own:
                # Made anew for each row, since it would keep the pairs of all of them on the device a second time.
                of_rows.append((offset, Batches(sampled or dense).loss(w, v, offset).tolist()))
        for loss, error, mass, share in shards.division.by_block(of_rows):
            sums.add(Cost(loss, mass, share), error, 0.0)
        sums.shards = shards.n**2
        return sums

    def cost_of(shard: Shard) -> tuple[Cost, float]:
        rows = w[shard.i], v[shard.j]
        return (dense.loss(shard, *rows)[0], 0.0) if sampled is None else sampled(shard, *rows, -1)[2:]

    order, found = shards.latin(), []
    with Team(shards, several=not is_exact or shards.rows <= LARGE_SHARD) as team:
        for number, (cost, error) in ring.map(team, v.parts, cost_of, order):
            i, j = order[number]
            found.append(((j - i) % shards.n * shards.n + i, (cost, error)))
    for cost, error in shards.division.by_block(found):
        sums.add(cost, error, 0.0)
    return sums


def loss_at_zero(
    objective: Objective, kernel: Product, shards: Shards, biases: Biases | None = None, seed: int = 1
) -> float:
    """Return the mean loss per cell of vectors that are zero: the objective knows it, or one shard tells.

    All shards are alike. Biases are those to start from by default.
    """
    if objective.loss_without_vectors is not None:
        return objective.loss_without_vectors
    host = shards.on_host()
    w = v = torch.zeros(shards.rows, kernel.vector_size)
    if kernel.extra:
        columns = kernel.columns(objective.start if biases is None else biases, 0.0)
        w, v = (torch.cat([w, host.arranged(column)[0][:, None]], dim=1) for column in columns)
    gradients = SampledGradients(objective, kernel, host, EVALUATION_COLUMNS, seed)
    with threads(1):
        cost = gradients(host[0, 0], w, v, 0).cost
    loss: float = cost.loss
    return loss / shards.rows**2
