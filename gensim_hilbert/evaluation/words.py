"""The words of embeddings, as evaluations look them up."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

import numpy as np
from gensim.models import KeyedVectors

ROWS = 1 << 14  # looked at in one go


class Words:
    """Words that are looked up whatever their case, and their vectors at length 1.

    As in gensim's own evaluations the case of a word does not count; of several forms of a word, that which comes first
    stands for all of them: the most frequent one, where words are sorted as usual.
    """

    def __init__(self, vectors: KeyedVectors, restrict_vocab: int | None = None):
        check(vectors)
        if restrict_vocab is not None and restrict_vocab < 1:
            raise ValueError(f"restrict_vocab must be a positive number of words, got {restrict_vocab!r}")
        self.keys: list[str] = vectors.index_to_key[:restrict_vocab]
        self.vectors: np.ndarray = vectors.vectors[: len(self.keys)]
        self.index: dict[str, int] = {}
        for row, word in enumerate(self.keys):
            self.index.setdefault(word.upper(), row)

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, word: str) -> int | None:
        """Return the row of a word, or None if it is unknown."""
        return self.index.get(word.upper())

    @cached_property
    def forms(self) -> dict[int, list[int]]:
        """Return, for each row whose word has other forms, the rows of all of its forms."""
        forms: dict[int, list[int]] = defaultdict(list)
        if len(self.index) < len(self.keys):
            for row, word in enumerate(self.keys):
                forms[self.index[word.upper()]].append(row)
        return {row: rows for row, rows in forms.items() if len(rows) > 1}

    def unit(self, rows: np.ndarray | slice, dtype: type = np.float32) -> np.ndarray:
        """Return vectors of length 1; that of a vector of zeros has cosine 0 with all."""
        chosen: np.ndarray = np.asarray(self.vectors[rows], dtype=dtype)
        lengths = np.linalg.norm(chosen, axis=1, keepdims=True)
        return chosen / np.where(lengths > 0, lengths, 1)


def check(vectors: KeyedVectors) -> None:
    """Raise an error for vectors that cannot be evaluated."""
    if not isinstance(vectors, KeyedVectors):
        raise TypeError(
            f"vectors must be KeyedVectors (model.wv, or load_vectors of gensim_hilbert.export), got {vectors!r:.80}"
        )
    rows, words = len(vectors.vectors), len(vectors.index_to_key)
    if not words:
        raise ValueError("there are no words to evaluate")
    if rows != words:
        raise ValueError(f"there are {words} words, but {rows} vectors")
    for word in vectors.index_to_key:
        if not isinstance(word, str):
            raise TypeError(f"words must be str to be evaluated on data sets of words, got {word!r}")
    blocks = (vectors.vectors[start : start + ROWS] for start in range(0, rows, ROWS))
    finite = np.concatenate([np.isfinite(block).all(axis=1) for block in blocks])
    if not finite.all():
        bad = vectors.index_to_key[int(np.argmin(finite))]
        raise ValueError(f"the vector of {bad!r} and {(~finite).sum() - 1} others are not finite")
