"""What two models have in common in a situation: kinds of values and errors, not the numbers that were learnt."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gensim.models import KeyedVectors, Word2Vec
from gensim.test.utils import common_texts

OPTIONS = {"vector_size": 8, "min_count": 1, "workers": 1, "epochs": 2, "seed": 1, "sample": 0}
# gensim's warnings about how its own threads are kept busy.
ABOUT_JOBS = ("under 10 jobs per worker", "job loop exiting", "Effective 'alpha' higher")
SITUATIONS: dict[str, Callable[..., Any]] = {}
HANG_IN_GENSIM: set[str] = set()  # Word2Vec never returns, because a thread of it has failed.


class Outcome(NamedTuple):
    """What came of a situation: the form of the result, or the class of the error, and whether there was a warning."""

    result: Any
    error: str | None
    warned: bool


class Messages(logging.Handler):
    """Keeps warnings of the log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if not message.startswith(ABOUT_JOBS):
            self.found.append(message)


def situation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function of the model's class and of a folder for files."""
    assert function.__name__ not in SITUATIONS
    SITUATIONS[function.__name__] = function
    return function


def hangs_in_gensim(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a situation that is not run with Word2Vec."""
    HANG_IN_GENSIM.add(function.__name__)
    return situation(function)


def trained(kind: type, texts: Any = None, **options: Any) -> Any:
    """A model that was trained on gensim's nine titles."""
    return kind(common_texts if texts is None else texts, **OPTIONS | options)


def built(kind: type, texts: Any = None, **options: Any) -> Any:
    """A model that has a vocabulary only."""
    model = kind(**OPTIONS | options)
    model.build_vocab(common_texts if texts is None else texts)
    return model


def train(model: Any, texts: Any = None, **options: Any) -> Any:
    """Train a model with the arguments that gensim asks for."""
    return model.train(
        common_texts if texts is None else texts,
        **{"total_examples": model.corpus_count, "epochs": model.epochs} | options,
    )


def form_of(value: Any) -> Any:
    """What a script would rely on: types, lengths and keys, exact whole numbers and texts, no learnt numbers."""
    if value is None or isinstance(value, bool | str | bytes):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return "number" if np.isfinite(float(value)) else str(float(value))
    if isinstance(value, np.ndarray):
        finite = value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
        return f"array {value.dtype} {value.shape}{'' if finite else ' not finite'}"
    if isinstance(value, Word2Vec):
        return "model", len(value.wv), value.vector_size, value.epochs
    if isinstance(value, KeyedVectors):
        return "vectors", sorted(value.key_to_index, key=str), form_of(value.vectors)
    if isinstance(value, Mapping):
        return {key: form_of(item) for key, item in value.items()}
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], float | np.floating):
        return "word and number"  # a neighbour: which one depends on the vectors
    if isinstance(value, list | tuple):
        return [form_of(item) for item in value]
    if isinstance(value, type):
        return value.__name__
    return type(value).__name__


def outcome_of(function: Callable[..., Any], kind: type, folder: Path) -> Outcome:
    """Run a situation with a class, in a folder of its own."""
    if kind is Word2Vec and function.__name__ in HANG_IN_GENSIM:
        return Outcome(None, "hangs", False)
    messages, root = Messages(), logging.getLogger()
    folder.mkdir(exist_ok=True)
    root.addHandler(messages)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result, error = form_of(function(kind, folder)), None
            except Exception as raised:
                result, error = None, type(raised).__name__
    finally:
        root.removeHandler(messages)
    told = [one for one in caught if not issubclass(one.category, ResourceWarning | DeprecationWarning)]
    return Outcome(result, error, bool(messages.found or told))
