"""Two models side by side: neighbours that a word has in one only, and the words that differ most."""

from __future__ import annotations

from functools import cached_property
from itertools import islice

import numpy as np

from gensim_hilbert.explore.answers import checked, named, neighbours
from gensim_hilbert.explore.maps import WORDS_ON_MAP
from gensim_hilbert.explore.shapes import Changed, CompareAnswer, ModelNeighbours
from gensim_hilbert.explore.steps import Steps
from gensim_hilbert.explore.words import ExploredModel
from gensim_hilbert.report.words import unit_rows

CANDIDATES = 5000  # shared words among which neighbours are looked for
NEIGHBOURS = 25  # of a word, whose overlap tells how much it differs
ROWS_AT_A_TIME = 1000
MORE_NEIGHBOURS = 10  # times as many as wanted are looked at, since the other model may lack some


class Comparison:
    """Two models over words that both have; the second one is what the first has become.

    Parameters
    ----------
    one, other : ExploredModel
        The models, which may have different dimensions and axes: only neighbours are compared.
    """

    def __init__(self, one: ExploredModel, other: ExploredModel):
        self.one, self.other = one, other
        self.shared = [row for text, row in one.rows.items() if text in other.rows]

    @property
    def differences(self) -> np.ndarray:
        """For each word on the map of the first model, the share of its neighbours that differ; NaN if not shared."""
        return self._measured[0]

    @cached_property
    def _measured(self) -> tuple[np.ndarray, np.ndarray]:
        """The differences, and how near the neighbours are: the mean cosine, in the model in which it is lower."""
        rows = [row for row in self.shared if row < WORDS_ON_MAP]
        values = np.full(min(len(self.one), WORDS_ON_MAP), np.nan)
        clearness = np.zeros(len(values))
        others = [self.other.rows[self.one.texts[row]] for row in rows]
        count = min(NEIGHBOURS, len(rows) - 1)
        if count < 1:
            return values, clearness
        (firsts, near), (seconds, other_near) = nearest(self.one, rows, count), nearest(self.other, others, count)
        for row, first, second in zip(rows, firsts, seconds, strict=True):
            values[row] = 1 - len(set(first.tolist()) & set(second.tolist())) / count
        clearness[rows] = np.minimum(near, other_near)
        return values, clearness

    def answer(self, word: str | None, limit: int = 20) -> Steps[CompareAnswer]:
        """Return the neighbours of a word that were lost, gained and kept; without a word, the words that differ."""
        limit = checked(limit)
        nothing: ModelNeighbours = {"like": [], "with_it": []}
        if not word:
            changed = self.most_changed(limit)
            return {
                "word": None, "shared": len(self.shared), "lost": nothing, "gained": nothing, "kept": [],
                "changed": changed,
            }  # fmt: skip
        found = []
        for model in (self.one, self.other):
            found.append((yield from self.near(model, word, limit)))
        names = [{kind: {near["word"] for near in part[kind]} for kind in part} for part in found]  # type: ignore[literal-required]
        lost, gained = (
            ModelNeighbours(
                like=[near for near in found[here]["like"] if near["word"] not in names[1 - here]["like"]],
                with_it=[near for near in found[here]["with_it"] if near["word"] not in names[1 - here]["with_it"]],
            )
            for here in (0, 1)
        )
        kept = [near["word"] for near in found[0]["like"] if near["word"] in names[1]["like"]]
        return {
            "word": word, "shared": len(self.shared), "lost": lost, "gained": gained, "kept": kept, "changed": [],
        }  # fmt: skip

    def near(self, model: ExploredModel, word: str, limit: int) -> Steps[ModelNeighbours]:
        """Return the neighbours of a word in one model, among the words that both models have."""
        count, wanted = limit, min(limit, len(self.shared) - 1)
        while True:  # Nobody knows how many of the nearest words the other model lacks.
            count = min(MORE_NEIGHBOURS * count, len(model))
            found = yield from neighbours(model, model.row_of(word), count)
            like, with_it = (
                list(islice((near for near in named(model, part) if self.is_shared(near["word"])), limit))
                for part in found
            )
            enough = len(like) >= wanted and (len(with_it) >= wanted or model.contexts is None)
            if enough or count == len(model):
                return {"like": like, "with_it": with_it}

    def is_shared(self, text: str) -> bool:
        """Tell whether both models have a word."""
        return text in self.one.rows and text in self.other.rows

    def most_changed(self, limit: int) -> list[Changed]:
        """Return the words whose neighbours differ most.

        Of equal ones those come first that have near neighbours in both models: what is far from everything has
        neighbours by accident.
        """
        values = np.nan_to_num(self.differences, nan=-1.0)
        rows = np.lexsort((-self._measured[1], -values))[:limit]
        return [
            {"word": self.one.texts[row], "difference": float(values[row])} for row in rows.tolist() if values[row] >= 0
        ]


def nearest(model: ExploredModel, rows: list[int], count: int) -> tuple[np.ndarray, np.ndarray]:
    """For each of some rows, return the nearest ones among the first CANDIDATES of them, and their mean cosine.

    The nearest ones are given by their place in the list.
    """
    unit = unit_rows(np.asarray(model.vectors.vectors[rows], dtype=np.float32))
    candidates = unit[:CANDIDATES].T
    found, near = [], []
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        cosines = unit[start : start + ROWS_AT_A_TIME] @ candidates
        places = np.arange(start, min(start + len(cosines), candidates.shape[1]))
        cosines[places - start, places] = -np.inf  # a word is not its own neighbour
        found.append(np.argpartition(-cosines, min(count, cosines.shape[1] - 1), axis=1)[:, :count])
        near.append(np.take_along_axis(cosines, found[-1], axis=1).mean(axis=1))
    return np.concatenate(found), np.concatenate(near)
