"""The interval that counts imply."""

import numpy as np
import pytest

from gensim_hilbert.explore.words import count_interval


@pytest.mark.parametrize("mean", [3.0, 12.5, 80.0])
def test_intervals_of_counts_hold_the_mean_as_often_as_they_say(mean):
    counts = np.random.default_rng(1).poisson(mean, 4000).tolist()
    held = {
        count: np.greater_equal(mean, (ends := count_interval(count))[0]) and mean <= ends[1] for count in set(counts)
    }
    assert 0.92 < np.mean([held[count] for count in counts]) < 0.98


def test_nothing_seen_has_no_lower_end():
    low, high = count_interval(0)
    assert low == 0
    assert 1 < high < 4
