"""Learning from pair counts: an objective is fitted to them in a number of rounds, the epochs."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from gensim_hilbert.counting.layout import classes_for
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.interruption import is_interruption
from gensim_hilbert.objectives import Objective
from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.fit import Fit, Fitted, Report, Start
from gensim_hilbert.training.leading import LedFit
from gensim_hilbert.training.ranks import ONE_PROCESS, Group, are_several, present_ranks
from gensim_hilbert.training.session import ProgressReport

if TYPE_CHECKING:
    from gensim_hilbert.training.checkpoint import Arrays, Saved
    from gensim_hilbert.training.space import Space

logger = logging.getLogger(__name__)

GENSIM_ALPHA = 0.025  # gensim's default learning rate, which stands for the built-in one


class FromCounts:
    """Solver that fits an objective to pair counts.

    Parameters
    ----------
    counts : PairCounts
        What is fitted.
    objective : Objective
        How it is fitted.
    epochs : int
        Number of rounds that the work is divided into.
    vector_size : int
        Number of dimensions.
    alpha, min_alpha : float
        The first and the last learning rate, on gensim's scale.
    show_progress : bool
        Whether to draw a bar.
    report_delay : float
        Seconds between two lines of the log.
    start : Start, optional
        Vectors to start from.
    composition : Composition, optional
        How vectors are made of the rows that are learnt.
    saved : Saved, optional
        State to go on from.
    **options
        `l2`, `passes`, `background`, `columns`, `device`, `precision`, `gauge`, `seed` and `memory_gb`, as
        `Factorization` has them, and `space`, if covectors stay as they are.
    """

    def __init__(
        self,
        counts: PairCounts,
        objective: Objective,
        *,
        epochs: int,
        vector_size: int,
        alpha: float,
        min_alpha: float,
        show_progress: bool = False,
        report_delay: float = 1.0,
        start: Start | None = None,
        composition: Composition | None = None,
        saved: Saved | None = None,
        **options: Any,
    ):
        self.epochs = epochs
        start_report = ProgressReport(None, "rows of shards", show=show_progress, delay=report_delay, title="start")
        self.fit = make_fit(
            objective.bind(counts),
            vector_size,
            rate=alpha / GENSIM_ALPHA,
            final_rate=min_alpha / alpha,
            start=start,
            composition=composition,
            saved=saved,
            on_start=partial(show_start, start_report),
            **options,
        )
        start_report.close()
        self.is_sound = True
        self.progress = ProgressReport(self.fit.steps, "shards", show=show_progress, delay=report_delay)

    def run_epoch(self, number: int) -> None:
        """Visit the next shards, an even part of all."""
        steps = self.fit.steps * (number + 1) // self.epochs - self.fit.steps * number // self.epochs
        try:
            report = self.fit.run(steps, self._show)
        except BaseException as error:
            # The fit cannot go on, but after Ctrl-C its vectors are as good as those of any other moment: if they are
            # all here, and not on several ranks.
            self.is_sound = is_interruption(error) and not are_several()
            raise
        logger.info("EPOCH %d: %.1f passes, %s", number, report.passes, report)

    def loss(self) -> float:
        """Return the loss of the vectors as they are now, prior included; exact if the vocabulary is not too large."""
        return self.fit.evaluate().loss

    def result(self) -> Fitted:
        """Return what has been learnt by now."""
        return self.fit.result()

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state of the fit."""
        return self.fit.state()

    def finish(self) -> bool:
        """Give back memory that only further steps would need; results are final at any time."""
        self.fit.release_moments()
        return False

    def close(self) -> None:
        """Remove the bar."""
        self.progress.close()

    def _show(self, report: Report) -> None:
        self.progress.show(f"pass {report.passes:.1f}, {report}")
        self.progress.bar.move_to(self.fit.steps_done)
        self.progress.log("pass %.2f of %d, %s", report.passes, self.fit.passes, report)


def show_start(report: ProgressReport, done: int, total: int) -> None:
    """Show how much of the start has been computed."""
    report.bar.bar.total = total
    report.bar.move_to(done)
    report.log("start, %d of %d rows of shards", done, total)


def make_fit(objective: Objective, vector_size: int, *, space: Space | None = None, **options: Any) -> Fit:
    """Choose how an objective, bound to counts, is fitted: at once by an SVD where that is its minimum, or by steps."""
    if space is not None:
        from gensim_hilbert.training.fixed import FixedFit

        return FixedFit(objective, vector_size, space=space, **options)
    table, ranks = objective.table_for_svd(), present_ranks()
    if isinstance(ranks, Group):
        if table is not None:
            raise ValueError(f"{objective!r} is solved at once, and not by several ranks: {ONE_PROCESS}")
        return LedFit(ranks, objective, vector_size, **options)
    if table is None:
        from gensim_hilbert.training.factorization import Factorization

        return Factorization(objective, vector_size, **options)
    from gensim_hilbert.training.truncated_svd import TruncatedSVD

    return TruncatedSVD(objective, table, vector_size, **options)


def estimate_memory(words: int, rows: int, vector_size: int, memory_gb: float) -> dict[str, int]:
    """Return the bytes that learning from counts takes besides the model, by use.

    Parameters
    ----------
    words, rows : int
        Number of words, and of the rows that are learnt for their vectors.
    vector_size : int
        Number of dimensions.
    memory_gb : float
        Memory for counts.
    """
    import torch

    from gensim_hilbert.training.factorization import COLUMNS
    from gensim_hilbert.training.shards import BYTES_PER_PAIR
    from gensim_hilbert.training.spelling import COLUMNS as SPELLING_COLUMNS

    row = 4 * vector_size
    side = -(-words // classes_for(words))
    report = {
        "counts": min(int(memory_gb * (1 << 30)), BYTES_PER_PAIR * words**2),
        # For both sides: what is learnt, and two moments.
        "optimizer": 3 * 2 * words * row,
        # For each shard that is worked on at the same time: psi of the sample, and two gradients.
        "shards": torch.get_num_threads() * 2 * side * (4 * COLUMNS + row),
    }
    if rows != words:
        # Rows of n-grams, vectors made of them, and what the regression needs for some columns at a time.
        report["spelling"] = (rows + words) * row + 20 * rows * min(SPELLING_COLUMNS, vector_size)
    return report
