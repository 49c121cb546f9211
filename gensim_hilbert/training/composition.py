"""How the vectors of words are made of rows that several words share: those of their character n-grams."""

from __future__ import annotations

import numpy as np


class Composition:
    """Tells which learnt rows make up which words: V = G Z, where every row of G adds up to 1.

    Z has one row per word and one row per bucket that several words share. A bucket that only one word uses would learn
    the same as that word's own row, so the two are one row, with the weight of both. Most buckets are of this kind.

    Parameters
    ----------
    buckets : list of arrays
        For each word, the buckets of its n-grams. A bucket that is listed twice counts twice.
    beginnings : array of int, optional
        For each word, how many of its n-grams begin it: the first ones of its buckets. None if none do.

    Attributes
    ----------
    offsets, pieces, weights : arrays
        The vector of word k is the sum of the rows `pieces[offsets[k] : offsets[k + 1]]`, multiplied by `weights`. The
        word's own row comes first.
    shared : array
        The buckets of the rows that follow those of the words.
    users : array
        For each of these rows, how many words have it.
    begins : array of bool
        For each of these rows, whether its n-gram begins a word.
    owned, owners, times : arrays
        The buckets that one word alone uses, the word of each, and how many times it uses it.
    parts : array
        How many vectors of a word each row of Z stands for.
    """

    def __init__(self, buckets: list[np.ndarray], beginnings: np.ndarray | None = None):
        words = len(buckets)
        self.lengths = np.fromiter(map(len, buckets), dtype=np.int64, count=words)
        flat = np.concatenate([np.empty(0, dtype=np.int64), *buckets]).astype(np.int64)
        width = int(flat.max(initial=0)) + 1
        pairs, times = np.unique(np.repeat(np.arange(words), self.lengths) * width + flat, return_counts=True)
        word, bucket = np.divmod(pairs, width)
        users = np.bincount(bucket, minlength=width)
        is_shared = users[bucket] > 1
        self.shared = np.flatnonzero(users > 1)
        self.users = users[self.shared]
        begins = np.zeros(width, dtype=bool)
        if beginnings is not None:
            place = np.arange(len(flat)) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)
            begins[flat[place < np.repeat(beginnings, self.lengths)]] = True
        self.begins = begins[self.shared]
        self.owned, self.owners, self.times = bucket[~is_shared], word[~is_shared], times[~is_shared]
        self.parts = np.ones(words + len(self.shared), dtype=np.float32)
        self.parts[:words] += np.bincount(self.owners, self.times, minlength=words)
        row_of_bucket = np.empty(width, dtype=np.int64)
        row_of_bucket[self.owned] = self.owners
        row_of_bucket[self.shared] = words + np.arange(len(self.shared))
        self.ngram_rows = row_of_bucket[flat]
        order = np.argsort(np.concatenate([np.arange(words), word[is_shared]]), kind="stable")
        self.pieces = np.concatenate([np.arange(words), row_of_bucket[bucket[is_shared]]])[order].astype(np.uint32)
        counts = 1 + np.bincount(word[is_shared], minlength=words)
        self.offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        weights = np.concatenate([self.parts[:words], times[is_shared]])[order] / np.repeat(1 + self.lengths, counts)
        self.weights = weights.astype(np.float32)

    @property
    def rows(self) -> int:
        """Number of rows of Z."""
        return len(self.parts)

    def used(self, bucket: int) -> np.ndarray:
        """For each of so many buckets, tell whether a word uses it."""
        used = np.zeros(bucket, dtype=bool)
        used[self.shared] = used[self.owned] = True
        return used

    def vectors(self, parameters: np.ndarray) -> np.ndarray:
        """Return the vectors of all words for these rows Z, rounded as gensim rounds them."""
        return mean_with_ngrams(parameters[: len(self.lengths)], parameters, self.ngram_rows, self.lengths)


def mean_with_ngrams(own: np.ndarray, table: np.ndarray, rows: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the mean of each word's own row and of the rows of its n-grams in a table.

    The sums are gensim's, in the same order, but of all words at once.

    Parameters
    ----------
    own : array
        One row per word.
    table : array
        The rows of n-grams.
    rows : array of int
        For each word in turn, which rows of the table its n-grams have.
    lengths : array of int
        The number of n-grams of each word.
    """
    longest_first = np.argsort(-lengths, kind="stable")
    starts = (np.cumsum(lengths) - lengths)[longest_first]
    total = own[longest_first]
    for place in range(lengths.max(initial=0)):
        some = np.count_nonzero(lengths > place)
        total[:some] += table[rows[starts[:some] + place]]
    total /= (1 + lengths[longest_first, None]).astype(np.float32)
    means = np.empty_like(total)
    means[longest_first] = total
    return means
