"""Covectors, and what goes with what.

A vector's neighbours by cosine are words like it (paradigmatic); its neighbours by product with covectors are words
that occur with it (syntagmatic), and the product is their PMI.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from gensim import matutils
from gensim.models import KeyedVectors


class Vectors(KeyedVectors):
    """gensim's KeyedVectors, with what training needs."""

    vectors: np.ndarray
    vectors_lockf: np.ndarray

    composition = None  # a vector is what is learnt, and not made of anything else

    @property
    def parameters(self) -> np.ndarray:
        """What is learnt."""
        return self.vectors

    @parameters.setter
    def parameters(self, rows: np.ndarray) -> None:
        self.vectors = rows

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save as gensim's own class, which can be loaded where gensim_hilbert is not installed."""
        as_gensims(self, KeyedVectors).save(*args, **kwargs)

    def rows(self, words: int) -> int:
        """How many rows are learnt for so many words."""
        return words

    def memory(self, words: int) -> dict[str, int]:
        """What vectors of so many words take, in bytes, besides themselves."""
        return {}

    def locks(self) -> np.ndarray | None:
        """Factors of 0 to 1 for the updates of vectors, a word each, if there are any."""
        return np.broadcast_to(self.vectors_lockf, (len(self),)) if np.any(self.vectors_lockf != 1) else None

    def intersect_word2vec_format(
        self,
        fname: str,
        lockf: float = 0.0,
        binary: bool = False,
        encoding: str = "utf8",
        unicode_errors: str = "strict",
    ) -> None:
        """Take over the vectors of the words that a word2vec file shares with these, and lock them.

        As in gensim, whose own reads no binary files with newer numpy versions.
        """
        other = KeyedVectors.load_word2vec_format(
            fname, binary=binary, encoding=encoding, unicode_errors=unicode_errors
        )
        if other.vector_size != self.vector_size:
            raise ValueError(f"{fname} has vectors of size {other.vector_size}, these have {self.vector_size}")
        if len(self.vectors_lockf) < len(self):
            self.vectors_lockf = np.ones(len(self), dtype=np.float32)
        shared = [word for word in other.index_to_key if word in self.key_to_index]
        rows = [self.key_to_index[word] for word in shared]
        self.vectors[rows] = other.vectors[[other.key_to_index[word] for word in shared]]
        self.vectors_lockf[rows] = lockf
        self.add_lifecycle_event(
            "intersect_word2vec_format", msg=f"merged {len(shared)} vectors into {self.vectors.shape} from {fname}"
        )


def as_gensims(vectors: KeyedVectors, kind: type[KeyedVectors]) -> KeyedVectors:
    """The same vectors, not copied, as an instance of gensim's class of which theirs is a subclass."""
    plain = copy(vectors)
    plain.__class__ = kind
    return plain


def covectors_of(words: KeyedVectors, matrix: np.ndarray) -> KeyedVectors:
    """KeyedVectors over the same keys and attributes, with another matrix; nothing is copied."""
    covectors = KeyedVectors(vector_size=matrix.shape[1])
    covectors.index_to_key, covectors.key_to_index = words.index_to_key, words.key_to_index
    covectors.expandos = words.expandos
    covectors.vectors = matrix
    return covectors


def most_cooccurring(
    words: KeyedVectors,
    covectors: np.ndarray,
    word: str | int,
    topn: int = 10,
    restrict_vocab: int | None = None,
    offsets: np.ndarray | None = None,
) -> list[tuple[str, float]]:
    """The contexts with the highest psi with a word, less the offset of each context."""
    psi = covectors[:restrict_vocab] @ words.get_vector(word)
    if offsets is not None:
        psi = psi - offsets[:restrict_vocab]
    best: Any = matutils.argsort(psi, topn=topn, reverse=True)
    return [(words.index_to_key[k], float(psi[k])) for k in best]
