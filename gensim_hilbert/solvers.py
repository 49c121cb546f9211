"""The two ways to fit a model, behind one interface: a solver is made when training begins, and runs its epochs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from itertools import count
from timeit import default_timer
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.counting.layout import classes_for
from gensim_hilbert.progress import Progress
from gensim_hilbert.vocabulary import Vocabulary

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE
    from gensim_hilbert.objectives import Biases
    from gensim_hilbert.training.checkpoint import Arrays, Saved
    from gensim_hilbert.training.factorization import Report
    from gensim_hilbert.training.gibbs import Epoch

logger = logging.getLogger(__name__)

GENSIM_ALPHA = 0.025  # the rate that counts as 1
BYTES_A_WORKER = 8 << 20  # of the stream: blocks of text, and ids
CANDIDATES = 5  # where a script asks for none, because it has hierarchical softmax
POINTS = 128  # of the curve of a training from the stream, besides the ends of epochs
Record = dict[str, float]


class Solver(Protocol):
    """What training needs of a solver."""

    @property
    def history(self) -> list[Record]:
        """How it has gone so far, a record a step worth drawing."""

    def run_epoch(self, number: int) -> float:
        """One round, after which the model has its vectors; returns the loss, as the solver defines it."""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What a solver made with the same arguments, and with this as `saved`, goes on from."""

    def finish(self) -> None:
        """All rounds are done, or one of them has failed."""


class Fit(Protocol):
    """What a solver needs of that which fits an objective to counts."""

    passes: int
    steps_done: int
    history: list[Report]

    @property
    def steps(self) -> int:
        """In all, at most."""

    def run(self, steps: int, progress: Callable[[Report], None] | None = None) -> Report:
        """Make so many more; returns how they went."""

    def evaluate(self) -> Report:
        """How well counts are fitted by now."""

    def result(self) -> tuple[np.ndarray, np.ndarray, Biases | None]:
        """Covectors, and vectors or what they are made of, as they are by now, and biases where there are any."""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What a fit made with the same arguments, and with this as `saved`, goes on from."""


class FromCounts:
    """Fits the model's objective to its counts, in so many rounds."""

    def __init__(
        self,
        model: HilbertMLE,
        epochs: int,
        start: bool,
        lock: np.ndarray | None,
        report_delay: float,
        saved: Saved | None = None,
    ):
        counts = model.fitted_counts
        assert counts is not None
        self.model, self.epochs, self.report_delay = model, epochs, report_delay
        self.objective = model.objective.bind(counts)
        self.fit = self.objective.fit(
            model.vector_size,
            l2=model.l2,
            rate=model.alpha / GENSIM_ALPHA,
            final_rate=model.min_alpha / model.alpha,
            device=model.device,
            precision=model.precision,
            gauge=gauge_of(model),
            seed=model.seed,
            memory_gb=model.memory_gb,
            start=(model.syn1neg, model.wv.parameters, model.biases) if start else None,
            composition=model.wv.composition,
            lock=lock,
            saved=saved,
        )
        if saved is not None:
            self._take_result()
        self.bar = Progress("training", self.fit.steps, show=model.progress, unit=" shards")
        self.said = default_timer()

    @property
    def history(self) -> list[Record]:
        """Of whole passes."""
        return [asdict(report) for report in self.fit.history]

    def run_epoch(self, number: int) -> float:
        """Visit the next shards, an even part of all."""
        fit = self.fit
        steps = fit.steps * (number + 1) // self.epochs - fit.steps * number // self.epochs
        report = fit.run(steps, self._show)
        self._take_result()
        logger.info("EPOCH %d: %.1f passes, %s", number, report.passes, report)
        return fit.evaluate().loss if self.model.compute_loss else 0.0

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """That of the fit."""
        return self.fit.state()

    def finish(self) -> None:
        """Nothing is left but the bar."""
        self.bar.__exit__(None, None, None)

    def _take_result(self) -> None:
        covectors, vectors, biases = self.fit.result()
        self.model.take(covectors, vectors, biases)
        self.model.psi_offset, self.model.offsets = self.objective.psi_offset, self.objective.offsets(biases)

    def _show(self, report: Report) -> None:
        self.bar.note(f"pass {report.passes:.1f}, {report}")
        self.bar.move_to(self.fit.steps_done)
        if not self.bar.shown and default_timer() - self.said >= self.report_delay:
            self.said = default_timer()
            logger.info("PROGRESS: pass %.2f of %d, %s", report.passes, self.fit.passes, report)


class FromStream:
    """Contrastive divergence on the text itself, an epoch a round; the model's vectors change as it reads."""

    def __init__(
        self,
        model: HilbertMLE,
        corpus: Corpus,
        vocabulary: Vocabulary,
        words: int,
        epochs: int,
        lock: np.ndarray | None,
        report_delay: float,
        turn: bool,
        saved: Saved | None = None,
    ):
        from gensim_hilbert.training.gibbs import Epoch, Streaming

        self.model, self.corpus, self.report_delay, self.turn = model, corpus, report_delay, turn
        start = (model.syn1neg, model.wv.parameters) if saved is None else (saved.array("w"), saved.array("v"))
        self.w, self.v = (np.require(side, np.float32, ["C", "W"]) for side in start)
        model.take(self.w, self.v)
        self.streaming = Streaming(
            vocabulary,
            self.w,
            self.v,
            model.wv.composition,
            expected_words=words * epochs,
            window=model.window,
            shrink=bool(model.shrink_windows),
            sample=model.sample,
            negative=model.negative or CANDIDATES,
            ns_exponent=model.ns_exponent,
            sampler=model.sampler,
            steps=model.gibbs_steps,
            alpha=model.alpha,
            min_alpha=model.min_alpha,
            workers=model.workers,
            seed=model.seed + 1_000_003 * model.train_count,  # other draws each time
            lock=lock,
        )
        self.history: list[Record] = []
        if saved is not None:
            self.history, self.streaming.done = saved.facts["history"], Epoch(**saved.facts["done"])
            self.streaming.numbers = count(saved.epochs)
        self.recorded = Epoch(**vars(self.done))
        self.bar = Progress("training", words * epochs or None, show=model.progress, unit=" words")
        self.bar.update(self.done.words)
        self.said = default_timer()

    @property
    def done(self) -> Epoch:
        """Over all epochs."""
        return self.streaming.done

    def run_epoch(self, number: int) -> float:
        """Read the corpus once."""
        try:
            epoch = self.streaming.run_epoch(self.corpus, self._show)
        except BaseException as error:
            error.add_note(
                f"The model holds what it had learnt by then, in epoch {number} after {self.done.words} words of all "
                "epochs: it can be used, saved and trained on."
            )
            raise
        self._record()
        loss = epoch.loss / max(1, epoch.pairs)
        self.model.take(self.w, self.v)
        logger.info("EPOCH %d: %d words, %d used, %d pairs, loss %.6f", number, *list(vars(epoch).values())[:3], loss)
        return loss

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """The two matrices, and how much has been read: the rate goes by it."""
        return {"done": vars(self.done), "history": self.history}, {"w": self.w, "v": self.v}.items()

    def finish(self) -> None:
        """Turn to the canonical gauge, and estimate the constant by which psi is too large."""
        import torch

        from gensim_hilbert.training.gauge import canonical_axes, turn_
        from gensim_hilbert.training.gibbs import log_partition

        self.bar.__exit__(None, None, None)
        model, w, v = self.model, self.w, self.v
        self.streaming.settle()
        model.take(w, v)
        if self.turn:
            axes = canonical_axes(torch.from_numpy(w), torch.from_numpy(model.wv.vectors), gauge_of(model))
            for side, to_canonical in zip((w, v), axes, strict=True):
                turn_(torch.from_numpy(side), to_canonical)
            model.take(w, v)
        model.psi_offset, model.offsets = log_partition(w, model.wv.vectors, self.streaming.unigram), None

    def _show(self, words: int, loss: float) -> None:
        self.bar.note(f"loss {loss:.4f}, rate {self.streaming.rate:.4f}")
        self.bar.update(words)
        expected = max(self.streaming.expected_words, self.done.words)  # it is the user's guess
        if self.done.words - self.recorded.words >= expected / POINTS:
            self._record()
        if not self.bar.shown and default_timer() - self.said >= self.report_delay:
            self.said = default_timer()
            logger.info(
                "PROGRESS: %.2f%% of words, loss %.4f, rate %.5f",
                100 * self.done.words / self.streaming.expected_words, loss, self.streaming.rate,
            )  # fmt: skip

    def _record(self) -> None:
        """Add to the history what has been done since it was last added to."""
        done, before = self.done, self.recorded
        if done.pairs > before.pairs:
            loss = (done.loss - before.loss) / (done.pairs - before.pairs)
            self.history.append({"words": done.words, "loss": loss, "rate": self.streaming.rate})
            self.recorded = type(done)(**vars(done))


def gauge_of(model: HilbertMLE) -> float:
    """As the user wants it, or what suits the objective or the solver."""
    from gensim_hilbert.training.gauge import GAUGE

    if model.gauge is not None:
        return model.gauge
    return GAUGE[model.solver] if model.objective.gauge is None else model.objective.gauge


def memory_of(model: HilbertMLE, size: int) -> dict[str, int]:
    """What a solver takes for so many words, in bytes, besides the model itself."""
    row, learnt = 4 * model.vector_size, model.wv.rows(size)
    made = 0 if learnt == size else 2 * size * row  # vectors made of what is learnt, and as much again for their moves
    if model.solver == "gibbs":
        report = {"workers": model.workers * BYTES_A_WORKER}
        return report | {"subwords": learnt * row + made} if made else report

    import torch

    from gensim_hilbert.training.team import at_once

    n = classes_for(size)  # shards a side, except on GPUs with little memory
    side = -(-size // n)
    return {
        "counts": min(int(model.memory_gb * (1 << 30)), 12 * size**2),
        # For both sides: what is learnt, two moments, and two copies to step back to.
        "optimizer": 5 * (size + learnt) * row + made,
        # Psi and what is made of it, and two gradients, for each that is worked on at the same time.
        "shards": at_once(side, n, torch.get_num_threads()) * 2 * side * (4 * side + row),
    }
