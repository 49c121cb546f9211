"""Words on a plane."""

import numpy as np
import pytest

from gensim_hilbert.report.layout import embed, place
from gensim_hilbert.report.words import unit_rows


def test_groups_stay_together_on_the_plane(groups):
    places = embed(groups)
    distance = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(len(places), np.inf))
    nearest = distance.argsort(axis=1)[:, :10]
    assert np.mean(nearest // 30 == np.arange(180)[:, None] // 30) > 0.97
    assert np.array_equal(embed(groups), places)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_words_on_the_plane(n):
    assert np.isfinite(embed(unit_rows(np.random.default_rng(1).normal(size=(n, 4))))).all()
    assert np.isfinite(embed(np.ones((n, 4)) / 2)).all(), "all alike"


def test_labels_find_room():
    random = np.random.default_rng(3)
    sizes = np.column_stack([random.uniform(20, 90, 200), random.uniform(10, 20, 200)])
    middles, found = place(random.normal(size=(200, 2)), sizes, 900, 700)
    assert found.mean() > 0.95
    low, high = (middles - sizes / 2)[found], (middles + sizes / 2)[found]
    assert (low >= -1e-9).all()
    assert (high <= [900 + 1e-9, 700 + 1e-9]).all()
    into = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    covers = (into > 1e-9).all(axis=2)
    assert covers.sum() == found.sum(), "each covers itself and no other"
    assert place(np.zeros((5, 2)), np.full((5, 2), 80.0), 100, 100)[1].tolist() == [True] + [False] * 4
