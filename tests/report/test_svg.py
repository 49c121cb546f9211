"""Pictures: axes, ticks, escapes and colours."""

import itertools
import re

import numpy as np
import pytest

from gensim_hilbert.report.svg import Axes, Picture, style_sheet, tick_labels, ticks


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_paper(scheme):
    """By the contrast that WCAG 2 asks of text, 4.5."""
    light, dark = re.findall(r":root \{(.*?)\}", style_sheet("colours"), re.DOTALL)
    colours = dict(re.findall(r"--(\w+): #(\w{6})", light if scheme == "light" else dark))

    def luminance(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for text, paper in itertools.product(("ink", "muted", "counted", "fitted"), ("paper", "raised")):
        low, high = sorted(luminance(colours[name]) for name in (text, paper))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, paper)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3.2, 7.9), (0.69, 0.71), (1, 16), (0, 581_520), (-1e-3, 1e-3), (1e9, 3e9), (5, 5)]
)
def test_ticks_are_round_and_within(low, high):
    for most in (3, 6, 7):
        marks = ticks(low, high, most)
        assert 1 <= len(marks) <= most
        assert all(low - 1e-9 <= mark <= high + 1e-9 for mark in marks)
        assert len(set(tick_labels(marks))) == len(marks)
        if len(marks) > 2:
            assert np.diff(marks) == pytest.approx(marks[1] - marks[0])


def test_tick_labels():
    assert tick_labels([-0.5, 0, 0.5]) == ["\u22120.5", "0.0", "0.5"]
    assert tick_labels([0, 5000, 10_000]) == ["0", "5k", "10k"]


def test_data_are_where_the_axes_say():
    axes = Axes(400, 300, "title", (0, 10), (-1, 1), "x", "y")
    assert (axes.at_x(0), axes.at_x(10)) == (axes.left, axes.right)
    assert (axes.at_y(-1), axes.at_y(1)) == (axes.bottom, axes.top)
    axes.heat(np.arange(3), np.arange(3), np.array([[0, 1], [0, 9]]), "counted")
    assert str(axes).count("fill-opacity") == 2, "two shades, and nothing for empty cells"


def test_pictures_escape_what_they_are_given():
    picture = Picture(10, 10, '"<&')
    picture.text(0, 0, "<script>")
    assert 'aria-label="&quot;&lt;&amp;"' in str(picture)
    assert "&lt;script&gt;" in str(picture)
    assert "prefers-color-scheme: dark" in picture.standalone()
