"""Vectors and covectors as gensim's KeyedVectors: one learnt row per word."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from gensim.models import KeyedVectors

from gensim_hilbert.keys import words_of_keys
from gensim_hilbert.saving import save_vectors, write_word2vec_format
from gensim_hilbert.vectors.lookup import AnyKeyVectors


def as_gensim(vectors: KeyedVectors, kind: type[KeyedVectors]) -> KeyedVectors:
    """Return the same vectors, not copied, as an instance of the gensim class that theirs is a subclass of."""
    plain: KeyedVectors = object.__new__(kind)
    plain.__dict__.update(vars(vectors))
    return plain


class PickledAsGensim(KeyedVectors):
    """Vectors that are pickled as gensim's own class, so that they load where gensim_hilbert is not installed."""

    gensim_class: type[KeyedVectors]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle the attributes as those of gensim's class; a model gives its vectors their class back."""
        # By the newer protocols, an object can be pickled as an instance of its own class only.
        return as_gensim(self, self.gensim_class).__reduce_ex__(min(protocol, 1))

    def __str__(self) -> str:
        return str(as_gensim(self, self.gensim_class))

    def __copy__(self) -> KeyedVectors:
        """Return vectors of the same class that share all arrays."""
        return as_gensim(self, type(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> KeyedVectors:
        """Return vectors of the same class that share nothing."""
        memo[id(self)] = twin = as_gensim(self, type(self))
        twin.__dict__.update({name: deepcopy(value, memo) for name, value in vars(self).items()})
        return twin


class WordVectors(AnyKeyVectors, PickledAsGensim):
    """gensim's KeyedVectors, extended by what training needs, and for keys of all types."""

    gensim_class = KeyedVectors
    vectors: np.ndarray
    vectors_lockf: np.ndarray

    composition = None  # vectors are learnt themselves, and not made of shared rows

    @property
    def parameters(self) -> np.ndarray:
        """The rows that are learnt: the vectors themselves."""
        return self.vectors

    @parameters.setter
    def parameters(self, rows: np.ndarray) -> None:
        self.vectors = rows

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save as gensim's own class, so that it can be loaded where gensim_hilbert is not installed.

        The parameters are those of gensim's `save`. What is there is replaced as a whole.
        """
        save_vectors(as_gensim(self, self.gensim_class), *args, **kwargs)

    def save_word2vec_format(self, fname: Any, fvocab: Any = None, *args: Any, **kwargs: Any) -> None:
        """Write word2vec's format; the parameters are gensim's. The file appears when it is complete.

        As in gensim, keys that are not str are written as `str` has them. If that is not a word, or not theirs alone,
        it is an error, because nobody could read the file.
        """
        plain = as_gensim(self, self.gensim_class)
        if not all(isinstance(key, str) for key in self.index_to_key):
            plain.index_to_key = words_of_keys(self.index_to_key)
            plain.key_to_index = {word: row for row, word in enumerate(plain.index_to_key)}
        write_word2vec_format(plain.save_word2vec_format, fname, fvocab, *args, **kwargs)

    def add_vectors(self, *args: Any, **kwargs: Any) -> None:
        """Append words and their vectors; the parameters are gensim's. Words have occurred 0 times unless told so."""
        super().add_vectors(*args, **kwargs)
        self.allocate_vecattrs()

    def parameter_rows(self, words: int) -> int:
        """Return the number of rows that are learnt for so many words."""
        return words

    def extra_memory(self, words: int) -> dict[str, int]:
        """Return the bytes that vectors of so many words take besides the vectors themselves, by use."""
        return {}

    def lock_factors(self) -> np.ndarray | None:
        """Return the factor from 0 to 1 for the updates of each word, or None if none is locked."""
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

        This is gensim's method, which does not read binary files with newer versions of numpy.
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


def covectors_of(words: KeyedVectors, matrix: np.ndarray) -> WordVectors:
    """Return vectors over the same keys and attributes, with another matrix. Nothing is copied."""
    covectors = WordVectors(vector_size=matrix.shape[1])
    covectors.index_to_key, covectors.key_to_index = words.index_to_key, words.key_to_index
    covectors.expandos = words.expandos
    covectors.vectors = matrix
    return covectors
