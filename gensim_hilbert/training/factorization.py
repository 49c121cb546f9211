"""Sharded matrix factorisation: closed-form gradients, shard by shard.

On a shard, psi costs one matrix product, and D = dL/dpsi what the objective takes (Hilbert-MLE: one exponential); the
gradients D V and D^T W are two products more. Adam's moments and step counts belong to row blocks. Shards are visited
in Latin squares: n shards in a row share no rows and no columns, and are visited as many at a time as there are cores.

Adam scales axis by axis, and so depends on the axes, which psi does not. After each pass the factors are turned to
their principal axes, where that scaling fits: weak axes, which hold much of syntax, then learn as fast as strong ones.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from gensim_hilbert.objectives import Biases, Cost, Objective
from gensim_hilbert.training.checkpoint import Saved
from gensim_hilbert.training.composed import Composed, Mixture
from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.device import choose_device, free_memory, products_in, threads
from gensim_hilbert.training.factors import Factor, joined
from gensim_hilbert.training.fit import PRECISIONS, Fitted, Start
from gensim_hilbert.training.gauge import GAUGE, principal_axes, turn_
from gensim_hilbert.training.kernels import KERNELS
from gensim_hilbert.training.shards import Shard, Shards
from gensim_hilbert.training.spectral import spectral_start
from gensim_hilbert.training.team import Room, Team, torch_threads

logger = logging.getLogger(__name__)

RATE = 0.5  # how far Adam may move a row in one step, at first; less where it makes more steps
PRIOR_COUNTS = 50.0  # strength of the prior at 100 dimensions: what so many pairs of a word would say
PRIOR_EXPONENT = 0.5  # of a word's weight in the loss: frequent words are held back more, though less than they weigh
STRONGEST = 0.2  # weight of that prior in the loss: on a few sentences, an honest one would leave no vectors at all
UPDATES = 256  # of each row, at least; twice as many for rows that make up more than FEW shards a side
FEW = 16
LEAST_PASSES = 8
STRETCH = 1 / 16  # of all passes: over fewer of them the loss shows no trend
HIGH = 1 / 2  # of all passes: before, a loss that no longer falls may only tell of the noise of a high rate
TAIL = 1 / 4  # of all passes: over fewer of them the rate cannot fall without leaving noise
TOLERANCE = 1e-4  # of what training has won in all: a stretch that wins less tells that it has converged
ROWS = 1024  # of a shard: it should stay near the cache, and updates are cheaper than passes
BYTES_A_CELL = 12  # of a shard: psi in float32, as much again for what is made of it, and its entries
DIVERGED = 30.0  # times what a shard's probabilities should add up to, or the loss without vectors ...
LEAST = 0.05  # ... a cell, at least: a few counts, or a few words, may leave hardly anything to fit


class Diverged(ArithmeticError):
    """The probabilities of a shard add up to far more than they should, or its loss is beyond all measure."""


@dataclass
class Sums:
    """Over the shards of a pass, as far as it is done."""

    shards: int = 0
    loss: float = 0.0
    mass: float = 0.0  # of the model's probabilities
    share: float = 0.0  # what they should add up to
    gradient: float = 0.0  # squared

    def add(self, cost: Cost, gradient: float) -> None:
        """A shard more."""
        self.shards += 1
        self.loss += cost.loss
        self.mass += cost.mass
        self.share += cost.share
        self.gradient += gradient

    def report(self, passes: float, scale: float) -> Report:
        """The same as means, the loss times `scale`."""
        return Report(
            passes=passes,
            loss=self.loss / self.shards * scale,
            unitarity=self.mass / self.share if self.share else math.nan,
            gradient=math.sqrt(self.gradient / self.shards),
        )


@dataclass
class Report:
    """How a pass, or what is done of it, went.

    `passes` are those done in all, `loss` includes the prior, `unitarity` is sum p^ (tempered), which tends to 1 and is
    NaN where the objective is no model of probabilities, and `gradient` the norm of that of a shard.
    """

    passes: float = 0.0
    loss: float = 0.0
    unitarity: float = 0.0
    gradient: float = 0.0

    def __str__(self) -> str:
        unitarity = "" if math.isnan(self.unitarity) else f", sum p^ {self.unitarity:.4f}"
        return f"loss {self.loss:.6f}{unitarity}, gradient {self.gradient:.3g}"


class Factorization:
    """Fits covectors W and vectors V to counts, as an objective wants them.

    Parameters
    ----------
    objective : Objective
        What is fitted, bound to counts.
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
        Over all shards, at most; by default enough for 256 updates of each row, or 512 where n is above 16, and 8 at
        least.
    tolerance : float
        After half of all passes, training has converged when a sixteenth of them lowers the loss by less than this
        share of what has been won in all; the rate then falls to its end within a quarter more. 0 makes all passes.
    n : int, optional
        Shards a side, by default so many that one has 512 to 1,024 rows, up to as many as the store is made of, or
        more where a GPU has no room for one.
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
    start : Start, optional
        Vectors to start from, instead of an SVD; axes are then kept, and how much of each either side has.
    composition : Composition, optional
        Of what vectors are made; what is said of vectors here is then said of that, which is learnt.
    saved : Saved, optional
        The `state` of a fit with the same arguments, to go on from.
    """

    def __init__(
        self,
        objective: Objective,
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
        start: Start | None = None,
        composition: Composition | None = None,
        saved: Saved | None = None,
    ):
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}, got {precision!r}")
        self.objective, self.size, self.vector_size, self.gauge = objective, len(objective.counts), vector_size, gauge
        self.device, self.precision = choose_device(device), precision
        free = free_memory(self.device)
        if free is not None:
            # Both sides: what is learnt, two moments, two copies to step back to; and what is made of it.
            made = 0 if composition is None else composition.rows + 2 * self.size
            free -= 5 * 4 * (2 * self.size + made) * vector_size
        if saved is not None:
            n = saved.facts["n"]  # the free memory of a GPU may be another by now
        self.n = n or shards_a_side(self.size, objective.counts.manifest["classes"], free)
        counts_of_prior = PRIOR_COUNTS * math.sqrt(vector_size / 100) if l2 == "auto" else float(l2)
        self.l2 = counts_of_prior / objective.evidence
        if l2 == "auto":
            self.l2 = min(self.l2, STRONGEST)
        self.rate = RATE / math.sqrt(vector_size) * UPDATES / updates(self.n) * rate
        self.final_rate = final_rate
        self.passes = passes or max(LEAST_PASSES, math.ceil(updates(self.n) / self.n))
        self.tolerance = tolerance
        self.generator = torch.Generator().manual_seed(seed)
        self.kernel = KERNELS[objective.kernel](vector_size, precision)
        self.shards = Shards(objective, self.n, self.device, memory_gb)
        self.keeps_axes = start is not None
        self.balance: np.ndarray | None = None  # of those axes
        if start is not None:
            self.balance = self.kernel.balancing(start.covectors, start.parameters)
            if self.balance is not None:
                start = start._replace(
                    covectors=start.covectors * self.balance, parameters=start.parameters / self.balance
                )
        if saved is not None:
            w, v = (self.shards.blocks(saved.array(name)) for name in ("w", "v"))
        else:
            w, v = self._start() if start is None else self._extended(*start[:3])
        priors_w, priors_v = map(self._priors, objective.weights)
        self.w = Factor("w", w, priors_w, vector_size)
        if composition is None:
            lock = None if start is None else start.lock
            locks = None if lock is None else self.shards.blocks(np.maximum(lock, 0)[:, None])
            self.v = Factor("v", v, priors_v, vector_size, locks)
        else:
            mixture = Mixture(composition, self.n, self.device)
            fresh = saved is None and start is None  # otherwise v is what vectors are made of
            learnt = mixture.explain(v) if fresh else joined(v).to(self.device)
            self.v = Composed("v", mixture, learnt, priors_v, vector_size)
        blank = objective.blank
        self.blank = self._blank(None if start is None else start.biases) if blank is None else blank
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

    # ------------------------------------------------------------------ beginning

    def _start(self) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """An SVD, with as many axes as there are words, at most; others are zero."""
        with Team(self.shards) as team, products_in(self.precision):
            start_of = spectral_start(team, self.vector_size, self.generator)
        # A product is rounded by the layout of its factors, and a checkpoint has but one.
        w, v = ([x.contiguous() for x in side] for side in start_of)
        missing = self.vector_size - w[0].shape[1]
        if missing:
            w, v = ([torch.nn.functional.pad(x, (0, missing)) for x in side] for side in (w, v))
        return self._extended(joined(w).numpy(), joined(v).numpy(), None) if self.kernel.extra else (w, v)

    def _extended(
        self, w: np.ndarray, v: np.ndarray, biases: Biases | None
    ) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Blocks of the kernel's rows: vectors, and what else it has."""
        w, v = self.kernel.extended(w, v, self.objective.start if biases is None else biases)
        return self.shards.blocks(w), self.shards.blocks(v)

    def _priors(self, weights: np.ndarray) -> list[torch.Tensor]:
        return [self.l2 * block[:, None] ** PRIOR_EXPONENT for block in self.shards.blocks(weights)]

    def _blank(self, biases: Biases | None) -> float:
        """The loss of a cell without vectors, by one shard: all are alike."""
        nothing = np.zeros((self.size, self.vector_size), dtype=np.float32)
        w, v = self._extended(nothing, nothing, biases)
        shard = self.shards[0, 0]
        psi = torch.empty(len(w[0]), len(v[0]), device=self.device)
        with threads(torch_threads(self.shards)):
            self.kernel.forward(w[0], v[0], psi)
            return self.objective.differentiate_(psi, shard).loss / shard.cells

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
        """Visit so many shards more, or as many as are left; returns how the last pass, or part of one, went.

        Cut short by an error, a fit has visited more than it knows of, and is not to be gone on with.
        """
        a_pass = self.n * self.n
        target = self.steps_done + steps
        with Team(self.shards, self.w[0].shape[1]) as team:
            while self.steps_done < min(target, self.end):
                done = self.steps_done % a_pass
                if not done:
                    self._draw_order()
                    if self.steps_done and not self.keeps_axes:
                        self._turn(team)
                try:
                    self._visit(team, self.order[done : done + target - self.steps_done], progress)
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

    def _visit(self, team: Team, order: list[tuple[int, int]], progress: Callable[[Report], None] | None) -> None:
        """Go through shards, without a halt unless all blocks move together."""
        n = self.n
        while order:
            leg = order[: n - self.steps_done % n] if self.v.together else order
            rates = [self.scale * self._rate_at(self.steps_done + step) for step in range(len(leg))]
            with products_in(self.precision):
                for cost, gradient in team.map(self._learn, leg, rates):
                    self.sums.add(cost, gradient)
                    self.steps_done += 1
                    self.report = self.sums.report(self.steps_done / n**2, n**2 / self.size**2)
                    if progress and self.steps_done % n == 0:
                        progress(self.report)
            if self.v.together and self.steps_done % n == 0:
                with threads(team.cores):
                    self.v.step_together(rates[-1])
            order = order[len(leg) :]

    def _learn(self, shard: Shard, room: Room, rate: float) -> tuple[Cost, float]:
        """Make a step; returns the cost before it, with that of the prior, and the squared norm of the gradient."""
        cost, to_w, to_v = self._differentiate(shard, room)
        if self._is_beyond(cost, shard.cells):
            raise Diverged
        prior = 0.5 * self.size / self.n * (self.w.prior(shard.i) + self.v.prior(shard.j))
        gradient = sum(float(torch.linalg.vector_norm(slope)) ** 2 for slope in (to_w, to_v))
        self.w.step(shard.i, to_w, rate)
        self.v.step(shard.j, to_v, rate)
        return cost._replace(loss=cost.loss + prior), gradient

    def _differentiate(self, shard: Shard, room: Room) -> tuple[Cost, torch.Tensor, torch.Tensor]:
        """The cost of a shard, and its gradients, those of the prior included."""
        w, v, d = self.w[shard.i], self.v[shard.j], room.psi_of(shard)
        self.kernel.forward(w, v, d)
        cost = self.objective.differentiate_(d, shard)
        slopes = self.w.slope(shard.i, room.to_w), self.v.slope(shard.j, room.to_v)
        self.kernel.backward(d, (w, v), slopes, self.n / self.size)
        return cost, *slopes

    def _is_beyond(self, cost: Cost, cells: int) -> bool:
        """Whether a step has gone too far: by the sum of probabilities, or by the loss where there are none."""
        if math.isnan(cost.share):
            return not cost.loss <= DIVERGED * max(self.blank, LEAST) * cells
        return not cost.mass <= DIVERGED * max(cost.share, LEAST * cells)

    # ------------------------------------------------------------------ schedule

    def _rate_at(self, step: int) -> float:
        """Half a cosine from first to last; after convergence, the rest of it passes faster."""
        done = step / self.steps
        if self.converged is not None:
            before = self.converged / self.steps
            done = before + (1 - before) * (step - self.converged) / (self.end - self.converged)
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
        if before - now < self.tolerance * (self.blank - now):
            self.converged = self.steps_done
            logger.info(
                "converged after %d of %d passes; the rate falls until %d", done, self.passes, self.end // self.n**2
            )

    def _draw_order(self) -> None:
        """A Latin square for the next pass: each stretch of n shards has every row block and column block once."""
        self.drawn_from = self.generator.get_state()
        self.order = self.shards.latin(lambda n: torch.randperm(n, generator=self.generator).tolist())

    def _turn(self, team: Team) -> None:
        axes = principal_axes([rows[:, : self.vector_size] for rows in self.w.blocks + self.v.blocks], team.each)
        if self.kernel.extra:
            wider = torch.eye(self.vector_size + self.kernel.extra, device=self.device)
            wider[: self.vector_size, : self.vector_size] = axes
            axes = wider
        self.w.turn(axes, team.each)
        self.v.turn(axes, team.each)

    # ------------------------------------------------------------------ safety

    def _copy(self) -> tuple[list[torch.Tensor], list[torch.Tensor], int]:
        return self.w.copy(), self.v.copy(), self.steps_done

    def _step_back(self) -> None:
        """Return to the last state known to be sound, at half the rate."""
        self.scale /= 2
        if self.scale < 1e-6:
            raise ArithmeticError(
                "training diverges at any rate; the counts may hold something that is no text, or the vectors to start "
                "from may be too long"
            )
        logger.warning(
            "diverged in pass %d: stepping back, at %g times the rate", self.steps_done // self.n**2, self.scale
        )
        w, v, self.steps_done = self.safe
        self.sums = Sums()
        del self.history[self.steps_done // self.n**2 :]
        if self.converged is not None and self.converged > self.steps_done:
            self.converged = None
        self.w.step_back(w)
        self.v.step_back(v)
        self.untried = self.safe

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
            "moment_steps": [side.moment_steps() for side in (self.w, self.v)],
            "safe_steps": [self.safe[2], self.untried[2]],
        }
        return facts, self._arrays()

    def _arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        within_pass = self.steps_done % self.n**2
        yield "generator", (self.drawn_from if within_pass else self.generator.get_state()).numpy()
        for side in (self.w, self.v):
            yield side.name, joined(side.rows).numpy()
        for side in (self.w, self.v):
            yield from side.moment_arrays()
        for name, copy in (("safe", self.safe), ("untried", self.untried)):
            yield f"{name}_w", joined(copy[0]).numpy()
            yield f"{name}_v", joined(copy[1]).numpy()

    def _restore(self, saved: Saved) -> None:
        facts = saved.facts
        self.steps_done, self.history = facts["steps_done"], [Report(**report) for report in facts["history"]]
        self.converged, self.scale, self.sums = facts["converged"], facts["scale"], Sums(**facts["sums"])

        def blocks_of(name: str, side: Factor) -> list[torch.Tensor]:
            return self.shards.blocks(saved.array(name), len(side.rows))

        for side, steps in zip((self.w, self.v), facts["moment_steps"], strict=True):
            side.restore_moments(partial(blocks_of, side=side), steps)
        self.safe, self.untried = (
            (blocks_of(f"{name}_w", self.w), blocks_of(f"{name}_v", self.v), steps)
            for name, steps in zip(("safe", "untried"), facts["safe_steps"], strict=True)
        )
        self.generator.set_state(torch.from_numpy(saved.array("generator")))
        if self.steps_done % self.n**2:
            self._draw_order()

    # ------------------------------------------------------------------ results

    def evaluate(self) -> Report:
        """The exact objective, prior included, and sum p^, in float64."""
        exact = KERNELS[self.objective.kernel](self.vector_size, "float32")

        def cost_of(shard: Shard, room: Room) -> Cost:
            psi = room.psi_of(shard)
            exact.forward(self.w[shard.i], self.v[shard.j], psi)
            return self.objective.differentiate_(psi, shard)

        with Team(self.shards) as team:
            loss, mass, share = map(sum, zip(*team.map(cost_of, self.shards.latin()), strict=True))
            prior = sum(side.prior(k) for side in (self.w, self.v) for k in range(self.n))
        return Report(
            passes=self.steps_done / self.n**2,
            loss=loss / self.size**2 + 0.5 * prior / self.size,
            unitarity=mass / share if share else math.nan,
        )

    def result(self) -> Fitted:
        """Return what has been learnt by now, in the canonical gauge unless axes are kept."""
        w, v = joined(self.w.blocks), joined(self.v.blocks)
        learnt = v if self.v.rows is self.v.blocks else joined(self.v.rows)
        biases = self.kernel.biases(w.numpy(), v.numpy())
        sides = [side[:, : self.vector_size] for side in (w, learnt)]
        if not self.keeps_axes:
            with threads(torch_threads(self.shards)):
                for side, axes in zip(sides, self.kernel.axes(w, v, self.gauge), strict=True):
                    turn_(side, axes)
        elif self.balance is not None:
            sides = [sides[0] / torch.from_numpy(self.balance), sides[1] * torch.from_numpy(self.balance)]
        covectors, parameters = (np.ascontiguousarray(side.numpy()) for side in sides)
        history = [asdict(report) for report in self.history]
        offsets = self.objective.offsets(biases)
        return Fitted(covectors, parameters, biases, self.objective.psi_offset, offsets, history)


def updates(n: int) -> int:
    """How many each row needs where there are so many shards a side."""
    return UPDATES if n <= FEW else 2 * UPDATES


def shards_a_side(size: int, classes: int, free: int | None = None) -> int:
    """A power of two for which shards have 512 to 1,024 rows, as far as the store serves so many without waste.

    More where a shard would not fit into the `free` bytes of a GPU's memory, down to those rows.
    """
    room = math.inf if free is None else max(free, BYTES_A_CELL * ROWS**2)
    n = 1
    while (n < classes and size > ROWS * n) or BYTES_A_CELL * (size / n) ** 2 > room:
        n *= 2
    return n
