"""Which words to show: frequent ones with a meaning of their own, and some that stand for the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from gensim.parsing.preprocessing import STOPWORDS

FREQUENT_WORDS = 3000  # among which those with content are looked for
SHARE_OF_SHORT_VECTORS = 0.65  # these are left out
LEAST_LETTERS = 3  # of a word in Latin letters


def content_words(vectors: Any, most: int) -> list[int]:
    """Return the row numbers of frequent words with a meaning of their own, most frequent first.

    Words that go with everything, such as articles, have shorter vectors than others of their frequency, in whatever
    language: the shorter ones are left out. So are gensim's English stop words, numbers, and very short words in Latin
    letters.
    """
    lengths = np.linalg.norm(vectors.vectors[:FREQUENT_WORDS], axis=1)
    least = np.quantile(lengths, SHARE_OF_SHORT_VECTORS) * (1 - 1e-6)  # of vectors of one length, all are left
    words = [str(word) for word in vectors.index_to_key[:FREQUENT_WORDS]]
    found = [
        k
        for k, word in enumerate(words)
        if lengths[k] >= least
        and word.isalpha()
        and (len(word) >= LEAST_LETTERS or not word.isascii())
        and word.lower() not in STOPWORDS
    ]
    return found[:most] or list(range(min(most, len(vectors))))


def unit_rows(matrix: np.ndarray) -> np.ndarray:
    """Divide each row by its length."""
    return np.asarray(matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12))


def typical(unit: np.ndarray, groups: int, rounds: int = 20) -> list[int]:
    """Divide rows into groups, and return for each the row number nearest to its middle.

    Spherical k-means; it starts from rows that are far from one another, and so needs no luck.
    """
    groups = min(groups, len(unit))
    chosen = [0]
    nearest = unit @ unit[0]
    while len(chosen) < groups:
        chosen.append(int(nearest.argmin()))
        nearest = np.maximum(nearest, unit @ unit[chosen[-1]])
    centres = unit[chosen]
    for _ in range(rounds):
        group = (unit @ centres.T).argmax(axis=1)
        sums = np.array([unit[group == k].sum(axis=0) if (group == k).any() else centres[k] for k in range(groups)])
        centres = unit_rows(sums)
    return sorted(set((unit @ centres.T).argmax(axis=0).tolist()))
