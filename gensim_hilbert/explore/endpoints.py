"""The questions that the page can ask by HTTP: names, parameters, and the answers as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gensim_hilbert.explore import answers
from gensim_hilbert.explore.comparison import Comparison
from gensim_hilbert.explore.fitting import fitting
from gensim_hilbert.explore.maps import WordMap
from gensim_hilbert.explore.spelling import spelling
from gensim_hilbert.explore.words import ExploredModel

ANSWERS_REMEMBERED = 2048
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
        self.comparison = lru_cache(None)(self._comparison)
        self._remembered = lru_cache(ANSWERS_REMEMBERED)(self._encoded)

    def answer(self, name: str, query: Query) -> Any:
        """Return the answer of an endpoint; raises a KeyError for unknown words, a ValueError for other mistakes."""
        if name not in ENDPOINTS:
            raise ValueError(f"there is no endpoint {name!r}; there are {', '.join(ENDPOINTS)}")
        return ENDPOINTS[name](self, query)

    def encoded(self, name: str, query: Query) -> bytes:
        """Return the answer as JSON; short ones are remembered."""
        if name in ("map", "paint"):
            return as_json(self.answer(name, query))
        return self._remembered(name, tuple(sorted(query.items())))

    def _encoded(self, name: str, query: tuple[tuple[str, str], ...]) -> bytes:
        return as_json(self.answer(name, dict(query)))

    def _comparison(self, one: int, other: int) -> Comparison:
        return Comparison(self.models[one], self.models[other])

    def start(self) -> None:
        """Begin to compute the layouts that are not known yet."""
        for word_map in self.maps:
            word_map.start()

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
    "word": lambda explorer, query: answers.word(explorer.model(query), required(query, "word"), limit(query)),
    "pair": lambda explorer, query: answers.pair(
        explorer.model(query), required(query, "context"), required(query, "term")
    ),
    "sum": lambda explorer, query: answers.word_sum(explorer.model(query), required(query, "expression"), limit(query)),
    "substitute": lambda explorer, query: answers.substitute(
        explorer.model(query), required(query, "sentence"), whole(query, "position", None), limit(query)
    ),
    "fitting": lambda explorer, query: fitting(
        explorer.model(query), required(query, "sentence"), whole(query, "position", 0) or 0, limit(query)
    ),
    "spelling": lambda explorer, query: spelling(explorer.model(query), required(query, "word")),
    "map": lambda explorer, query: explorer.maps[explorer.model_number(query)].answer(),
    "paint": paint,
    "compare": compare,
}


def as_json(value: Any) -> bytes:
    """Return a value as JSON, with null for infinity and NaN."""
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(finite(value), allow_nan=False, separators=(",", ":"))
    return text.encode()


def finite(value: Any) -> Any:
    """Replace numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
