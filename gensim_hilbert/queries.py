"""Questions about words that have vectors and covectors: fitted PMI, both kinds of neighbours, probabilities.

The neighbours of a word by the cosine of vectors are words like it (paradigmatic). Its neighbours by the product of its
vector with covectors are words that occur with it (syntagmatic), and that product is their PMI.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, overload

import numpy as np
from gensim import matutils
from gensim.models import KeyedVectors

from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.markup import cut, notebook_table
from gensim_hilbert.objectives import Biases
from gensim_hilbert.vectors.keyed import covectors_of
from gensim_hilbert.vocabulary import Vocabulary

logger = logging.getLogger(__name__)

PAIRS_AT_A_TIME = 1 << 16  # whose rows are copied
SCORES_AT_A_TIME = 1 << 24  # words asked about, times words in the vocabulary
RAREST = 1e-30  # frequency of words that do not occur
Key = Any  # a word, or any hashable object that takes the place of one; an int that is no key is the number of a row
Neighbours = list[tuple[Key, float]]


class CooccurringWords(list[tuple[Key, float]]):
    """Contexts of a word with their PMI: a list like that of `most_similar`, which notebooks show as a table."""

    def __init__(self, word: Key, pairs: Iterable[tuple[Key, float]]):
        super().__init__(pairs)
        self.word = word

    def __reduce__(self) -> Any:
        return type(self), (self.word, [*self])

    def _repr_html_(self) -> str:
        """Return the list as a table."""
        rows = [(cut(context), float(pmi)) for context, pmi in self]
        return notebook_table(f"goes with {cut(self.word)}", rows, heading=("context", "PMI"))


@dataclass(frozen=True)
class Queries:
    """Vectors and covectors of words, and what can be asked of them.

    Parameters
    ----------
    words : KeyedVectors
        The vectors.
    covectors : array
        One covector per word.
    psi_offset : float
        What covector . vector exceeds PMI by, for all words alike.
    offsets : two arrays, optional
        What it exceeds PMI by besides, for each context and for each term. Objectives with biases or smoothed noise do
        not put all of PMI into the vectors, or more than that.
    """

    words: KeyedVectors
    covectors: np.ndarray
    psi_offset: float = 0.0
    offsets: Biases | None = None

    # ------------------------------------------------------------------ PMI

    def pmi(self, context: Key, term: Key) -> float:
        """Return the fitted PMI of a context and a term."""
        row = self.words.get_index(context)
        psi = float(self.covectors[row] @ self.words.get_vector(term)) - self._term_offset(term)
        return psi if self.offsets is None else psi - float(self.offsets[0][row])

    def pmi_of_pairs(self, contexts: Sequence[Key], terms: Sequence[Key]) -> np.ndarray:
        """Return the fitted PMI of many pairs: one number per place in two sequences of equal length."""
        if len(contexts) != len(terms):
            raise ValueError(f"there must be as many contexts as terms, got {len(contexts)} and {len(terms)}")
        rows = np.fromiter(map(self.words.get_index, contexts), dtype=np.int64, count=len(contexts))
        if all(map(self.words.has_index_for, terms)):
            columns = np.fromiter(map(self.words.get_index, terms), dtype=np.int64, count=len(terms))
            return self.pmi_of_rows(rows, columns)
        # Vectors of unknown words are made of their n-grams.
        vectors = np.array([self.words.get_vector(term) for term in terms])
        psi = products(self.covectors, vectors, rows, np.arange(len(terms)))
        psi -= [self._term_offset(term) for term in terms]
        return psi if self.offsets is None else psi - self.offsets[0][rows]

    def pmi_of_rows(self, contexts: np.ndarray, terms: np.ndarray) -> np.ndarray:
        """Return the fitted PMI of many pairs of known words, given by their row numbers."""
        psi = products(self.covectors, self.words.vectors, contexts, terms) - self.psi_offset
        return psi if self.offsets is None else psi - self.offsets[0][contexts] - self.offsets[1][terms]

    def _term_offset(self, term: Key) -> float:
        """Return the part of covector . vector that is not PMI; objectives know it by term only for known ones."""
        if self.offsets is None or not self.words.has_index_for(term):
            return self.psi_offset
        return self.psi_offset + float(self.offsets[1][self.words.get_index(term)])

    # ------------------------------------------------------------------ neighbours

    def cooccurring(self, words: Sequence[Key], topn: int = 10, restrict_vocab: int | None = None) -> list[Neighbours]:
        """For each of some words, return the contexts with the highest fitted PMI."""
        covectors = self.covectors[:restrict_vocab]
        found: list[Neighbours] = []
        for some, vectors in batches(self.words, words):
            scores = covectors @ vectors.T
            if self.offsets is not None:
                scores = scores - self.offsets[0][:restrict_vocab, None]
            for word, psi in zip(some, scores.T, strict=True):
                offset = self._term_offset(word)
                pairs = ((context, value - offset) for context, value in best(self.words, psi, topn))
                found.append(CooccurringWords(word, pairs))
        return found

    def similar(self, words: Sequence[Key], topn: int = 10) -> list[Neighbours]:
        """For each of some words, return the other words whose vectors have the highest cosine with its own."""
        return similar(self.words, words, topn)

    # ------------------------------------------------------------------ probabilities

    def predict(self, contexts: Sequence[int], frequencies: np.ndarray, topn: int = 10) -> Neighbours:
        """Return the most probable terms among contexts, given by row numbers: p_j exp(sum of PMI_ij), normalised."""
        logits = self._logits(self.covectors[list(contexts)].sum(axis=0)[None], [len(contexts)], frequencies)[0]
        probability = np.exp(logits - logits.max())
        probability /= probability.sum()
        return best(self.words, probability, topn)

    def log_probability(self, rows: Sequence[int], window: int, frequencies: np.ndarray) -> float:
        """Return the log probability of the words of a sentence, each given its neighbours within the window."""
        total = 0.0
        own = self.covectors[list(rows)].astype(np.float64)
        sums = np.concatenate([np.zeros_like(own[:1]), np.cumsum(own, axis=0)])
        places = np.arange(len(rows))
        first, last = np.maximum(places - window, 0), np.minimum(places + window + 1, len(rows))
        step = words_at_a_time(self.words)
        for start in range(0, len(rows), step):
            some = places[start : start + step]
            around = sums[last[some]] - sums[first[some]] - own[some]
            logits = self._logits(around, last[some] - first[some] - 1, frequencies)
            largest = logits.max(axis=1, keepdims=True)
            normaliser = largest[:, 0] + np.log(np.exp(logits - largest).sum(axis=1))
            total += float((logits[np.arange(len(some)), [rows[k] for k in some]] - normaliser).sum())
        return total

    def _logits(self, covectors: np.ndarray, contexts: Any, frequencies: np.ndarray) -> np.ndarray:
        """Return log probabilities of all terms but for a constant, one row per sum of the covectors of contexts."""
        logits: np.ndarray = covectors @ self.words.vectors.T + np.log(np.maximum(frequencies, RAREST))
        return logits if self.offsets is None else logits - np.multiply.outer(contexts, self.offsets[1])


def similar(vectors: KeyedVectors, words: Sequence[Key], topn: int = 10) -> list[Neighbours]:
    """For each of some words, return the other words whose vectors have the highest cosine with its own."""
    vectors.fill_norms()
    shortest = np.finfo(np.float32).tiny
    norms = np.maximum(vectors.norms, shortest)[:, None]
    found = []
    for some, rows in batches(vectors, words):
        cosines = vectors.vectors @ rows.T / norms / np.maximum(np.linalg.norm(rows, axis=1), shortest)
        for word, scores in zip(some, cosines.T, strict=True):
            row = vectors.get_index(word) if vectors.has_index_for(word) else None  # unknown ones are made of n-grams
            found.append([pair for other, pair in best_rows(vectors, scores, topn + 1) if other != row][:topn])
    return found


def batches(vectors: KeyedVectors, words: Sequence[Key]) -> Iterator[tuple[Sequence[Key], np.ndarray]]:
    """Yield words with their vectors, so many at a time that their scores do not take too much memory."""
    step = words_at_a_time(vectors)
    for start in range(0, len(words), step):
        some = words[start : start + step]
        yield some, np.array([vectors.get_vector(word) for word in some])


def words_at_a_time(vectors: KeyedVectors) -> int:
    """Return for how many words scores of the whole vocabulary are computed at once."""
    return max(1, SCORES_AT_A_TIME // max(1, len(vectors)))


def best(vectors: KeyedVectors, scores: np.ndarray, topn: int) -> Neighbours:
    """Return the words with the highest scores, in descending order."""
    return [pair for _, pair in best_rows(vectors, scores, topn)]


def best_rows(vectors: KeyedVectors, scores: np.ndarray, topn: int) -> list[tuple[int, tuple[Any, float]]]:
    """Return the same with the row number of each."""
    rows: Iterable[int] = matutils.argsort(scores, topn=topn, reverse=True)
    return [(int(row), (vectors.index_to_key[row], float(scores[row]))) for row in rows]


def products(covectors: np.ndarray, vectors: np.ndarray, contexts: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Return covector . vector for pairs of row numbers, some at a time."""
    result = np.empty(len(contexts))
    for start in range(0, len(contexts), PAIRS_AT_A_TIME):
        some = slice(start, start + PAIRS_AT_A_TIME)
        result[some] = np.einsum("kd,kd->k", covectors[contexts[some]], vectors[terms[some]])
    return result


class WordQueries:
    """Questions about words as methods of a model."""

    wv: KeyedVectors
    syn1neg: np.ndarray
    """The matrix of covectors, one row per word of `wv`."""
    _adopt_added_words: Callable[[], None]
    term_frequencies: Callable[[], np.ndarray]
    window: int
    negative: int
    vectors_option: str
    psi_offset: float
    biases: Biases | None
    offsets: Biases | None
    counts: PairCounts | None
    sample: float
    thins_on_average: bool | None
    _vocabulary: Callable[[], Vocabulary]

    @property
    def queries(self) -> Queries:
        """What can be asked of the words of this model, also of many at once."""
        if self.vectors_option == "v+w":
            raise ValueError(
                "PMI needs the vectors, and wv holds their sums with the covectors; train with vectors='v'"
            )
        return Queries(self.wv, self.syn1neg, self.psi_offset, self.offsets)

    @property
    def covectors(self) -> KeyedVectors:
        """The covectors, over the same words as `wv`."""
        return covectors_of(self.wv, self.syn1neg)

    @property
    def context_biases(self) -> np.ndarray | None:
        """What the objective adds to covector . vector for each context; None if it has no biases."""
        self._adopt_added_words()
        return None if self.biases is None else self.biases[0]

    @property
    def term_biases(self) -> np.ndarray | None:
        """What the objective adds to covector . vector for each term; None if it has no biases."""
        self._adopt_added_words()
        return None if self.biases is None else self.biases[1]

    @overload
    def pmi(self, context: list[Key], term: list[Key]) -> np.ndarray: ...
    @overload
    def pmi(self, context: Key, term: Key) -> float: ...
    def pmi(self, context: Any, term: Any) -> Any:
        """Return the fitted PMI of two words, or of many pairs of words.

        It is covector . vector, minus `psi_offset` and the `offsets` of both words. For Hilbert-MLE by factorization
        both are 0.

        Parameters
        ----------
        context, term : key, or list of keys
            Two words, or two lists of equal length. Words are str, or any hashable objects that the text consists of.
        """
        if isinstance(context, list):
            return self.queries.pmi_of_pairs(context, term)
        return self.queries.pmi(context, term)

    @overload
    def most_cooccurring(
        self, word: list[Key], topn: int = 10, restrict_vocab: int | None = None
    ) -> list[Neighbours]: ...
    @overload
    def most_cooccurring(self, word: Key, topn: int = 10, restrict_vocab: int | None = None) -> Neighbours: ...
    def most_cooccurring(self, word: Any, topn: int = 10, restrict_vocab: int | None = None) -> Any:
        """Return what goes with a word, or with each of several: the contexts with the highest fitted PMI.

        Parameters
        ----------
        word : key, or list of keys
            The word, which must be known unless the model has subwords.
        topn : int
            How many contexts to return.
        restrict_vocab : int, optional
            Look at so many of the most frequent contexts only.
        """
        if isinstance(word, list):
            return self.queries.cooccurring(word, topn, restrict_vocab)
        return self.queries.cooccurring([word], topn, restrict_vocab)[0]

    def predict_output_word(self, context_words_list: list[Key], topn: int = 10) -> Neighbours | None:
        """Return the most probable words given context words: p_j exp(sum of PMI_ij), normalised."""
        if not self.negative or not hasattr(self, "syn1neg"):
            raise RuntimeError("words are predicted by covectors: keep syn1neg, and gensim's default negative > 0")
        queries = self.queries
        contexts = [self.wv.get_index(word) for word in context_words_list if self.wv.has_index_for(word)]
        if not contexts:
            logger.warning("none of the context words is in the vocabulary: %s", context_words_list)
            return None
        return queries.predict(contexts, self.term_frequencies(), topn)

    def score(self, sentences: Iterable[Any], total_sentences: int = int(1e6), **kwargs: Any) -> np.ndarray:
        """Return the log probability of the words of each sentence, each given its neighbours within the window."""
        queries, frequencies, known = self.queries, self.term_frequencies(), self.wv.key_to_index
        scores = [
            queries.log_probability([known[word] for word in sentence if word in known], self.window, frequencies)
            for sentence in islice(sentences, total_sentences)
        ]
        return np.array(scores, dtype=np.float32)
