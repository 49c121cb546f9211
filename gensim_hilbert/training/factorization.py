"""Sharded matrix factorization with gradients in closed form, shard by shard.

Pairs that occur are computed exactly. Pairs that do not occur are sampled, or computed as well if the vocabulary is
small (`gradients.py`). Adam's moments and step counts belong to blocks of rows. Shards are visited in Latin squares: n
shards in a row share no rows and no columns, and as many of them as there are cores are visited at a time.

Adam scales each axis on its own, so that its steps depend on the choice of axes, on which psi does not depend. After
each pass the factors are turned to their principal axes. Weak axes, which hold much of syntax, then learn as fast as
strong ones.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import starmap
from typing import Any

import numpy as np
import torch

from gensim_hilbert.automatic import GAUGE
from gensim_hilbert.objectives import Cost, Objective
from gensim_hilbert.training.batches import Batches
from gensim_hilbert.training.checkpoint import Saved
from gensim_hilbert.training.choice import choose_gradients
from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.device import choose_device, free_memory, products_in, sent
from gensim_hilbert.training.factors import BETAS, BETAS_OF_PAIRS_ALONE, Factor
from gensim_hilbert.training.fit import BACKGROUNDS, PRECISIONS, Fitted, Report, Start
from gensim_hilbert.training.gauge import joint_moments, principal_axes, turn_
from gensim_hilbert.training.gradients import DenseGradients, SampledGradients
from gensim_hilbert.training.kernels import KERNELS, with_columns
from gensim_hilbert.training.losses import LARGE_SHARD, Sums, loss_at_zero, sum_losses
from gensim_hilbert.training.order import offset_before_pass, offsets_of_pass
from gensim_hilbert.training.prior import PRIOR_COUNTS, PRIOR_COUNTS_OF_PAIRS_ALONE, PRIOR_EXPONENT, prior_strength
from gensim_hilbert.training.ranks import ALONE, Ranks
from gensim_hilbert.training.ring import Ring
from gensim_hilbert.training.schedule import Schedule, first_rate, shards_per_side, updates_for
from gensim_hilbert.training.shards import Shard, Shards
from gensim_hilbert.training.spectral import spectral_start
from gensim_hilbert.training.spelling import Spelling, correction
from gensim_hilbert.training.steps import PlainSteps, choose_steps
from gensim_hilbert.training.team import Team

logger = logging.getLogger(__name__)

TOLERANCE = 1e-4
DIVERGED = 30.0  # A shard with so many times the mass in counts or by chance, or the loss at 0, has diverged.
LEAST_MASS = 0.05  # Expected mass per cell at least, for that comparison: shards with few counts have hardly any.
COLUMNS = 64  # Columns that are drawn for each shard, on average over all passes.


class Diverged(ArithmeticError):
    """Raised if the probabilities of a shard add up to far more than they should, or its loss is far too large."""


class Factorization:
    """Fits covectors W and vectors V to counts by minimising the loss of an objective.

    Parameters
    ----------
    objective : Objective
        What is fitted, bound to counts.
    vector_size : int
        Number of dimensions.
    l2 : float or "auto"
        Strength of the Gaussian prior on rows, in counts. "auto" is 40 at 100 dimensions, 50 without a background, and
        grows with the square root of their number. In the loss it weighs `l2 / evidence`, the counts behind the average
        row: the more text, the weaker. For each word it is multiplied by the root of the word's own weight.
    rate : float
        Learning rate relative to the built-in one.
    final_rate : float
        The rate at the end, relative to the first.
    passes : int, optional
        Passes over all shards, at most; by default enough for 32 to 512 updates of each row, the more the more pairs
        have been counted.
    tolerance : float
        After half of all passes, training has converged when a sixteenth of them lowers the loss by less than this
        share of what has been won in all; the rate then falls to its end within a quarter more. 0 makes all passes.
    n : int, optional
        Shards per side; by default so many that a shard has 512 to 1,024 rows, but no more than the store's classes.
    background : {"auto", "sampled", "dense"}
        Whether pairs that do not occur are sampled or all visited; "auto" visits them all where that
        takes no more than twice as long (`costs.py`).
    columns : int
        How many columns, and rows, of each shard are drawn, on average over all passes.
    on_start : callable, optional
        Called while the start is computed, with the parts of that work that are done and their number.
    device : str
        "auto", "cpu", "cuda", "cuda:1", "mps".
    precision : {"float32", "tf32", "bf16"}
        Precision of dense products; TF32 only has effect on GPUs that have it.
    gauge : float
        Share of vectors in the strength of each axis, from 0 to 1; covectors have the rest.
    seed : int
        Seed of the start, the order of shards and the samples.
    memory_gb : float
        Counts are kept in memory if they take less.
    start : Start, optional
        Vectors to start from, instead of an SVD; axes are then kept, and the share of either side in each.
    composition : Composition, optional
        How vectors are made of rows that words share; `start` and `result` then have these rows instead of vectors.
        Training itself is the same: rows follow from vectors at the end (`spelling.py`).
    saved : Saved, optional
        The `state` of a fit with the same arguments, to go on from.
    ranks : Ranks
        The processes that fit together; every one of them makes the same calls (`leading.py`).
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
        background: str = "auto",
        columns: int = COLUMNS,
        on_start: Callable[[int, int], None] | None = None,
        device: str = "auto",
        precision: str = "float32",
        gauge: float = GAUGE,
        seed: int = 1,
        memory_gb: float = 2.0,
        start: Start | None = None,
        composition: Composition | None = None,
        saved: Saved | None = None,
        ranks: Ranks = ALONE,
    ):
        if background not in BACKGROUNDS:
            raise ValueError(f"background must be one of {', '.join(BACKGROUNDS)}, got {background!r}")
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}, got {precision!r}")
        self.objective, self.size, self.vector_size, self.gauge = objective, len(objective.counts), vector_size, gauge
        self.device, self.precision, self.seed, self.ranks = choose_device(device), precision, seed, ranks
        if saved is not None:
            n = saved.facts["n"]  # The free memory of a GPU may have changed.
        n = n or shards_per_side(self.size, objective.counts.manifest["classes"], free_memory(self.device))
        self.n = ranks.from_rank(0, n)
        self.betas = BETAS if objective.has_background else BETAS_OF_PAIRS_ALONE
        counts = PRIOR_COUNTS if objective.has_background else PRIOR_COUNTS_OF_PAIRS_ALONE
        self.l2 = prior_strength(l2, vector_size, objective.evidence, counts)
        updates = updates_for(objective.counts.total, self.size)
        self.schedule = Schedule(
            rate=first_rate(vector_size, updates) * rate,
            final_rate=final_rate,
            passes=passes or max(1, round(updates / self.n)),
            steps_per_pass=self.n**2,
            tolerance=tolerance,
        )
        self.kernel = KERNELS[objective.kernel](vector_size, precision)
        self.shards = Shards(objective, self.n, self.device, memory_gb, ranks)
        self.dense = DenseGradients(objective, self.kernel, self.shards)
        self.gradients = choose_gradients(self.dense, background, columns, seed)
        self.batches = None if self.device.type == "cpu" else Batches(self.gradients)
        self.given, self.composition, self.on_start = start, composition, on_start
        self.scale = 1.0  # Factor of the rate, halved after a divergence.
        self._begin(saved)
        biases = None if start is None else start.biases
        loss = loss_at_zero(objective, self.kernel, self.shards, biases, seed) if ranks.rank == 0 else 0.0
        self.loss_without_vectors = ranks.from_rank(0, loss)

    # ------------------------------------------------------------------ beginning

    def _begin(self, saved: Saved | None = None) -> None:
        """Make the factors, from the given vectors or by an SVD, or from a checkpoint."""
        self.steps_done = 0 if saved is None else saved.facts["steps_done"]
        self.ring = Ring(self.ranks, self.n)
        self.has_diverged = False
        self.sums, self.report = Sums(), Report()
        self.history: list[Report] = []  # One report per whole pass.
        self.schedule.converged = None
        self.balance: np.ndarray | None = None  # Of the axes of given vectors.
        if self.given is not None:
            self.balance = self.kernel.balancing(self.given.covectors, self._given_vectors())
        w, v = self._empty() if saved is not None else self._start()
        priors = [self.l2 * self.shards.arranged(side) ** PRIOR_EXPONENT for side in self.objective.weights]
        w = w[: len(self.ring.own)]  # Nothing comes to this side.
        self.w = Factor("w", w, priors[0], self.vector_size, places=self.shards.division, betas=self.betas)
        lock = None if self.given is None else self.given.update_factors()
        locks = None if lock is None else self.shards.arranged(lock)
        self.v = Factor("v", v, priors[1], self.vector_size, locks, self.ring, self.betas)
        self.step = choose_steps(self.gradients, self.w, self.v)
        if saved is not None:
            self._restore(saved)

    @property
    def keeps_axes(self) -> bool:
        """Whether the axes are those of given vectors."""
        return self.given is not None

    def _given_vectors(self) -> np.ndarray:
        """Return the vectors to start from, also if the rows are given that they are made of."""
        assert self.given is not None
        parameters = self.given.parameters
        return parameters if self.composition is None else self.composition.vectors(parameters)

    def _start(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return rows of this rank to start from."""
        if self.given is None:
            with Team(self.shards.on_host()) as team:
                w, v = spectral_start(team, self.vector_size, self.seed, self.on_start)
            return with_columns(self.kernel, self.shards, w, v, self.objective.start)
        sides = [self.given.covectors, self._given_vectors()]
        if self.balance is not None:
            sides = [sides[0] * self.balance, sides[1] / self.balance]
        w, v = (self.shards.own_blocks(side) for side in sides)
        biases = self.objective.start if self.given.biases is None else self.given.biases
        return with_columns(self.kernel, self.shards, w, v, biases)

    def _empty(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return room for the rows of a checkpoint."""
        width = self.vector_size + self.kernel.extra
        w, v = (sent(self.ring.empty(self.shards.rows, width).zero_(), self.device) for _ in range(2))
        return w, v

    # ------------------------------------------------------------------ running

    @property
    def passes(self) -> int:
        """The number of passes, at most."""
        return self.schedule.passes

    @property
    def steps(self) -> int:
        """The number of shards to be visited in all, at most."""
        return self.schedule.steps

    def run(self, steps: int, progress: Callable[[Report], None] | None = None) -> Report:
        """Visit so many more shards, or as many as are left; return how the last pass, or part of one, went.

        If `run` raises, discard this object: some updates were not recorded.
        """
        target, per_pass = self.steps_done + steps, self.n**2
        with Team(self.shards, self._several) as team:
            while self.steps_done < min(target, self.schedule.end):
                number, done = divmod(self.steps_done, per_pass)
                if isinstance(self.gradients, SampledGradients):
                    self.gradients.begin_pass(number / max(1, self.passes - 1))
                if not done:
                    offset = offset_before_pass(self.n, self.seed, number)
                    self.ring.move_to(offset, self.v.parts)
                    if self.steps_done and not self.keeps_axes:
                        self._turn(team, offset)
                    if isinstance(self.gradients, SampledGradients):
                        self.gradients.measure_level(self.w, self.v, offset)
                try:
                    visit = self._visit if self.batches is None else self._visit_at_once
                    order = self.shards.latin(offsets_of_pass(self.n, self.seed, number))
                    visit(team, order[done : done + target - self.steps_done], progress)
                except Diverged:
                    self._start_again()
                    continue
                if self.steps_done % per_pass == 0:
                    self.history.append(self.report)
                    self.sums = Sums()
                    losses = [report.loss for report in self.history]
                    if self.schedule.look_for_convergence(losses, self.loss_without_vectors):
                        logger.info(
                            "converged after %d of %d passes; the rate falls until %d",
                            len(losses), self.passes, self.schedule.end // per_pass,
                        )  # fmt: skip
        return self.report

    @property
    def _several(self) -> bool:
        """Whether to work on several shards at once."""
        return self.gradients is not self.dense or self.shards.rows <= LARGE_SHARD

    def _visit(self, team: Team, order: list[tuple[int, int]], progress: Callable[[Report], None] | None) -> None:
        """Go through shards, without a halt unless blocks have to travel."""
        n, scale, before = self.n, self.n**2 / self.size**2, self.steps_done
        rows = [step // n for step in range(before, before + len(order))]
        rates = [self.scale * self.schedule.rate_at(row * n) for row in rows]
        mine = sum(i in self.ring.own for i, _ in order)
        found, shown = [], replace(self.sums)
        with products_in(self.precision):
            for number, sums in self.ring.map(team, self.v.parts, self._learn_or_tell, order, rates, rows):
                found.append((number, sums))
                if sums is not None:
                    shown.add(*sums)
                self.steps_done = before + len(order) * len(found) // mine  # Others are about as far as this rank.
                if progress and (len(found) % len(self.ring.own) == 0 or len(found) == mine) and shown.shards:
                    progress(shown.report(self.steps_done / n**2, scale))
        for one in self.ring.by_block(found):
            if one is None:
                raise Diverged
            self.sums.add(*one)
        self.steps_done = before + len(order)
        self.report = self.sums.report(self.steps_done / n**2, scale)

    def _visit_at_once(
        self, team: Team, order: list[tuple[int, int]], progress: Callable[[Report], None] | None
    ) -> None:
        """Go through whole rows of shards, each in one step; `order` ends with the row in which it would end."""
        n = self.n
        assert self.batches is not None
        while order and self.steps_done < self.schedule.end:
            i, j = order[0]
            rate, mine = self.scale * self.schedule.rate_at(self.steps_done), []
            self.ring.align((j - i) % n, self.v.parts)
            if self.ring.own:
                with products_in(self.precision):
                    sums = self.batches.step(self.w, self.v, (j - i) % n, rate, self.steps_done // n)
                mine = [sums.tolist()]  # The one time that the host waits.
            loss, error, mass, share, gradient, prior = map(sum, zip(*self.ranks.all_of(mine), strict=True))
            if self._is_beyond(Cost(loss, mass, share), order[:n]):
                raise Diverged
            self.sums.add(Cost(loss + 0.5 * self.size / n * prior, mass, share), error, gradient, n)
            self.steps_done += n
            self.report = self.sums.report(self.steps_done / n**2, n**2 / self.size**2)
            if progress:
                progress(self.report)
            order = order[n:]

    def _learn_or_tell(self, shard: Shard, rate: float, row: int) -> tuple[Cost, float, float] | None:
        """Make one step; return None if a rank among several has diverged: the others wait for its blocks."""
        if self.ranks.size == 1:
            return self._learn(shard, rate, row)
        try:
            return None if self.has_diverged else self._learn(shard, rate, row)
        except Diverged:
            self.has_diverged = True
            return None

    def _learn(self, shard: Shard, rate: float, row: int) -> tuple[Cost, float, float]:
        """Make one step; return the loss before it, prior included, its squared error, and the gradient's norm."""
        cost, error, prior, squares = self.step(shard, rate, row)
        if self._is_beyond(cost, [(shard.i, shard.j)]):  # Rows that have been moved too far are never seen again.
            raise Diverged
        return Cost(cost.loss + 0.5 * self.size / self.n * prior, cost.mass, cost.share), error, squares

    def _is_beyond(self, cost: Cost, shards: list[tuple[int, int]]) -> bool:
        """Whether steps have gone too far: by the sum of probabilities, or by the loss where there are none."""
        cells = self.shards.rows**2 * len(shards)
        if math.isnan(cost.share):
            return not cost.loss <= DIVERGED * max(self.loss_without_vectors, LEAST_MASS) * cells
        return not cost.mass <= DIVERGED * max(
            cost.share, sum(starmap(self.shards.by_chance, shards)), LEAST_MASS * cells
        )

    def _turn(self, team: Team, offset: int) -> None:
        """Turn both factors to their joint principal axes; blocks that meet at this offset are on one rank."""
        both = ((self.w[k], self.v[(k + offset) % self.n]) for k in self.ring.own)
        blocks = [block[:, : self.vector_size] for meeting in both for block in meeting]
        moments = team.each(joint_moments, blocks)
        axes = self.ring.sum_in_order(moments, principal_axes).to(self.device)
        if self.kernel.extra:
            wider = torch.eye(self.vector_size + self.kernel.extra, device=self.device)
            wider[: self.vector_size, : self.vector_size] = axes
            axes = wider
        self.w.turn(axes, team.each)
        self.v.turn(axes, team.each)

    def _start_again(self) -> None:
        """Begin anew, at half the rate: the rate is highest at first, so that little is lost."""
        self.scale /= 2
        if self.scale < 1e-6:
            raise ArithmeticError(
                "training diverges at any rate; the counts may hold something that is no text, or the vectors to start "
                "from may be too long"
            )
        logger.warning(
            "diverged in pass %d: starting again, at %g times the rate", self.steps_done // self.n**2, self.scale
        )
        del self.w, self.v, self.step  # The start needs their memory.
        self._begin()

    # ------------------------------------------------------------------ going on another time

    def state(self) -> tuple[dict[str, Any], Iterator[tuple[str, np.ndarray]]]:
        """Return all that a fit needs to go on as if it had never stopped: facts for JSON, and arrays."""
        facts = {
            "n": self.n,
            "steps_done": self.steps_done,
            "sums": asdict(self.sums),
            "history": [asdict(report) for report in self.history],
            "converged": self.schedule.converged,
            "scale": self.scale,
            "level": self.gradients.level if isinstance(self.gradients, SampledGradients) else 0.0,
        }
        return facts, self._arrays()

    def _arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        for side in (self.w, self.v):
            yield from side.arrays()

    def _restore(self, saved: Saved) -> None:
        facts = saved.facts
        self.history = [Report(**report) for report in facts["history"]]
        self.schedule.converged, self.scale, self.sums = facts["converged"], facts["scale"], Sums(**facts["sums"])
        if isinstance(self.gradients, SampledGradients):
            self.gradients.level = facts["level"]
        for side in (self.w, self.v):
            side.restore(saved.array)

    # ------------------------------------------------------------------ results

    def evaluate(self) -> Report:
        """Return the loss, prior included, and the sum of the model's probabilities.

        Both are exact for up to EXACT_WORDS words. Beyond, they are estimated from many columns of each shard; the
        report has the standard error of the loss.
        """
        kernel = KERNELS[self.objective.kernel](self.vector_size, "float32")
        sums = sum_losses(self.objective, kernel, self.shards, self.ring, self.w, self.v, self.seed)
        report = sums.report(self.steps_done / self.n**2, self.n**2 / self.size**2)
        report.loss += 0.5 * (self.w.prior() + self.v.prior()) / self.size
        report.gradient = math.nan
        return report

    def release_moments(self) -> None:
        """Give back the memory that only further steps would need."""
        self.w.release_moments()
        self.v.release_moments()
        self.step = PlainSteps(self.gradients, self.w, self.v)  # Compiled ones would keep the moments.

    def result(self) -> Fitted:
        """Return what has been learnt by now, in the canonical gauge unless axes are kept; on rank 0 only."""
        w = self.shards.restored(self.w.all_blocks())
        v = self.shards.restored(self.v.all_blocks())
        if self.ranks.rank:
            return Fitted(w, v)
        learnt = v
        if self.composition is not None:
            weights = self.objective.weights[1]
            learnt = Spelling(self.composition, weights).split(v)
            before, v = v, self.composition.vectors(learnt)
            w = w @ correction(before, v, weights)
        biases = self.kernel.biases(w, v)
        sides = [torch.from_numpy(side)[:, : self.vector_size] for side in (w, learnt)]
        if not self.keeps_axes:
            with Team(self.shards.on_host()) as team:
                turns = self.kernel.axes(torch.from_numpy(w), torch.from_numpy(v), self.gauge, team.each)
                for side, axes in zip(sides, turns, strict=True):
                    turn_(side, axes, team.each)
        elif self.balance is not None:
            sides = [sides[0] / torch.from_numpy(self.balance), sides[1] * torch.from_numpy(self.balance)]
        covectors, parameters = (np.ascontiguousarray(side.numpy()) for side in sides)
        history = [asdict(report) for report in self.history]
        offsets = self.objective.offsets(biases)
        return Fitted(covectors, parameters, biases, self.objective.psi_offset, offsets, history)
