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
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from gensim_hilbert.objectives.hilbert import Hilbert
from gensim_hilbert.training.checkpoint import Saved
from gensim_hilbert.training.device import PRECISIONS, choose_device, free_memory, products_in, wide
from gensim_hilbert.training.gauge import GAUGE, canonical_, principal_axes
from gensim_hilbert.training.shards import Shards
from gensim_hilbert.training.spectral import spectral_start

logger = logging.getLogger(__name__)

RATE = 0.5  # how far Adam may move a row in one step, at first
PRIOR_COUNTS = 50.0  # strength of the prior at 100 dimensions: what so many pairs of a word would say
PRIOR_EXPONENT = 0.5  # of a word's weight in the loss: frequent words are held back more, though less than they weigh
STRONGEST = 0.2  # weight of that prior in the loss: on a few sentences, an honest one would leave no vectors at all
UPDATES = 256  # of each row, at least
LEAST_PASSES = 8
TURNS = 4  # to principal axes, each pass
STRETCH = 1 / 16  # of all passes: over fewer of them the loss shows no trend
HIGH = 1 / 2  # of all passes: before, a loss that no longer falls may only tell of the noise of a high rate
TAIL = 1 / 4  # of all passes: over fewer of them the rate cannot fall without leaving noise
TOLERANCE = 1e-4  # of what training has won in all: a stretch that wins less tells that it has converged
ROWS = 1600  # of a shard, at most: it should stay near the cache
ROWS_ON_GPU = 8192
BYTES_A_CELL = 12  # of a shard: psi in float32, as much again for what is made of it, and its entries
BETAS = (0.9, 0.99)
DIVERGED = 30.0  # times what a shard's probabilities should add up to


class Diverged(ArithmeticError):
    """The probabilities of a shard add up to far more than they should."""


@dataclass
class Sums:
    """Over the shards of a pass, as far as it is done."""

    shards: int = 0
    loss: float = 0.0
    probability: float = 0.0
    share: float = 0.0  # what the probabilities should add up to
    gradient: float = 0.0  # squared


@dataclass
class Report:
    """How a pass, or what is done of it, went.

    `passes` are those done in all, `loss` includes the prior, `unitarity` is sum p^ (tempered), which tends to 1, and
    `gradient` the norm of that of a shard.
    """

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
        the more text, the weaker. For each word it is multiplied by the root of the word's own weight.
    rate : float
        Relative to the built-in one.
    final_rate : float
        What it falls to, relative to the first.
    passes : int, optional
        Over all shards, at most; by default enough for 256 updates of each row, and 8 at least.
    tolerance : float
        After half of all passes, training has converged when a sixteenth of them lowers the loss by less than this
        share of what has been won in all; the rate then falls to its end within a quarter more. 0 makes all passes.
    n : int, optional
        Shards a side, by default so many that one has 800 to 1,600 rows; more on a GPU, where passes stay 8.
    device : str
        "auto", "cpu", "cuda", "cuda:1", "mps".
    precision : {"float32", "tf32", "bf16"}
        Of the matrix products of shards; TF32 only has effect on GPUs that have it.
    gauge : float
        How much of each axis' strength vectors get, from 0 to 1; covectors get the rest.
    seed : int
        The result depends on it only by its noise.
    memory_gb : float
        Keep the counts in memory if they take less.
    start : (covectors, vectors), optional
        Arrays to start from, instead of an SVD; axes are then kept.
    lock : array, optional
        Factors of 0 to 1 for the updates of vectors, a word each.
    saved : Saved, optional
        The `state` of a fit with the same arguments, to go on from.
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
        tolerance: float = TOLERANCE,
        n: int | None = None,
        device: str = "auto",
        precision: str = "float32",
        gauge: float = GAUGE["factorization"],
        seed: int = 1,
        memory_gb: float = 2.0,
        start: tuple[np.ndarray, np.ndarray] | None = None,
        lock: np.ndarray | None = None,
        saved: Saved | None = None,
    ):
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}, got {precision!r}")
        self.objective, self.size, self.vector_size, self.gauge = objective, len(objective.counts), vector_size, gauge
        self.device, self.precision = choose_device(device), precision
        free = free_memory(self.device)
        if free is not None:
            free -= 10 * 4 * self.size * vector_size  # both sides: the factor, two moments, two copies to step back to
        if saved is not None:
            n = saved.facts["n"]  # the free memory of a GPU may be another by now
        self.n = n or shards_a_side(self.size, objective.counts.manifest["classes"], free)
        counts_of_prior = PRIOR_COUNTS * math.sqrt(vector_size / 100) if l2 == "auto" else float(l2)
        self.l2 = counts_of_prior / objective.evidence
        if l2 == "auto":
            self.l2 = min(self.l2, STRONGEST)
        self.rate, self.final_rate = RATE / math.sqrt(vector_size) * rate, final_rate
        self.passes = passes or max(LEAST_PASSES, math.ceil(UPDATES / self.n))
        self.tolerance = tolerance
        self.generator = torch.Generator().manual_seed(seed)
        self.shards = Shards(objective, self.n, self.device, memory_gb)
        self.a, self.b = self._blocks(objective.contexts), self._blocks(objective.terms)
        self.priors_w, self.priors_v = (
            [self.l2 * block[:, None] ** PRIOR_EXPONENT for block in side] for side in (self.a, self.b)
        )
        self.keeps_axes = start is not None
        if saved is not None:
            self.w, self.v = (self._blocks(saved.array(name)) for name in ("w", "v"))
        elif start is None:
            with products_in(precision):
                start_of = spectral_start(self.shards, self.a, self.b, vector_size, self.generator)
            # A product is rounded by the layout of its factors, and a checkpoint has but one.
            self.w, self.v = ([x.contiguous() for x in side] for side in start_of)
            if self.w[0].shape[1] < vector_size:  # more dimensions than words
                missing = vector_size - self.w[0].shape[1]
                self.w, self.v = ([torch.nn.functional.pad(x, (0, missing)) for x in side] for side in (self.w, self.v))
        else:
            self.w, self.v = (self._blocks(side) for side in start)
        self.locks = None if lock is None else self._blocks(np.maximum(lock, 1e-30)[:, None])
        self._reset_moments()
        self.order: list[tuple[int, int]] = []  # of this pass
        self.drawn_from = self.generator.get_state()  # before that order was drawn
        self.steps_done = 0
        self.sums = Sums()
        self.report = Report()
        self.history: list[Report] = []  # of whole passes
        self.converged: int | None = None  # after how many steps
        self.scale = 1.0  # of the rate, halved after a divergence
        self.safe = self.untried = self._copy()
        if saved is not None:
            self._restore(saved)

    # ------------------------------------------------------------------ running

    @property
    def steps(self) -> int:
        """Shards to be visited in all, at most."""
        return self.passes * self.n * self.n

    @property
    def end(self) -> int:
        """Shards to be visited in all, as far as can be told by now."""
        return self.steps if self.converged is None else self.converged + math.ceil(TAIL * self.passes) * self.n**2

    def run(self, steps: int, progress: Callable[[Report], None] | None = None) -> Report:
        """Visit so many shards more, or as many as are left; returns how the last pass, or part of one, went."""
        a_pass = self.n * self.n
        target = self.steps_done + steps
        while self.steps_done < min(target, self.end):
            done = self.steps_done % a_pass
            if not done:
                self._draw_order()
            try:
                self._visit(self.order[done : done + target - self.steps_done], progress)
            except Diverged:
                self._step_back()
                continue
            if self.steps_done % a_pass == 0:
                # What a whole pass started from has shown to be sound; what it ended with has yet to.
                self.safe, self.untried = self.untried, self._copy()
                self.history.append(self.report)
                self.sums = Sums()
                self._look_for_convergence()
        return self.report

    def _visit(self, order: list[tuple[int, int]], progress: Callable[[Report], None] | None) -> None:
        n = self.n
        room = torch.empty(len(self.a[0]) * len(self.b[0]), device=self.device)
        for i, j, places, values in self.shards.stream(order):
            if not self.keeps_axes and self.steps_done and self.steps_done % max(1, n * n // TURNS) == 0:
                self._turn()
            w, v = self.w[i], self.v[j]
            with products_in(self.precision):
                probability, linear, to_w, to_v = self._differentiate(i, j, places, values, room)
            share = float(wide(values).sum())
            if not math.isfinite(probability) or probability > DIVERGED * max(share, self.size**2 / n**2 * 0.05):
                raise Diverged
            sums = self.sums
            sums.shards += 1
            prior = squares(w, self.priors_w[i]) + squares(v, self.priors_v[j])
            sums.loss += probability - linear + 0.5 * self.size / n * prior
            sums.probability += probability
            sums.share += share
            sums.gradient += squares(to_w, 1.0) + squares(to_v, 1.0)
            rate = self.scale * self._rate_now()
            self.moments_w[i].step(w, to_w, rate, None)
            self.moments_v[j].step(v, to_v, rate, None if self.locks is None else self.locks[j])
            self.steps_done += 1
            self.report = Report(
                passes=self.steps_done / n**2,
                loss=sums.loss / sums.shards * n**2 / self.size**2,
                unitarity=sums.probability / sums.share if sums.share else math.nan,
                gradient=math.sqrt(sums.gradient / sums.shards),
            )
            if progress and self.steps_done % n == 0:
                progress(self.report)

    def _differentiate(
        self, i: int, j: int, places: torch.Tensor, values: torch.Tensor, room: torch.Tensor
    ) -> tuple[float, float, torch.Tensor, torch.Tensor]:
        """The sums of a shard's loss (see `Hilbert.differentiate_`), and its gradients, those of the prior included."""
        w, v = self.w[i], self.v[j]
        low = torch.bfloat16 if self.precision == "bf16" else w.dtype
        w_low, v_low = w.to(low), v.to(low)
        d = room[: len(w) * len(v)].view(len(w), len(v))
        if low is d.dtype:
            torch.mm(w, v.T, out=d)
        else:
            d.copy_(torch.mm(w_low, v_low.T))
        sums = self.objective.differentiate_(d, self.a[i], self.b[j], places, values)
        scale, d_low = self.n / self.size, d.to(low)
        to_w = (self.priors_w[i] * w).add_(torch.mm(d_low, v_low), alpha=scale)
        to_v = (self.priors_v[j] * v).add_(torch.mm(d_low.T, w_low), alpha=scale)
        return *sums, to_w, to_v

    # ------------------------------------------------------------------ schedule

    def _rate_now(self) -> float:
        """Half a cosine from first to last; after convergence, the rest of it passes faster."""
        done = self.steps_done / self.steps
        if self.converged is not None:
            before = self.converged / self.steps
            done = before + (1 - before) * (self.steps_done - self.converged) / (self.end - self.converged)
        return self.rate * (self.final_rate + (1 - self.final_rate) * 0.5 * (1 + math.cos(math.pi * done)))

    def _look_for_convergence(self) -> None:
        """Compare means over stretches: at a high rate, one pass may well end above the one before.

        To stop there and then would leave the noise of that rate in the vectors.
        """
        done, k = len(self.history), math.ceil(STRETCH * self.passes)
        if (
            self.converged is not None
            or not self.tolerance
            or not HIGH * self.passes <= done < (1 - TAIL) * self.passes
        ):
            return
        losses = [report.loss for report in self.history]
        before, now = sum(losses[-2 * k : -k]) / k, sum(losses[-k:]) / k
        if before - now < self.tolerance * (1 - now):  # without vectors the loss is 1
            self.converged = self.steps_done
            logger.info(
                "converged after %d of %d passes; the rate falls until %d", done, self.passes, self.end // self.n**2
            )

    def _draw_order(self) -> None:
        """A Latin square for the next pass: each stretch of n shards has every row block and column block once."""
        n = self.n
        self.drawn_from = self.generator.get_state()
        self.order = [
            (i, (i + offset) % n)
            for offset in torch.randperm(n, generator=self.generator).tolist()
            for i in torch.randperm(n, generator=self.generator).tolist()
        ]

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
        self.sums = Sums()
        del self.history[self.steps_done // self.n**2 :]
        if self.converged is not None and self.converged > self.steps_done:
            self.converged = None
        self.w, self.v = [x.clone() for x in w], [x.clone() for x in v]
        self.untried = self.safe
        self._reset_moments()

    # ------------------------------------------------------------------ going on another time

    def state(self) -> tuple[dict[str, Any], Iterator[tuple[str, np.ndarray]]]:
        """All that a fit needs to go on as if it had never stopped: facts for JSON, and arrays."""
        facts = {
            "n": self.n,
            "steps_done": self.steps_done,
            "sums": asdict(self.sums),
            "history": [asdict(report) for report in self.history],
            "converged": self.converged,
            "scale": self.scale,
            "moment_steps": [[moments.steps for moments in side] for side in (self.moments_w, self.moments_v)],
            "safe_steps": [self.safe[2], self.untried[2]],
        }
        return facts, self._arrays()

    def _arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        within_pass = self.steps_done % self.n**2
        yield "generator", (self.drawn_from if within_pass else self.generator.get_state()).numpy()
        for name, blocks in (("w", self.w), ("v", self.v)):
            yield name, self._joined(blocks).numpy()
        for name, side in (("w", self.moments_w), ("v", self.moments_v)):
            yield f"{name}_first", self._joined([moments.first for moments in side]).numpy()
            yield f"{name}_second", self._joined([moments.second for moments in side]).numpy()
        for name, copy in (("safe", self.safe), ("untried", self.untried)):
            yield f"{name}_w", self._joined(copy[0]).numpy()
            yield f"{name}_v", self._joined(copy[1]).numpy()

    def _restore(self, saved: Saved) -> None:
        facts = saved.facts
        self.steps_done, self.history = facts["steps_done"], [Report(**report) for report in facts["history"]]
        self.converged, self.scale, self.sums = facts["converged"], facts["scale"], Sums(**facts["sums"])
        for name, side, steps in zip("wv", (self.moments_w, self.moments_v), facts["moment_steps"], strict=True):
            first, second = (self._blocks(saved.array(f"{name}_{which}")) for which in ("first", "second"))
            for k, moments in enumerate(side):
                moments.first, moments.second, moments.steps = first[k], second[k], steps[k]
        self.safe, self.untried = (
            (self._blocks(saved.array(f"{name}_w")), self._blocks(saved.array(f"{name}_v")), steps)
            for name, steps in zip(("safe", "untried"), facts["safe_steps"], strict=True)
        )
        self.generator.set_state(torch.from_numpy(saved.array("generator")))
        if self.steps_done % self.n**2:
            self._draw_order()

    # ------------------------------------------------------------------ results

    def evaluate(self) -> Report:
        """The exact objective, prior included, and sum p^, in float64."""
        report = Report(passes=self.steps_done / self.n**2)
        total = linear = expected = 0.0
        for i, j, places, values in self.shards.stream((i, j) for i in range(self.n) for j in range(self.n)):
            sums = self.objective.differentiate_(self.w[i] @ self.v[j].T, self.a[i], self.b[j], places, values)
            total, linear = total + sums[0], linear + sums[1]
            expected += float(wide(values).sum())
        prior = sum(map(squares, self.w + self.v, self.priors_w + self.priors_v))
        report.loss = (total - linear) / self.size**2 + 0.5 * prior / self.size
        report.unitarity = total / expected if expected else math.nan
        return report

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """Covectors and vectors, float32, in the canonical gauge; as they are where axes are kept."""
        w, v = self._joined(self.w), self._joined(self.v)
        if not self.keeps_axes:
            canonical_(w, v, self.gauge)
        return np.ascontiguousarray(w.numpy()), np.ascontiguousarray(v.numpy())

    def _blocks(self, array: np.ndarray) -> list[torch.Tensor]:
        whole = torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32)).to(self.device)
        return [whole[k :: self.n].clone() for k in range(self.n)]

    def _joined(self, blocks: list[torch.Tensor]) -> torch.Tensor:
        """On the host."""
        whole = torch.empty(self.size, self.vector_size)
        for k, block in enumerate(blocks):
            whole[k :: self.n] = block.cpu()
        return whole


def squares(x: torch.Tensor, weights: torch.Tensor | float) -> float:
    """The sum of the squares of a matrix, its rows weighted."""
    return float(wide((x.square() * weights).sum(dim=1)).sum())


def shards_a_side(size: int, classes: int, free: int | None = None) -> int:
    """A power of two for which shards have 800 to 1,600 rows, and that the store serves without waste.

    `free` are the bytes of a GPU's memory that a shard may take. It likes larger ones, and gets them where passes stay
    LEAST_PASSES: fewer shards than that a side would take more passes for as many updates of each row.
    """
    roomy = ROWS if free is None else min(max(ROWS, math.isqrt(max(free, 0) // BYTES_A_CELL)), ROWS_ON_GPU)
    n = 1
    while n < classes and size > (ROWS if n < UPDATES // LEAST_PASSES else roomy) * n:
        n *= 2
    return n
