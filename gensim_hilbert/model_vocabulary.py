"""gensim's hooks around the vocabulary of a model: building it, and the vectors that belong to its words."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from gensim_hilbert.automatic import AUTO, automatic_gauge, automatic_sample
from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.model_files import LearntFrom
from gensim_hilbert.model_ranks import by_all_ranks
from gensim_hilbert.model_text import FEW_TOKENS, corpus_of, count_words, resolve_corpus
from gensim_hilbert.model_training import padded, solver_memory, vectors_crc
from gensim_hilbert.objectives import Biases, Hilbert, Objective
from gensim_hilbert.pretrained.unknown import UnknownObjective
from gensim_hilbert.training.fit import Record
from gensim_hilbert.training.space import Space
from gensim_hilbert.vectors.keyed import WordVectors
from gensim_hilbert.vectors.subwords import SubwordVectors
from gensim_hilbert.vocabulary import Vocabulary

logger = logging.getLogger(__name__)

COVECTORS = "syn1neg"  # where gensim keeps them in a model
BYTES_PER_WORD = 500  # of the vocabulary, by gensim's estimate


class VocabularyHooks(Word2Vec):
    """What gensim calls to build, extend or take over a vocabulary."""

    wv: WordVectors | SubwordVectors
    vector_size: int
    min_count: int
    sorted_vocab: int
    max_final_vocab: int | None
    psi_offset: float
    counts: PairCounts | None
    thins_on_average: bool | None
    sample: Any  # a number as soon as there are words; until then it may be "auto"
    temperature: float | str
    gauge: float | None
    solver: str
    space: Space | None
    biases: Biases | None
    offsets: Biases | None
    learnt_from: LearntFrom
    training_history: list[Record]
    trained_on: list[dict[str, Any]]
    subwords: bool
    checkpoint: str | os.PathLike[str] | None
    column: str | None
    objective: Objective
    _vectors_crc: int | None
    _preparation: Callable[[], Preparation | None]
    _with_phrases: Callable[[Corpus], Corpus]

    @by_all_ranks()
    def build_vocab(self, corpus_iterable: Any = None, corpus_file: Any = None, *args: Any, **kwargs: Any) -> None:
        """Build the vocabulary from a corpus, as gensim does; `corpus_file` may be whatever smart_open opens."""
        self._adopt_added_words()
        super().build_vocab(*resolve_corpus(corpus_iterable, corpus_file, self.column), *args, **kwargs)

    def _check_corpus_sanity(self, corpus_iterable: Any = None, corpus_file: Any = None, passes: int = 1) -> None:
        """Check what gensim checks, except of files: these have been resolved, and may also be compressed or remote."""
        if corpus_file is None or corpus_iterable is not None:
            super()._check_corpus_sanity(corpus_iterable=corpus_iterable, corpus_file=corpus_file, passes=passes)

    def _check_training_sanity(self, **sizes: Any) -> None:
        """Check what gensim checks, and say so if no word has been frequent enough, or the objective is unknown."""
        if isinstance(self.objective, UnknownObjective):
            self.objective.refuse_training()
        if not self.wv.key_to_index and self.corpus_total_words:
            least = self.effective_min_count
            raise RuntimeError(
                f"no word is left: none occurs {least} times among {self.corpus_total_words:,}; "
                + ("lower min_count" if least == self.min_count else "raise max_final_vocab")
            )
        if not self.wv.key_to_index:
            raise RuntimeError(
                "no vocabulary has been built, or that of an empty corpus: you must first build vocabulary before "
                "training the model"
            )
        super()._check_training_sanity(**sizes)

    def scan_vocab(
        self, corpus_iterable: Any = None, corpus_file: Any = None, progress_per: int = 10000, workers: Any = None,
        trim_rule: Any = None,
    ) -> tuple[int, int]:  # fmt: skip
        """Count the words of a corpus, in parallel; return the numbers of tokens and sentences."""
        self.raw_vocab, tokens, sentences = count_words(
            self._with_phrases(corpus_of(corpus_iterable, corpus_file, self._preparation())),
            max_vocab_size=self.max_vocab_size, trim_rule=trim_rule, workers=workers or self.workers,
            progress=self.progress, directory=None if self.checkpoint is None else self._checkpoint_folder(),
        )  # fmt: skip
        return tokens, sentences

    def prepare_vocab(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Keep the words that gensim's rules keep. A new word that is an int is never taken for the number of a row."""
        self.wv.has_index_for = self.wv.key_to_index.__contains__
        if self.sample == AUTO:  # gensim computes with it.
            tokens = self.corpus_total_words or sum(self.raw_vocab.values())
            self._settle_sample(Vocabulary([], [], tokens=tokens))
        try:
            report: dict[str, Any] = super().prepare_vocab(*args, **kwargs)
        finally:
            del self.wv.has_index_for
        return report

    def make_cum_table(self, domain: int = 2**31 - 1) -> None:
        """Make gensim's table for drawing words, `cum_table`, for those who look at it: training has no use for it."""
        counts = np.asarray(self.wv.expandos.get("count", []), dtype=np.float64)
        weights = np.cumsum(counts**self.ns_exponent)
        total = np.maximum(weights[-1:], np.finfo(np.float64).tiny)  # All counts may be 0.
        self.cum_table = np.rint(weights / total * domain).astype(np.uint32)

    def create_binary_tree(self) -> None:
        """Make no tree, as there is no hierarchy of words."""

    def init_weights(self) -> None:
        """Forget vectors and counts, but keep the vocabulary."""
        self.wv.resize_vectors(seed=self.seed)
        self.syn1neg = np.zeros((len(self.wv), self.vector_size), dtype=np.float32)
        self.counts = self.biases = self.offsets = None
        self.training_history, self.trained_on, self.learnt_from = [], [], LearntFrom.NOTHING
        self._vectors_crc = vectors_crc(self)

    @contextmanager
    def _without_random_vectors(self) -> Iterator[None]:
        """Free the memory of vectors that are still random while others are learnt; have them again if none are."""
        are_random = self.learnt_from is LearntFrom.NOTHING and self.wv.composition is None
        if are_random:
            self.wv.vectors = np.zeros(self.wv.vectors.shape, dtype=np.float32)  # Zeros take no memory.
        try:
            yield
        finally:
            if are_random and self.learnt_from is LearntFrom.NOTHING:
                self.wv.vectors = np.empty((0, self.vector_size), dtype=np.float32)
                self.wv.resize_vectors(seed=self.seed)
                self._vectors_crc = vectors_crc(self)

    def update_weights(self) -> None:
        """Make room for new words; vectors and counts of old words stay."""
        if not len(self.wv.vectors):
            raise RuntimeError("there is no vocabulary yet to be updated: build one first, with update=False")
        are_ours = self._vectors_crc == vectors_crc(self)
        self.wv.resize_vectors(seed=self.seed)
        self._pad_covectors()
        if are_ours:
            self._vectors_crc = vectors_crc(self)

    @property
    def syn1neg(self) -> np.ndarray:
        """The matrix of covectors, one row per word of `wv`, also for words that have just been added to it by hand."""
        if COVECTORS not in self.__dict__:
            raise AttributeError("syn1neg: this model has no covectors; build its vocabulary first")
        self._adopt_added_words()
        covectors: np.ndarray = self.__dict__[COVECTORS]
        return covectors

    @syn1neg.setter
    def syn1neg(self, covectors: np.ndarray) -> None:
        self.__dict__[COVECTORS] = covectors

    @syn1neg.deleter
    def syn1neg(self) -> None:
        del self.__dict__[COVECTORS]

    def _adopt_added_words(self) -> None:
        """Give covectors, zeros so far, to words that somebody has added to `wv`, as `add_vector` does.

        Reading `syn1neg` does it. Such words have occurred 0 times.
        """
        before = len(self.__dict__.get(COVECTORS, self.wv.vectors))
        have_occurred = np.any(self.wv.expandos.get("count", [])[before:])
        if before >= len(self.wv.vectors) or have_occurred:  # Words of a text had covectors: somebody has cut them off.
            return
        if self.subwords:
            raise ValueError(
                f"with subwords=True, words such as {self.wv.index_to_key[before]!r} cannot be added by hand, because "
                "vectors are means of those of n-grams; add words by build_vocab(..., update=True)"
            )
        self._pad_covectors()
        self.make_cum_table()
        if self._vectors_crc == vectors_crc(self, before):
            self._vectors_crc = vectors_crc(self)

    def _pad_covectors(self) -> None:
        """Make room for words that have vectors, but nothing else yet."""
        covectors = self.__dict__[COVECTORS]
        new = len(self.wv.vectors) - len(covectors)
        self.syn1neg = np.pad(covectors, ((0, new), (0, 0)))
        if len(self.wv.vectors_lockf) > 1:
            missing = len(self.wv) - len(self.wv.vectors_lockf)
            self.wv.vectors_lockf = np.pad(self.wv.vectors_lockf, (0, missing), constant_values=1)
        self.biases = padded(self.biases, new)
        self.offsets = padded(self.offsets, new, -self.psi_offset)  # nothing is known about new words: their PMI is 0

    def reset_from(self, other_model: Word2Vec) -> None:
        """Take over another model's vocabulary, and begin without counts."""
        self.wv = self._new_vectors(self.vector_size)
        self.wv.index_to_key, self.wv.key_to_index = other_model.wv.index_to_key, other_model.wv.key_to_index
        self.wv.expandos = other_model.wv.expandos
        self.wv.vectors_lockf = np.ones(1, dtype=np.float32)
        self.cum_table = other_model.cum_table
        self.corpus_count, self.corpus_total_words = other_model.corpus_count, other_model.corpus_total_words
        self.init_weights()

    def _take_words(self, vocabulary: Vocabulary) -> None:
        """Take over all words of a vocabulary in their order, whatever the rules of this model say."""
        counts = np.maximum(vocabulary.counts, 1)  # gensim divides by them, and imported words may not occur at all.
        self.raw_vocab = dict(zip(vocabulary.words, counts.tolist(), strict=True))
        self.corpus_count, self.corpus_total_words = vocabulary.sentences, vocabulary.tokens
        rules = self.min_count, self.sorted_vocab, self.max_final_vocab
        self.min_count, self.sorted_vocab, self.max_final_vocab = -1, 0, None
        self.prepare_vocab()
        self.wv.expandos["count"][:] = vocabulary.counts
        self.min_count, self.sorted_vocab, self.max_final_vocab = rules

    def estimate_memory(self, vocab_size: int | None = None, report: dict[str, int] | None = None) -> dict[str, int]:
        """Return the bytes that are needed, by use: also for counts, shards and the optimiser's state, if any."""
        size = vocab_size or len(self.wv)
        matrix = 4 * size * self.vector_size
        report = {**(report or {}), "vocab": BYTES_PER_WORD * size, "vectors": matrix, "syn1neg": matrix}
        report |= solver_memory(self, size)
        report["total"] = sum(report.values())
        logger.info(
            "estimated required memory for %i words and %i dimensions: %i bytes",
            size, self.vector_size, report["total"],
        )  # fmt: skip
        return report

    @property
    def fitted_counts(self) -> PairCounts | None:
        """The counts whose PMI is fitted: as they are, or as subsampling would leave them on average."""
        if self.counts is None or not self.thins_on_average:
            return self.counts
        return self.counts.expected(self.sample)

    def _checkpoint_folder(self) -> Path:
        """Return a folder for the next training, so that a script with several of them can go on in any."""
        assert self.checkpoint is not None
        return Path(self.checkpoint) / f"training-{self.train_count + 1}"

    def _settle(self, vocabulary: Vocabulary) -> None:
        """Replace settings that are still automatic by those that suit the first text; from then on they stay."""
        self._settle_sample(vocabulary)
        if self.solver == "factorization" and self.thins_on_average is None:
            self.thins_on_average = vocabulary.text_size < FEW_TOKENS
        if self.temperature == AUTO and isinstance(self.objective, Hilbert):
            objective = (
                self.objective if self.space is None else replace(self.objective, temperature=self.space.temperature)
            )
            self.temperature = objective.temperature_for(vocabulary, self.sample)
            self.objective = replace(objective, temperature=self.temperature)
            logger.info("temperature=%g is chosen for this text", self.temperature)
        if self.gauge is None:
            self.gauge = automatic_gauge(vocabulary, self.sample)
            logger.info("gauge=%.3g is chosen for this text", self.gauge)

    def _settle_sample(self, vocabulary: Vocabulary) -> None:
        if self.sample == AUTO and self.space is not None:
            self.sample = self.space.sample
        if self.sample == AUTO:
            self.sample = automatic_sample(vocabulary, self.solver)
            logger.info("sample=%g is chosen for this text", self.sample)

    def _new_vectors(self, vector_size: int) -> WordVectors | SubwordVectors:
        if self.subwords:
            return SubwordVectors(vector_size, self.min_n, self.max_n, self.bucket)
        return WordVectors(vector_size)

    def _vocabulary(self) -> Vocabulary:
        """Return the words, their counts, and the size of the corpus they are from."""
        size = {"tokens": self.corpus_total_words or 0, "sentences": self.corpus_count}
        return Vocabulary(self.wv.index_to_key, self.wv.expandos["count"], **size)

    def set_vectors(self, covectors: np.ndarray, parameters: np.ndarray, biases: Biases | None = None) -> None:
        """Set what training has learnt: covectors, vectors or the rows that these are made of, and biases."""
        self.syn1neg, self.wv.parameters, self.biases = covectors, parameters, biases
        if isinstance(self.wv, SubwordVectors):
            self.wv.share_mean()
        self.wv.fill_norms(force=True)
        self._vectors_crc = vectors_crc(self)
