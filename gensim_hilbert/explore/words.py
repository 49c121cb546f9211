"""The words of one model as the explorer shows them: as text, found by how they begin, with what was counted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.explore.shapes import Evidence, ModelFacts
from gensim_hilbert.model import HilbertMLE
from gensim_hilbert.report.subject import Subject

COUNTS_REMEMBERED = 1 << 15  # pairs
LAST_CHARACTER = "\U0010ffff"
INTERVAL = 0.95


class UnknownWordError(KeyError):
    """A word that the model does not have."""


class ExploredModel:
    """A model or vectors with their name; all methods can be called from several threads at once.

    Parameters
    ----------
    model : HilbertMLE, gensim.models.Word2Vec or gensim.models.KeyedVectors
        What is explored.
    name : str
        Its name on the page.
    """

    def __init__(self, model: Any, name: str):
        self.subject = Subject(model, name)
        self.name = name
        self.model = model
        self.vectors = self.subject.vectors
        self.vectors.fill_norms()
        self.queries = self.subject.queries
        self.counts: PairCounts | None = self.subject.counts if self.queries is not None else None
        self.texts = [str(key) for key in self.vectors.index_to_key]
        self.rows: dict[str, int] = {}
        for row, text in enumerate(self.texts):
            self.rows.setdefault(text, row)
        folded = [text.casefold() for text in self.texts]
        self._order = np.array(sorted(range(len(folded)), key=folded.__getitem__), dtype=np.int64)
        self._sorted = [folded[row] for row in self._order]
        self.count_of_rows = lru_cache(COUNTS_REMEMBERED)(self._count_of_rows)

    def __len__(self) -> int:
        return len(self.texts)

    def facts(self) -> ModelFacts:
        """Return what the page says about the model."""
        subject = self.subject
        missing = subject.without_covectors if self.queries is None else subject.without_pmi
        return {
            "name": self.name,
            "words": len(self),
            "dimensions": int(self.vectors.vector_size),
            "pmi": self.queries is not None,
            "counts": self.counts is not None,
            "score": "PMI" if isinstance(self.model, HilbertMLE) else "product",
            "without_pmi": missing,
            "examples": [str(word) for word in subject.chosen],
        }

    def row_of(self, word: str) -> int:
        """Return the row of a word; if it is unknown, that of the same word in lower case."""
        row = self.rows.get(word, self.rows.get(word.lower()))
        if row is None:
            raise UnknownWordError(f"{word!r} is not among the {len(self):,} words of {self.name}")
        return row

    def complete(self, prefix: str, limit: int) -> list[str]:
        """Return the most frequent words that begin like this, whatever their case."""
        folded = prefix.casefold()
        first, last = bisect_left(self._sorted, folded), bisect_left(self._sorted, folded + LAST_CHARACTER)
        rows = self._order[first:last]
        if len(rows) > limit:
            rows = np.partition(rows, limit)[:limit]
        return [self.texts[row] for row in np.sort(rows)]

    def occurrences(self, row: int) -> int | None:
        """Return how often a word occurs; None if the vectors do not tell."""
        numbers = self.vectors.expandos.get("count")
        return None if numbers is None else int(numbers[row])

    # ------------------------------------------------------------------ what was counted

    def _count_of_rows(self, context: int, term: int) -> float:
        assert self.counts is not None
        keys = self.vectors.index_to_key
        return self.counts.count(keys[context], keys[term])

    def evidence(self, contexts: Sequence[int], terms: Sequence[int]) -> list[Evidence]:
        """Return what was counted of pairs of words, with the interval that the counts imply."""
        counts = self.counts
        if counts is None:
            return [{"count": None, "counted": None, "low": None, "high": None} for _ in contexts]
        marginals, total = counts.marginals, counts.total
        found: list[Evidence] = []
        for context, term in zip(contexts, terms, strict=True):
            if max(context, term) >= len(counts):  # a word that was added to the vectors later
                found.append({"count": None, "counted": None, "low": None, "high": None})
                continue
            count = self.count_of_rows(context, term)
            chance = marginals.contexts[context] * marginals.terms[term] / total
            low, high = count_interval(count)
            found.append(
                {
                    "count": count,
                    "counted": log_ratio(count, chance),
                    "low": log_ratio(low, chance),
                    "high": log_ratio(high, chance),
                }
            )
        return found


def log_ratio(count: float, chance: float) -> float | None:
    """Return the PMI that a count stands for; None instead of an infinity."""
    return float(np.log(count / chance)) if count > 0 and chance > 0 else None


def count_interval(count: float, probability: float = INTERVAL) -> tuple[float, float]:
    """Return the interval of the true mean of a count: quantiles of its gamma posterior, by Jeffreys' prior.

    Weights of pairs are at most 1, so that a sum of them varies at most as a number of pairs does: the interval is
    rather too wide than too narrow. A count of 0 has no lower end.
    """
    tail = (1 - probability) / 2
    low = float(gammaincinv(count + 0.5, tail)) if count else 0.0
    return low, float(gammaincinv(count + 0.5, 1 - tail))
