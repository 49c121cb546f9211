"""How notebooks show a model."""

from __future__ import annotations

from gensim.models import KeyedVectors

from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.markup import cut, notebook_table
from gensim_hilbert.objectives import Objective

SHOWN_WORDS = 8


class ShownInNotebooks:
    """Gives models a table instead of one line of text."""

    wv: KeyedVectors
    solver: str
    objective: Objective
    window: int
    corpus_total_words: int
    counts: PairCounts | None

    def _repr_html_(self) -> str:
        """Return a table of what the model is."""
        words = self.wv.index_to_key
        rows: list[tuple[str, object]] = [
            ("words", len(words)),
            ("dimensions", int(self.wv.vector_size)),
            ("solver", self.solver),
            ("objective", type(self.objective).__name__),
            ("window", int(self.window)),
        ]
        if self.corpus_total_words:
            rows.append(("words of text", int(self.corpus_total_words)))
        if self.counts is not None:
            rows.append(("total weight of pairs", round(self.counts.total)))
        if words:
            more = ", …" if len(words) > SHOWN_WORDS else ""
            rows.append(("most frequent", ", ".join(map(cut, words[:SHOWN_WORDS])) + more))
        return notebook_table(type(self).__name__, rows)
