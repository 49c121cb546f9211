"""HilbertMLE takes the place of gensim's Word2Vec: change one import line, and what follows still works."""

from __future__ import annotations

import logging
import os
import shutil
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from timeit import default_timer
from types import GeneratorType
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from gensim import matutils
from gensim.models import KeyedVectors, Word2Vec
from gensim.models.word2vec import MAX_WORDS_IN_BATCH

from gensim_hilbert._gibbs import SAMPLERS
from gensim_hilbert.corpus import Corpus, TokenCorpus, as_corpus
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.counting.store import counts_beside
from gensim_hilbert.engine import default_workers
from gensim_hilbert.keyedvectors import Vectors, covectors_of, most_cooccurring
from gensim_hilbert.objectives import Biases, Objective, named
from gensim_hilbert.solvers import GENSIM_ALPHA, FromCounts, FromStream, Solver
from gensim_hilbert.training.checkpoint import Checkpoint, Saved
from gensim_hilbert.vocabulary import Vocabulary, scan_words

logger = logging.getLogger(__name__)

TEMPERATURE, MEMORY_GB = 1.25, 2.0
# Arguments that some solver or objective has no use for, with the values that go without saying.
USUAL: dict[str, tuple[Any, ...]] = {
    "sg": (0, 1),
    "hs": (0,),
    "negative": (5,),
    "ns_exponent": (0.75,),
    "cbow_mean": (1,),
    "hashfxn": (hash,),
    "batch_words": (MAX_WORDS_IN_BATCH,),
    "null_word": (0,),
    "sampler": ("candidates",),
    "gibbs_steps": (1,),
    "temperature": (TEMPERATURE,),
    "threshold": (0.0,),
    "l2": ("auto",),
    "device": ("auto", "cpu"),
    "precision": ("float32",),
    "memory_gb": (MEMORY_GB,),
    "gauge": (None,),
}
OF_GENSIM = ("sg", "hs", "cbow_mean", "hashfxn", "batch_words", "null_word")
WITHOUT_EFFECT = {
    "factorization": (*OF_GENSIM, "negative", "ns_exponent", "sampler", "gibbs_steps", "temperature", "threshold"),
    "gibbs": (*OF_GENSIM, "temperature", "threshold", "l2", "device", "precision", "memory_gb"),
}
# Arguments that are settings of an objective, for those that have them.
OF_OBJECTIVES = ("temperature", "threshold", "negative", "ns_exponent")
# What the result depends on, besides the objective, words, text and the vectors to start from.
SETTINGS = (
    "solver", "vector_size", "window", "shrink_windows", "sample", "seed", "alpha", "min_alpha", "l2", "precision",
    "gauge", "negative", "ns_exponent", "sampler", "gibbs_steps",
)  # fmt: skip
AnySolver = TypeVar("AnySolver", bound=Solver)
BYTES_A_WORKER = 8 << 20  # of the stream: blocks of text, and ids
FEW_TOKENS = 1_000_000  # a single draw of which tokens to remove would be mostly noise for a corpus smaller than this


class HilbertMLE(Word2Vec):
    """Hilbert-MLE word embeddings, with the interface of `gensim.models.Word2Vec`.

    `wv` holds the vectors, `covectors` the covectors; `covector . vector` is the fitted PMI of two words.

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
        less tells synonyms better, more analogies. PMI is the same for all. By default what has measured best with the
        solver: 0.35 for factorization, 0.5 for gibbs.
    progress : bool
        Whether to draw bars, if standard error is a terminal.
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
    biases: Biases | None = None
    offsets: Biases | None = None

    def __init__(
        self,
        sentences: Any = None,
        corpus_file: Any = None,
        vector_size: int = 100,
        alpha: float = GENSIM_ALPHA,
        window: int = 5,
        min_count: int = 5,
        max_vocab_size: int | None = None,
        sample: float = 1e-3,
        seed: int = 1,
        workers: int = 3,
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
    ):
        for name, value, allowed in (
            ("solver", solver, WITHOUT_EFFECT),
            ("vectors", vectors, ("v", "v+w")),
            ("sampler", sampler, SAMPLERS),
        ):
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
        if negative < 0 or gibbs_steps < 1:
            raise ValueError(f"a negative is drawn in one step or more, got {negative=} and {gibbs_steps=}")
        if gauge is not None and not 0 <= gauge <= 1:
            raise ValueError(f"gauge must be from 0 to 1, got {gauge}; 0.5 treats vectors and covectors alike")
        if workers < 1:
            workers = default_workers(None if workers < 0 else workers)
        given = locals()
        self.objective = named(objective, **{name: given[name] for name in OF_OBJECTIVES})
        if solver not in self.objective.solvers:
            raise ValueError(f"{solver=} does not fit {objective=}; use solver='factorization', or objective='hilbert'")
        self.solver = solver
        unused = [name for name, usual in self._without_effect().items() if given[name] not in usual]
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
        self.wv = Vectors(vector_size)
        self.counts: PairCounts | None = None
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
        model.counts = counts
        model._train_on_counts(model.epochs, callbacks)
        return model

    def _without_effect(self) -> dict[str, tuple[Any, ...]]:
        """Arguments that neither the solver nor the objective has a use for, with their usual values."""
        used = self.objective.settings() if self.solver == "factorization" else {}
        unused = [name for name in WITHOUT_EFFECT[self.solver] if name not in used]
        return {name: USUAL[name] for name in (*unused, *self.objective.without)}

    def _adopt_settings(self, given: dict[str, Any]) -> None:
        """What an argument says and what the objective says is the same."""
        for name, value in self.objective.settings().items():
            if name in OF_OBJECTIVES:
                if given[name] not in (value, *USUAL[name]):
                    raise ValueError(f"{name} is given twice: as {given[name]}, and in {self.objective!r}")
                setattr(self, name, value)

    # ------------------------------------------------------------------ vocabulary

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

    @staticmethod
    def _corpus(corpus_iterable: Any, corpus_file: Any) -> Corpus:
        if corpus_file is not None:
            return as_corpus(corpus_file)
        if isinstance(corpus_iterable, GeneratorType):
            corpus = TokenCorpus(corpus_iterable)
            corpus.can_repeat = False
            return corpus
        # A list of str is one sentence a str to gensim, which warns and goes on; never paths.
        return TokenCorpus(corpus_iterable)

    def scan_vocab(
        self,
        corpus_iterable: Any = None,
        corpus_file: Any = None,
        progress_per: int = 10000,
        workers: Any = None,
        trim_rule: Any = None,
    ) -> tuple[int, int]:
        """Count the words of a corpus, in parallel; returns the numbers of words and sentences."""
        table = scan_words(
            self._corpus(corpus_iterable, corpus_file), max_vocab_size=self.max_vocab_size, trim_rule=trim_rule,
            workers=workers or self.workers, executor=None, errors="strict", progress=self.progress,
        )  # fmt: skip
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
        self.biases, self.offsets = (
            None if pair is None else (np.pad(pair[0], (0, fresh)), np.pad(pair[1], (0, fresh)))
            for pair in (self.biases, self.offsets)
        )
        if untouched:
            self._written = self._checksum()

    def estimate_memory(self, vocab_size: int | None = None, report: dict[str, int] | None = None) -> dict[str, int]:
        """Memory by use, in bytes; counts, shards and the optimiser's state included, where there are any."""
        size = vocab_size or len(self.wv)
        report = super().estimate_memory(vocab_size=size, report=report)
        total = report.pop("total")
        if self.solver == "gibbs":
            report["workers"] = self.workers * BYTES_A_WORKER
            report["total"] = total + report["workers"]
            return report
        report["counts"] = int(self.memory_gb * (1 << 30))
        # For both sides: the factor itself, two moments, and two copies to step back to.
        report["optimizer"] = 10 * 4 * size * self.vector_size
        side = max(min(size, 1600), -(-size // 64))  # there are 64 shards a side at most
        report["shards"] = 2 * 4 * side * side
        report["total"] = total + report["counts"] + report["optimizer"] + report["shards"]
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
        fresh = self._count(corpus, vocabulary)
        assert self.counts is not None
        self.add_lifecycle_event(
            "train",
            msg=f"pairs of weight {self.counts.total:g}, {len(self.wv)} words, {self.vector_size} dimensions",
        )
        self._train_on_counts(epochs, callbacks, report_delay)
        kept = vocabulary.keep_probability(self.sample)
        used = int((fresh.counts * kept).sum())
        return used * epochs, fresh.tokens * epochs

    def _count(self, corpus: Corpus, vocabulary: Vocabulary) -> Vocabulary:
        """Add the pairs of a corpus to the counts; returns its numbers of words."""
        recount, self._words_are_counted = not self._words_are_counted, False
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
                weights="dynamic" if self.shrink_windows else "flat",
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

    def _train_on_counts(self, epochs: int, callbacks: Iterable[Any], report_delay: float = 1.0) -> None:
        lock, touched = self._starting_point()
        start = touched or self._learnt_from_stream
        assert self.counts is not None
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
        lock = np.broadcast_to(self.wv.vectors_lockf, (len(self.wv),)) if np.any(self.wv.vectors_lockf != 1) else None
        touched = lock is not None or self._written != self._checksum()
        if touched and not (np.isfinite(self.wv.vectors).all() and np.isfinite(self.syn1neg).all()):
            raise ValueError("the vectors to start from hold NaN or infinity; set them to finite numbers")
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
        solver = make_solver(saved)
        try:
            for epoch in range(saved.epochs if saved else 0, epochs):
                for callback in callbacks:
                    callback.on_epoch_begin(self)
                loss = solver.run_epoch(epoch)
                if self.compute_loss:
                    self.running_training_loss = loss
                for callback in callbacks:
                    callback.on_epoch_end(self)
                if checkpoint:
                    checkpoint.write(epoch + 1, *solver.state())
        finally:
            solver.finish()
            self.train_count += 1
            self.total_train_time += default_timer() - started
        if self.returned == "v+w":
            from gensim_hilbert.training.gauge import summed

            self.take(self.syn1neg, summed(self.syn1neg, self.wv.vectors), self.biases)
        self.min_alpha_yet_reached = min(self.min_alpha_yet_reached, self.min_alpha)
        self._clear_post_train()
        for callback in callbacks:
            callback.on_train_end(self)
        return solver

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

    def take(self, covectors: np.ndarray, vectors: np.ndarray, biases: Biases | None = None) -> None:
        """Have these covectors and vectors, as the result of training."""
        self.biases = biases
        self.syn1neg, self.wv.vectors = covectors, vectors
        self.wv.fill_norms(force=True)
        self._written = self._checksum()

    def _checksum(self) -> int:
        """Tells whether somebody else has set the vectors: training then starts from them."""
        return crc32(np.ascontiguousarray(self.syn1neg).data, crc32(np.ascontiguousarray(self.wv.vectors).data))

    # ------------------------------------------------------------------ vectors and covectors

    @property
    def covectors(self) -> KeyedVectors:
        """The covectors, over the same words as `wv`."""
        return covectors_of(self.wv, self.syn1neg)

    @property
    def context_biases(self) -> np.ndarray | None:
        """What the objective adds to covector . vector for each context; None where it has no biases."""
        return None if self.biases is None else self.biases[0]

    @property
    def term_biases(self) -> np.ndarray | None:
        """The same for each term."""
        return None if self.biases is None else self.biases[1]

    def pmi(self, context: str, term: str) -> float:
        """The fitted PMI of two words: covector . vector, minus `psi_offset` and the `offsets` of both words.

        The constant is 0 for Hilbert-MLE by factorization. Offsets are two arrays, for contexts and for terms, or None:
        objectives with biases or smoothed noise do not put all of PMI into the vectors, or more than it.
        """
        self._refuse_sum("pmi")
        psi = float(self.syn1neg[self.wv.get_index(context)] @ self.wv.get_vector(term)) - self.psi_offset
        if self.offsets is not None:
            psi -= float(self.offsets[0][self.wv.get_index(context)] + self.offsets[1][self.wv.get_index(term)])
        return psi

    def most_cooccurring(self, word: str, topn: int = 10, restrict_vocab: int | None = None) -> list[tuple[str, float]]:
        """What goes with a word: the contexts with the highest fitted PMI."""
        self._refuse_sum("most_cooccurring")
        of_contexts, of_terms = self.offsets or (None, None)
        found = most_cooccurring(self.wv, self.syn1neg, word, topn, restrict_vocab, of_contexts)
        offset = self.psi_offset if of_terms is None else self.psi_offset + float(of_terms[self.wv.get_index(word)])
        return [(context, psi - offset) for context, psi in found]

    def predict_output_word(
        self, context_words_list: list[str | int], topn: int = 10
    ) -> list[tuple[str, float]] | None:
        """The most probable words given context words: p_j exp(sum of PMI_ij), normalised."""
        if not self.negative or not hasattr(self, "syn1neg"):
            raise RuntimeError("words are predicted by covectors: keep syn1neg, and gensim's default negative > 0")
        self._refuse_sum("predict_output_word")
        contexts = [self.wv.get_index(word) for word in context_words_list if word in self.wv]
        if not contexts:
            logger.warning("none of the context words is in the vocabulary: %s", context_words_list)
            return None
        score = self._joint_pmi(contexts) + np.log(np.maximum(self._frequencies(), 1e-30))
        probability = np.exp(score - score.max())
        probability /= probability.sum()
        best = matutils.argsort(probability, topn=topn, reverse=True)
        return [(self.wv.index_to_key[k], float(probability[k])) for k in best]

    def score(self, sentences: Any, total_sentences: int = int(1e6), **kwargs: Any) -> np.ndarray:
        """The log probability of the words of each sentence, each given its neighbours within the window."""
        self._refuse_sum("score")
        log_p = np.log(np.maximum(self._frequencies(), 1e-30))
        scores = []
        for _, sentence in zip(range(total_sentences), sentences, strict=False):
            ids = [self.wv.key_to_index[word] for word in sentence if word in self.wv.key_to_index]
            total = 0.0
            for place, term in enumerate(ids):
                contexts = ids[max(0, place - self.window) : place] + ids[place + 1 : place + 1 + self.window]
                logits = log_p + self._joint_pmi(contexts)
                total += float(logits[term] - logits.max() - np.log(np.exp(logits - logits.max()).sum()))
            scores.append(total)
        return np.array(scores, dtype=np.float32)

    def _joint_pmi(self, contexts: list[int]) -> np.ndarray:
        """The sum of PMI with these contexts, for each term, but for a constant."""
        psi: np.ndarray = self.wv.vectors @ self.syn1neg[contexts].sum(axis=0)
        return psi if self.offsets is None else psi - len(contexts) * self.offsets[1]

    def _frequencies(self) -> np.ndarray:
        if self.counts is not None and len(self.counts) == len(self.wv):
            weights = self.counts.marginals.terms
        else:
            weights = np.asarray(self.wv.expandos["count"], dtype=np.float64) * self._keep()
        return np.asarray(weights / weights.sum())

    def _keep(self) -> np.ndarray:
        """With what probability subsampling keeps a token of each word."""
        return self._vocabulary().keep_probability(self.sample)

    def _vocabulary(self) -> Vocabulary:
        """Words, their counts, and the size of the corpus they are from."""
        size = {"tokens": self.corpus_total_words or 0, "sentences": self.corpus_count}
        return Vocabulary(self.wv.index_to_key, self.wv.expandos["count"], **size)

    def _refuse_sum(self, what: str) -> None:
        if self.returned == "v+w":
            raise ValueError(
                f"{what} needs the vectors, and wv holds their sums with the covectors; train with vectors='v'"
            )

    # ------------------------------------------------------------------ files

    def __getstate__(self) -> dict[str, Any]:
        """Without the counts, which may be large and temporary (`save` keeps them), and the place of checkpoints."""
        return {**self.__dict__, "counts": None, "checkpoint": None}

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the model; its pair counts go to a directory beside it, `NAME.counts`, for training on."""
        super().save(*args, **kwargs)
        name = args[0] if args else kwargs.get("fname_or_handle")
        if not isinstance(name, str | os.PathLike):
            return
        if self.counts is not None:
            copy_counts(self.counts.directory, counts_beside(name))
        else:  # those of the model that has been overwritten
            shutil.rmtree(counts_beside(name), ignore_errors=True)

    def _save_specials(self, fname: str, separately: Any, sep_limit: int, ignore: Any, *rest: Any) -> Any:
        return super()._save_specials(fname, separately, sep_limit, {*ignore, "counts"}, *rest)

    @classmethod
    def load(cls, *args: Any, **kwargs: Any) -> HilbertMLE:
        """Load a model; `mmap="r"` shares its arrays between processes."""
        model: HilbertMLE = super().load(*args, **kwargs)
        name = args[0] if args else kwargs.get("fname")
        beside = counts_beside(name) if isinstance(name, str | os.PathLike) else None
        model.counts = PairCounts.open(beside) if beside is not None and beside.exists() else None
        if not hasattr(model, "objective"):  # saved by an earlier version
            model.objective = named("hilbert", temperature=model.temperature, threshold=model.threshold)
        return model

    def reset_from(self, other_model: Word2Vec) -> None:
        """Take over another model's vocabulary, and begin without counts."""
        self.wv = Vectors(self.vector_size)
        self.wv.index_to_key, self.wv.key_to_index = other_model.wv.index_to_key, other_model.wv.key_to_index
        self.wv.expandos = other_model.wv.expandos
        self.wv.vectors_lockf = np.ones(1, dtype=np.float32)
        self.corpus_count, self.corpus_total_words = other_model.corpus_count, other_model.corpus_total_words
        self.init_weights()


def copy_counts(source: Path, target: Path) -> None:
    """Copy a store, whole or not at all."""
    if source.resolve() == target.resolve():
        return
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(source, fresh, copy_function=link_or_copy)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def link_or_copy(source: str, target: str) -> None:
    """The files of a store are never changed, only replaced: a second name for one is as good as a copy."""
    try:
        os.link(source, target)
    except OSError:  # another file system, or one that has no links
        shutil.copy2(source, target)
