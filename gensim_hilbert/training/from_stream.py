"""Learning straight from the text, by contrastive divergence: one epoch is one reading."""

from __future__ import annotations

import logging
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from gensim_hilbert.automatic import GAUGE
from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.fit import Fitted, Record, Start
from gensim_hilbert.training.gibbs import Epoch, Streaming, log_partition
from gensim_hilbert.training.session import ProgressReport
from gensim_hilbert.vocabulary import Vocabulary

if TYPE_CHECKING:
    from gensim_hilbert.training.checkpoint import Arrays, Saved

logger = logging.getLogger(__name__)

BYTES_PER_WORKER = 8 << 20  # blocks of text, and ids
CANDIDATES = 5  # for scripts that ask for no negatives, because they were written for hierarchical softmax
HISTORY_RECORDS = 128  # per training, besides one at the end of each epoch


class FromStream:
    """Solver that learns from the text itself. It changes the arrays of `start` in place where it can.

    Parameters
    ----------
    corpus : Corpus
        What is read, once per epoch.
    vocabulary : Vocabulary
        The words of the rows, with the counts that subsampling goes by.
    start : Start
        Vectors to start from.
    composition : Composition, optional
        How vectors are made of the rows that are learnt.
    words : int
        How many words one epoch will read; the learning rate falls accordingly.
    epochs : int
        Number of epochs in all.
    gauge : float
        Share of each axis' strength that goes to the vectors at the end.
    keep_axes : bool
        Whether the result keeps the axes of `start` instead.
    negative : int
        Number of candidates per word.
    show_progress : bool
        Whether to draw a bar.
    report_delay : float
        Seconds between two lines of the log.
    saved : Saved, optional
        State to go on from.
    **options
        `window`, `shrink`, `sample`, `ns_exponent`, `sampler`, `steps`, `alpha`, `min_alpha`, `l2`, `workers` and
        `seed`, as `Streaming` has them.
    """

    is_sound = True  # whatever happens, the vectors are those learnt from the words read so far

    def __init__(
        self,
        corpus: Corpus,
        vocabulary: Vocabulary,
        *,
        start: Start,
        composition: Composition | None = None,
        words: int,
        epochs: int,
        gauge: float = GAUGE,
        keep_axes: bool = False,
        negative: int = CANDIDATES,
        show_progress: bool = False,
        report_delay: float = 1.0,
        saved: Saved | None = None,
        **options: Any,
    ):
        self.corpus, self.composition, self.keep_axes, self.gauge = corpus, composition, keep_axes, gauge
        sides = (start.covectors, start.parameters) if saved is None else (saved.array("w"), saved.array("v"))
        self.covectors, self.parameters = (np.require(side, np.float32, ["C", "W"]) for side in sides)
        self.streaming = Streaming(
            vocabulary,
            self.covectors,
            self.parameters,
            composition,
            expected_words=words * epochs,
            negative=negative or CANDIDATES,
            lock=start.lock,
            **options,
        )
        self.history: list[Record] = []
        self.last_epoch = Epoch()
        if saved is not None:
            self.history, self.streaming.done = saved.facts["history"], Epoch(**saved.facts["done"])
            self.streaming.numbers = count(saved.epochs)
        self.recorded = Epoch(**vars(self.done))
        self.progress = ProgressReport(words * epochs or None, "words", show=show_progress, delay=report_delay)
        self.progress.bar.update(self.done.words)

    @property
    def done(self) -> Epoch:
        """What all epochs together have done so far."""
        return self.streaming.done

    def run_epoch(self, number: int) -> None:
        """Read the corpus once."""
        try:
            self.last_epoch = epoch = self.streaming.run_epoch(self.corpus, self._show)
        except BaseException as error:
            error.add_note(
                f"The model holds what it had learnt by then, in epoch {number} after {self.done.words} words of all "
                "epochs: it can be used, saved and trained on."
            )
            raise
        self._record()
        logger.info(
            "EPOCH %d: %d words, %d used, %d pairs, loss %.6f",
            number, epoch.words, epoch.used, epoch.pairs, self.loss(),
        )  # fmt: skip

    def loss(self) -> float:
        """Return the mean loss of the pairs of the last epoch."""
        return self.last_epoch.loss / max(1, self.last_epoch.pairs)

    def result(self) -> Fitted:
        """Return what has been learnt by now, with an estimate of the constant by which psi is too large."""
        psi_offset = log_partition(self.covectors, self._vectors(), self.streaming.unigram)
        return Fitted(self.covectors, self.parameters, psi_offset=psi_offset, history=list(self.history))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the two matrices, and how much has been read: the learning rate depends on it."""
        facts = {"done": vars(self.done), "history": self.history}
        return facts, {"w": self.covectors, "v": self.parameters}.items()

    def finish(self) -> bool:
        """Bring parameters up to date, and turn the result to the canonical gauge."""
        self.streaming.settle()
        if self.keep_axes or not self.done.pairs:  # Without a pair, covectors are zero, and so would vectors become.
            return False
        import torch

        from gensim_hilbert.training.gauge import canonical_axes, turn_

        axes = canonical_axes(torch.from_numpy(self.covectors), torch.from_numpy(self._vectors()), self.gauge)
        for side, to_canonical in zip((self.covectors, self.parameters), axes, strict=True):
            turn_(torch.from_numpy(side), to_canonical)
        return True

    def close(self) -> None:
        """Remove the bar."""
        self.progress.close()

    def _vectors(self) -> np.ndarray:
        return self.parameters if self.composition is None else self.composition.vectors(self.parameters)

    def _show(self, words: int, loss: float) -> None:
        self.progress.show(f"loss {loss:.4f}, rate {self.streaming.rate:.4f}")
        self.progress.bar.update(words)
        expected = max(self.streaming.expected_words, self.done.words)  # the first of these is the user's guess
        if self.done.words - self.recorded.words >= expected / HISTORY_RECORDS:
            self._record()
        self.progress.log(
            "%.2f%% of words, loss %.4f, rate %.5f",
            100 * self.done.words / self.streaming.expected_words, loss, self.streaming.rate,
        )  # fmt: skip

    def _record(self) -> None:
        """Add what has been done since the last record to the history."""
        done, before = self.done, self.recorded
        if done.pairs > before.pairs:
            loss = (done.loss - before.loss) / (done.pairs - before.pairs)
            self.history.append({"words": done.words, "loss": loss, "rate": self.streaming.rate})
            self.recorded = Epoch(**vars(done))


def estimate_memory(words: int, rows: int, vector_size: int, workers: int) -> dict[str, int]:
    """Return the bytes that learning from the stream takes besides the model, by use.

    Parameters
    ----------
    words, rows : int
        Number of words, and of the rows that are learnt for their vectors.
    vector_size : int
        Number of dimensions.
    workers : int
        Number of threads.
    """
    report = {"workers": workers * BYTES_PER_WORKER}
    if rows != words:
        report["subwords"] = 4 * vector_size * (rows + 2 * words)
    return report
