"""Vectors of words as means of vectors of their character n-grams, so that words never seen have vectors, too.

n-grams, hashes and means are those of fastText and of gensim's `FastText`: a word's vector is the mean of a vector of
its own and of those of the buckets that its n-grams are hashed to.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from gensim.models.fasttext import FastTextKeyedVectors
from gensim.models.keyedvectors import prep_vectors

from gensim_hilbert.keyedvectors import as_gensims
from gensim_hilbert.training.composition import Composition, mean_with_ngrams

SHARED = 3  # buckets that words share, for each word: so many there are in 9,000 words of English


class SubwordVectors(FastTextKeyedVectors):
    """gensim's FastTextKeyedVectors, with what training needs.

    Buckets that no word uses are zero: n-grams never seen shorten the vector of a new word, but do not turn it.
    """

    vectors: np.ndarray
    vectors_vocab: np.ndarray
    vectors_ngrams: np.ndarray | None
    buckets_word: list[np.ndarray] | None

    def __init__(self, vector_size: int, min_n: int, max_n: int, bucket: int):
        if not (1 <= min_n <= max_n and bucket >= 1):
            raise ValueError(f"there are no n-grams with {min_n=}, {max_n=}, {bucket=}; use subwords=False for none")
        super().__init__(vector_size, min_n, max_n, bucket)

    @cached_property
    def composition(self) -> Composition:
        """Of the words as they are."""
        return Composition(self.buckets_word or [])

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save as gensim's own class, which can be loaded where gensim_hilbert is not installed."""
        plain = as_gensims(self, FastTextKeyedVectors)
        plain.__dict__.pop("composition", None)
        plain.save(*args, **kwargs)

    @property
    def parameters(self) -> np.ndarray:
        """What is learnt: the rows of `composition`."""
        assert self.vectors_ngrams is not None
        shape = self.composition
        rows = np.concatenate([self.vectors_vocab, self.vectors_ngrams[shape.shared]])
        # The mean of those that are one row: training has left them equal, but somebody may have set them.
        different = self.vectors_ngrams[shape.owned] - self.vectors_vocab[shape.owners]
        if different.any():
            np.add.at(rows, shape.owners, different / shape.parts[shape.owners, None])
        return rows

    @parameters.setter
    def parameters(self, rows: np.ndarray) -> None:
        self.vectors_ngrams = np.require(self.vectors_ngrams, requirements="W")  # a loaded one may be read-only
        shape, words = self.composition, len(self)
        self.vectors_vocab = rows[:words].copy()
        self.vectors_ngrams[shape.shared] = rows[words:]
        self.vectors_ngrams[shape.owned] = self.vectors_vocab[shape.owners]
        self.adjust_vectors()

    def rows(self, words: int) -> int:
        """How many rows are learnt for so many words; for others than these a guess."""
        return self.composition.rows if words == len(self) else words + min(self.bucket, SHARED * words)

    def memory(self, words: int) -> dict[str, int]:
        """What vectors of so many words take, in bytes, besides themselves."""
        row = 4 * self.vector_size
        return {"vectors_vocab": words * row, "vectors_ngrams": self.bucket * row, "buckets_word": 200 * words}

    def locks(self) -> None:
        """There are none: refuses what has no meaning here."""
        for name in ("vectors_lockf", "vectors_vocab_lockf", "vectors_ngrams_lockf"):
            if np.any(getattr(self, name, 1) != 1):
                raise ValueError(f"words share the vectors of their n-grams, so none can be locked: set {name} to 1")
        before = self.vectors
        self.adjust_vectors()
        if not np.array_equal(before, self.vectors, equal_nan=True):
            raise ValueError(
                "vectors are means of vectors_vocab and vectors_ngrams, and do not last where they are set: set those"
            )

    def intersect_word2vec_format(self, *args: Any, **kwargs: Any) -> None:
        """Vectors of words cannot be taken over and locked: they are made of vectors that words share."""
        raise NotImplementedError(
            "with subwords=True vectors cannot be taken over from a file: they are means of those of n-grams; use "
            "subwords=False"
        )

    # ------------------------------------------------------------------ what gensim does, too

    def resize_vectors(self, seed: int = 0) -> None:
        """Make room for new words and their n-grams, with small random vectors; those of old ones stay."""
        before = len(self.vectors_vocab)
        if self.vectors_ngrams is None:
            self.vectors_ngrams = np.zeros((self.bucket, self.vector_size), dtype=np.float32)
        self.vectors_ngrams = np.require(self.vectors_ngrams, requirements="W")
        old = self.composition.used(self.bucket)
        self.recalc_char_ngram_buckets()
        shape, words = self.composition, len(self)
        rows = prep_vectors((shape.rows, self.vector_size), seed=seed)
        for buckets, source in ((shape.owned, shape.owners), (shape.shared, np.arange(words, shape.rows))):
            new = ~old[buckets]
            self.vectors_ngrams[buckets[new]] = rows[source[new]]
        self.vectors_ngrams[old & ~shape.used(self.bucket)] = 0
        kept = min(before, words)
        rows[:kept] = self.vectors_vocab[:kept]
        self.vectors_vocab = rows[:words].copy()
        self.allocate_vecattrs()
        self.norms = None
        self.adjust_vectors()

    def recalc_char_ngram_buckets(self) -> None:
        """Find the n-grams of all words."""
        super().recalc_char_ngram_buckets()
        self.__dict__.pop("composition", None)

    def adjust_vectors(self) -> None:
        """Compute the vectors of all words: the same sums in the same order as gensim's, but of all words at once."""
        assert self.buckets_word is not None
        assert self.vectors_ngrams is not None
        flat = np.concatenate([np.empty(0, dtype=np.uint32), *self.buckets_word])
        lengths = np.fromiter(map(len, self.buckets_word), dtype=np.int64, count=len(self))
        self.vectors = mean_with_ngrams(self.vectors_vocab, self.vectors_ngrams, flat, lengths)

    def get_vector(self, key: str | int, norm: bool = False) -> np.ndarray:
        """The vector of a word, known or not; zero where none of its n-grams is known."""
        if self.has_index_for(key):
            return np.asarray(KeyedVectors.get_vector(self, key, norm=norm))
        if not isinstance(key, str):
            raise KeyError(f"Key '{key}' not present")
        vector: np.ndarray = super().get_vector(key)
        length = np.linalg.norm(vector) if norm else 1
        return vector / length if length else vector

    def _save_specials(self, fname: str, separately: Any, sep_limit: int, ignore: Any, *rest: Any) -> Any:
        return super()._save_specials(fname, separately, sep_limit, {*ignore, "composition"}, *rest)
