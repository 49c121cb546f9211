from fractions import Fraction

import pytest

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
        (0, "flat", "window must be"),
        (-1, "flat", "got -1"),
        ((0, 0), "flat", "window must be"),
        ((1, 2, 3), "flat", "window must be"),
        (2.5, "flat", "window must be"),
        (True, "flat", "window must be"),
        (3, "linear", "'linear'"),
        (3, [1, 2], "each of the 3 distances"),
        (1, [-1], "-1"),
        (1, [float("nan")], "nan"),
        (1, [0], "all weights are 0"),
        (60, "harmonic", "too wide"),
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
