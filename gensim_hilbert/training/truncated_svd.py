"""The truncated SVD of a sparse matrix by randomised subspace iteration (Halko, Martinsson and Tropp).

A random basis is multiplied by the matrix and its transpose and made orthonormal again, a few times; this turns it
towards the strongest axes. Within the basis the problem is small, and solved exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gensim_hilbert.automatic import GAUGE
from gensim_hilbert.objectives import Objective
from gensim_hilbert.training.checkpoint import Saved
from gensim_hilbert.training.fit import Fitted, Report, Start
from gensim_hilbert.training.gauge import canonical_

if TYPE_CHECKING:
    from scipy import sparse

SWEEPS = 8  # more would not change the basis in float32
OVERSAMPLING = 20


class TruncatedSVD:
    """Fits covectors and vectors to a table by least squares over all cells.

    Parameters
    ----------
    objective : Objective
        The objective whose minimum is this SVD.
    table : sparse array
        What psi should be.
    vector_size : int
        Number of dimensions.
    gauge : float
        Share of vectors in the singular values, from 0 to 1; covectors have the rest.
    seed : int
        Seed of the random basis, on which the result hardly depends.
    start : Start, optional
        Refused, since there are no updates that could start from vectors or be locked.
    saved : Saved, optional
        The `state` of a fit with the same arguments, to go on from.
    **options
        Other options of `Factorization`, which have no meaning here.
    """

    def __init__(
        self,
        objective: Objective,
        table: sparse.csr_array,
        vector_size: int,
        *,
        gauge: float = GAUGE,
        seed: int = 1,
        start: Start | None = None,
        saved: Saved | None = None,
        **options: Any,
    ):
        if start is not None and start.lock is not None:
            raise ValueError(f"{objective!r} is solved at once: vectors cannot be locked; set vectors_lockf to 1")
        if start is not None:
            raise ValueError(
                f"{objective!r} is solved at once, and cannot start from given vectors; leave them as they are"
            )
        self.objective, self.table, self.vector_size, self.gauge = objective, table, vector_size, gauge
        facts: dict[str, Any] = {"steps_done": 0, "history": []} if saved is None else saved.facts
        self.steps_done: int = facts["steps_done"]
        self.history = [Report(**report) for report in facts["history"]]
        rank = min(vector_size + OVERSAMPLING, len(objective.counts))
        random = np.random.default_rng(seed)
        noise = random.standard_normal((table.shape[0], rank), dtype=np.float32)
        self.basis = np.linalg.qr(noise)[0] if saved is None else saved.array("basis")

    @property
    def passes(self) -> int:
        """Number of sweeps in all."""
        return SWEEPS

    @property
    def steps(self) -> int:
        """Number of sweeps in all."""
        return SWEEPS

    def run(self, steps: int, progress: Callable[[Report], None] | None = None) -> Report:
        """Make so many sweeps more, or as many as are left."""
        for _ in range(min(steps, SWEEPS - self.steps_done)):
            other = np.linalg.qr(self.table.T @ self.basis)[0]
            self.basis = np.linalg.qr(self.table @ other)[0]
            self.steps_done += 1
            self.history.append(self.evaluate())
            if progress:
                progress(self.history[-1])
        return self.history[-1] if self.history else self.evaluate()

    def _solved(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return left axes, singular values and right axes."""
        right, strength, mix = np.linalg.svd(self.table.T @ self.basis, full_matrices=False)
        d = self.vector_size
        return self.basis @ mix.T[:, :d], strength[:d], right[:, :d]

    def evaluate(self) -> Report:
        """Report the mean square of the difference between the table and its approximation."""
        squares = float(np.square(self.table.data).sum() - np.square(self._solved()[1], dtype=np.float64).sum())
        return Report(passes=self.steps_done, loss=squares / self.table.shape[0] ** 2, unitarity=float("nan"))

    def result(self) -> Fitted:
        """Return covectors and vectors in the canonical gauge; axes beyond the rank are zero."""
        left, strength, right = self._solved()
        missing = ((0, 0), (0, self.vector_size - len(strength)))
        w, v = (np.pad(np.float32(side * np.sqrt(strength)), missing) for side in (left, right))
        canonical_(torch.from_numpy(w), torch.from_numpy(v), self.gauge)
        history = [asdict(report) for report in self.history]
        return Fitted(w, v, None, self.objective.psi_offset, self.objective.offsets(None), history)

    def release_moments(self) -> None:
        """Do nothing: there are no moments."""

    def state(self) -> tuple[dict[str, Any], Iterator[tuple[str, np.ndarray]]]:
        """Return the basis, and how many sweeps are done."""
        facts = {"steps_done": self.steps_done, "history": [asdict(report) for report in self.history]}
        return facts, iter([("basis", self.basis)])
