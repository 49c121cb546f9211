"""Windows and weights become integers over one scale; bad settings are refused."""

from fractions import Fraction

import pytest

from gensim_hilbert import PairCounts
from gensim_hilbert.counting.settings import CountSettings, Window, exact


def test_rules_become_integers_over_a_scale():
    assert Window.parse(3, "flat") == Window((1, 1, 1), (1, 1, 1), 1)
    assert Window.parse(4, "dynamic") == Window((4, 3, 2, 1), (4, 3, 2, 1), 4)
    assert Window.parse(5, "harmonic") == Window((60, 30, 20, 15, 12), (60, 30, 20, 15, 12), 60)
    assert Window.parse((2, 0), "dynamic") == Window((2, 1), (), 2)
    assert Window.parse((2, 3), "dynamic") == Window((6, 3), (6, 4, 2), 6)
    assert Window.parse(3, [1, 0.5, 0.1]) == Window((10, 5, 1), (10, 5, 1), 10)
    assert Window.parse((1, 2), ([3], [1, 0.25])) == Window((12,), (4, 1), 4)


def test_weights_that_are_no_small_fractions_are_rounded_to_a_millionth():
    weight = exact(0.36787944117144233)
    assert abs(float(weight) - 0.36787944117144233) < 2**-20
    assert weight.denominator <= 2**20
    assert exact(1 / 3) == Fraction(1, 3)
    assert exact(0.1) == Fraction(1, 10)


@pytest.mark.parametrize(
    ("window", "weights", "words"),
    [
        *((size, "flat", "window must be a size of 1 or more") for size in (0, (0, 0), (1, 2, 3), "5", 2.5, (1.5, 1))),
        (-1, "flat", "window must be .* got -1"),
        ((-1, 5), "flat", "window must be"),
        (True, "flat", "window must be"),
        (3, "linear", "weights must be one of flat, dynamic, harmonic, .*'linear'"),
        (3, [1, 2], r"one number for each of the 3 distances, got \[1, 2\]"),
        (3, [1, 2, 3, 4], "one number for each of the 3"),
        (3, [], "one number for each of the 3"),
        (3, ([1, 1, 1], [1, 1]), "one number for each of the 3"),
        (1, [-1], "a weight must be a number of 0 or more, got -1"),
        (1, [float("nan")], "a weight must be .* got nan"),
        (1, [float("inf")], "a weight must be .* got inf"),
        (1, [0], "all weights are 0"),
        (40, "harmonic", "window=40 is too wide for exact harmonic weights"),
    ],
)
def test_bad_windows_are_refused(window, weights, words):
    with pytest.raises(ValueError, match=words):
        Window.parse(window, weights)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="'drop'"):
        CountSettings(Window.parse(), oov="drop")
    with pytest.raises(ValueError, match=r"-0\.1"):
        CountSettings(Window.parse(), sample=-0.1)


def test_weights_without_a_common_denominator(plain):
    """Their denominators multiply to 10^21: exact integers would not fit, so they are rounded."""
    weights = [1 / 997, 1 / 991, 1 / 983, 1 / 977, 1 / 971, 1 / 967, 1 / 953]
    counts = PairCounts.from_corpus(plain, window=7, weights=weights)
    assert counts.scale == 2**20
    assert counts.window.left == tuple(round(weight * 2**20) for weight in weights)
