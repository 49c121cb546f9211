"""Fits vectors to counts while covectors stay as they are: every vector at its minimum, some words at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.objectives import Objective
from gensim_hilbert.objectives.hilbert import Hilbert
from gensim_hilbert.training.checkpoint import Saved
from gensim_hilbert.training.device import choose_device
from gensim_hilbert.training.fit import Fitted, Report, Start
from gensim_hilbert.training.newton import FixedCovectors
from gensim_hilbert.training.space import Space, TermLosses

TOLERANCE = 1e-6  # Vectors are kept as float32, which has no more digits.


class FixedFit:
    """Fits the vectors of all terms of some counts in the space of given covectors.

    The contexts are the words whose covectors are given. Pairs with other contexts are ignored, also in the marginals
    of terms. A step takes the terms of one column of shards, for which it reads the shards of that column one after
    the other.

    Parameters
    ----------
    objective : Hilbert
        The objective, bound to counts.
    vector_size : int
        Number of dimensions.
    space : Space
        The covectors.
    l2 : float or "auto"
        Strength of the prior, in counts.
    device : str
        Where to compute.
    start : Start, optional
        Vectors that are there; words that are locked keep theirs.
    saved : Saved, optional
        The `state` of a fit with the same arguments, to go on from.
    **options
        Other options of `Factorization`, which have no meaning here.
    """

    passes = 1

    def __init__(
        self,
        objective: Objective,
        vector_size: int,
        *,
        space: Space,
        l2: float | str = "auto",
        device: str = "auto",
        start: Start | None = None,
        saved: Saved | None = None,
        **options: Any,
    ):
        assert isinstance(objective, Hilbert)
        self.counts: PairCounts = objective.counts
        self.size, self.n = len(self.counts), int(self.counts.manifest["classes"])
        self.space, self.start = space, start
        self.covectors, self.known = space.covectors_of(self.counts.vocabulary.words)
        contexts = np.where(self.known, self.counts.marginals.contexts, 0.0)
        if not contexts.any():
            raise ValueError("none of the contexts of this text has a covector in the model that covectors= names")
        self.term_marginals = self._marginals_of_terms()
        self.losses = TermLosses(objective, contexts, self.term_marginals, l2, vector_size)
        scaled = self.losses.contexts * np.exp(-space.psi_offset)
        self.solver = FixedCovectors(self.covectors, scaled, space.metric, choose_device(device))
        self.vectors = np.zeros((self.size, vector_size), dtype=np.float32)
        self.steps_done = 0
        self.largest_gradient = self.loss = 0.0
        if saved is not None:
            self.steps_done, self.loss = saved.facts["steps_done"], saved.facts["loss"]
            self.largest_gradient = saved.facts["largest_gradient"]
            self.vectors[:] = saved.array("vectors")

    @property
    def steps(self) -> int:
        """The number of columns of shards."""
        return self.n

    def _shards(self, j: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield (contexts, terms, counts) of known contexts with the terms j, j + n, ..., which count from 0 here."""
        for i in range(self.n):
            part = self.counts.compressed(i, j, self.n)
            contexts = i + self.n * part.rows
            known = self.known[contexts]
            yield contexts[known], part.columns[known], part.values[known]

    def _marginals_of_terms(self) -> np.ndarray:
        """Return the sums over known contexts."""
        if self.known.all():
            return self.counts.marginals.terms
        sums = np.zeros(self.size)
        for j in range(self.n):
            for _, terms, counts in self._shards(j):
                sums[j :: self.n] += np.bincount(terms, counts, len(sums[j :: self.n]))
        return sums

    def run(self, steps: int, progress: Callable[[Report], None] | None = None) -> Report:
        """Solve for the terms of so many more columns of shards."""
        for j in range(self.steps_done, min(self.steps_done + steps, self.n)):
            self._solve(j)
            self.steps_done = j + 1
            if progress:
                progress(self._report())
        return self._report()

    def _solve(self, j: int) -> None:
        """Set the vectors of the terms j, j + n, j + 2n, ..."""
        marginals = self.term_marginals[j :: self.n]
        contexts, terms, counts = (np.concatenate(part) for part in zip(*self._shards(j), strict=True))
        order = np.argsort(terms, kind="stable")
        contexts, terms, counts = contexts[order], terms[order], counts[order]
        starts = np.searchsorted(terms, np.arange(len(marginals) + 1))
        values = self.losses.values(counts, contexts, self.losses.term_factors(marginals)[terms])
        b = self.losses.multipliers(marginals)
        found = self.solver.solve(self.solver.linear(values, contexts, starts), b, self.losses.priors(b), TOLERANCE)
        self.largest_gradient = max(self.largest_gradient, float(found.gradients.max(initial=0.0)))
        self.loss += float(found.losses.sum()) + self.space.psi_offset * float(values.sum())
        self.vectors[j :: self.n] = found.vectors

    def _report(self) -> Report:
        """Return the mean loss per cell of the terms that are done, prior included, and the largest gradient."""
        done = sum(len(range(j, self.size, self.n)) for j in range(self.steps_done))
        return Report(
            passes=self.steps_done / self.n,
            loss=self.loss / max(1, done * self.size),
            unitarity=np.nan,
            gradient=self.largest_gradient,
        )

    def evaluate(self) -> Report:
        """Report how well the counts are fitted by now."""
        return self._report()

    def release_moments(self) -> None:
        """Give back nothing: there are no moments."""

    def result(self) -> Fitted:
        """Return the vectors; words that are locked keep theirs, in proportion to the lock."""
        vectors = self.vectors.copy()
        if self.start is not None and self.start.lock is not None:
            lock = np.clip(self.start.lock, 0, 1)[:, None].astype(np.float32)
            vectors = np.asarray(self.start.parameters + lock * (vectors - self.start.parameters), dtype=np.float32)
        report = self._report()
        history = [{"passes": report.passes, "loss": report.loss, "gradient": report.gradient}]
        return Fitted(self.covectors.copy(), vectors, psi_offset=self.space.psi_offset, history=history)

    def state(self) -> tuple[dict[str, Any], Iterator[tuple[str, np.ndarray]]]:
        """Return what a fit with the same arguments goes on from."""
        facts = {"steps_done": self.steps_done, "loss": self.loss, "largest_gradient": self.largest_gradient}
        return facts, iter([("vectors", self.vectors)])
