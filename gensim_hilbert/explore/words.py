"""The words of one model as the explorer shows them: as text, found by how they begin, with what was counted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gensim_hilbert._tokens import all_str
from gensim_hilbert.counting.association import pmi_intervals
from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.explore.encoding import finite
from gensim_hilbert.explore.selection import Space
from gensim_hilbert.explore.shapes import Evidence, ModelFacts
from gensim_hilbert.model import HilbertMLE
from gensim_hilbert.queries import RAREST
from gensim_hilbert.report.subject import Subject

NOT_COUNTED: Evidence = {"count": None, "counted": None, "low": None, "high": None}
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
        matrix = self.vectors.vectors
        # gensim's own norms take five times as long.
        norms = np.sqrt(np.einsum("kd,kd->k", matrix, matrix)) if self.vectors.norms is None else self.vectors.norms
        self.like = Space(matrix, norms)
        self.terms = Space(matrix)
        self.queries = self.subject.queries
        self.contexts: Space | None = None
        if self.queries is not None:
            offsets = self.queries.offsets
            self.contexts = Space(self.queries.covectors, None, None if offsets is None else -offsets[0])
        self.counts: PairCounts | None = self.subject.counts if self.queries is not None else None
        if self.counts is not None:
            self.counts.map_files()
        self.texts: list[str] = self.vectors.index_to_key
        self.rows: dict[str, int] = self.vectors.key_to_index
        if not all_str(self.texts):
            self.texts, self.rows = [str(key) for key in self.texts], {}
            for row, text in enumerate(self.texts):
                self.rows.setdefault(text, row)

    def __len__(self) -> int:
        return len(self.texts)

    def prepare(self) -> None:
        """Make what answers are found by faster; they are the same without."""
        for space in (self.like, self.contexts):
            if space is not None:
                space.make_copy()
        _ = self._alphabetical

    @cached_property
    def _alphabetical(self) -> tuple[list[str], np.ndarray]:
        """The words in alphabetical order, whatever their case, and their rows."""
        folded = [text.casefold() for text in self.texts]
        order = sorted(range(len(folded)), key=folded.__getitem__)
        return [folded[row] for row in order], np.array(order, dtype=np.int64)

    @cached_property
    def log_frequencies(self) -> np.ndarray:
        """The logarithm of each word's share in the text."""
        return np.asarray(np.log(np.maximum(frequencies(self), RAREST)))

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
        words, order = self._alphabetical
        rows = order[bisect_left(words, folded) : bisect_left(words, folded + LAST_CHARACTER)]
        if len(rows) > limit:
            rows = np.partition(rows, limit)[:limit]
        return [self.texts[row] for row in np.sort(rows)]

    def occurrences(self, row: int) -> int | None:
        """Return how often a word occurs; None if the vectors do not tell."""
        numbers = self.vectors.expandos.get("count")
        return None if numbers is None else int(numbers[row])

    def unit(self, row: int) -> np.ndarray:
        """Return the vector of a word, scaled to length 1."""
        assert self.like.divisors is not None
        return np.asarray(self.vectors.vectors[row] / self.like.divisors[row])

    def shift(self, term: int) -> float:
        """Return what has to be added to the scores of contexts, so that they are the PMI with a term."""
        assert self.queries is not None
        offsets = self.queries.offsets
        return -self.queries.psi_offset - (0.0 if offsets is None else float(offsets[1][term]))

    # ------------------------------------------------------------------ what was counted

    def evidence(self, contexts: Sequence[int], terms: Sequence[int]) -> list[Evidence]:
        """Return what was counted of pairs of words, with the interval that the counts imply."""
        counts = self.counts
        if counts is None:
            return [NOT_COUNTED for _ in contexts]
        known = [max(pair) < len(counts) for pair in zip(contexts, terms, strict=True)]  # words can be added later
        rows = np.array([contexts, terms], dtype=np.int64).reshape(2, -1)[:, known]
        numbers = counts.counts_of_rows(rows[0], rows[1])
        intervals = pmi_intervals(counts, rows[0], rows[1], numbers, INTERVAL)
        found = iter(zip(numbers.tolist(), *(map(finite, part.tolist()) for part in intervals), strict=True))
        return [evidence_of(*next(found)) if is_known else NOT_COUNTED for is_known in known]


def frequencies(model: ExploredModel) -> np.ndarray:
    """Return the share of each word in the text; all the same if the vectors do not tell."""
    if hasattr(model.model, "term_frequencies"):
        return np.asarray(model.model.term_frequencies())
    numbers = model.vectors.expandos.get("count")
    numbers = np.ones(len(model)) if numbers is None else np.asarray(numbers, dtype=np.float64)
    return np.asarray(numbers / max(1.0, float(numbers.sum())))


def evidence_of(count: float, counted: float | None, low: float | None, high: float | None) -> Evidence:
    """Return what was counted of one pair."""
    return {"count": count, "counted": counted, "low": low, "high": high}
