"""Resampling, and tests of differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

from gensim_hilbert.evaluation.significance import draws, holm, mcnemar, midranks, resampled_mean, resampled_spearman


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=12))
def test_ranks_of_repeated_values(rows):
    values, counts = (np.array(column) for column in zip(*rows, strict=True))
    ranks = midranks(values.astype(float), counts[None].astype(float))[0]
    expected = rankdata(np.repeat(values, counts))
    assert np.allclose(np.repeat(ranks, counts), expected)


def test_resamples_are_scipys_spearman_of_the_pairs_drawn():
    random = np.random.default_rng(1)
    gold, values = random.integers(8, size=30).astype(float), random.normal(size=30)
    found = resampled_spearman(gold, [values], seed=3)[0]
    counts = np.concatenate(list(draws(30, 3))).astype(int)
    assert (counts.sum(axis=1) == 30).all()
    for place in range(0, 1000, 50):
        drawn = np.repeat(np.arange(30), counts[place])
        assert found[place] == pytest.approx(spearmanr(gold[drawn], values[drawn]).statistic, abs=1e-12)


def test_resamples_of_questions_are_those_of_their_pairs():
    random = np.random.default_rng(1)
    pairs = np.array([(i, j) for i in range(9) for j in range(9) if i != j])
    values = random.integers(2, size=len(pairs)).astype(float)
    found = resampled_mean(values, pairs, seed=2)
    counts = np.concatenate(list(draws(9, 2)))
    for place in (0, 1, 500, 999):
        weights = [counts[place, i] * counts[place, j] for i, j in pairs]
        assert found[place] == pytest.approx(np.average(values, weights=weights))


def test_known_p_values():
    first = np.array([True] * 9 + [False] + [True] * 30)
    second = np.array([False] * 9 + [True] + [True] * 30)
    assert mcnemar(first, second) == pytest.approx(2 * (1 + 10) / 2**10)
    assert mcnemar(first, first) == 1
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
