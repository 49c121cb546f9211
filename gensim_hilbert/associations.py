"""What goes with what, by a model that has been trained: fitted PMI, and the probabilities that follow from it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
from gensim import matutils
from gensim.models import KeyedVectors

from gensim_hilbert.keyedvectors import covectors_of, most_cooccurring

if TYPE_CHECKING:
    from gensim_hilbert.counting.pair_counts import PairCounts
    from gensim_hilbert.objectives import Biases

logger = logging.getLogger(__name__)


class Associations:
    """Of the covectors and vectors of `HilbertMLE`."""

    wv: KeyedVectors
    syn1neg: np.ndarray
    window: int
    negative: int
    vectors_option: str
    psi_offset: float
    # Models saved by an earlier version have none of these.
    biases: Biases | None = None
    offsets: Biases | None = None

    @property
    def fitted_counts(self) -> PairCounts | None:
        """The counts whose PMI is fitted, where they are at hand."""
        raise NotImplementedError

    def _keep(self) -> np.ndarray:
        raise NotImplementedError

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
        row = self.wv.get_index(context)
        psi = float(self.syn1neg[row] @ self.wv.get_vector(term)) - self._term_offset(term)
        return psi if self.offsets is None else psi - float(self.offsets[0][row])

    def most_cooccurring(self, word: str, topn: int = 10, restrict_vocab: int | None = None) -> list[tuple[str, float]]:
        """What goes with a word: the contexts with the highest fitted PMI."""
        self._refuse_sum("most_cooccurring")
        of_contexts = None if self.offsets is None else self.offsets[0]
        found = most_cooccurring(self.wv, self.syn1neg, word, topn, restrict_vocab, of_contexts)
        offset = self._term_offset(word)
        return [(context, psi - offset) for context, psi in found]

    def _term_offset(self, term: str) -> float:
        """Those of the objective that depend on a term are for known ones."""
        if self.offsets is None or not self.wv.has_index_for(term):
            return self.psi_offset
        return self.psi_offset + float(self.offsets[1][self.wv.get_index(term)])

    def predict_output_word(
        self, context_words_list: list[str | int], topn: int = 10
    ) -> list[tuple[str, float]] | None:
        """The most probable words given context words: p_j exp(sum of PMI_ij), normalised."""
        if not self.negative or not hasattr(self, "syn1neg"):
            raise RuntimeError("words are predicted by covectors: keep syn1neg, and gensim's default negative > 0")
        self._refuse_sum("predict_output_word")
        contexts = [self.wv.get_index(word) for word in context_words_list if self.wv.has_index_for(word)]
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
        counts = self.fitted_counts
        if counts is not None and len(counts) == len(self.wv):
            weights = counts.marginals.terms
        else:
            weights = np.asarray(self.wv.expandos["count"], dtype=np.float64) * self._keep()
        return np.asarray(weights / weights.sum())

    def _refuse_sum(self, what: str) -> None:
        if self.vectors_option == "v+w":
            raise ValueError(
                f"{what} needs the vectors, and wv holds their sums with the covectors; train with vectors='v'"
            )
