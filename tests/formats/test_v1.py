"""Stores of schema 1 hold what they held, and are written now as they were."""

import pytest
from frozen_stores import FOLDER, STORES, sentences, write
from helpers import contents, table_of
from reference import pairs_of, word_counts

from gensim_hilbert import PairCounts


@pytest.mark.parametrize("name", STORES)
def test_stores_open_and_hold_what_they_held(name):
    kept = STORES[name]
    counts = PairCounts.open(FOLDER / name)
    counts.verify()
    words = counts.vocabulary.words
    assert dict(zip(words, counts.vocabulary.counts.tolist(), strict=True)) == word_counts(sentences())
    assert words[:3] == ["the", "river", "heron"]
    assert counts.vocabulary.tokens == sum(map(len, sentences()))
    assert counts.vocabulary.sentences == len(sentences())
    assert (len(counts.window.left), len(counts.window.right)) == (kept.left, kept.right)
    assert counts.manifest["classes"] == kept.classes
    assert table_of(counts) == pairs_of(sentences(), words, kept.left, kept.right, kept.weights)


@pytest.mark.parametrize("name", STORES)
def test_the_same_bytes_are_written_now(name, tmp_path):
    write(name, tmp_path / name)
    assert contents(tmp_path / name) == contents(FOLDER / name), "the format has changed: see frozen_stores.py"
