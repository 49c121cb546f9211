"""Vectors made of n-grams are what Gensim makes of them."""

import numpy as np
import pytest
from gensim.models.fasttext import FastTextKeyedVectors
from gensim.models.fasttext_inner import ft_hash_bytes
from hypothesis import given, settings
from hypothesis import strategies as st
from ngrams import WORDS, dense, vectors_of


@settings(deadline=None)
@given(
    words=st.lists(st.text("abñ", min_size=1, max_size=9), min_size=1, max_size=12, unique=True),
    bucket=st.integers(1, 200),
    shortest=st.integers(1, 4),
    more=st.integers(0, 3),
)
def test_a_vector_is_the_mean_that_gensim_computes(words, bucket, shortest, more):
    """With buckets that several n-grams or several words share, and words whose n-grams repeat."""
    vectors = vectors_of(words, bucket, shortest, shortest + more)
    parameters = np.random.default_rng(2).normal(size=vectors.parameters.shape).astype(np.float32)
    vectors.parameters = parameters
    ours = vectors.vectors
    FastTextKeyedVectors.adjust_vectors(vectors)
    np.testing.assert_array_equal(ours, vectors.vectors)
    np.testing.assert_array_equal(vectors.parameters, parameters)
    mixture = dense(vectors.composition)
    np.testing.assert_allclose(mixture.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(mixture @ parameters, ours, rtol=1e-4, atol=1e-5)


def test_n_grams_that_share_a_row_get_the_mean_of_given_vectors():
    vectors = vectors_of(WORDS)
    vectors.vectors_ngrams[:] = np.random.default_rng(3).normal(size=vectors.vectors_ngrams.shape)
    vectors.adjust_vectors()
    before = vectors.vectors
    vectors.parameters = vectors.parameters
    np.testing.assert_allclose(vectors.vectors, before, rtol=1e-4, atol=1e-5)


def test_n_grams_say_twice_the_mean_and_vectors_stay():
    vectors = vectors_of(WORDS, bucket=100_000)
    vectors.parameters = np.random.default_rng(3).normal(1, size=vectors.parameters.shape).astype(np.float32)
    before, unknown = vectors.vectors, vectors["unrunned"]
    learnt = vectors.parameters
    for again in range(3):  # after the first time there is nothing left to do
        if again == 2:  # as training does that finds nothing new
            vectors.parameters = vectors.parameters
        vectors.share_mean()
        np.testing.assert_allclose(vectors.parameters, learnt, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(vectors.vectors, before, rtol=1e-4, atol=1e-5)
        said = [vectors.vectors_ngrams[buckets].mean(axis=0) for buckets in vectors.buckets_word if len(buckets)]
        np.testing.assert_allclose(np.mean(said, axis=0), 2 * before.mean(axis=0), rtol=1e-4, atol=1e-5)
    mean = before.mean(axis=0)
    assert (vectors["unrunned"] - unknown) @ mean > 0
    assert not vectors["zzzzzz"].any(), "n-grams never seen still say nothing"
    np.testing.assert_allclose(dense(vectors.composition) @ vectors.parameters, before, rtol=1e-4, atol=1e-5)


def test_words_too_short_for_n_grams_share_nothing():
    vectors = vectors_of(["a", "b"], min_n=5)
    before = vectors.vectors_vocab.copy()
    vectors.share_mean()
    np.testing.assert_array_equal(vectors.vectors_vocab, before)


def test_n_grams_never_seen_do_not_turn_a_vector():
    vectors = vectors_of(["running", "runner"], bucket=2_000_000)
    long = vectors.get_vector("runnerzzzzzz", norm=True)
    assert np.linalg.norm(long) == pytest.approx(1, rel=1e-5)
    assert not vectors["zzzzzz"].any()
    assert not vectors.get_vector("zzzzzz", norm=True).any(), "no NaN"
    assert vectors.most_similar("zzzzzz", topn=1)[0][1] == 0
    with pytest.raises(KeyError):
        vectors.get_vector(7)


def test_new_words_leave_old_rows_as_they_are():
    vectors = vectors_of(WORDS[:4])
    before = {word: vectors[word].copy() for word in ("running", "unrunning")}
    vectors.index_to_key.append("walking")
    vectors.key_to_index["walking"] = 4
    used = vectors.composition.used(vectors.bucket)
    old = vectors.vectors_ngrams[used].copy()
    vectors.resize_vectors(seed=1)
    np.testing.assert_array_equal(vectors.vectors_ngrams[used], old)
    np.testing.assert_array_equal(vectors["running"], before["running"])
    assert vectors["walking"].any()
    assert len(vectors.vectors) == len(vectors.vectors_vocab) == 5


def test_vectors_that_are_added_or_replaced_are_saved(tmp_path):
    vectors = vectors_of(WORDS)
    vectors.adjust_vectors()
    others, size = {word: vectors[word].copy() for word in WORDS[1:]}, vectors.vector_size
    given = np.random.default_rng(5).normal(size=(3, size)).astype(np.float32)
    vectors.add_vectors(["zebra", "größer"], given[:2])
    vectors[WORDS[0]] = given[2]
    vectors.save(str(tmp_path / "vectors"))
    loaded = FastTextKeyedVectors.load(str(tmp_path / "vectors"))
    for kept in (vectors, loaded):
        np.testing.assert_allclose(kept[["zebra", "größer", WORDS[0]]], given, rtol=1e-5, atol=1e-5)
        for word, vector in others.items():
            np.testing.assert_array_equal(kept[word], vector)


@pytest.mark.parametrize("key", [7, "a\ud800b"])
def test_a_word_that_cannot_be_spelt_is_refused_before_it_is_added(key):
    vectors = vectors_of(WORDS)
    with pytest.raises((TypeError, ValueError), match="subwords=False"):
        vectors.add_vectors(["zebra", key], np.ones((2, vectors.vector_size)))
    assert vectors.index_to_key == WORDS
    assert len(vectors.vectors) == len(WORDS)


def test_a_word_that_has_no_bytes_is_named():
    with pytest.raises(ValueError, match=r"cannot write 'a\\ud800b'.*subwords=False"):
        vectors_of(["plain", "größe", "a\ud800b"])


@pytest.mark.parametrize(("min_n", "max_n"), [(3, 6), (1, 3), (2, 2), (4, 30)])
def test_it_is_known_which_n_grams_begin_a_word(min_n, max_n):
    words = ["naïve", "naïvely", "native", "日本語", "日本人", "a", "an", "ant", "ants"]
    shape = vectors_of(words, bucket=1_000_000, min_n=min_n, max_n=max_n).composition
    marked = [f"<{word}>" for word in words]
    ngrams = {
        word[start : start + length]: start == 0
        for word in marked
        for length in range(min_n, max_n + 1)
        for start in range(len(word) - length + 1)
    }
    begins = {ft_hash_bytes(ngram.encode()) % 1_000_000: is_first for ngram, is_first in ngrams.items()}
    assert shape.begins.any()
    np.testing.assert_array_equal(shape.begins, [begins[bucket] for bucket in shape.shared])
