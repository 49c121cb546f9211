"""Vectors of new words and texts in the space of a trained model: its covectors stay as they are."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from gensim.models import Word2Vec
from scipy import sparse

from gensim_hilbert.model_training import vectors_crc
from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training.prior import PRIOR_COUNTS, PRIOR_COUNTS_OF_STREAM
from gensim_hilbert.training.space import Space, TermLosses, prior_metric

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE
    from gensim_hilbert.training.newton import FixedCovectors

logger = logging.getLogger(__name__)

Contexts = Mapping[Any, float] | Iterable[Any]
# Beside models and not in them, since they are neither saved nor copied.
SOLVERS: WeakKeyDictionary[HilbertMLE, tuple[Any, TermLosses, FixedCovectors]] = WeakKeyDictionary()


class InferredVectors(Word2Vec):
    """Vectors for what a model has not been trained on."""

    def infer_vector(self, contexts: Any, *, thinned: bool = False, tolerance: float = 1e-9) -> np.ndarray:
        """Return the vector of a new word, or of a text, given the words around it or in it; or several vectors.

        The covectors stay as they are. For fixed covectors the loss that training minimises is convex in each vector,
        and this is its minimum. The sum over contexts that do not occur is over the whole vocabulary. The word counts
        as often as its contexts do: with few of them the prior of the model keeps its vector short.

        Parameters
        ----------
        contexts : dict, list of words, list of those, or sparse array
            For one vector, how often each word occurs in the window of the new word, as numbers by word, or as a list
            of words, in which each occurrence counts 1. Numbers need not be whole: training gives a context at the
            distance d the weight (window - d + 1) / window. For several vectors, a list of such dicts or lists, or
            a sparse array with one row per vector and one column per word of the model. Unknown words are ignored.
        thinned : bool
            Whether the counts of frequent words are as `sample` leaves them, which is so for rows of the model's own
            counts. By default they are those of a text as it is, and are multiplied by the probability with which
            training keeps a token of that word.
        tolerance : float
            How large the gradient may be at the end, relative to that of the zero vector.

        Returns
        -------
        array
            One vector, or a matrix with one row for each. Where no context is known, the vector is zero.

        Examples
        --------
        >>> model.infer_vector({"coffee": 3, "drink": 5, "cup": 2})
        >>> model.infer_vector(["she", "drank", "a", "cup", "of"])
        >>> model.infer_vector([text.split() for text in texts])
        """
        model = cast("HilbertMLE", self)
        refuse_other_objectives(model, "infer_vector")
        table, several = self._context_table(contexts)
        if not thinned:
            table = table.multiply(model._vocabulary().keep_probability(model.sample)).tocsr()
        losses, solver = solver_of(model)
        table = table.multiply(losses.contexts > 0).tocsr()
        marginals = np.asarray(table.sum(axis=1)).ravel()
        if empty := int((marginals == 0).sum()):
            logger.warning("%d of %d vectors are zero, because none of their contexts is known", empty, len(marginals))
        rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        values = losses.values(table.data, table.indices, losses.term_factors(marginals)[rows])
        b = losses.multipliers(marginals)
        linear = solver.linear(values, table.indices, table.indptr)
        vectors = solver.solve(linear, b, losses.priors(b), tolerance).vectors.astype(np.float32)
        return vectors if several else vectors[0]

    def term_frequencies(self) -> np.ndarray:
        """Return the frequency of each word among the terms of pairs, as the model was fitted to it."""
        terms = marginals_of(cast("HilbertMLE", self))[1]
        return np.asarray(terms / terms.sum())

    def _context_table(self, contexts: Any) -> tuple[sparse.csr_array, bool]:
        """Return counts, one row per vector and one column per word, and whether several vectors are asked for."""
        if sparse.issparse(contexts):
            table = sparse.csr_array(contexts, dtype=np.float64)
            if table.ndim != 2 or table.shape[1] != len(self.wv):
                raise ValueError(f"contexts must have one column per word, {len(self.wv)}, got the shape {table.shape}")
            refuse_counts(table.data)
            table.sum_duplicates()
            return table, True
        if isinstance(contexts, str | bytes) or not isinstance(contexts, Iterable):
            raise TypeError(f"contexts must be counts by word or a list of words, got {contexts!r}; split a text first")
        if not isinstance(contexts, Mapping):
            contexts = list(contexts)
        several = isinstance(contexts, list) and any(isinstance(one, Mapping | list) for one in contexts)
        texts: Sequence[Contexts] = contexts if several else [contexts]
        index, starts, columns, values = self.wv.key_to_index, [0], [], []
        for text in texts:
            for word, number in counted(text).items():
                if word in index:
                    columns.append(index[word])
                    values.append(number)
            starts.append(len(columns))
        data = np.array(values, dtype=np.float64)
        refuse_counts(data)
        shape = len(texts), len(self.wv)
        return sparse.csr_array((data, np.array(columns, dtype=np.int64), starts), shape=shape), several


def counted(text: Contexts) -> Mapping[Hashable, float]:
    """Return how often each word of a text occurs."""
    if isinstance(text, Mapping):
        return text
    if isinstance(text, str | bytes):
        raise TypeError(f"contexts must be counts by word or a list of words, got {text!r}; split a text first")
    return Counter(text)


def refuse_counts(values: np.ndarray) -> None:
    """Raise an error unless counts are finite and not negative."""
    wrong = values[~(np.isfinite(values) & (values >= 0))]
    if len(wrong):
        raise ValueError(f"counts of contexts must be finite and not negative, got {wrong[0]}")


def refuse_other_objectives(model: HilbertMLE, what: str) -> None:
    """Raise an error unless a model has covectors in which the loss of a vector is the Hilbert loss."""
    if not isinstance(model.objective, Hilbert):
        raise ValueError(
            f"{what} needs objective='hilbert', whose loss is convex in each vector, got {model.objective}"
        )
    if not len(model.wv) or not model.train_count or not np.any(model.syn1neg):
        raise ValueError(f"{what} needs a model with covectors; train it first")
    if model.vectors_option == "v+w":
        raise ValueError(
            f"{what} needs the vectors, and wv holds their sums with the covectors; train with vectors='v'"
        )


def solver_of(model: HilbertMLE) -> tuple[TermLosses, FixedCovectors]:
    """Return the loss of terms of a model, and what minimises it, kept for as long as the model stays the same."""
    from gensim_hilbert.training.device import choose_device
    from gensim_hilbert.training.newton import FixedCovectors

    counts = None if model.counts is None else model.counts.fingerprint
    state = (vectors_crc(model), len(model.wv), counts, model.l2, repr(model.objective), model.sample, model.device)
    if SOLVERS.get(model, (None,))[0] != state:
        losses = losses_of(model)
        metric = metric_of(model, losses) if model.space is None else model.space.metric
        scaled = losses.contexts * np.exp(-model.psi_offset)
        solver = FixedCovectors(model.syn1neg, scaled, metric, choose_device(model.device))
        SOLVERS[model] = state, losses, solver
    return SOLVERS[model][1:]


def losses_of(model: HilbertMLE) -> TermLosses:
    """Return the loss of terms as a model was fitted by it; Gibbs neither tempers nor counts pairs."""
    contexts, terms = marginals_of(model)
    known = model.syn1neg.any(axis=1)  # Words outside the space have no covectors, and are no contexts.
    if model.solver == "gibbs":
        objective, usual_l2 = Hilbert(temperature=1.0), PRIOR_COUNTS_OF_STREAM
    else:
        objective, usual_l2 = cast("Hilbert", model.objective), PRIOR_COUNTS
    return TermLosses(objective, np.where(known, contexts, 0.0), terms, model.l2, model.vector_size, usual_l2)


def marginals_of(model: HilbertMLE) -> tuple[np.ndarray, np.ndarray]:
    """Return the marginals of contexts and terms: those of the counts, or what words tell about them without counts."""
    counts = model.fitted_counts
    if counts is not None:
        added = len(model.wv) - len(counts)  # Words that were added by hand have not occurred.
        if added >= 0 and not np.any(model.wv.expandos["count"][len(counts) :]):
            return np.pad(counts.marginals.contexts, (0, added)), np.pad(counts.marginals.terms, (0, added))
    vocabulary = model._vocabulary()
    keep = vocabulary.keep_probability(model.sample)
    contexts_per_token = model.window + 1 if model.shrink_windows else 2 * model.window
    tokens = vocabulary.counts * keep
    if model.thins_on_average:  # The windows do not grow by what is removed.
        contexts_per_token *= tokens.sum() / max(1, vocabulary.counts.sum())
    return (contexts_per_token * tokens,) * 2


def metric_of(model: HilbertMLE, losses: TermLosses) -> np.ndarray:
    """Return the matrix by which the prior measures vectors of a model."""
    terms = losses.multipliers(marginals_of(model)[1])
    return prior_metric(model.syn1neg, model.wv.vectors, (losses.priors(losses.contexts), losses.priors(terms)))


def space_of(other: Any) -> Space | None:
    """Return the space of the model that `covectors=` names."""
    from gensim_hilbert.model import HilbertMLE

    if other is None or isinstance(other, Space):
        return other
    if not isinstance(other, HilbertMLE):
        raise TypeError(f"covectors must be a HilbertMLE that has been trained, got {type(other).__name__}")
    refuse_other_objectives(other, "covectors=")
    metric = metric_of(other, losses_of(other)) if other.space is None else other.space.metric
    known = np.flatnonzero(other.syn1neg.any(axis=1))
    words = [other.wv.index_to_key[row] for row in known]
    return Space(words, other.syn1neg[known], metric, other.psi_offset, other.temperature, other.sample)
