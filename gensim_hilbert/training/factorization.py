"""Sharded matrix factorisation: closed-form gradients, a shard at a time.

On a shard, D = a_i b_j exp(psi_ij) - s_ij costs one matrix product and one exponential; the gradients D V and D^T W are
two products more. Adam's moments and step counts belong to row blocks. Shards are visited in Latin squares: n shards in
a row share no rows and no columns.

Adam scales axis by axis, and so depends on the axes, which psi does not. A few times a pass the factors are turned to
their principal axes, where that scaling fits: weak axes, which hold much of syntax, then learn as fast as strong ones.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from gensim_hilbert.objectives.hilbert import Hilbert
from gensim_hilbert.training.device import choose_device
from gensim_hilbert.training.gauge import balanced, principal_axes
from gensim_hilbert.training.shards import Shards
from gensim_hilbert.training.spectral import spectral_start

logger = logging.getLogger(__name__)

RATE = 0.5  # how far Adam may move a row in one step, at first
PRIOR_COUNTS = 50.0  # strength of the prior at 100 dimensions: what so many pairs of a word would say
STRONGEST = 0.2  # weight of that prior in the loss: on a few sentences, an honest one would leave no vectors at all
UPDATES = 256  # of each row, at least
LEAST_PASSES = 8
TURNS = 4  # to principal axes, each pass
BETAS = (0.9, 0.99)
DIVERGED = 30.0  # times what a shard's probabilities should add up to


class Diverged(ArithmeticError):
    """The probabilities of a shard add up to far more than they should."""


@dataclass
class Report:
    """How a stretch of training went. `unitarity` is sum p^ (tempered), which tends to 1."""

    passes: float = 0.0
    loss: float = 0.0
    unitarity: float = 0.0
    gradient: float = 0.0


class Moments:
    """Adam's state for one block of rows."""

    def __init__(self, rows: torch.Tensor):
        self.first, self.second = torch.zeros_like(rows), torch.zeros_like(rows)
        self.steps = 0

    def step(self, rows: torch.Tensor, gradient: torch.Tensor, rate: float, lock: torch.Tensor | None) -> None:
        """Move the rows; those with lock 0 stay."""
        self.steps += 1
        one, two = BETAS
        self.first.lerp_(gradient, 1 - one)
        self.second.mul_(two).addcmul_(gradient, gradient, value=1 - two)
        scale = (self.second / (1 - two**self.steps)).sqrt_().add_(1e-8)
        if lock is not None:
            scale /= lock
        rows.addcdiv_(self.first, scale, value=-rate / (1 - one**self.steps))

    def turn(self, axes: torch.Tensor) -> None:
        """Follow the rows to other axes; variances turn as if components were independent."""
        self.first, self.second = self.first @ axes, self.second @ axes**2


class Factorization:
    """Fits covectors W and vectors V to counts: `W V^T` is their PMI, as well as its rank allows.

    Parameters
    ----------
    objective : Hilbert
        What is fitted.
    vector_size : int
        Dimensions.
    l2 : float or "auto"
        Strength of the Gaussian prior on rows, in counts; "auto" is 50 at 100 dimensions, and grows with the square
        root of their number. In the loss it weighs `l2 / evidence`, evidence being the counts behind the average row:
        the more text, the weaker.
    rate : float
        Relative to the built-in one.
    final_rate : float
        What it falls to, relative to the first.
    passes : int, optional
        Over all shards; by default enough for 256 updates of each row, and 8 at least.
    n : int, optional
        Shards a side, by default so many that one has 800 to 1,600 rows.
    device : str
        "auto", "cpu", "cuda", "cuda:1", "mps".
    seed : int
        The result depends on it only by its noise.
    memory_gb : float
        Keep the counts in memory if they take less.
    start : (covectors, vectors), optional
        Arrays to start from, instead of an SVD; axes are then kept.
    lock : array, optional
        Factors of 0 to 1 for the updates of vectors, a word each.
    """

    def __init__(
        self,
        objective: Hilbert,
        vector_size: int,
        *,
        l2: float | str = "auto",
        rate: float = 1.0,
        final_rate: float = 0.02,
        passes: int | None = None,
        n: int | None = None,
        device: str = "auto",
        seed: int = 1,
        memory_gb: float = 2.0,
        start: tuple[np.ndarray, np.ndarray] | None = None,
        lock: np.ndarray | None = None,
    ):
        self.objective, self.size, self.vector_size = objective, len(objective.counts), vector_size
        self.device = choose_device(device)
        self.n = n or shards_a_side(self.size, objective.counts.manifest["classes"])
        counts_of_prior = PRIOR_COUNTS * math.sqrt(vector_size / 100) if l2 == "auto" else float(l2)
        self.l2 = counts_of_prior / objective.evidence
        if l2 == "auto":
            self.l2 = min(self.l2, STRONGEST)
        self.rate, self.final_rate = RATE / math.sqrt(vector_size) * rate, final_rate
        self.passes = passes or max(LEAST_PASSES, math.ceil(UPDATES / self.n))
        self.generator = torch.Generator().manual_seed(seed)
        self.shards = Shards(objective, self.n, self.device, memory_gb)
        self.a, self.b = self._blocks(objective.contexts), self._blocks(objective.terms)
        self.keeps_axes = start is not None
        if start is None:
            self.w, self.v = spectral_start(self.shards, self.a, self.b, vector_size, self.generator)
            if self.w[0].shape[1] < vector_size:  # more dimensions than words
                missing = vector_size - self.w[0].shape[1]
                self.w, self.v = ([torch.nn.functional.pad(x, (0, missing)) for x in side] for side in (self.w, self.v))
        else:
            self.w, self.v = (self._blocks(side) for side in start)
        self.locks = None if lock is None else self._blocks(np.maximum(lock, 1e-30)[:, None])
        self._reset_moments()
        self.order = self._order()
        self.steps_done = 0
        self.scale = 1.0  # of the rate, halved after a divergence
        self.safe = self.untried = self._copy()

    # ------------------------------------------------------------------ running

    @property
    def steps(self) -> int:
        """Shards to be visited in all."""
        return self.passes * self.n * self.n

    def run(self, steps: int, progress: Callable[[Report], None] | None = None) -> Report:
        """Visit so many shards more; returns how the last pass, or part of one, went."""
        report = Report()
        target = self.steps_done + steps
        while self.steps_done < target:
            count = min(target - self.steps_done, self.n * self.n - self.steps_done % (self.n * self.n))
            try:
                self._visit(count, report)
            except Diverged:
                self._step_back()
                continue
            if self.steps_done % (self.n * self.n) == 0:
                # What a whole pass started from has shown to be sound; what it ended with has yet to.
                self.safe, self.untried = self.untried, self._copy()
            if progress:
                progress(report)
        return report

    def _visit(self, count: int, report: Report) -> None:
        n = self.n
        order = [next(self.order) for _ in range(count)]
        room = torch.empty(len(self.a[0]) * len(self.b[0]), device=self.device)
        total = loss = gradient = expected = 0.0
        for i, j, places, values in self.shards.stream(order):
            if not self.keeps_axes and self.steps_done and self.steps_done % max(1, n * n // TURNS) == 0:
                self._turn()
            w, v = self.w[i], self.v[j]
            d = torch.mm(w, v.T, out=room[: len(w) * len(v)].view(len(w), len(v)))
            probability, linear = self.objective.differentiate_(d, self.a[i], self.b[j], places, values)
            share = float(values.sum(dtype=torch.float64))
            if not math.isfinite(probability) or probability > DIVERGED * max(share, self.size**2 / n**2 * 0.05):
                raise Diverged
            scale = n / self.size
            to_w = torch.addmm(w, d, v, beta=self.l2, alpha=scale)
            to_v = torch.addmm(v, d.T, w, beta=self.l2, alpha=scale)
            rate = self.scale * self._rate_now()
            self.moments_w[i].step(w, to_w, rate, None)
            self.moments_v[j].step(v, to_v, rate, None if self.locks is None else self.locks[j])
            self.steps_done += 1
            total, loss, expected = total + probability, loss + probability - linear, expected + share
            gradient += float(to_w.double().square().sum() + to_v.double().square().sum())
        report.passes += count / (n * n)
        report.loss = loss / count * n * n / self.size**2
        report.unitarity = total / expected if expected else math.nan
        report.gradient = math.sqrt(gradient / count)

    def _rate_now(self) -> float:
        done = min(self.steps_done / self.steps, 1.0)
        return self.rate * (self.final_rate + (1 - self.final_rate) * 0.5 * (1 + math.cos(math.pi * done)))

    def _order(self) -> Iterator[tuple[int, int]]:
        """Latin squares for ever: each stretch of n shards has every row block and every column block once."""
        n = self.n
        while True:
            for offset in torch.randperm(n, generator=self.generator).tolist():
                for i in torch.randperm(n, generator=self.generator).tolist():
                    yield i, (i + offset) % n

    def _turn(self) -> None:
        axes = principal_axes(self.w + self.v)
        for blocks, moments in ((self.w, self.moments_w), (self.v, self.moments_v)):
            for k in range(self.n):
                blocks[k] = blocks[k] @ axes
                moments[k].turn(axes)

    # ------------------------------------------------------------------ safety

    def _reset_moments(self) -> None:
        self.moments_w, self.moments_v = [Moments(x) for x in self.w], [Moments(x) for x in self.v]

    def _copy(self) -> tuple[list[torch.Tensor], list[torch.Tensor], int]:
        return [x.clone() for x in self.w], [x.clone() for x in self.v], self.steps_done

    def _step_back(self) -> None:
        """Return to the last state known to be sound, at half the rate."""
        self.scale /= 2
        if self.scale < 1e-6:
            raise ArithmeticError("training diverges at any rate; the counts may hold something that is no text")
        logger.warning(
            "diverged in pass %d: stepping back, at %g times the rate", self.steps_done // self.n**2, self.scale
        )
        w, v, self.steps_done = self.safe
        self.w, self.v = [x.clone() for x in w], [x.clone() for x in v]
        self.untried = self.safe
        self._reset_moments()
        self.order = self._order()

    # ------------------------------------------------------------------ results

    def evaluate(self) -> Report:
        """The exact objective, prior included, and sum p^, in float64."""
        report = Report(passes=self.steps_done / self.n**2)
        total = linear = expected = 0.0
        for i, j, places, values in self.shards.stream((i, j) for i in range(self.n) for j in range(self.n)):
            sums = self.objective.differentiate_(self.w[i] @ self.v[j].T, self.a[i], self.b[j], places, values)
            total, linear = total + sums[0], linear + sums[1]
            expected += float(values.sum(dtype=torch.float64))
        norms = sum(float(x.double().square().sum()) for x in self.w + self.v)
        report.loss = (total - linear) / self.size**2 + 0.5 * self.l2 * norms / self.size
        report.unitarity = total / expected if expected else math.nan
        return report

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """Covectors and vectors, float32, in the balanced gauge; as they are where axes are kept."""
        w, v = self._joined(self.w), self._joined(self.v)
        if not self.keeps_axes:
            w, v = balanced(w, v)
        return np.ascontiguousarray(w.cpu().numpy()), np.ascontiguousarray(v.cpu().numpy())

    def _blocks(self, array: np.ndarray) -> list[torch.Tensor]:
        whole = torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32)).to(self.device)
        return [whole[k :: self.n].clone() for k in range(self.n)]

    def _joined(self, blocks: list[torch.Tensor]) -> torch.Tensor:
        whole = torch.empty(self.size, self.vector_size, device=self.device)
        for k, block in enumerate(blocks):
            whole[k :: self.n] = block
        return whole


def shards_a_side(size: int, classes: int) -> int:
    """A power of two for which shards have 800 to 1,600 rows, and that the store serves without waste."""
    n = 1
    while n < classes and size > 1600 * n:
        n *= 2
    return n
