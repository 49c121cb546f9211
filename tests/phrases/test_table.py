"""Phrases, their scores and joined sentences are those of gensim's Phrases, on whatever text."""

import gzip
import json
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest
from gensim.models.phrases import ENGLISH_CONNECTOR_WORDS, FrozenPhrases
from gensim.models.phrases import Phrases as GensimPhrases
from hypothesis import given
from hypothesis import strategies as st
from helpers import DATA

from gensim_hilbert import Phrases
from gensim_hilbert._phrases import TooManyPairs
from gensim_hilbert.corpus import blocks
from gensim_hilbert.phrases import learning

CONNECTORS = frozenset(["of", "the", "o_f"])
WORDS = [
    "",
    "a",
    "b",
    "c",
    "of",
    "the",
    "a_b",
    "_",
    "b_",
    "a_",
    "o_f",
    "é",
    "a word of more than sixteen bytes",
    "x" * 40,
]

sentences_of_words = st.lists(st.lists(st.sampled_from(WORDS), max_size=8), max_size=12)
rules = st.one_of(
    st.tuples(st.just("default"), st.sampled_from([1e-9, 0.3, 1.0, 3.0])),
    st.tuples(st.just("npmi"), st.sampled_from([-1.0, -0.2, 0.0, 0.5, 1.0])),
)


def candidates(sentences, connectors):
    """All that gensim scores: two words that are no connector words, and the connector words between them."""
    for sentence in sentences:
        before, between = None, []
        for word in sentence:
            if word in connectors:
                between.append(word)
                continue
            if before is not None:
                yield before, *between, word
            before, between = word, []


def table_of_gensim(phrases, sentences):
    """The words of each phrase with the score by which gensim joins them."""
    scored = {
        parts: phrases.score_candidate(parts[0], parts[-1], list(parts[1:-1]))[1]
        for parts in candidates(sentences, phrases.connector_words)
    }
    return {parts: score for parts, score in scored.items() if score is not None}


@given(
    sentences=sentences_of_words,
    rule=rules,
    min_count=st.integers(1, 3),
    delimiter=st.sampled_from(["_", "__", " ", "ab", "·"]),
    connectors=st.sampled_from([frozenset(), CONNECTORS]),
    workers=st.integers(1, 2),
    rounds=st.integers(1, 3),
    block=st.sampled_from([1, 1 << 20]),
)
def test_all_rounds_are_those_of_gensim(sentences, rule, min_count, delimiter, connectors, workers, rounds, block):
    scoring, threshold = rule
    options = dict(
        min_count=min_count, scoring=scoring, threshold=threshold, delimiter=delimiter, connector_words=connectors
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", block)
        phrases = Phrases.from_corpus(sentences, rounds=rounds, workers=workers, progress=False, **options)
    text = sentences
    for k in range(rounds):
        theirs = GensimPhrases(text, **options)
        expected = table_of_gensim(theirs, text)
        found = dict(phrases.rounds[k].scores) if k < len(phrases.rounds) else {}
        assert found == expected
        if not expected:
            break
        text = [theirs[sentence] for sentence in text]
    assert [phrases[sentence] for sentence in sentences] == text
    assert list(phrases[iter(sentences)]) == text


@given(sentences=sentences_of_words, connectors=st.sampled_from([frozenset(), CONNECTORS]))
def test_counting_in_several_passes_changes_nothing(sentences, connectors):
    options = dict(min_count=1, threshold=0.1, connector_words=connectors, workers=2, progress=False)
    expected = Phrases.from_corpus(sentences, **options)
    count_adjacent, passes = learning.count_adjacent, []

    def count_few(blocks, task, report=None):
        passes.append(task.wanted)
        if task.classes < 4:
            raise TooManyPairs
        return count_adjacent(blocks, task, report)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "count_adjacent", count_few)
        assert Phrases.from_corpus(sentences, **options).rounds == expected.rounds
    assert set(passes) == {0, 1, 2, 3}
