"""The questions that the page can ask by HTTP: names, parameters, and the answers as JSON."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gensim_hilbert.explore import answers
from gensim_hilbert.explore.comparison import Comparison
from gensim_hilbert.explore.encoding import as_json, rounded
from gensim_hilbert.explore.fitting import fitting
from gensim_hilbert.explore.maps import WordMap
from gensim_hilbert.explore.spelling import spelling
from gensim_hilbert.explore.steps import Steps, alone, together
from gensim_hilbert.explore.words import ExploredModel

FIRST_PAGE_SECONDS = 0.7  # in which the cores are left to the first page
Query = Mapping[str, str]


class Explorer:
    """Models to explore, and the answers to everything that the page asks about them.

    Parameters
    ----------
    models : list of (name, model)
        One model or several; each is a HilbertMLE, or a Word2Vec or KeyedVectors of gensim.
    paths : list of paths, optional
        Where the models are; layouts of maps are kept beside them.

    Examples
    --------
    >>> explorer = Explorer([("news", model)])
    >>> explorer.answer("word", {"word": "yale", "n": "5"})
    """

    def __init__(self, models: Sequence[tuple[str, Any]], paths: Sequence[Path | None] | None = None):
        if not models:
            raise ValueError("there must be at least one model to explore")
        self.models = [ExploredModel(model, name) for name, model in models]
        self.maps = [
            WordMap(model, path) for model, path in zip(self.models, paths or [None] * len(models), strict=True)
        ]
        self.is_prepared = False
        self.comparison = lru_cache(None)(self._comparison)

    def answer(self, name: str, query: Query) -> Any:
        """Return the answer of an endpoint; raises a KeyError for unknown words, a ValueError for other mistakes."""
        found = alone(self.steps(name, query))
        if isinstance(found, dict):
            return {key: rounded(part) if isinstance(part, np.ndarray) else part for key, part in found.items()}
        return found

    def encoded(self, name: str, query: Query) -> bytes:
        """Return the answer as JSON."""
        found = self.encoded_together([(name, query)])[0]
        if isinstance(found, Exception):
            raise found
        return found

    def encoded_together(self, questions: Sequence[tuple[str, Query]]) -> list[bytes | Exception]:
        """Return answers as JSON, computed together; in the place of one that fails, its error."""
        return together([self._encoded_steps(name, query) for name, query in questions])

    def _encoded_steps(self, name: str, query: Query) -> Steps[bytes]:
        if name == "map":
            return self.maps[self.model_number(query)].encoded()
        return as_json((yield from self.steps(name, query)))

    def steps(self, name: str, query: Query) -> Steps[Any]:
        """Begin to compute an answer."""
        if name not in ENDPOINTS:
            raise ValueError(f"there is no endpoint {name!r}; there are {', '.join(ENDPOINTS)}")
        found = ENDPOINTS[name](self, query)
        if isinstance(found, Generator):
            found = yield from found
        return found

    def takes_long(self, name: str, query: Query) -> bool:
        """Tell whether an answer takes seconds: others must not wait for it."""
        return (name == "compare" and not query.get("word")) or query.get("by") == "difference"

    def _comparison(self, one: int, other: int) -> Comparison:
        return Comparison(self.models[one], self.models[other])

    def start(self) -> None:
        """Begin to compute the layouts that are not known yet, and what makes answers faster."""
        for word_map in self.maps:
            word_map.start()
        timer = threading.Timer(FIRST_PAGE_SECONDS, self.prepare)
        timer.daemon = True
        timer.start()

    def prepare(self) -> None:
        """Make what answers are found by faster; they are the same without."""
        for model in self.models:
            model.prepare()
        for word_map in self.maps:
            word_map.encoded()
        self.is_prepared = True

    def stop(self) -> None:
        """End what `start` has begun."""
        for word_map in self.maps:
            word_map.stop()

    # ------------------------------------------------------------------ parameters

    def model_number(self, query: Query, name: str = "model", default: int = 0) -> int:
        """Return which model is asked about."""
        found = whole(query, name, default)
        assert found is not None
        if not 0 <= found < len(self.models):
            raise ValueError(f"{name} must be from 0 to {len(self.models) - 1}, got {found}")
        return found

    def model(self, query: Query) -> ExploredModel:
        """Return the model that is asked about."""
        return self.models[self.model_number(query)]


def whole(query: Query, name: str, default: int | None) -> int | None:
    """Return a parameter that is a whole number."""
    text = query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.lstrip("-").isdigit() and len(text) < 10):
        raise ValueError(f"{name} must be a whole number, got {text[:40]!r}")
    return int(text)


def required(query: Query, name: str) -> str:
    """Return a parameter that must be there."""
    if not query.get(name, "").strip():
        raise ValueError(f"the parameter {name} is missing")
    return query[name]


def limit(query: Query, default: int = 20) -> int:
    """Return how many words are asked for."""
    found = whole(query, "n", default)
    assert found is not None
    return found


# ---------------------------------------------------------------------------------------------------- endpoints


def models(explorer: Explorer, query: Query) -> Any:
    """List the models."""
    return {"models": [model.facts() for model in explorer.models]}


def paint(explorer: Explorer, query: Query) -> Any:
    """Return the colours of a map."""
    number, by = explorer.model_number(query), query.get("by", "frequency")
    difference = None
    if by == "difference" and query.get("other"):
        difference = explorer.comparison(number, explorer.model_number(query, "other")).differences
    return explorer.maps[number].paint(by, query.get("word"), difference)


def compare(explorer: Explorer, query: Query) -> Any:
    """Compare two models."""
    if len(explorer.models) < 2:
        raise ValueError("there is only one model: name two on the command line to compare them")
    one, other = explorer.model_number(query), explorer.model_number(query, "other", 1)
    return explorer.comparison(one, other).answer(query.get("word"), limit(query))


ENDPOINTS: dict[str, Callable[[Explorer, Query], Any]] = {
    "models": models,
    "complete": lambda explorer, query: answers.complete(
        explorer.model(query), query.get("prefix", ""), limit(query, 12)
    ),
    "word": lambda explorer, query: answers.word.steps(explorer.model(query), required(query, "word"), limit(query)),
    "pair": lambda explorer, query: answers.pair.steps(
        explorer.model(query), required(query, "context"), required(query, "term")
    ),
    "sum": lambda explorer, query: answers.word_sum.steps(
        explorer.model(query), required(query, "expression"), limit(query)
    ),
    "substitute": lambda explorer, query: answers.substitute.steps(
        explorer.model(query), required(query, "sentence"), whole(query, "position", None), limit(query)
    ),
    "fitting": lambda explorer, query: fitting.steps(
        explorer.model(query), required(query, "sentence"), whole(query, "position", 0) or 0, limit(query)
    ),
    "spelling": lambda explorer, query: spelling(explorer.model(query), required(query, "word")),
    "map": lambda explorer, query: explorer.maps[explorer.model_number(query)].answer(),
    "paint": paint,
    "compare": compare,
}
