"""Steps on shards: gradients of both sides, and Adam's step on the rows of both.

For objectives that are exponential in psi, a whole step is one call of compiled code, with the same result to the last
bit. In Python it takes some forty calls, each of which waits for Python's lock: threads on ten cores or more would do
little else.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from gensim_hilbert._pairs import ExponentialSteps, Side
from gensim_hilbert.objectives import Cost
from gensim_hilbert.training.background import MASK
from gensim_hilbert.training.exponential import ExponentialGradients
from gensim_hilbert.training.factors import Factor
from gensim_hilbert.training.gradients import DenseGradients, SampledGradients
from gensim_hilbert.training.shards import Shard

# A step on a shard, at a rate, the one with this number of both blocks. Returned are the loss before it, without the
# prior, the square of its standard error, twice the loss of the prior, and the squared norm of the gradient.
Step = Callable[[Shard, float, int], tuple[Cost, float, float, float]]


class PlainSteps:
    """Makes steps with any gradients, on factors of any kind."""

    def __init__(self, gradients: DenseGradients | SampledGradients, w: Factor, v: Factor):
        self.gradients, self.w, self.v = gradients, w, v

    def __call__(self, shard: Shard, rate: float, row: int) -> tuple[Cost, float, float, float]:
        """Make a step."""
        w, v = self.w, self.v
        to_w, to_v, cost, error = self.gradients(shard, w[shard.i], v[shard.j], row // self.gradients.shards.n)
        prior_w, squares_w = w.step(shard.i, to_w, rate, row)
        prior_v, squares_v = v.step(shard.j, to_v, rate, row)
        return cost, error, prior_w + prior_v, squares_w + squares_v


class CompiledSteps:
    """Makes steps in one call each, with gradients that are exponential in psi, on factors of plain vectors."""

    def __init__(self, gradients: ExponentialGradients, w: Factor, v: Factor):
        self.gradients, self.w, self.v = gradients, w, v
        self.bind()

    def bind(self) -> None:
        """Take hold of the arrays of both sides."""
        gradients, shards = self.gradients, self.gradients.shards
        w, v = side_of(self.w, shards.a), side_of(self.v, shards.b)
        self.steps = ExponentialSteps(w, v, gradients.seed & MASK, gradients.largest, gradients.scale, *self.w.betas)
        self.rows = self.v.rows

    def __call__(self, shard: Shard, rate: float, row: int) -> tuple[Cost, float, float, float]:
        """Make a step; several threads may do so at once, on shards that have no block in common."""
        if self.v.rows is not self.rows:  # Blocks that have travelled may stand in another array.
            self.bind()
        i, j, pairs, gradients = shard.i, shard.j, shard.pairs, self.gradients
        selves = shard.selves
        loss, mass, share, error, prior, squares = self.steps.step(
            i, j, self.w.places.slot(i), self.v.places.slot(j), pairs.matrix, None if selves is None else selves.matrix,
            gradients.row_samplers[i].compiled, gradients.column_samplers[j].compiled,
            gradients.level, gradients.shards.by_chance(i, j), row // gradients.shards.n, rate, row + 1,
        )  # fmt: skip
        return Cost(loss, mass, share), error, prior, squares


def side_of(factor: Factor, weights: torch.Tensor) -> Side:
    """Return a factor as compiled steps take it, with the weights of its words."""
    locks = None if factor.locks is None else factor.locks.numpy()
    moments = factor.first.numpy(), factor.second.numpy()
    return Side(factor.rows.numpy(), *moments, weights.numpy(), factor.priors.numpy(), locks)


def choose_steps(gradients: DenseGradients | SampledGradients, w: Factor, v: Factor) -> Step:
    """Return the fastest way of making steps with these gradients on these factors."""
    if isinstance(gradients, ExponentialGradients) and type(v) is Factor:
        return CompiledSteps(gradients, w, v)
    return PlainSteps(gradients, w, v)
