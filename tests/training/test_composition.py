"""Vectors that are made of rows which words share, learnt from the stream."""

import numpy as np
import pytest
from ngrams import WORDS, dense, vectors_of

from gensim_hilbert._gibbs import SAMPLERS, Gibbs
from gensim_hilbert.training.composition import Composition


def trained(composition: Composition | None, sampler: str, parameters: np.ndarray, words: int, rate: float = 0.2):
    random = np.random.default_rng(4)
    w = random.normal(size=(words, 6)).astype(np.float32) * 0.3
    z = parameters.copy()
    v = z if composition is None else np.empty((words, 6), dtype=np.float32)
    p = np.arange(1, words + 1.0)
    made = {} if composition is None else {"composition": composition, "parameters": z}
    kernel = Gibbs(w, v, p, p**0.75, candidates=3, sampler=sampler, window=3, **made)
    ids = np.full(400, words, dtype=np.uint32)
    ids[3:-3] = random.integers(0, words, size=394)
    for seed in range(3):
        kernel.train(ids, 3, 397, rate, seed)
    kernel.settle_all()
    return w, v, z


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_words_that_share_nothing_learn_as_without_subwords(sampler):
    buckets = [np.arange(5 * k, 5 * k + 4) for k in range(9)]
    composition = Composition(buckets)
    assert composition.rows == 9
    start = np.random.default_rng(5).normal(size=(9, 6)).astype(np.float32) * 0.3
    plain, made = trained(None, sampler, start, 9), trained(composition, sampler, start, 9)
    for ours, expected in zip(made, plain, strict=True):
        np.testing.assert_allclose(ours, expected[: len(ours)], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_shared_rows_move_with_every_word_they_are_part_of(sampler):
    vectors = vectors_of(WORDS, bucket=60)
    composition, start = vectors.composition, vectors.parameters
    _, v, z = trained(composition, sampler, start, len(WORDS))
    np.testing.assert_allclose(dense(composition) @ z, v, rtol=1e-4, atol=1e-5)
    # A word moves its rows alike; each row has the sum of what its words have done.
    moves = np.linalg.lstsq((dense(composition) > 0).T.astype(float), z - start, rcond=None)
    assert composition.rows > len(WORDS)
    np.testing.assert_allclose((dense(composition) > 0).T @ moves[0], z - start, atol=1e-4)
    assert np.abs(z - start).min(axis=1).max() > 0.01
