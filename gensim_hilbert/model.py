"""HilbertMLE takes the place of gensim's Word2Vec: change one import line, and what follows still works."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from secrets import randbits
from timeit import default_timer
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from gensim.models import Word2Vec
from gensim.models.word2vec import MAX_WORDS_IN_BATCH

from gensim_hilbert.arguments import (
    BUCKET,
    MEMORY_GB,
    OF_OBJECTIVES,
    OF_SUBWORDS,
    SETTINGS,
    TEMPERATURE,
    USUAL,
    WITHOUT_EFFECT,
    check,
)
from gensim_hilbert.associations import Associations
from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.corpus.sources import Corpus, SpooledSentences, TokenCorpus, as_corpus
from gensim_hilbert.counting.layout import counts_beside
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.counting.settings import Window
from gensim_hilbert.counting.store import StoreError, keep_counts, refuse_to_replace
from gensim_hilbert.keyedvectors import Vectors
from gensim_hilbert.objectives import Biases, Objective, named
from gensim_hilbert.solvers import GENSIM_ALPHA, FromCounts, FromStream, Record, Solver, memory_of
from gensim_hilbert.subwords import SubwordVectors
from gensim_hilbert.training.checkpoint import Checkpoint, Saved
from gensim_hilbert.vocabulary import NothingToCount, Vocabulary, scan_words

logger = logging.getLogger(__name__)

RECORDS = 4096  # of the history of training, at most
AnySolver = TypeVar("AnySolver", bound=Solver)
FEW_TOKENS = 1_000_000  # a single draw of which tokens to remove would be mostly noise for a corpus smaller than this


class HilbertMLE(Associations, Word2Vec):
    """Hilbert-MLE word embeddings, with the interface of `gensim.models.Word2Vec`.

    `wv` holds the vectors, `covectors` the covectors; `covector . vector` is the fitted PMI of two words.
    `training_history` tells how training went: a dict a pass, or, from the stream, for every 128th of the words.

    All parameters up to `shrink_windows` are gensim's, in its order and with its defaults; `sg`, `hs`, `cbow_mean`,
    `hashfxn`, `batch_words` and `null_word` have no effect.

    With `solver="factorization"` training is a function of the pair counts and the seed: `train` counts the pairs of
    what it is given, adds them to those it has, and fits all of them; so training on A and then on B is training on
    both. `epochs` says in how many rounds, each with its callbacks, not how much work is done. `sample` removes tokens
    before windows are looked at, or on average where the first corpus has less than a million; `shrink_windows` weighs
    contexts by distance; `alpha` and `min_alpha` scale and lower the rate; `negative` and `ns_exponent` have no effect,
    but with `objective="sgns"`.

    With `solver="gibbs"` vectors learn straight from the stream, by contrastive divergence: nothing is counted or kept
    but two matrices, and all parameters mean what they mean to gensim. `train` goes on from the vectors there are. One
    worker gives the same vectors for the same seed; more of them update the same rows without locks, and do not.

    Parameters
    ----------
    solver : {"factorization", "gibbs"}
        How to fit.
    sampler : {"candidates", "metropolis", "exact"}
        How Gibbs draws a negative: from `negative` candidates a word, shared by neighbouring words; by accepting or
        rejecting `negative` proposals in turn; or from the whole conditional, which takes time in proportion to the
        vocabulary.
    gibbs_steps : int
        Steps of the chain from a pair to its negative.
    objective : str or Objective
        What is fitted: "hilbert", or another low rank embedder of `gensim_hilbert.objectives`, by its name, with
        settings as in "glove(x_max=10)", or as an object, `GloVe(x_max=10)`; or one of your own, see there.
    temperature : float
        The paper's tau, of Hilbert-MLE: how much rare words weigh. 1 is plain maximum likelihood, 2 the paper's choice.
    threshold : float
        Words less frequent than this weigh as in plain maximum likelihood; 0, as in the paper, spares none.
    l2 : float or "auto"
        Strength of the prior, in counts.
    device : str
        "auto", "cpu", "cuda", "cuda:1", "mps".
    precision : {"float32", "tf32", "bf16"}
        Of the large matrix products. The lower ones are for GPUs that are faster with them; all else is float32.
    memory_gb : float
        For counting, and for keeping counts in memory while training.
    vectors : {"v", "v+w"}
        What `wv` holds: the vectors, or their sums with the covectors, from which PMI can no longer be read.
    gauge : float, optional
        How much of each axis' strength the vectors get, from 0 to 1; the covectors get the rest. 0.5 makes both alike,
        less tells synonyms better, more analogies. PMI is the same for all. By default 0.25 for factorization,
        0.5 for gibbs.
    progress : bool
        Whether to draw bars, if standard error is a terminal.
    subwords : bool
        Whether a word's vector is the mean of vectors of its character n-grams, as in fastText. `wv` is then gensim's
        `FastTextKeyedVectors`, and has vectors for words that are not in the vocabulary, too; covectors stay with
        words. For objectives whose psi is covector . vector, and for both solvers.
    min_n, max_n, bucket : int
        With `subwords`, the shortest and longest n-grams, and the number of buckets they are hashed to, as in gensim's
        `FastText`. A model has a vector for each bucket.
    checkpoint : path, optional
        A directory for counts, and for the state of training after each epoch. Training that was interrupted goes on
        from there when it is asked for again with the same corpus and settings; others are refused. It ends with the
        same vectors as if it had not been interrupted (with "gibbs", with one worker). It is not removed at the end.
    """

    # Set by gensim, which has no types.
    alpha: float
    min_alpha: float
    min_alpha_yet_reached: float
    epochs: int
    compute_loss: bool
    # Models saved by an earlier version have none of these.
    checkpoint: Path | None = None
    subwords: bool = False
    counts_fingerprint: str | None = None  # of those saved with it
    _has_learnt = False

    def __init__(
        self,
        sentences: Any = None,
        corpus_file: Any = None,
        vector_size: int = 100,
        alpha: float = GENSIM_ALPHA,
        window: int = 5,
        min_count: int = 5,
        max_vocab_size: int | None = None,
        sample: float | None = 1e-3,
        seed: int | None = 1,
        workers: int | None = 3,
        min_alpha: float = 0.0001,
        sg: int = 0,
        hs: int = 0,
        negative: int = 5,
        ns_exponent: float = 0.75,
        cbow_mean: int = 1,
        hashfxn: Any = hash,
        epochs: int = 5,
        null_word: int = 0,
        trim_rule: Any = None,
        sorted_vocab: int = 1,
        batch_words: int = MAX_WORDS_IN_BATCH,
        compute_loss: bool = False,
        callbacks: Iterable[Any] = (),
        comment: str | None = None,
        max_final_vocab: int | None = None,
        shrink_windows: bool = True,
        *,
        solver: str = "factorization",
        objective: str | Objective = "hilbert",
        temperature: float = TEMPERATURE,
        threshold: float = 0.0,
        l2: float | str = "auto",
        device: str = "auto",
        precision: str = "float32",
        memory_gb: float = MEMORY_GB,
        vectors: str = "v",
        gauge: float | None = None,
        progress: bool = True,
        sampler: str = "candidates",
        gibbs_steps: int = 1,
        checkpoint: str | os.PathLike[str] | None = None,
        subwords: bool = False,
        min_n: int = 3,
        max_n: int = 6,
        bucket: int = BUCKET,
    ):
        sample, seed = sample or 0.0, randbits(31) if seed is None else int(seed)
        given = locals()
        check(given)
        if workers is None or workers < 1:
            workers = default_workers(None if workers is None or workers < 0 else workers)
        self.objective = named(objective, **{name: given[name] for name in OF_OBJECTIVES})
        if solver not in self.objective.solvers:
            raise ValueError(f"{solver=} does not fit {objective=}; use solver='factorization', or objective='hilbert'")
        if subwords and not self.objective.subwords:
            raise ValueError(f"{objective=} does not go with subwords=True; use objective='hilbert' or 'sgns'")
        self.solver, self.subwords, self.min_n, self.max_n, self.bucket = solver, subwords, min_n, max_n, bucket
        unused = [name for name, usual in self.without_effect().items() if given[name] not in usual]
        if solver == "gibbs" and not negative:  # a script with hierarchical softmax
            unused.append("negative=0")
        if unused:
            warnings.warn(
                f"HilbertMLE with {solver=} and {objective=} has no use for {', '.join(unused)}", stacklevel=2
            )
        self.temperature, self.threshold, self.l2 = temperature, threshold, l2
        self.device, self.precision, self.gauge = device, precision, gauge
        self.memory_gb, self.returned, self.progress = memory_gb, vectors, progress
        self.sampler, self.gibbs_steps = sampler, gibbs_steps
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.psi_offset = 0.0  # covector . vector is the PMI plus this
        self.wv = self._new_vectors(vector_size)
        self.counts: PairCounts | None = None
        self.training_history: list[Record] = []
        self.thins_on_average: bool | None = None
        self._written: int | None = None
        self._learnt_from_stream = False
        self._words_are_counted = False
        super().__init__(
            None, None, vector_size, alpha, window, min_count, max_vocab_size, sample, seed, workers, min_alpha, sg, hs,
            negative, ns_exponent, cbow_mean, hashfxn, epochs, null_word, None, sorted_vocab, batch_words, compute_loss,
            (), comment, max_final_vocab, shrink_windows,
        )  # fmt: skip
        self._adopt_settings(given)
        if sentences is not None or corpus_file is not None:
            self._check_corpus_sanity(corpus_iterable=sentences, corpus_file=corpus_file, passes=epochs + 1)
            self.build_vocab(corpus_iterable=sentences, corpus_file=corpus_file, trim_rule=trim_rule)
            # Pruning has lost occurrences, and the null word has none.
            self._words_are_counted = not (max_vocab_size or null_word)
            self.train(
                corpus_iterable=sentences,
                corpus_file=corpus_file,
                total_examples=self.corpus_count,
                total_words=self.corpus_total_words,
                epochs=self.epochs,
                start_alpha=self.alpha,
                end_alpha=self.min_alpha,
                compute_loss=self.compute_loss,
                callbacks=callbacks,
            )
        elif trim_rule is not None or callbacks:
            logger.warning("trim_rule and callbacks are not kept: give them to build_vocab() and train()")

    @classmethod
    def from_counts(cls, counts: PairCounts, callbacks: Iterable[Any] = (), **options: Any) -> HilbertMLE:
        """Train on pair counts that have been made before, as they are: window, sample and words are theirs."""
        model = cls(**options)
        if model.solver != "factorization":
            raise ValueError(f"solver={model.solver!r} learns from text, not from counts; use solver='factorization'")
        model.raw_vocab = dict(zip(counts.vocabulary.words, counts.vocabulary.counts.tolist(), strict=True))
        model.corpus_count, model.corpus_total_words = counts.vocabulary.sentences, counts.vocabulary.tokens
        rules = model.min_count, model.sorted_vocab, model.max_final_vocab
        model.min_count, model.sorted_vocab, model.max_final_vocab = -1, 0, None  # all words, as they stand
        model.prepare_vocab()
        model.min_count, model.sorted_vocab, model.max_final_vocab = rules
        model.window = counts.window.reach
        model.prepare_weights()
        model.counts, model.sample, model.thins_on_average = counts.as_counted()
        model._train_on_counts(model.epochs, callbacks)
        return model

    def without_effect(self) -> dict[str, tuple[Any, ...]]:
        """Arguments that neither solver nor objective nor subwords have a use for, with their usual values."""
        used = self.objective.settings() if self.solver == "factorization" else {}
        others = () if self.subwords else OF_SUBWORDS
        unused = {*WITHOUT_EFFECT[self.solver], *others} - {*used} | {*self.objective.without}
        return {name: usual for name, usual in USUAL.items() if name in unused}

    def _adopt_settings(self, given: dict[str, Any]) -> None:
        """What an argument says and what the objective says is the same."""
        for name, value in self.objective.settings().items():
            if name in OF_OBJECTIVES:
                if given[name] not in (value, *USUAL[name]):
                    raise ValueError(f"{name} is given twice: as {given[name]}, and in {self.objective!r}")
                setattr(self, name, value)

    # ------------------------------------------------------------------ vocabulary

    def _new_vectors(self, vector_size: int) -> Vectors | SubwordVectors:
        if self.subwords:
            return SubwordVectors(vector_size, self.min_n, self.max_n, self.bucket)
        return Vectors(vector_size)

    def _check_corpus_sanity(self, corpus_iterable: Any = None, corpus_file: Any = None, passes: int = 1) -> None:
        """As gensim does, but a corpus file may be anything that can be opened, compressed or remote too."""
        if corpus_file is not None and corpus_iterable is None:
            try:
                as_corpus(corpus_file)
            except (OSError, TypeError) as error:
                raise TypeError(
                    f"corpus_file must be a path or a URI that can be read, got {corpus_file!r}: {error}"
                ) from error
        else:
            super()._check_corpus_sanity(corpus_iterable=corpus_iterable, corpus_file=corpus_file, passes=passes)

    def _check_training_sanity(self, **sizes: Any) -> None:
        """As gensim does, but where no word has been frequent enough it says so."""
        if not self.wv.key_to_index and self.corpus_total_words:
            least = self.effective_min_count
            raise RuntimeError(
                f"no word is left: none occurs {least} times among {self.corpus_total_words:,}; "
                + ("lower min_count" if least == self.min_count else "raise max_final_vocab")
            )
        if not self.wv.key_to_index:
            raise RuntimeError(
                "you must first build vocabulary before training the model: none has been built, or the corpus is empty"
            )
        super()._check_training_sanity(**sizes)

    @staticmethod
    def _corpus(corpus_iterable: Any, corpus_file: Any) -> Corpus:
        if corpus_file is not None:
            return as_corpus(corpus_file)
        # A list of str is one sentence a str to gensim, which warns and goes on; never paths.
        corpus = TokenCorpus(corpus_iterable)
        corpus.can_repeat = not hasattr(corpus_iterable, "__next__")
        corpus.may_differ = True  # random walks, say, which gensim trains on, too
        return corpus

    def scan_vocab(
        self,
        corpus_iterable: Any = None,
        corpus_file: Any = None,
        progress_per: int = 10000,
        workers: Any = None,
        trim_rule: Any = None,
    ) -> tuple[int, int]:
        """Count the words of a corpus, in parallel; returns the numbers of words and sentences."""
        try:
            table = scan_words(
                self._corpus(corpus_iterable, corpus_file), max_vocab_size=self.max_vocab_size, trim_rule=trim_rule,
                workers=workers or self.workers, executor=None, errors="strict", progress=self.progress,
            )  # fmt: skip
        except NothingToCount as nothing:  # gensim does not mind, until it is to train
            logger.info("%s", nothing)
            self.raw_vocab = {}
            return 0, 0
        _, _, counts, places, tokens, sentences = table.state()
        order = np.argsort(places, kind="stable")
        self.raw_vocab = dict(zip(table.words(order.tolist()), counts[order].tolist(), strict=True))
        logger.info("collected %d words from %d tokens in %d sentences", len(self.raw_vocab), tokens, sentences)
        return tokens, sentences

    def make_cum_table(self, domain: int = 2**31 - 1) -> None:
        """Nothing is drawn, so no table is needed."""

    def create_binary_tree(self) -> None:
        """There is no hierarchy of words, so no tree is needed."""

    def init_weights(self) -> None:
        """Forget vectors and counts, but keep the vocabulary."""
        self.wv.resize_vectors(seed=self.seed)
        self.syn1neg = np.zeros((len(self.wv), self.vector_size), dtype=np.float32)
        self.counts = self.biases = self.offsets = None
        self.training_history, self._has_learnt = [], False
        self._written = self._checksum()

    def update_weights(self) -> None:
        """Make room for new words; old vectors and counts stay."""
        before = len(self.wv.vectors)
        if not before:
            raise RuntimeError("there is no vocabulary yet to be updated: build one first, with update=False")
        untouched = self._written == self._checksum()
        self.wv.resize_vectors(seed=self.seed)
        fresh = len(self.wv.vectors) - before
        self.syn1neg = np.pad(self.syn1neg, ((0, fresh), (0, 0)))
        if len(self.wv.vectors_lockf) > 1:
            self.wv.vectors_lockf = np.pad(self.wv.vectors_lockf, (0, fresh), constant_values=1)
        self.biases = padded(self.biases, fresh)
        self.offsets = padded(self.offsets, fresh, -self.psi_offset)  # their PMI, of which nothing is known, is 0
        if untouched:
            self._written = self._checksum()

    def estimate_memory(self, vocab_size: int | None = None, report: dict[str, int] | None = None) -> dict[str, int]:
        """Memory by use, in bytes; counts, shards and the optimiser's state included, where there are any."""
        size = vocab_size or len(self.wv)
        report = super().estimate_memory(vocab_size=size, report=report)
        del report["total"]
        report |= self.wv.memory(size) | memory_of(self, size)
        report["total"] = sum(report.values())
        return report

    # ------------------------------------------------------------------ training

    def train(
        self,
        corpus_iterable: Any = None,
        corpus_file: Any = None,
        total_examples: int | None = None,
        total_words: int | None = None,
        epochs: int | None = None,
        start_alpha: float | None = None,
        end_alpha: float | None = None,
        word_count: int = 0,
        queue_factor: int = 2,
        report_delay: float = 1.0,
        compute_loss: bool = False,
        callbacks: Iterable[Any] = (),
        **kwargs: Any,
    ) -> tuple[int, int]:
        """Count the pairs of a corpus, add them to those of earlier calls, and fit them all; or learn from the stream.

        Parameters are gensim's. Returns the words used and the words read, over all epochs, as gensim does.
        """
        self.alpha, self.min_alpha = start_alpha or self.alpha, end_alpha or self.min_alpha
        self._check_training_sanity(epochs=epochs, total_examples=total_examples, total_words=total_words)
        assert epochs is not None
        passes = epochs if self.solver == "gibbs" else 1
        self._check_corpus_sanity(corpus_iterable=corpus_iterable, corpus_file=corpus_file, passes=passes)
        self.epochs, self.compute_loss = epochs, compute_loss
        corpus = self._corpus(corpus_iterable, corpus_file)
        vocabulary = self._vocabulary()
        if self.solver == "gibbs":
            if not total_words:  # the rate falls with words, of which a sentence has so many
                total_words = int((total_examples or 0) * vocabulary.tokens / max(1, vocabulary.sentences))
            return self._train_on_stream(corpus, vocabulary, total_words, epochs, callbacks, report_delay)
        before, trainings = self.counts, self.train_count
        try:
            fresh = self._count(corpus, vocabulary)
        except NothingToCount as nothing:
            if self.counts is None:
                raise
            logger.warning("nothing is learnt: %s", nothing)
            return 0, nothing.words * epochs
        try:
            self._train_on_counts(epochs, callbacks, report_delay)
        except BaseException:
            if self.train_count == trainings:  # it has not begun; another try shall not count the text twice
                self.counts = before
            raise
        kept = vocabulary.keep_probability(self.sample)
        used = int((fresh.counts * kept).sum())
        return used * epochs, fresh.tokens * epochs

    def _count(self, corpus: Corpus, vocabulary: Vocabulary) -> Vocabulary:
        """Add the pairs of a corpus to the counts; returns its numbers of words."""
        from gensim_hilbert.training.device import choose_device

        choose_device(self.device)  # which may not be there: better said now than after hours
        weights = "dynamic" if self.shrink_windows else "flat"
        if self.counts is not None and self.counts.window != Window.parse(self.window, weights):
            raise ValueError(
                f"this model was trained on counts with another window than {self.window} words of {weights} weights: "
                "count the new text as those were, and train on the sum with from_counts"
            )
        if self.counts is None and self._has_learnt and not self._learnt_from_stream:
            self._go_on_without_counts()
        recount, self._words_are_counted = not self._words_are_counted, False
        if not corpus.can_repeat and isinstance(corpus, TokenCorpus):
            corpus = TokenCorpus(SpooledSentences(corpus.sentences))
        if self.thins_on_average is None:
            self.thins_on_average = (self.corpus_total_words or 0) < FEW_TOKENS
        # Counts of a corpus that cannot be recognised could not be used again.
        kept = None if self.checkpoint is None or corpus.fingerprint is None else self._checkpoint_folder() / "counts"
        try:
            fresh = PairCounts.from_corpus(
                corpus,
                directory=kept,
                vocabulary=vocabulary,
                recount=recount,
                window=self.window,
                weights=weights,
                sample=0 if self.thins_on_average else self.sample,
                seed=self.seed,
                workers=self.workers,
                memory_gb=self.memory_gb,
                progress=self.progress,
            )
        except FileExistsError as error:
            raise ValueError(
                f"{kept} holds the counts of another training, or damaged ones; go on with the same corpus and "
                "settings, or remove it"
            ) from error
        self.counts = fresh if self.counts is None else PairCounts.merge([self.counts, fresh])
        return fresh.vocabulary

    def _go_on_without_counts(self) -> None:
        """As gensim would; only a copy that was pickled, or a file without its counts, has lost them."""
        if self.returned == "v+w":
            raise ValueError(
                "this copy of the model has no counts, and sums of vectors and covectors to go on from; save and load "
                "the model instead of pickling it, or train with vectors='v'"
            )
        logger.warning(
            "this copy of the model is without the counts of earlier texts: training starts from its vectors, and fits "
            "the new text alone; models that are saved and loaded by their own methods keep their counts"
        )
        self._learnt_from_stream = True

    def _train_on_counts(self, epochs: int, callbacks: Iterable[Any], report_delay: float = 1.0) -> None:
        lock, touched = self._starting_point()
        start = touched or self._learnt_from_stream
        assert self.counts is not None
        self.add_lifecycle_event(
            "train",
            msg=f"pairs of weight {self.counts.total:g}, {len(self.wv)} words, {self.vector_size} dimensions",
        )
        self._run(
            lambda saved: FromCounts(self, epochs, start, lock, report_delay, saved),
            epochs,
            callbacks,
            {"counts": self.counts.fingerprint, "thins_on_average": self.thins_on_average},
        )
        self._learnt_from_stream = False

    def _train_on_stream(
        self,
        corpus: Corpus,
        vocabulary: Vocabulary,
        words: int,
        epochs: int,
        callbacks: Iterable[Any],
        report_delay: float,
    ) -> tuple[int, int]:
        if self.returned == "v+w" and self.train_count:
            raise ValueError(
                "training cannot go on from sums of vectors and covectors, which is what wv holds with vectors='v+w'; "
                "train with vectors='v'"
            )
        lock, touched = self._starting_point()
        self.add_lifecycle_event("train", msg=f"{len(self.wv)} words, {self.vector_size} dimensions, from the stream")
        self.counts, self._learnt_from_stream = None, True
        solver = self._run(
            lambda saved: FromStream(self, corpus, vocabulary, words, epochs, lock, report_delay, not touched, saved),
            epochs,
            callbacks,
            {"corpus": corpus.fingerprint, "total_words": words},
        )
        return solver.done.used, solver.done.words

    def _starting_point(self) -> tuple[np.ndarray | None, bool]:
        """Factors for the updates of vectors, if there are any; and whether somebody else has set the vectors."""
        lock = self.wv.locks()
        touched = lock is not None or self._written != self._checksum()
        if touched and not (np.isfinite(self.wv.vectors).all() and np.isfinite(self.syn1neg).all()):
            raise ValueError("the vectors to start from hold NaN or infinity; set them to finite numbers")
        if self.syn1neg.shape != self.wv.vectors.shape:
            raise ValueError(
                f"syn1neg must have a covector for each vector, {self.wv.vectors.shape}, got {self.syn1neg.shape}"
            )
        return lock, touched

    def _run(
        self,
        make_solver: Callable[[Saved | None], AnySolver],
        epochs: int,
        callbacks: Iterable[Any],
        source: dict[str, Any],
    ) -> AnySolver:
        """Run a solver's epochs, or those that a checkpoint lacks, with all that gensim does around them."""
        started = default_timer()
        self.running_training_loss = 0.0
        callbacks = list(callbacks)
        checkpoint = None if self.checkpoint is None else self._checkpoint(epochs, source)
        saved = checkpoint.load() if checkpoint else None
        for callback in callbacks:
            callback.on_train_begin(self)
        before = self._written
        solver, earlier = make_solver(saved), self.training_history
        try:
            for epoch in range(saved.epochs if saved else 0, epochs):
                for callback in callbacks:
                    callback.on_epoch_begin(self)
                loss = solver.run_epoch(epoch)
                if self.compute_loss:
                    self.running_training_loss = loss
                self._remember(earlier, solver.history)
                for callback in callbacks:
                    callback.on_epoch_end(self)
                if checkpoint:
                    checkpoint.write(epoch + 1, *solver.state())
        finally:
            solver.finish()
            self._remember(earlier, solver.history)
            self.train_count += 1
            self.total_train_time += default_timer() - started
            self._has_learnt = True
            if self.returned == "v+w" and self._written != before:  # what is there are sums otherwise
                from gensim_hilbert.training.gauge import summed

                self.take(self.syn1neg, summed(self.syn1neg, self.wv.vectors), self.biases)
        self.min_alpha_yet_reached = min(self.min_alpha_yet_reached, self.min_alpha)
        self._clear_post_train()
        for callback in callbacks:
            callback.on_train_end(self)
        return solver

    def _remember(self, earlier: list[Record], records: list[Record]) -> None:
        """Have the records of earlier trainings and of this one; of very many, the last."""
        this = ({"training": self.train_count + 1, **record} for record in records)
        self.training_history = [*earlier, *this][-RECORDS:]

    def _checkpoint_folder(self) -> Path:
        """Each call of `train` has one, so that a script with several of them can go on in any."""
        assert self.checkpoint is not None
        return self.checkpoint / f"training-{self.train_count + 1}"

    def _checkpoint(self, epochs: int, source: dict[str, Any]) -> Checkpoint:
        """For the training about to begin, of which it knows all that the result depends on."""
        settings = {name: getattr(self, name) for name in SETTINGS if name not in WITHOUT_EFFECT[self.solver]}
        if self.solver == "factorization":
            settings["objective"] = repr(self.objective)
        request = {
            "settings": {**settings, "epochs": epochs},
            "vocabulary": self._vocabulary().fingerprint,
            **source,
            "start": self._checksum(),
            "lock": crc32(np.ascontiguousarray(self.wv.vectors_lockf).data),
        }
        return Checkpoint(self._checkpoint_folder(), request)

    def take(self, covectors: np.ndarray, parameters: np.ndarray, biases: Biases | None = None) -> None:
        """Have these covectors, and vectors by these parameters, as the result of training."""
        self.biases = biases
        self.syn1neg, self.wv.parameters = covectors, parameters
        self.wv.fill_norms(force=True)
        self._written = self._checksum()

    def _checksum(self) -> int:
        """Tells whether somebody else has set the vectors: training then starts from them."""
        return crc32(np.ascontiguousarray(self.syn1neg).data, crc32(np.ascontiguousarray(self.wv.parameters).data))

    # ------------------------------------------------------------------ vectors and covectors

    @property
    def fitted_counts(self) -> PairCounts | None:
        """The counts whose PMI is fitted: as they are, or as subsampling would leave them on average."""
        if self.counts is None or not self.thins_on_average:
            return self.counts
        return self.counts.expected(self.sample)

    def _keep(self) -> np.ndarray:
        """With what probability subsampling keeps a token of each word."""
        return self._vocabulary().keep_probability(self.sample)

    def _vocabulary(self) -> Vocabulary:
        """Words, their counts, and the size of the corpus they are from."""
        size = {"tokens": self.corpus_total_words or 0, "sentences": self.corpus_count}
        return Vocabulary(self.wv.index_to_key, self.wv.expandos["count"], **size)

    # ------------------------------------------------------------------ files

    def __getstate__(self) -> dict[str, Any]:
        """Without the counts, which may be large and temporary (`save` keeps them), and the place of checkpoints."""
        return {**self.__dict__, "counts": None, "checkpoint": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> HilbertMLE:
        """Counts are shared: their files are never changed."""
        memo[id(self)] = twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update({name: deepcopy(value, memo) for name, value in vars(self).items() if name != "counts"})
        twin.counts, twin.checkpoint = self.counts, None
        return twin

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the model; its pair counts go to a directory beside it, `NAME.counts`, for training on."""
        name = args[0] if args else kwargs.get("fname_or_handle")
        if not isinstance(name, str | os.PathLike):
            super().save(*args, **kwargs)
            return
        source = None if self.counts is None else self.counts.directory
        refuse_to_replace(counts_beside(name), source)
        self.counts_fingerprint = None if self.counts is None else self.counts.fingerprint
        super().save(*args, **kwargs)
        keep_counts(source, counts_beside(name))

    def _save_specials(self, fname: str, separately: Any, sep_limit: int, ignore: Any, *rest: Any) -> Any:
        return super()._save_specials(fname, separately, sep_limit, {*ignore, "counts"}, *rest)

    @classmethod
    def load(cls, *args: Any, **kwargs: Any) -> HilbertMLE:
        """Load a model; `mmap="r"` shares its arrays between processes."""
        model: HilbertMLE = super().load(*args, **kwargs)
        if isinstance(model, HilbertMLE):  # gensim's own can be loaded, too
            name = args[0] if args else kwargs.get("fname")
            model._find_counts(name)
            # What models saved by an earlier version do not have.
            model.__dict__.setdefault("training_history", [])
            if not hasattr(model, "objective"):
                model.objective = named("hilbert", temperature=model.temperature, threshold=model.threshold)
        return model

    def _find_counts(self, name: Any) -> None:
        if self.counts_fingerprint is None or not isinstance(name, str | os.PathLike):
            return
        beside = counts_beside(name)
        counts = None
        with suppress(FileNotFoundError, StoreError):
            counts = PairCounts.open(beside)
        if counts is not None and counts.fingerprint == self.counts_fingerprint:
            self.counts = counts
        else:
            logger.warning("%s does not hold the counts that %s was trained on; it is without them", beside, name)

    def reset_from(self, other_model: Word2Vec) -> None:
        """Take over another model's vocabulary, and begin without counts."""
        self.wv = self._new_vectors(self.vector_size)
        self.wv.index_to_key, self.wv.key_to_index = other_model.wv.index_to_key, other_model.wv.key_to_index
        self.wv.expandos = other_model.wv.expandos
        self.wv.vectors_lockf = np.ones(1, dtype=np.float32)
        self.corpus_count, self.corpus_total_words = other_model.corpus_count, other_model.corpus_total_words
        self.init_weights()


def padded(pair: Biases | None, more: int, value: float = 0.0) -> Biases | None:
    """Numbers of contexts and of terms, for so many words more; those of new contexts have a value."""
    if pair is None:
        return None
    return np.pad(pair[0], (0, more), constant_values=value), np.pad(pair[1], (0, more))
