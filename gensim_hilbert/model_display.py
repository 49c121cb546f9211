"""How notebooks show a model."""

from __future__ import annotations

from typing import Any

from gensim.models import KeyedVectors

from gensim_hilbert.counting.pair_counts import PairCounts
from gensim_hilbert.markup import cut, notebook_table
from gensim_hilbert.objectives import Objective
from gensim_hilbert.upper_layers import upper_function

SHOWN_WORDS = 8


class ShownInNotebooks:
    """Gives models a table instead of one line of text."""

    wv: KeyedVectors
    solver: str
    objective: Objective
    window: int
    corpus_total_words: int
    counts: PairCounts | None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.wv)} words, vector_size={self.wv.vector_size}, solver={self.solver!r})"

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

    def explore(self, word: Any = None, *, height: int = 640) -> Any:
        """Return the explorer of the model as a widget that Jupyter and marimo show; it needs the extra [notebook].

        `gensim_hilbert.explore.widget` does the same for vectors, and for several models.

        Parameters
        ----------
        word : str, optional
            The word to begin with.
        height : int
            Height in pixels.

        Returns
        -------
        ExplorerWidget
            Shown if it is the last expression of a cell.

        Examples
        --------
        >>> model.explore("yale")
        """
        return upper_function("widget")(self, word, height=height)
