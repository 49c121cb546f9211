"""Vectors of words as means of vectors of their character n-grams, so that words never seen have vectors, too.

N-grams, hashes and means are those of fastText and of gensim's `FastText`: the vector of a word is the mean of a vector
of its own and of those of the buckets that its n-grams are hashed to.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from gensim.models.fasttext import FastTextKeyedVectors
from gensim.models.keyedvectors import prep_vectors

from gensim_hilbert.saving import save_vectors, write_word2vec_format
from gensim_hilbert.training.composition import Composition, mean_with_ngrams
from gensim_hilbert.vectors.keyed import PickledAsGensim, as_gensim

MEANS_SAID = 2.0  # See benchmarks/RESULTS.md for how it was chosen.
SHARED_BUCKETS_PER_WORD = 3  # as in 9,000 words of English
OWNED_LOOKED_AT = 1000  # to tell what all n-grams share


class SubwordVectors(PickledAsGensim, FastTextKeyedVectors):
    """gensim's FastTextKeyedVectors, extended by what training needs.

    Buckets that no word uses are zero: n-grams never seen shorten the vector of a new word, but do not turn it.
    """

    gensim_class = FastTextKeyedVectors
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
        """How the vectors of the words are made of the rows that are learnt."""
        buckets = self.buckets_word or []
        # gensim lists the n-grams of a word by where they start, and counts the marks of its beginning and its end.
        # New words have no buckets until there is room for their vectors.
        letters = np.array([len(word) + 2 for word in self.index_to_key[: len(buckets)]], dtype=np.int64)
        beginnings = np.maximum(np.minimum(letters, self.max_n) - max(self.min_n, 2) + 1, 0)
        return Composition(buckets, beginnings)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save as gensim's own class, so that it can be loaded where gensim_hilbert is not installed.

        The parameters are those of gensim's `save`. What is there is replaced as a whole.
        """
        self.__dict__.pop("composition", None)
        save_vectors(as_gensim(self, self.gensim_class), *args, **kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle as gensim's class, without what can be computed again."""
        self.__dict__.pop("composition", None)
        return super().__reduce_ex__(protocol)

    def save_word2vec_format(self, fname: Any, fvocab: Any = None, *args: Any, **kwargs: Any) -> None:
        """Write word2vec's format; the parameters are gensim's. The file appears when it is complete."""
        write_word2vec_format(super().save_word2vec_format, fname, fvocab, *args, **kwargs)

    @property
    def parameters(self) -> np.ndarray:
        """The rows that are learnt, as `composition` numbers them, without what `share_mean` has added."""
        assert self.vectors_ngrams is not None
        shape, words, lengths = self.composition, len(self.vectors_vocab), self._lengths
        rows = np.concatenate([self.vectors_vocab, self.vectors_ngrams[shape.shared]])
        different = self.vectors_ngrams[shape.owned] - self.vectors_vocab[shape.owners]
        if (shift := self._shift()).any():
            rows[:words] += lengths * shift
            rows[words:] -= shift
            different -= (1 + lengths[shape.owners]) * shift
        # Vectors that share one row: training leaves them equal, but somebody may have set them. Take their mean.
        if different.any():
            np.add.at(rows, shape.owners, different * (shape.times / shape.parts[shape.owners])[:, None])
        return rows

    @parameters.setter
    def parameters(self, rows: np.ndarray) -> None:
        self.vectors_ngrams = np.require(self.vectors_ngrams, requirements="W")  # a loaded one may be read-only
        shape, words = self.composition, len(self)
        self.vectors_vocab = rows[:words].copy()
        self.vectors_ngrams[shape.shared] = rows[words:]
        self.vectors_ngrams[shape.owned] = self.vectors_vocab[shape.owners]
        self.adjust_vectors()

    def share_mean(self, times: float = MEANS_SAID) -> None:
        """Shift n-grams so that on average they are twice the mean vector, or another multiple of it.

        Vectors of words stay as they are: their own rows make up for it. Spelling tells only a part of what an unknown
        word means, so that its cosines with words that are like it are too small beside those of known words. The
        direction that all words have in common is the one that can be added to every unknown word.
        """
        assert self.vectors_ngrams is not None
        lengths = self._lengths
        if not lengths.any():
            return
        spelt = (self.vectors * (1 + lengths) - self.vectors_vocab) / np.maximum(lengths, 1)
        missing = times * self.vectors.mean(axis=0) - spelt[lengths[:, 0] > 0].mean(axis=0)
        used = self.composition.used(self.bucket)
        np.add(self.vectors_ngrams, missing, out=self.vectors_ngrams, where=used[:, None])
        self.vectors_vocab -= lengths * missing
        self.adjust_vectors()

    def _shift(self) -> np.ndarray:
        """Return what `share_mean` has added to all n-grams.

        An n-gram of a single word shares the row of that word, and differs from it only by what was added to both.
        """
        assert self.vectors_ngrams is not None
        shape = self.composition
        some = slice(None, None, 1 + len(shape.owned) // OWNED_LOOKED_AT)
        owned, owners = shape.owned[some], shape.owners[some]
        if not len(owned):
            return np.zeros(self.vector_size, dtype=np.float32)
        different = self.vectors_ngrams[owned] - self.vectors_vocab[owners]
        return np.asarray(np.median(different / (1 + self._lengths[owners]), axis=0))

    @property
    def _lengths(self) -> np.ndarray:
        """How many n-grams each word has, as a column."""
        return self.composition.lengths[:, None].astype(np.float32)

    def parameter_rows(self, words: int) -> int:
        """Return the number of rows that are learnt for so many words; a guess, unless these are the present ones."""
        if words == len(self):
            return self.composition.rows
        return words + min(int(self.bucket), SHARED_BUCKETS_PER_WORD * words)

    def extra_memory(self, words: int) -> dict[str, int]:
        """Return the bytes that vectors of so many words take besides the vectors themselves, by use."""
        row = 4 * self.vector_size
        return {"vectors_vocab": words * row, "vectors_ngrams": self.bucket * row, "buckets_word": 200 * words}

    def lock_factors(self) -> None:
        """Refuse locks, and vectors that were set by hand: both have no meaning here."""
        for name in ("vectors_lockf", "vectors_vocab_lockf", "vectors_ngrams_lockf"):
            if np.any(getattr(self, name, 1) != 1):
                raise ValueError(f"words share the vectors of their n-grams, so none can be locked: set {name} to 1")
        before = self.vectors
        self.adjust_vectors()
        if not np.array_equal(before, self.vectors, equal_nan=True):
            raise ValueError(
                "vectors are means of vectors_vocab and vectors_ngrams, and are overwritten by them: set those instead"
            )

    def intersect_word2vec_format(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: vectors cannot be taken over and locked, since they are made of vectors that words share."""
        raise NotImplementedError(
            "with subwords=True vectors cannot be taken over from a file, because they are means of those of n-grams; "
            "use subwords=False"
        )

    # ------------------------------------------------------------------ overridden from gensim

    def add_vectors(self, keys: Any, weights: Any, extras: Any = None, replace: bool = False) -> None:
        """Append words and their vectors; the parameters are gensim's.

        The rows of n-grams stay as they are. What they do not tell about a vector is in the word's own row, so that the
        vectors can be saved and loaded.
        """
        before = len(self)
        refuse_unspellable(keys if isinstance(keys, list | tuple | np.ndarray) else [keys])
        super().add_vectors(keys, weights, extras, replace)
        self.allocate_vecattrs()
        if self.buckets_word is None or self.vectors_ngrams is None:
            return
        wanted, new = self.vectors, len(self) - before
        self.vectors_vocab = np.pad(self.vectors_vocab, ((0, new), (0, 0)))
        self.recalc_char_ngram_buckets()
        self.adjust_vectors()
        parts = 1 + self.composition.lengths[:, None].astype(np.float32)
        self.vectors_vocab += parts * (wanted - self.vectors)
        self.vectors = wanted

    def resize_vectors(self, seed: int = 0) -> None:
        """Make room for new words and their n-grams, with small random vectors; those of old ones stay."""
        before = len(self.vectors_vocab)
        if self.vectors_ngrams is None:
            self.vectors_ngrams = np.zeros((self.bucket, self.vector_size), dtype=np.float32)
        self.vectors_ngrams = np.require(self.vectors_ngrams, requirements="W")
        old, shift = self.composition.used(self.bucket), self._shift() if before else 0.0
        self.recalc_char_ngram_buckets()
        shape, words = self.composition, len(self)
        rows = prep_vectors((shape.rows, self.vector_size), seed=seed)
        for buckets, source in ((shape.owned, shape.owners), (shape.shared, np.arange(words, shape.rows))):
            new = ~old[buckets]
            self.vectors_ngrams[buckets[new]] = rows[source[new]] + shift
        self.vectors_ngrams[old & ~shape.used(self.bucket)] = 0
        kept = min(before, words)
        rows[:words] -= self._lengths * shift
        rows[:kept] = self.vectors_vocab[:kept]
        self.vectors_vocab = rows[:words].copy()
        self.allocate_vecattrs()
        self.norms = None
        self.adjust_vectors()

    def recalc_char_ngram_buckets(self) -> None:
        """Find the n-grams of all words, which must be str."""
        refuse_unspellable(self.index_to_key)
        super().recalc_char_ngram_buckets()
        self.__dict__.pop("composition", None)

    def adjust_vectors(self) -> None:
        """Compute the vectors of all words from those of n-grams, as gensim does, but all at once."""
        assert self.buckets_word is not None
        assert self.vectors_ngrams is not None
        flat = np.concatenate([np.empty(0, dtype=np.uint32), *self.buckets_word])
        lengths = np.fromiter(map(len, self.buckets_word), dtype=np.int64, count=len(self))
        self.vectors = mean_with_ngrams(self.vectors_vocab, self.vectors_ngrams, flat, lengths)

    def get_vector(self, key: str | int, norm: bool = False) -> np.ndarray:
        """Return the vector of a word, known or not; it is zero if none of its n-grams is known."""
        if self.has_index_for(key):
            return np.asarray(KeyedVectors.get_vector(self, key, norm=norm))
        if not isinstance(key, str):
            raise KeyError(f"Key '{key}' not present")
        vector: np.ndarray = super().get_vector(key)
        length = np.linalg.norm(vector) if norm else 1
        return vector / length if length else vector

    def _save_specials(self, fname: str, separately: Any, sep_limit: int, ignore: Any, *rest: Any) -> Any:
        return super()._save_specials(fname, separately, sep_limit, {*ignore, "composition"}, *rest)


def refuse_unspellable(keys: Iterable[Any]) -> None:
    """Raise an error at a key that has no n-grams, or none that can be hashed."""
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(
                f"subwords=True makes vectors of the n-grams of words, and the key {key!r}, of type "
                f"{type(key).__name__}, has none: use str, or subwords=False"
            )
        if not key.isascii() and any("\ud800" <= character <= "\udfff" for character in key):
            raise ValueError(
                f"subwords=True hashes the n-grams of words in UTF-8, which cannot write {key!r}: it has half of a "
                "pair of surrogates; leave such words out, or use subwords=False"
            )
