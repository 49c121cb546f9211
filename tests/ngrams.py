"""Vectors of n-grams for tests."""

import numpy as np
from scipy import sparse

from gensim_hilbert.training.composition import Composition
from gensim_hilbert.vectors.subwords import SubwordVectors

WORDS = ["running", "runner", "run", "sunning", "aaaaaaaa", "a", "naïve", "日本語", "sun", "sunny"]


def vectors_of(words: list[str], bucket: int = 5000, min_n: int = 3, max_n: int = 6, size: int = 6) -> SubwordVectors:
    vectors = SubwordVectors(size, min_n, max_n, bucket)
    vectors.index_to_key, vectors.key_to_index = list(words), {word: row for row, word in enumerate(words)}
    vectors.resize_vectors(seed=1)
    return vectors


def dense(composition: Composition) -> np.ndarray:
    """G."""
    words = len(composition.offsets) - 1
    return sparse.csr_array(
        (composition.weights, composition.pieces.astype(int), composition.offsets), shape=(words, composition.rows)
    ).toarray()
