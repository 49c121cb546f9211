"""What goes into a fit and what comes out of it, as plain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from gensim_hilbert.objectives import Biases

if TYPE_CHECKING:
    from gensim_hilbert.training.checkpoint import Arrays

BACKGROUNDS = ("auto", "sampled", "dense")  # how pairs that do not occur are treated
PRECISIONS = ("float32", "tf32", "bf16")  # of the matrix products of a shard; all else is float32, sums are float64
Record = dict[str, float]


class Start(NamedTuple):
    """Vectors to start from instead of the solver's own start.

    Attributes
    ----------
    covectors : array
        One row per word.
    parameters : array
        The vectors, one row per word, or the rows that vectors are made of.
    biases : two arrays, optional
        The biases of contexts and of terms, for objectives that have them; None for their usual values.
    lock : array, optional
        For each word a factor from 0 to 1 by which the updates of its vector are multiplied.
    pace : float
        The same for all words, if vectors are fitted to counts.
    """

    covectors: np.ndarray
    parameters: np.ndarray
    biases: Biases | None = None
    lock: np.ndarray | None = None
    pace: float = 1.0

    def update_factors(self) -> np.ndarray | None:
        """Return the factors for the updates of words that lock and pace amount to, or None if all are 1."""
        if self.lock is None and self.pace == 1:
            return None
        lock = np.ones(len(self.covectors), dtype=np.float32) if self.lock is None else np.maximum(self.lock, 0)
        return np.asarray(self.pace * lock, dtype=np.float32)


class Anchor(NamedTuple):
    """Vectors of some words, onto which a result is turned so that the space stays where it was.

    Attributes
    ----------
    rows : array of int
        The words of the result that have such vectors ...
    vectors : array
        ... and these vectors, one row each.
    """

    rows: np.ndarray
    vectors: np.ndarray


class Fitted(NamedTuple):
    """What a solver has learnt.

    Attributes
    ----------
    covectors : array
        One row per word.
    parameters : array
        The vectors, one row per word, or the rows that vectors are made of.
    biases : two arrays, optional
        What the objective adds to covector . vector, for contexts and for terms.
    psi_offset : float
        PMI is covector . vector minus this ...
    offsets : two arrays, optional
        ... and minus the offset of the context and that of the term, if there are any.
    history : sequence of dicts
        One record per pass, or per stretch of the stream.
    """

    covectors: np.ndarray
    parameters: np.ndarray
    biases: Biases | None = None
    psi_offset: float = 0.0
    offsets: Biases | None = None
    history: Sequence[Record] = ()


@dataclass
class Report:
    """How a pass went, or the part of it that is done.

    `passes` is the number of passes done in all. `loss` includes the prior; `error` is its standard error, 0 if it is
    exact. `unitarity` is the sum of the model's probabilities (tempered), which tends to 1; it is NaN if the objective
    is not a model of probabilities. `gradient` is the root mean square norm of the gradient of a shard.
    """

    passes: float = 0.0
    loss: float = 0.0
    unitarity: float = 0.0
    gradient: float = 0.0
    error: float = 0.0

    def __str__(self) -> str:
        error = f" ± {self.error:.1g}" if self.error else ""
        unitarity = "" if math.isnan(self.unitarity) else f", sum p^ {self.unitarity:.4f}"
        gradient = "" if math.isnan(self.gradient) else f", gradient {self.gradient:.3g}"
        return f"loss {self.loss:.6f}{error}{unitarity}{gradient}"


class Fit(Protocol):
    """Fits an objective to counts, step by step: what `from_counts` needs of a method of fitting."""

    @property
    def steps_done(self) -> int:
        """The number of steps that the fit has taken."""

    @property
    def passes(self) -> int:
        """The largest number of passes over the counts that the fit will make."""

    @property
    def steps(self) -> int:
        """The largest number of steps that the fit will take."""

    def run(self, steps: int, progress: Callable[[Report], None] | None = None) -> Report:
        """Take so many steps more, and report how they went. If it raises, the fit cannot go on."""

    def evaluate(self) -> Report:
        """Report how well the counts are fitted by now: exactly, or with a standard error if words are many."""

    def result(self) -> Fitted:
        """Return what has been learnt by now."""

    def release_moments(self) -> None:
        """Give back memory that only further steps would need: no more of them are made."""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what a fit with the same arguments, and with this as `saved`, goes on from."""
