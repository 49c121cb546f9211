"""What several tests need: a small text, and a look at what a store holds and what an error leaves behind."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
from gensim.models.callbacks import CallbackAny2Vec

from gensim_hilbert import PairCounts
from gensim_hilbert.counting.layout import partial_of

WORDS = [
    "the",
    "of",
    "and",
    "cat",
    "sat",
    "on",
    "mat",
    "naïve",
    "日本語",
    "a-word-longer-than-fifteen-bytes",
    "x",
    "don't",
    "3.14",
]


def some_text(lines: int = 300, seed: int = 1) -> str:
    """Lines of zipf-like words; some empty, some long, with blanks and words that are not ASCII."""
    source = random.Random(seed)
    words = WORDS + [f"w{k}" for k in range(60)]
    shares = [1 / (k + 1) for k in range(len(words))]
    rows = []
    for number in range(lines):
        length = 0 if number % 29 == 7 else 200 if number % 71 == 3 else source.randrange(1, 25)
        rows.append(source.choice([" ", "  ", "\t"]).join(source.choices(words, shares, k=length)))
    return "\n".join(rows) + "\n"


def table_of(counts: PairCounts) -> dict[tuple[int, int], Fraction]:
    """{(context, term): weight}, exact."""
    rows, columns, scaled = counts._store.entries(0, 0, 1)
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs), "an entry stands twice"
    return {key: Fraction(int(count), counts.scale) for key, count in zip(pairs, scaled, strict=True)}


def assert_same(counts: PairCounts, expected: PairCounts) -> None:
    """The same words, numbers and bytes."""
    assert counts.vocabulary.words == expected.vocabulary.words
    assert counts.vocabulary.counts.tolist() == expected.vocabulary.counts.tolist()
    assert (counts.vocabulary.tokens, counts.vocabulary.sentences) == (
        expected.vocabulary.tokens,
        expected.vocabulary.sentences,
    )
    assert counts.fingerprint == expected.fingerprint


def assert_nothing_left(directory: Path) -> None:
    """Neither a store nor the beginnings of one."""
    assert not partial_of(directory).exists(), sorted(path.name for path in partial_of(directory).iterdir())
    with pytest.raises((OSError, ValueError)):
        PairCounts.open(directory)


class Recorder(CallbackAny2Vec):
    """Remembers when it was called, and what it saw."""

    def __init__(self):
        self.events, self.losses, self.vectors = [], [], []

    def on_train_begin(self, model):
        self.events.append("train begins")

    def on_train_end(self, model):
        self.events.append("train ends")

    def on_epoch_begin(self, model):
        self.events.append("epoch begins")

    def on_epoch_end(self, model):
        self.events.append("epoch ends")
        self.losses.append(model.get_latest_training_loss())
        self.vectors.append(model.wv.vectors.copy())
