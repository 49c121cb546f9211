"""What several tests need: a look at what a store holds, at what an error leaves behind, and at what training did."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.models.callbacks import CallbackAny2Vec

from gensim_hilbert import PairCounts
from gensim_hilbert.counting.layout import partial_of
from gensim_hilbert.training import factorization, schedule

# Data sets and results of peers that are too large for the repository; tests that need them are skipped without.
DATA = Path(os.environ.get("GENSIM_HILBERT_DATA", Path(__file__).parents[2] / "shared" / "data"))
MIN_COUNT = 3
NEWS_OPTIONS = {"vector_size": 20, "min_count": 10, "seed": 1, "workers": 1}
STREAM_OPTIONS = {**NEWS_OPTIONS, "solver": "gibbs"}
SMALL_OPTIONS = {"vector_size": 8, "min_count": 5, "epochs": 1, "workers": 1}


# ---------------------------------------------------------------------------------------------------- counts


def count(corpus, **options) -> PairCounts:
    """Counts by two workers, in a window of 4, of words that occur MIN_COUNT times."""
    return PairCounts.from_corpus(corpus, **{"window": 4, "min_count": MIN_COUNT, "workers": 2} | options)


def entries_of(counts: PairCounts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and integers of the whole table."""
    store = counts._store
    parts = [part for row_class in range(store.classes) for part in store.row_tiles(row_class)]
    if store.mirrored:
        parts += [(j[i != j], i[i != j], number[i != j]) for i, j, number in parts]
    rows, columns, numbers = (
        np.concatenate([np.empty(0, kind), *(part[side].astype(kind) for part in parts)])
        for side, kind in enumerate((np.int64, np.int64, np.uint64))
    )
    return rows, columns, numbers


def table_of(counts: PairCounts) -> dict[tuple[int, int], Fraction]:
    """{(context, term): weight}, exact."""
    rows, columns, scaled = entries_of(counts)
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs), "an entry stands twice"
    return {key: Fraction(int(count), counts.scale) for key, count in zip(pairs, scaled, strict=True)}


def weights_of(counts: PairCounts) -> dict[tuple[str, str], Fraction]:
    """The same by words."""
    words = counts.vocabulary.words
    return {(words[i], words[j]): weight for (i, j), weight in table_of(counts).items()}


def assert_same_counts(counts: PairCounts, expected: PairCounts) -> None:
    """The same words, numbers and bytes."""
    assert counts.vocabulary.words == expected.vocabulary.words
    assert counts.vocabulary.counts.tolist() == expected.vocabulary.counts.tolist()
    assert counts.vocabulary.tokens == expected.vocabulary.tokens
    assert counts.vocabulary.sentences == expected.vocabulary.sentences
    assert counts.fingerprint == expected.fingerprint


def assert_nothing_left(directory: Path) -> None:
    """Neither a store nor the beginnings of one."""
    assert not partial_of(directory).exists(), sorted(path.name for path in partial_of(directory).iterdir())
    with pytest.raises((OSError, ValueError)):
        PairCounts.open(directory)


def contents(folder: Path) -> dict[str, bytes | None]:
    """The bytes of each file, and None for each folder, by their names."""
    paths = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    return {name: path.read_bytes() if path.is_file() else None for name, path in paths.items()}


# ---------------------------------------------------------------------------------------------------- vectors


def keyed(words, matrix) -> KeyedVectors:
    vectors = KeyedVectors(len(matrix[0]))
    vectors.add_vectors(list(words), np.asarray(matrix, dtype=np.float32))
    return vectors


def assert_same_vectors(model, expected) -> None:
    """The same words and the same bits, those of n-grams included."""
    assert model.wv.index_to_key == expected.wv.index_to_key
    np.testing.assert_array_equal(model.wv.vectors, expected.wv.vectors)
    np.testing.assert_array_equal(model.syn1neg, expected.syn1neg)
    assert model.psi_offset == expected.psi_offset
    assert type(model.wv) is type(expected.wv)
    if hasattr(expected.wv, "vectors_ngrams"):
        np.testing.assert_array_equal(model.wv.vectors_ngrams, expected.wv.vectors_ngrams)


def assert_same_but_for_a_turn(model, expected, atol=2e-5) -> None:
    """The same words, the same PMI, and the same lengths and angles of vectors."""
    assert model.wv.index_to_key == expected.wv.index_to_key
    vectors, expected_vectors = model.wv.vectors, expected.wv.vectors
    np.testing.assert_allclose(model.syn1neg @ vectors.T, expected.syn1neg @ expected_vectors.T, atol=atol)
    np.testing.assert_allclose(vectors @ vectors.T, expected_vectors @ expected_vectors.T, atol=atol)
    assert model.psi_offset == expected.psi_offset


def self_similarity(vectors, before) -> float:
    """The median cosine of the words of both with themselves."""
    words = [word for word in before.index_to_key if word in vectors.key_to_index]
    now, then = (np.array([some.get_vector(word, norm=True) for word in words]) for some in (vectors, before))
    return float(np.median(np.sum(now * then, axis=1)))


# ---------------------------------------------------------------------------------------------------- training


@contextlib.contextmanager
def training_for(updates: Callable[[float, int], int]) -> Iterator[None]:
    """Factorization updates each row as often as this function of the numbers of counted pairs and of words says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factorization, "updates_for", updates)
        yield


# Enough to see that a model learns; and as long as users train, also where a fixture has shortened it.
short_training = functools.partial(training_for, lambda pairs, words: 24)
full_training = functools.partial(training_for, schedule.updates_for)


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


class Stop(Exception):
    """Raised by a callback that ends training."""


class StopAfter(CallbackAny2Vec):
    """Ends training after so many epochs; keeps the model as it then is."""

    def __init__(self, epochs):
        self.left, self.model = epochs, None

    def on_epoch_begin(self, model):
        if not self.left:
            self.model = model
            raise Stop
        self.left -= 1
