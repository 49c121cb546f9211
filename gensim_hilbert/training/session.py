"""One training: the epochs of a solver, and what happens between them (callbacks, checkpoints, results, progress).

A session knows neither the model nor what is learnt from. It hands out what has been learnt as `Fitted`, and makes that
only where somebody needs it: after each epoch if there is a watcher, and at the end.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from timeit import default_timer
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from gensim_hilbert.progress import Progress
from gensim_hilbert.training.checkpoint import Arrays, Checkpoint, Saved
from gensim_hilbert.training.fit import Fitted
from gensim_hilbert.training.ranks import RankFailed

logger = logging.getLogger(__name__)


class Solver(Protocol):
    """Learns in epochs."""

    @property
    def is_sound(self) -> bool:
        """Whether what has been learnt can be used: an epoch that fails may leave something that cannot."""

    def run_epoch(self, number: int) -> None:
        """Run one epoch."""

    def loss(self) -> float:
        """Return the loss after the last epoch, as the solver defines it."""

    def result(self) -> Fitted:
        """Return what has been learnt by now."""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return what a solver with the same arguments, and with this as `saved`, goes on from."""

    def finish(self) -> bool:
        """Give the result its final form, after the last epoch or an early end; tell whether that changes it."""

    def close(self) -> None:
        """Release what is held: the progress bar."""


class Unchanged:
    """Solver for a text that is fitted already: what has been learnt stays as it is."""

    is_sound = True

    def __init__(self, fitted: Fitted, last_loss: float, saved: Saved | None = None):
        self.fitted, self.last_loss = fitted, last_loss

    def run_epoch(self, number: int) -> None:
        """Do nothing."""

    def loss(self) -> float:
        """Return the loss of the last training."""
        return self.last_loss

    def result(self) -> Fitted:
        """Return what has been learnt before."""
        return self.fitted

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return nothing: there is nothing to go on from."""
        return {}, ()

    def finish(self) -> bool:
        """Change nothing."""
        return False

    def close(self) -> None:
        """Do nothing."""


AnySolver = TypeVar("AnySolver", bound=Solver)


class Watcher(NamedTuple):
    """Functions that a session calls around each epoch."""

    epoch_begins: Callable[[], None]
    epoch_ends: Callable[[Fitted, float], None]


class Session(Generic[AnySolver]):
    """Runs the epochs of a solver, or those that its checkpoint lacks.

    Parameters
    ----------
    make_solver : callable
        Makes the solver, given `saved`: the state in the checkpoint, or None. If it fails, training has not begun.
    epochs : int
        Number of epochs in all.
    checkpoint : Checkpoint, optional
        Where the solver's state is kept after each epoch.
    watcher : Watcher, optional
        Who wants to see the results of each epoch.
    compute_loss : bool
        Whether to ask the solver for its loss with each result.

    Attributes
    ----------
    solver : Solver
        The solver itself, for what only the caller knows about it.
    fitted : Fitted or None
        What has been learnt, once `run` has ended or failed; None if that cannot be used.
    final_loss : float
        The loss that belongs to it.
    epochs_before, epochs_done : int
        Number of epochs that the checkpoint had, and of those that have ended by now, these included.
    """

    def __init__(
        self,
        make_solver: Callable[..., AnySolver],
        epochs: int,
        *,
        checkpoint: Checkpoint | None = None,
        watcher: Watcher | None = None,
        compute_loss: bool = False,
    ):
        saved = None if checkpoint is None else checkpoint.load()
        try:
            self.solver = make_solver(saved=saved)
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            if saved is None or isinstance(error, RankFailed) or str(saved.directory) in str(error):
                raise
            raise ValueError(f"{saved.directory} does not hold the state of this training: {error!r}") from error
        self.epochs, self.epochs_before = epochs, 0 if saved is None else saved.epochs
        self.epochs_done = self.epochs_before
        self.checkpoint, self.watcher, self.compute_loss = checkpoint, watcher, compute_loss
        self.fitted: Fitted | None = None
        self.final_loss = 0.0

    def run(self) -> None:
        """Run the epochs that are left. Also if one of them or a callback fails, `fitted` tells what was learnt."""
        has_begun = self.epochs_done > 0
        try:
            for epoch in range(self.epochs_done, self.epochs):
                self.fitted = None
                if self.watcher is not None:
                    self.watcher.epoch_begins()
                has_begun = True
                self.solver.run_epoch(epoch)
                self.epochs_done = epoch + 1
                if self.watcher is not None:
                    self.watcher.epoch_ends(self._make_result(), self.final_loss)
                if self.checkpoint is not None:
                    self.checkpoint.write(epoch + 1, *self.solver.state())
        finally:
            self.solver.close()
            if has_begun and self.solver.is_sound and (self.solver.finish() or self.fitted is None):
                self._make_result()

    def _make_result(self) -> Fitted:
        self.fitted = self.solver.result()
        if self.compute_loss:
            self.final_loss = self.solver.loss()
        return self.fitted


class ProgressReport:
    """Shows a bar on a terminal; elsewhere it logs a line every few seconds.

    Parameters
    ----------
    total : int or None
        How much there is to do, if that is known.
    unit : str
        In what that is measured.
    show : bool
        Whether to draw a bar if standard error is a terminal.
    delay : float
        Seconds between two lines of the log.
    title : str
        What stands before the bar.
    """

    def __init__(self, total: int | None, unit: str, *, show: bool, delay: float, title: str = "training"):
        self.bar = Progress(title, total, show=show, unit=f" {unit}")
        self.delay, self.last_line = delay, default_timer()

    def show(self, note: str) -> None:
        """Show a note behind the bar."""
        self.bar.note(note)

    def log(self, message: str, *values: Any) -> None:
        """Log a line, if there is no bar and the last line is old enough."""
        if not self.bar.shown and default_timer() - self.last_line >= self.delay:
            self.last_line = default_timer()
            logger.info("PROGRESS: " + message, *values)

    def close(self) -> None:
        """Remove the bar."""
        self.bar.__exit__(None, None, None)
