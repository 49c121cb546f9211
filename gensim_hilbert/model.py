"""HilbertMLE takes the place of gensim's Word2Vec: change one import line, and what follows still works."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from timeit import default_timer
from typing import Any

from gensim.models import Word2Vec

from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.model_display import ShownInNotebooks
from gensim_hilbert.model_files import LearntFrom, SavedWithCounts
from gensim_hilbert.model_inference import InferredVectors, space_of
from gensim_hilbert.model_ranks import by_all_ranks
from gensim_hilbert.model_repetition import count_unless_known, solver_of_known, unchanged, what_is_fitted
from gensim_hilbert.model_text import corpus_of, description_of, refuse_empty, resolve_corpus
from gensim_hilbert.model_tokenizer import TokenizedText, text_options
from gensim_hilbert.model_training import (
    anchor_in,
    checkpoint_request,
    counts_solver,
    kept_vectors,
    present_anchor,
    refuse_lost_space,
    refuse_sums,
    starting_point,
    stream_solver,
    sums_with_covectors,
    turned,
)
from gensim_hilbert.model_vocabulary import VocabularyHooks
from gensim_hilbert.objectives import Biases, Objective
from gensim_hilbert.options import OPTIONS, refuse_rates, resolve
from gensim_hilbert.outputs import local_path
from gensim_hilbert.pretrained.folder import SavedAsFolder
from gensim_hilbert.queries import WordQueries
from gensim_hilbert.text_vectors.methods import TextVectors
from gensim_hilbert.training.checkpoint import Checkpoint
from gensim_hilbert.training.fit import Anchor, Fitted, Record
from gensim_hilbert.training.session import AnySolver, Session, Unchanged, Watcher
from gensim_hilbert.training.space import Space
from gensim_hilbert.word_scan import NothingToCount

logger = logging.getLogger(__name__)

HISTORY_RECORDS = 4096  # at most
NOTHING_LEARNT = "nothing is learnt, and the vectors stay as they are: %s"


class HilbertMLE(ShownInNotebooks, InferredVectors, WordQueries, TextVectors, VocabularyHooks, TokenizedText,
                 SavedWithCounts, SavedAsFolder):  # fmt: skip
    """Hilbert-MLE word embeddings, with the interface of `gensim.models.Word2Vec`.

    `wv` holds the vectors and `covectors` the covectors. The product covector . vector of two words is their fitted
    PMI. `training_history` has one record per pass; with Gibbs, one per 1/128 of the words. `trained_on` has one record
    per training: the names and the fingerprint of its text, and the fingerprint of the counts.

    The parameters up to `shrink_windows` are gensim's, in its order and with its defaults, except for `sample`. `sg`,
    `hs`, `cbow_mean`, `hashfxn`, `batch_words` and `null_word` have no effect. `corpus_file` may be whatever smart_open
    opens: several files, compressed ones, URIs, and tables such as .parquet. `sentences` may be a column of texts, too,
    such as a Series of pandas.

    With `solver="factorization"`, the result is a function of the pair counts and the seed. `train` counts the pairs of
    its corpus, adds them to those of earlier calls, and fits them all, so that training on A and then on B is training
    on both; the result is turned onto the vectors that were there, which changes no PMI. `epochs` is the number of
    rounds, with callbacks after each, and not the amount of work; only vectors that you have set yourself move less in
    fewer than 5 epochs. The text is read twice whatever `epochs` is, for its words and for its pairs. To learn from n
    draws of a corpus that is drawn anew each time, such as random walks, let its `__iter__` yield n of them one after
    the other. `sample` removes tokens before windows are looked at; if the first corpus has less than a million tokens,
    it does so on average instead of at random. Its default "auto" removes none from a first corpus of less than 20
    million tokens, and is 1e-3, gensim's default, for others and with Gibbs. `shrink_windows` gives contexts weights by
    their distance. `alpha` and `min_alpha` scale the learning rate. `negative` and `ns_exponent` have an effect with
    `objective="sgns"` only.

    With `solver="gibbs"`, vectors are learnt straight from the stream by contrastive divergence. Nothing is counted,
    only two matrices are kept in memory, and all parameters mean what they mean to gensim: the text is read once for
    its words, and once for each of the `epochs`. `train` goes on from the vectors that are there. With one worker the
    result depends on the seed only. Several workers update the same rows without locks, so that the result differs a
    little each time.

    Parameters
    ----------
    tokenizer : str, path, Tokenizer, tokenizers.Tokenizer or function, optional
        What makes words of raw text: of the lines of `corpus_file`, and of `sentences` that are str instead of lists of
        words. By default white space separates words, but in a list of str each character is a word, as in gensim.
        "words" takes runs of letters and digits, case-folded, and "words(numbers=fold)" has settings of
        `gensim_hilbert.Words`; "simple_preprocess" finds the words of gensim's function; a tokenizer.json is of Hugging
        Face, as a path or an object (extra [tokenizers]); or any function from str to a list of str, of which a saved
        model remembers the name only.
    sentence_ends : {"lines", "punctuation"}
        Whether sentences end at line ends only, or also at punctuation with white space behind it; docs/tokenizers.md
        has the rule.
    solver : {"factorization", "gibbs"}
        How vectors are learnt: from pair counts, or from the stream.
    objective : str or Objective
        What is fitted: "hilbert", or another low rank embedder of `gensim_hilbert.objectives`. It is given by name, by
        name with settings as in "glove(x_max=10)", or as an object such as `GloVe(x_max=10)`, also of a class of your
        own.
    temperature : float or "auto"
        The paper's tau, for Hilbert-MLE: how much weight rare words get. 1 is plain maximum likelihood, 2 is the
        paper's choice. "auto" is 1.1 if the first text has less than 20 million tokens and none is thinned out by
        `sample`, and 1.25 otherwise.
    threshold : float
        Words that are less frequent than this get the weight that they have in plain maximum likelihood. The paper has
        no such threshold, which is 0.
    l2 : float or "auto"
        Strength of the prior, in counts.
    passes : int, optional
        How often factorization goes through the counts. The default depends on how much text there is: 8 passes for
        25 million words. Half of them are enough for vectors nearly as good.
    background : {"auto", "sampled", "dense"}
        How factorization treats pairs of words that do not occur. Visiting them all takes time in proportion to the
        square of the vocabulary; a sample gives vectors as good, in time in proportion to the vocabulary. "auto"
        samples them unless the vocabulary is small.
    background_samples : int
        How many words the sample has for each shard of the counts. Fewer are faster, more are less noisy.
    device : str
        Where to compute: "auto", "cpu", "cuda", "cuda:1" or "mps".
    precision : {"float32", "tf32", "bf16"}
        Precision of the large matrix products. The lower ones are for GPUs that are faster with them. Everything else
        is float32.
    memory_gb : float
        Memory in gigabytes for counting, and for keeping counts in memory while training.
    vectors : {"v", "v+w"}
        What `wv` holds: the vectors, or their sums with the covectors, from which PMI can no longer be read.
    gauge : float, optional
        Share of each axis' strength that goes to the vectors, from 0 to 1; the covectors get the rest. PMI is the same
        for all values. Lower values find synonyms better, higher ones analogies. The default is 0.35; 0.25 for small
        texts of which `sample` removes nothing; up to 1 if words are about equally frequent, as in graphs.
    progress : bool
        Whether to draw bars if standard error is a terminal.
    sampler : {"candidates", "metropolis", "exact"}
        How Gibbs draws a negative: from `negative` candidates per word that neighbouring words share; by accepting or
        rejecting `negative` proposals one after the other; or from the whole conditional distribution, which takes
        time in proportion to the vocabulary.
    gibbs_steps : int
        Number of steps of the Gibbs chain from a pair to its negative.
    checkpoint : path, optional
        Directory for counts and for the state of training after each epoch. If training was interrupted, the same call
        goes on from there and gives the same vectors as if it had not been (with Gibbs, if there is one worker). A
        call with another corpus or other settings is refused. The directory is not removed at the end.
    phrases : "auto", Phrases, path, or gensim's Phrases or FrozenPhrases, optional
        Words to join before anything else, such as "new york" to "new_york". "auto" finds those of the first text by
        gensim's defaults. The model keeps them as `phrases`.
    covectors : HilbertMLE, optional
        A model whose covectors stay as they are: vectors are learnt in its space, and can be compared with its own and
        with those of other models in it, over time for example. Contexts that it does not know are ignored. The vectors
        are the minimum of the loss, which is convex then, and take time in proportion to words times contexts. Text is
        made into words as for that model, unless `tokenizer`, `sentence_ends` or `phrases` say otherwise.
    subwords : bool
        Whether vectors are made of those of character n-grams, to the degree that spelling explains them. `wv` is then
        gensim's `FastTextKeyedVectors`, and has vectors for unknown words, too. Covectors are not made of n-grams.
        It works with both solvers, and with objectives whose psi is covector . vector.
    min_n, max_n, bucket : int
        With `subwords`, the lengths of the shortest and of the longest n-grams, and the number of buckets that they
        are hashed to, as in gensim's `FastText`. A model has one vector per bucket.
    column : str, optional
        The column of tables that holds the text. It may be left out if there is only one such column.
    """

    # Set by gensim, which has no types.
    alpha: float
    min_alpha: float
    min_alpha_yet_reached: float
    epochs: int
    compute_loss: bool
    # Set from OPTIONS.
    solver: str
    objective: Objective
    space: Space | None

    def __init__(
        self, sentences: Any = None, corpus_file: Any = None, vector_size: int = 100, alpha: float = 0.025,
        window: int = 5, min_count: int = 5, max_vocab_size: int | None = None, sample: float | str | None = "auto",
        seed: int | None = 1, workers: int | None = 3, min_alpha: float = 0.0001, sg: int = 0, hs: int = 0,
        negative: int = 5, ns_exponent: float = 0.75, cbow_mean: int = 1, hashfxn: Any = hash, epochs: int = 5,
        null_word: int = 0, trim_rule: Any = None, sorted_vocab: int = 1, batch_words: int = 10_000,
        compute_loss: bool = False, callbacks: Iterable[Any] = (), comment: str | None = None,
        max_final_vocab: int | None = None, shrink_windows: bool = True, *, tokenizer: Any = None,
        sentence_ends: str = "lines", solver: str = "factorization",
        objective: str | Objective = "hilbert", temperature: float | str = "auto", threshold: float = 0.0,
        l2: float | str = "auto", passes: int | None = None, background: str = "auto", background_samples: int = 64,
        device: str = "auto", precision: str = "float32", memory_gb: float = 2.0, vectors: str = "v",
        gauge: float | None = None, progress: bool = True, sampler: str = "candidates", gibbs_steps: int = 1,
        checkpoint: str | os.PathLike[str] | None = None, phrases: Any = None, subwords: bool = False,
        min_n: int = 3, max_n: int = 6, bucket: int = 2_000_000, column: str | None = None,
        covectors: HilbertMLE | None = None,
    ):  # fmt: skip
        tokenizer, sentence_ends, phrases = text_options(covectors, tokenizer, sentence_ends, phrases)
        values = resolve(dict(
            vector_size=vector_size, alpha=alpha, window=window, min_count=min_count, max_vocab_size=max_vocab_size,
            sample=sample, seed=seed, workers=workers, min_alpha=min_alpha, sg=sg, hs=hs, negative=negative,
            ns_exponent=ns_exponent, cbow_mean=cbow_mean, hashfxn=hashfxn, epochs=epochs, null_word=null_word,
            sorted_vocab=sorted_vocab, batch_words=batch_words, compute_loss=compute_loss, comment=comment,
            max_final_vocab=max_final_vocab, shrink_windows=shrink_windows, tokenizer=tokenizer,
            sentence_ends=sentence_ends, solver=solver, objective=objective,
            temperature=temperature, threshold=threshold, l2=l2, passes=passes, background=background,
            background_samples=background_samples, device=device, precision=precision, memory_gb=memory_gb,
            vectors=vectors, gauge=gauge, progress=progress, sampler=sampler,
            gibbs_steps=gibbs_steps, checkpoint=checkpoint, phrases=phrases, subwords=subwords, min_n=min_n,
            max_n=max_n, bucket=bucket, column=column, covectors=space_of(covectors),
        ))  # fmt: skip
        if checkpoint is not None:
            values["checkpoint"] = local_path(checkpoint, "checkpoints")
        gensims = inspect.signature(Word2Vec.__init__).parameters
        for name, option in OPTIONS.items():
            if name not in gensims:
                setattr(self, option.attribute or name, values[name])
        self.counts: PairCounts | None = None
        self.counts_fingerprint: str | None = None  # of those that were saved with the model
        self.learnt_from = LearntFrom.NOTHING
        self.thins_on_average: bool | None = None
        self.training_history: list[Record] = []
        self.trained_on: list[dict[str, Any]] = []
        self.psi_offset = 0.0
        self.biases: Biases | None = None
        self.offsets: Biases | None = None
        self._vectors_crc: int | None = None
        self._words_are_counted = False
        self.wv = self._new_vectors(values["vector_size"])
        super().__init__(**{name: value for name, value in values.items() if name in gensims})
        if sentences is not None or corpus_file is not None:
            self._learn(
                *resolve_corpus(sentences, corpus_file, column), trim_rule, callbacks, bool(max_vocab_size or null_word)
            )
        elif trim_rule is not None or callbacks:
            logger.warning("trim_rule and callbacks are not kept: give them to build_vocab() and train()")

    @by_all_ranks()
    def _learn(self, sentences: Any, corpus_file: Any, trim_rule: Any, callbacks: Any, recounts_words: bool) -> None:
        """Build the vocabulary of a corpus and train on it."""
        corpus = {"corpus_iterable": sentences, "corpus_file": corpus_file}
        self._check_corpus_sanity(**corpus, passes=self.epochs + 1)
        self.build_vocab(**corpus, trim_rule=trim_rule)
        refuse_empty(corpus_file, self.corpus_total_words)
        # Pruning loses occurrences, and the null word has none: words are then counted again with the pairs.
        self._words_are_counted = not recounts_words
        self.train(
            **corpus, total_examples=self.corpus_count, total_words=self.corpus_total_words, epochs=self.epochs,
            start_alpha=self.alpha, end_alpha=self.min_alpha, compute_loss=self.compute_loss, callbacks=callbacks,
        )  # fmt: skip

    @classmethod
    def from_counts(
        cls, counts: PairCounts, callbacks: Iterable[Any] = (), *, like: Any = None, **options: Any
    ) -> HilbertMLE:
        """Train on pair counts that have been made before, as they are: their words, window and sample are used.

        Parameters
        ----------
        counts : PairCounts
            What to train on.
        callbacks : iterable
            gensim's callbacks.
        like : model or KeyedVectors, optional
            Vectors onto which the result is turned, by the words that both have: vectors of the same word can then be
            compared. PMI, lengths and angles do not depend on it.
        **options
            Keywords of `HilbertMLE`. `window` has an effect with imported counts only, which do not tell theirs.
        """
        model = cls(**{**options, "covectors": space_of(options.get("covectors"))})
        if like is not None and model.space is not None:
            raise ValueError("like= would turn vectors away from the space of covectors=; give only one of them")
        if model.solver != "factorization":
            raise ValueError(f"solver={model.solver!r} learns from text, not from counts; use solver='factorization'")
        model._learn_from_counts(counts, callbacks, like)
        return model

    @by_all_ranks()
    def _learn_from_counts(self, counts: PairCounts, callbacks: Iterable[Any], like: Any) -> None:
        self._take_words(counts.vocabulary)
        self.window = counts.window.reach or self.window
        self.prepare_weights()
        self._take_preparation_of(counts)
        self.counts, self.sample, self.thins_on_average = counts.as_counted()
        self._settle(counts.vocabulary)
        self._train_on_counts(self.epochs, callbacks, anchor=None if like is None else anchor_in(self, like))

    # ------------------------------------------------------------------ training

    @by_all_ranks(returns=(0, 0))
    def train(
        self, corpus_iterable: Any = None, corpus_file: Any = None, total_examples: int | None = None,
        total_words: int | None = None, epochs: int | None = None, start_alpha: float | None = None,
        end_alpha: float | None = None, word_count: int = 0, queue_factor: int = 2, report_delay: float = 1.0,
        compute_loss: bool = False, callbacks: Iterable[Any] = (), *, add_again: bool = False,
    ) -> tuple[int, int]:  # fmt: skip
        """Count the pairs of a corpus, add them to those of earlier calls, and fit them all; or learn from the stream.

        The parameters are gensim's, except for `add_again`: whether pairs are added also if a text with just the same
        pairs has been trained on before. By default this text adds nothing, and the vectors stay as they are, because
        they are fitted to it already. As in gensim, the numbers of words used and of words read are returned, over all
        epochs.
        """
        alpha, min_alpha = start_alpha or self.alpha, end_alpha or self.min_alpha
        refuse_rates(alpha, min_alpha)
        self.alpha, self.min_alpha = alpha, min_alpha
        self._check_training_sanity(epochs=epochs, total_examples=total_examples, total_words=total_words)
        assert epochs is not None
        corpus_iterable, corpus_file = resolve_corpus(corpus_iterable, corpus_file, self.column)
        passes = epochs if self.solver == "gibbs" else 1
        self._check_corpus_sanity(corpus_iterable=corpus_iterable, corpus_file=corpus_file, passes=passes)
        self.epochs, self.compute_loss = epochs, compute_loss
        self._adopt_added_words()
        corpus = self._with_phrases(corpus_of(corpus_iterable, corpus_file, self._preparation()))
        vocabulary = self._vocabulary()
        self._settle(vocabulary)
        if self.solver == "gibbs":
            if not total_words:  # the learning rate falls with words, of which a sentence has so many on average
                total_words = int((total_examples or 0) * vocabulary.tokens / max(1, vocabulary.sentences))
            return self._train_on_stream(corpus, total_words, epochs, callbacks, report_delay)
        counts_before, trainings_before = self.counts, self.train_count
        try:
            text = count_unless_known(self, corpus, vocabulary, add_again=add_again)
        except NothingToCount as nothing:
            logger.warning(NOTHING_LEARNT, nothing)
            self._run(
                unchanged(self), self.learnt_from, epochs, callbacks, {"known": None}, description_of(corpus), None
            )
            return 0, nothing.words * epochs
        record = text.record
        if text.counts is not None:
            self.counts = text.counts if self.counts is None else PairCounts.merge([self.counts, text.counts])
        elif solver := solver_of_known(self):
            logger.info("this text has been trained on before: it adds nothing, and the vectors stay as they are")
            source, record["fitted"] = {"known": record["text_counts"]}, what_is_fitted(self)
            self._run(solver, LearntFrom.COUNTS, epochs, callbacks, source, record, None)
            return text.words(epochs)
        try:
            self._train_on_counts(epochs, callbacks, report_delay, record)
        except BaseException:
            if self.train_count == trainings_before:  # it has not begun; another try shall not count the text twice
                self.counts = counts_before
            raise
        return text.words(epochs)

    def _train_on_counts(
        self,
        epochs: int,
        callbacks: Iterable[Any],
        report_delay: float = 1.0,
        text: dict[str, Any] | None = None,
        anchor: Anchor | None = None,
    ) -> None:
        refuse_lost_space(self)
        counts, (start, is_given) = self.fitted_counts, starting_point(self, epochs)
        assert self.counts is not None
        assert counts is not None
        self.add_lifecycle_event(
            "train",
            msg=f"pairs of weight {self.counts.total:g}, {len(self.wv)} words, {self.vector_size} dimensions",
        )
        goes_on = is_given or self.space or self.learnt_from in (LearntFrom.STREAM, LearntFrom.LOST_COUNTS)
        solver = counts_solver(self, counts, start if goes_on else None, epochs=epochs, report_delay=report_delay)
        anchor = anchor or present_anchor(self, keeps_axes=bool(goes_on))
        are_random = self.learnt_from is LearntFrom.NOTHING and not goes_on
        kept = kept_vectors(self, counts, are_random=are_random)
        source = {"counts": self.counts.fingerprint, "thins_on_average": self.thins_on_average}
        text = {**(text or {}), "counts": self.counts.fingerprint}
        if self.space is not None:
            text["covectors"] = self.space.fingerprint
        del start
        with nullcontext() if goes_on else self._without_random_vectors():
            self._run(solver, LearntFrom.COUNTS, epochs, callbacks, source, text, anchor, kept)
            self.trained_on[-1]["fitted"] = what_is_fitted(self)  # only of a fit that has come to its end

    def _train_on_stream(
        self, corpus: Corpus, words: int, epochs: int, callbacks: Iterable[Any], report_delay: float
    ) -> tuple[int, int]:
        if self.train_count:
            refuse_sums(self)
        start, is_given = starting_point(self, epochs)
        self.add_lifecycle_event("train", msg=f"{len(self.wv)} words, {self.vector_size} dimensions, from the stream")
        solver = stream_solver(
            self, corpus, self._vocabulary(), start, keep_axes=is_given, words=words, epochs=epochs,
            report_delay=report_delay,
        )  # fmt: skip
        source = {"corpus": corpus.fingerprint, "total_words": words}
        anchor = present_anchor(self, keeps_axes=is_given)
        kept = kept_vectors(self, None, are_random=False)
        run = self._run(solver, LearntFrom.STREAM, epochs, callbacks, source, description_of(corpus), anchor, kept)
        done = run.done
        if not done.pairs:
            logger.warning(NOTHING_LEARNT, "no sentence has two known words within a window, or `sample` removes them")
        return done.used, done.words

    def _run(
        self,
        make_solver: Callable[..., AnySolver],
        learns_from: LearntFrom,
        epochs: int,
        callbacks: Iterable[Any],
        source: dict[str, Any],
        text: dict[str, Any],
        anchor: Anchor | None,
        kept: Anchor | None = None,
    ) -> AnySolver:
        """Run a training with all that gensim does around it, and take over its result."""
        started = default_timer()
        self.running_training_loss = 0.0
        callbacks, earlier = list(callbacks), self.training_history

        def call(moment: str) -> None:
            for callback in callbacks:
                getattr(callback, moment)(self)

        def take_over(fitted: Fitted, loss: float) -> None:
            fitted = turned(self, fitted, anchor, kept)
            self.set_vectors(fitted.covectors, fitted.parameters, fitted.biases)
            self.psi_offset, self.offsets, self.learnt_from = fitted.psi_offset, fitted.offsets, learns_from
            if learns_from is LearntFrom.STREAM:
                self.counts = None
            records = [{"training": self.train_count + 1, **record} for record in fitted.history]
            self.training_history = [*earlier, *records][-HISTORY_RECORDS:]
            if self.compute_loss:
                self.running_training_loss = loss

        def epoch_ends(fitted: Fitted, loss: float) -> None:
            take_over(fitted, loss)
            # As in gensim, `alpha` stays the first rate, and this one tells how far it has fallen.
            self.min_alpha_yet_reached = self.alpha + (self.min_alpha - self.alpha) * session.epochs_done / epochs
            call("on_epoch_end")

        checkpoint = None
        if self.checkpoint is not None:
            request = checkpoint_request(self, self._vocabulary(), epochs, source)
            checkpoint = Checkpoint(self._checkpoint_folder(), request)
        watcher = Watcher(lambda: call("on_epoch_begin"), epoch_ends) if callbacks else None
        call("on_train_begin")
        session = Session(make_solver, epochs, checkpoint=checkpoint, watcher=watcher, compute_loss=self.compute_loss)
        try:
            session.run()
        finally:
            if session.fitted is not None:
                take_over(session.fitted, session.final_loss)
                if self.vectors_option == "v+w" and not isinstance(session.solver, Unchanged):
                    self.set_vectors(self.syn1neg, sums_with_covectors(self, anchor), self.biases)
            self.train_count += 1
            self.trained_on = [*self.trained_on, {"training": self.train_count, **text}]
            self.total_train_time += default_timer() - started
        self.min_alpha_yet_reached = min(self.min_alpha_yet_reached, self.min_alpha)
        self._clear_post_train()
        call("on_train_end")
        return session.solver
