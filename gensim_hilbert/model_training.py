"""From a model to a solver: what each solver is given, and what a checkpoint has to know. Nothing is changed here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.objectives import Biases
from gensim_hilbert.options import checkpoint_settings
from gensim_hilbert.training import from_counts, from_stream
from gensim_hilbert.training.fit import Start
from gensim_hilbert.training.from_counts import FromCounts
from gensim_hilbert.training.from_stream import FromStream
from gensim_hilbert.vocabulary import Vocabulary

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE


def counts_solver(model: HilbertMLE, counts: PairCounts, start: Start | None, **options: Any) -> partial[FromCounts]:
    """Return what makes the solver that fits a model's objective to counts."""
    names = ("vector_size", "alpha", "min_alpha", "l2", "device", "precision", "seed", "memory_gb")
    mine = {name: getattr(model, name) for name in names}
    return partial(FromCounts, counts, model.objective, start=start, **mine, **common_options(model), **options)


def stream_solver(
    model: HilbertMLE, corpus: Corpus, vocabulary: Vocabulary, start: Start, **options: Any
) -> partial[FromStream]:
    """Return what makes the solver by which a model learns from a corpus as it streams by."""
    names = ("window", "sample", "negative", "ns_exponent", "sampler", "alpha", "min_alpha", "workers")
    mine = {name: getattr(model, name) for name in names}
    mine |= {"shrink": bool(model.shrink_windows), "steps": model.gibbs_steps}
    mine["seed"] = model.seed + 1_000_003 * model.train_count  # other draws in each training
    return partial(FromStream, corpus, vocabulary, start=start, **mine, **common_options(model), **options)


def common_options(model: HilbertMLE) -> dict[str, Any]:
    """Return the options that both solvers have."""
    return {
        "gauge": model.objective.gauge if model.gauge is None else model.gauge,
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


def vectors_crc(model: HilbertMLE) -> int:
    """Return a checksum of covectors and vectors, which tells whether somebody else has set them."""
    return crc32(np.ascontiguousarray(model.syn1neg).data, crc32(np.ascontiguousarray(model.wv.parameters).data))


def starting_point(model: HilbertMLE) -> tuple[Start, bool]:
    """Return the vectors that a model has, and whether somebody else has set or locked them."""
    lock = model.wv.lock_factors()
    is_given = lock is not None or model._vectors_crc != vectors_crc(model)
    if is_given and not (np.isfinite(model.wv.vectors).all() and np.isfinite(model.syn1neg).all()):
        raise ValueError("the vectors to start from hold NaN or infinity; set them to finite numbers")
    if model.syn1neg.shape != model.wv.vectors.shape:
        raise ValueError(
            f"syn1neg must have one covector per vector, {model.wv.vectors.shape}, got {model.syn1neg.shape}"
        )
    return Start(model.syn1neg, model.wv.parameters, model.biases, lock), is_given


def solver_memory(model: HilbertMLE, words: int) -> dict[str, int]:
    """Return the bytes that a model's vectors and solver take besides the two matrices, for so many words, by use."""
    rows: int = model.wv.parameter_rows(words)
    of_vectors: dict[str, int] = model.wv.extra_memory(words)
    if model.solver == "gibbs":
        of_solver = from_stream.estimate_memory(words, rows, model.vector_size, model.workers)
    else:
        of_solver = from_counts.estimate_memory(words, rows, model.vector_size, model.memory_gb)
    return of_vectors | of_solver


def padded(pair: Biases | None, more: int, value: float = 0.0) -> Biases | None:
    """Return numbers of contexts and of terms for so many words more: `value` for new contexts, 0 for new terms."""
    if pair is None:
        return None
    return np.pad(pair[0], (0, more), constant_values=value), np.pad(pair[1], (0, more))
