"""From a model to a solver: what each solver is given, and what a checkpoint has to know. Nothing is changed here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.model_files import LearntFrom
from gensim_hilbert.objectives import Biases
from gensim_hilbert.options import checkpoint_settings
from gensim_hilbert.training import from_counts, from_stream
from gensim_hilbert.training.fit import Anchor, Fitted, Start
from gensim_hilbert.training.from_counts import FromCounts
from gensim_hilbert.training.from_stream import FromStream
from gensim_hilbert.vocabulary import Vocabulary

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

FULL_EPOCHS = 5  # gensim's default; in fewer epochs, vectors that somebody has set stay nearer to where they were


def counts_solver(model: HilbertMLE, counts: PairCounts, start: Start | None, **options: Any) -> partial[FromCounts]:
    """Return what makes the solver that fits a model's objective to counts."""
    names = (
        "vector_size",
        "alpha",
        "min_alpha",
        "l2",
        "device",
        "precision",
        "seed",
        "memory_gb",
        "passes",
        "background",
    )
    mine = {name: getattr(model, name) for name in names}
    mine["columns"] = model.background_samples
    mine["space"] = model.space
    return partial(FromCounts, counts, model.objective, start=start, **mine, **common_options(model), **options)


def stream_solver(
    model: HilbertMLE, corpus: Corpus, vocabulary: Vocabulary, start: Start, **options: Any
) -> partial[FromStream]:
    """Return what makes the solver by which a model learns from a corpus as it streams by."""
    names = ("window", "sample", "negative", "ns_exponent", "sampler", "alpha", "min_alpha", "l2", "workers")
    mine = {name: getattr(model, name) for name in names}
    mine |= {"shrink": bool(model.shrink_windows), "steps": model.gibbs_steps}
    mine["seed"] = model.seed + 1_000_003 * model.train_count  # other draws in each training
    return partial(FromStream, corpus, vocabulary, start=start, **mine, **common_options(model), **options)


def common_options(model: HilbertMLE) -> dict[str, Any]:
    """Return the options that both solvers have."""
    return {
        "gauge": model.gauge,
        "composition": model.wv.composition,
        "show_progress": model.progress,
    }


def checkpoint_request(model: HilbertMLE, vocabulary: Vocabulary, epochs: int, source: dict[str, Any]) -> Any:
    """Return all that the result of the training about to begin depends on."""
    return {
        "settings": {**checkpoint_settings(model), "epochs": epochs},
        "vocabulary": vocabulary.fingerprint,
        **source,
        "start": vectors_crc(model),
        "lock": crc32(np.ascontiguousarray(model.wv.vectors_lockf).data),
    }


def vectors_crc(model: HilbertMLE, rows: int | None = None) -> int:
    """Return a checksum of covectors and vectors, or of the first ones, which tells whether somebody has set them."""
    vectors, covectors = model.wv.parameters[:rows], model.syn1neg[:rows]
    return crc32(np.ascontiguousarray(covectors).data, crc32(np.ascontiguousarray(vectors).data))


def starting_point(model: HilbertMLE, epochs: int) -> tuple[Start, bool]:
    """Return the vectors that a model has, and whether somebody else has set or locked them."""
    lock = model.wv.lock_factors()
    are_set = model._vectors_crc != vectors_crc(model)
    is_given = lock is not None or are_set
    if is_given and not (np.isfinite(model.wv.vectors).all() and np.isfinite(model.syn1neg).all()):
        raise ValueError("the vectors to start from hold NaN or infinity; set them to finite numbers")
    if model.syn1neg.shape != model.wv.vectors.shape:
        raise ValueError(
            f"syn1neg must have one covector per vector, {model.wv.vectors.shape}, got {model.syn1neg.shape}"
        )
    pace = min(1.0, epochs / FULL_EPOCHS) ** 2 if are_set else 1.0
    return Start(model.syn1neg, model.wv.parameters, model.biases, lock, pace), is_given


def present_anchor(model: HilbertMLE, *, keeps_axes: bool) -> Anchor | None:
    """Return the vectors learnt so far, onto which the next result is turned unless the solver keeps their axes."""
    if keeps_axes or model.learnt_from is LearntFrom.NOTHING:
        return None
    rows = np.flatnonzero(model.syn1neg.any(axis=1))  # New words have random vectors, but no covectors yet.
    return Anchor(rows, model.wv.vectors[rows])


def kept_vectors(model: HilbertMLE, counts: PairCounts | None, *, are_random: bool) -> Anchor | None:
    """Return the vectors that stay as they are in gensim: those of words without a pair, except random ones.

    Nobody counts the pairs of a stream: there, words that were added by hand stay, which have occurred 0 times.
    """
    if model.wv.composition is not None:
        return None
    stays = model.wv.expandos["count"] == 0
    if counts is not None:
        has_no_pair = counts.marginals.terms == 0
        stays = has_no_pair & stays if are_random else has_no_pair
    rows = np.flatnonzero(stays)
    return Anchor(rows, model.wv.vectors[rows]) if len(rows) else None


def anchor_in(model: HilbertMLE, other: Any) -> Anchor:
    """Return the vectors that another model, or KeyedVectors, has for the words of a model."""
    vectors = getattr(other, "wv", other)
    if vectors.vector_size != model.vector_size:
        raise ValueError(
            f"like must have vectors of the same size, {model.vector_size}, got {vectors.vector_size}; use "
            f"vector_size={vectors.vector_size}"
        )
    rows = [row for row, word in enumerate(model.wv.index_to_key) if word in vectors.key_to_index]
    if not rows:
        raise ValueError("like must have words of these counts, but has none of them")
    others = [vectors.key_to_index[model.wv.index_to_key[row]] for row in rows]
    return Anchor(np.array(rows), vectors.vectors[others])


def turned(model: HilbertMLE, fitted: Fitted, anchor: Anchor | None, kept: Anchor | None = None) -> Fitted:
    """Return what a solver has learnt, turned onto an anchor if there is one, and with the vectors that are kept."""
    if anchor is not None:
        from gensim_hilbert.training.gauge import turn_onto

        shape = model.wv.composition
        fitted = turn_onto(anchor, fitted, fitted.parameters if shape is None else shape.vectors(fitted.parameters))
    if kept is not None:
        fitted.parameters[kept.rows] = kept.vectors
    return fitted


def sums_with_covectors(model: HilbertMLE, anchor: Anchor | None) -> np.ndarray:
    """Return the sums of a model's vectors and covectors, turned onto an anchor if there is one."""
    from gensim_hilbert.training.gauge import summed, turn_onto

    fitted = Fitted(model.syn1neg, summed(model.syn1neg, model.wv.vectors))
    return (fitted if anchor is None else turn_onto(anchor, fitted, fitted.parameters)).parameters


def refuse_sums(model: HilbertMLE) -> None:
    """Refuse to go on from vectors if a model has but their sums with covectors."""
    if model.vectors_option == "v+w":
        raise ValueError(
            "training would have to go on from the vectors, but wv holds their sums with the covectors; train with "
            "vectors='v', and keep the counts of the model, if it had any, by its own save and load"
        )


def solver_memory(model: HilbertMLE, words: int) -> dict[str, int]:
    """Return the bytes that a model's vectors and solver take besides the two matrices, for so many words, by use."""
    rows: int = model.wv.parameter_rows(words)
    of_vectors: dict[str, int] = model.wv.extra_memory(words)
    if model.solver == "gibbs":
        of_solver = from_stream.estimate_memory(words, rows, model.vector_size, model.workers)
    else:
        of_solver = from_counts.estimate_memory(words, rows, model.vector_size, model.memory_gb)
    return of_vectors | of_solver


def refuse_lost_space(model: HilbertMLE) -> None:
    """Refuse to train a model further that was trained in the space of another, and does not know it any more."""
    if model.space is None and any("covectors" in record for record in model.trained_on):
        raise ValueError(
            "this model was trained with covectors=, which its folder does not keep; train a new one on all of the "
            "text with covectors=, or keep the model by its own save and load"
        )


def padded(pair: Biases | None, more: int, value: float = 0.0) -> Biases | None:
    """Return numbers of contexts and of terms for so many words more: `value` for new contexts, 0 for new terms."""
    if pair is None:
        return None
    return np.pad(pair[0], (0, more), constant_values=value), np.pad(pair[1], (0, more))
