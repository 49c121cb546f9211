"""Stores of schema 1, as they were written when it was new: they open for ever. Never write these files again."""

from pathlib import Path

import pytest
from helpers import table_of
from reference import pairs_of, sentences_of, word_counts

from gensim_hilbert import PairCounts

FOLDER = Path(__file__).parent / "v1"
STORES = {
    # name: window left and right, weights, classes, fingerprint
    "symmetric": (5, 5, "harmonic", 1, "3372e1cad7b9c6258cba31f3bef8d7067b3118ff150a05acf7a529d16c57ed39"),
    "two_classes": (3, 3, "dynamic", 2, "f288d5a33d9b8690d70eb15d120083af494fadff7d7bf35490baafaa14f49dfe"),
    "asymmetric": (
        2,
        1,
        ([300, 1], [70000]),
        2,
        "f9946536b7f1f7d53f5f1edc3eb0e77fd20d43a1de30521b09110334a8a9e895",
    ),
}


@pytest.mark.parametrize("name", STORES)
def test_stores_of_schema_1_open_and_hold_what_they_held(name):
    left, right, weights, classes, fingerprint = STORES[name]
    sentences = sentences_of((FOLDER / "text.txt").read_bytes())
    counts = PairCounts.open(FOLDER / name)
    counts.verify()
    words = counts.vocabulary.words
    assert dict(zip(words, counts.vocabulary.counts.tolist(), strict=True)) == word_counts(sentences)
    assert words[:3] == ["the", "river", "heron"]
    assert counts.vocabulary.tokens == sum(map(len, sentences))
    assert counts.vocabulary.sentences == len(sentences)
    assert (len(counts.window.left), len(counts.window.right)) == (left, right)
    assert counts.manifest["classes"] == classes
    assert counts.fingerprint == fingerprint
    assert table_of(counts) == pairs_of(sentences, words, left, right, weights)
