"""Stores are made within what the user grants, and leave nothing behind in memory."""

import numpy as np
import pytest
from text import zipf_text

from gensim_hilbert import PairCounts
from gensim_hilbert.counting import build, worker
from gensim_hilbert.counting.plan import Plan


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_bytes(zipf_text(60_000, 3000))
    return PairCounts.from_corpus(path, window=3, min_count=1)


class Failing:
    """Token lists that fail when they are read for their pairs."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        yield ["a", "b"]
        if self.passes > 1:
            raise ArithmeticError


def test_the_vocabulary_is_forgotten_also_after_an_error():
    with pytest.raises(ArithmeticError):
        PairCounts.from_corpus(Failing(), min_count=1)
    assert not worker._loaded_words
    PairCounts.from_corpus([["a", "b"]], min_count=1)
    assert not worker._loaded_words


def test_merging_uses_what_it_is_granted(counts, monkeypatch):
    made = []
    make = Plan.make
    monkeypatch.setattr(Plan, "make", lambda *arguments: made.append(arguments) or make(*arguments))
    both = PairCounts.merge([counts, counts], workers=3, memory_gb=0.5)
    assert [arguments[2:4] for arguments in made] == [(3, 0.5)]
    assert both.total == 2 * counts.total
    with pytest.raises(ValueError, match=r"memory_gb=0\.001 is too small"):
        PairCounts.merge([counts], memory_gb=0.001)
    with pytest.raises(ValueError, match="workers must be 1 or more"):
        PairCounts.merge([counts], workers=0)


@pytest.mark.parametrize("most", [1, 100, 5000, 10**9])
def test_sums_do_not_depend_on_how_many_entries_are_sorted_at_once(most, counts, monkeypatch):
    expected = PairCounts.merge([counts, counts, counts]).fingerprint
    monkeypatch.setattr(Plan, "sorted_entries", most)
    assert PairCounts.merge([counts, counts, counts], workers=2).fingerprint == expected


def test_entries_come_in_order_and_about_as_many_as_asked_for(counts):
    store = counts._store
    for row_class in range(8):  # twice the classes of the store
        parts = list(build.sorted_entries(store, row_class, 8, 500))
        rows, columns, _ = (np.concatenate(part) for part in zip(*parts, strict=True))
        assert (rows % 8 == row_class).all()
        assert (np.diff(rows * store.size + columns) > 0).all()
        heaviest = np.bincount(rows).max()
        assert max(len(part[0]) for part in parts) < 500 + heaviest
    assert len(parts) > 3


def test_a_store_that_has_appeared_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    target = tmp_path / "counts"
    finish = build.finish

    def finish_late(*arguments):
        target.mkdir()
        (target / "letter").write_text("dear")
        finish(*arguments)

    monkeypatch.setattr(build, "finish", finish_late)
    with pytest.raises(FileExistsError, match="counts exists"):
        PairCounts.from_corpus([["a", "b"]], min_count=1, directory=target)
    assert (target / "letter").read_text() == "dear"
    assert [path.name for path in tmp_path.iterdir()] == ["counts"]
