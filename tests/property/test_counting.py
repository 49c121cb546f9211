"""Counts of arbitrary text, weights and cuts, against the slow oracle."""

import gzip
from fractions import Fraction

import numpy as np
import pytest
from helpers import table_of
from hypothesis import given
from hypothesis import strategies as st
from reference import pairs_of, sentences_of, word_counts

import gensim_hilbert.corpus.blocks
from gensim_hilbert import PairCounts, Vocabulary
from gensim_hilbert.counting import merge as merge_module
from gensim_hilbert.counting import plan as plan_module

WORDS = ["a", "b", "c", "the", "é", "日本語", "naïve", "a\x00", "\u200b"]
WORDS += ["exactly8", "fifteen-bytes-x", "long-word-of-fifteen", "x" * 40]


SPACES = [" ", "  ", "\t", "\r", "\u00a0", "\u3000", "\u2003", "\x1c", "\u0085", "\u2028"]
ENDS = ["\n", "\r\n", "\n\n", " \n "]


@st.composite
def texts(draw):
    parts = draw(
        st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SPACES * 2 + ENDS)), min_size=2, max_size=80)
    )
    return "".join(word + gap for word, gap in parts).encode()


@st.composite
def windows(draw):
    left, right = draw(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(any))
    if draw(st.booleans()):
        left = right = max(left, right)
    rule = draw(st.sampled_from(["flat", "dynamic", "harmonic", "list"]))
    if rule == "list":
        numbers = st.sampled_from([0, 1, 2, 7, 0.5, 0.25, Fraction(1, 3)])
        rule = (
            draw(st.lists(numbers, min_size=left, max_size=left)),
            draw(st.lists(numbers, min_size=right, max_size=right)),
        )
        if not any(map(any, rule)):
            rule = ([1] * left, [1] * right)
    return left, right, rule


@given(
    text=texts(),
    window=windows(),
    oov=st.sampled_from(["remove", "gap"]),
    min_count=st.integers(1, 3),
    block=st.sampled_from([1, 7, 64, 1 << 20]),
    workers=st.integers(1, 3),
    capacity=st.sampled_from([70, 1 << 16]),
    suffix=st.sampled_from([".txt", ".txt.gz"]),
)
def test_pairs_equal_the_oracle(text, window, oov, min_count, block, workers, capacity, suffix, tmp_path_factory):
    left, right, rule = window
    sentences = sentences_of(text)
    frequent = {word for word, count in word_counts(sentences).items() if count >= min_count}
    path = tmp_path_factory.mktemp("text") / f"corpus{suffix}"
    path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", block)
        patch.setattr(plan_module, "MOST_IDS", capacity)
        patch.setattr(plan_module, "LEAST_IDS", 32)
        patch.setattr(merge_module, "TILE_ROOM", 16)
        if not frequent:
            with pytest.raises(ValueError, match="min_count"):
                PairCounts.from_corpus(path, min_count=min_count)
            return
        words = Vocabulary.from_corpus(path, min_count=min_count).words
        assert set(words) == frequent
        expected = pairs_of(sentences, words, left, right, rule, oov)
        if not expected:
            with pytest.raises(ValueError, match="not a single pair"):
                PairCounts.from_corpus(path, window=(left, right), weights=rule, oov=oov, min_count=min_count)
            return
        counts = PairCounts.from_corpus(
            path, window=(left, right), weights=rule, oov=oov, min_count=min_count, workers=workers
        )
    assert table_of(counts) == expected
    contexts, terms = (np.zeros(len(words)) for _ in range(2))
    for (context, term), value in expected.items():
        contexts[context] += float(value)
        terms[term] += float(value)
    np.testing.assert_allclose(counts.marginals.contexts, contexts)
    np.testing.assert_allclose(counts.marginals.terms, terms)
    assert counts.total == pytest.approx(float(sum(expected.values())))


@given(sentences=st.lists(st.lists(st.text(max_size=20), max_size=12), min_size=1, max_size=30))
def test_token_lists_may_hold_any_str(sentences):
    if not any(sentences):
        with pytest.raises(ValueError, match="empty"):
            Vocabulary.from_corpus(sentences, min_count=1)
        return
    vocabulary = Vocabulary.from_corpus(sentences, min_count=1)
    assert dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)) == word_counts(sentences)
    expected = pairs_of(sentences, vocabulary.words, 3, 3, "dynamic")
    if expected:
        assert table_of(PairCounts.from_corpus(sentences, window=3, min_count=1)) == expected
