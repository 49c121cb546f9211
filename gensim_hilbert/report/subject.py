"""What a report is about: a model, also one of gensim's own, or vectors alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from gensim.models import KeyedVectors

from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.model import HilbertMLE
from gensim_hilbert.queries import Queries
from gensim_hilbert.report.pairs import Pairs, sample_pairs
from gensim_hilbert.report.plane import Plane, lay_out
from gensim_hilbert.report.words import content_words, typical, unit_rows

WORDS_ON_MAP = 320
CHOSEN_WORDS = 9  # whose neighbours are shown if none are asked for


@dataclass
class Subject:
    """A model or vectors, the words whose neighbours are asked for, evaluation data, and where words lie on a map."""

    model: Any
    title: str
    asked: list[Any] = field(default_factory=list)
    data: Any = None
    layout: Plane | None = None  # of the most frequent words

    def __post_init__(self) -> None:
        self.vectors = getattr(self.model, "wv", self.model)
        if not isinstance(self.vectors, KeyedVectors):
            raise TypeError(f"a report is about a model or KeyedVectors, got {type(self.model).__name__}")
        if not len(self.vectors):
            raise ValueError("there are no words to report on; train the model first")
        for word in self.asked:
            if word not in self.vectors.key_to_index:
                raise KeyError(f"{word!r} is not among the {len(self.vectors):,} words")

    @property
    def queries(self) -> Queries | None:
        """What can be asked of vectors and covectors together; None if there are no covectors for it."""
        covectors = getattr(self.model, "syn1neg", None)
        if covectors is None or covectors.shape != self.vectors.vectors.shape or self.holds_sums:
            return None
        return self.model.queries if isinstance(self.model, HilbertMLE) else Queries(self.vectors, covectors)

    @property
    def holds_sums(self) -> bool:
        """Whether the vectors are sums of vectors and covectors."""
        return bool(getattr(self.model, "vectors_option", "v") == "v+w")

    @property
    def without_covectors(self) -> str:
        """Why there are no covectors, in a sentence."""
        if self.holds_sums:
            return (
                'This model holds sums of vectors and covectors (vectors="v+w"), from which PMI cannot be read, nor '
                "what goes with a word."
            )
        return f"{self.what} has no covectors, so it cannot tell what goes with a word."

    @property
    def what(self) -> str:
        """What the report is about, as the subject of a sentence."""
        if self.model is self.vectors:
            return "This set of vectors"
        return "This model" if isinstance(self.model, HilbertMLE) else f"A {type(self.model).__name__} of gensim"

    @cached_property
    def counts(self) -> PairCounts | None:
        """The counts that were fitted, if they are there."""
        return self.model.fitted_counts if isinstance(self.model, HilbertMLE) else None

    @property
    def without_pmi(self) -> str:
        """Why counted and fitted PMI cannot be compared, in a sentence; empty if they can."""
        if not isinstance(self.model, HilbertMLE):
            return f"{self.what} keeps no pair counts, so there is no counted PMI to compare it with."
        if self.counts is None and self.model.solver == "gibbs":
            return 'This model learnt from the stream (solver="gibbs") and kept no pair counts to compare it with.'
        if self.counts is None:
            return (
                "The pair counts of this model are not beside it, so its PMI cannot be compared with the counted one."
            )
        return "" if self.queries is not None else self.without_covectors

    @cached_property
    def pairs(self) -> Pairs:
        """The sample that all figures of PMI are drawn from."""
        return sample_pairs(self.model)

    @cached_property
    def content(self) -> list[int]:
        """Row numbers of frequent words with a meaning of their own, for the map."""
        return content_words(self.vectors, WORDS_ON_MAP)

    @cached_property
    def content_directions(self) -> np.ndarray:
        """The vectors of these words, scaled to length 1."""
        return unit_rows(self.vectors.vectors[self.content])

    @property
    def plane(self) -> Plane:
        """Where these words lie: in the given layout, or laid out by themselves."""
        if self.layout is not None and max(self.content) < len(self.layout.places):
            return Plane(self.layout.places[self.content], self.layout.method)
        return lay_out(self.content_directions)

    @cached_property
    def chosen(self) -> list[Any]:
        """Words whose neighbours are shown: those asked for, or some that represent groups of frequent ones."""
        names = self.vectors.index_to_key
        return self.asked or [names[self.content[k]] for k in typical(self.content_directions, CHOSEN_WORDS)]
