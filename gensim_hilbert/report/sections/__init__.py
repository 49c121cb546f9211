"""The sections of a report, and what they are made of.

Each has a statement for a title, a few words for people who are new to it, and figures; or a sentence on why not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensim_hilbert.report.svg import Axes, Picture
from gensim_hilbert.report.text import safe

WIDE, HIGH = 440, 270  # of a picture, two of which stand beside each other, or one on a phone
CELLS = 56  # of a heat map, each way
OUTLIERS = 0.05  # per cent at either end that axes leave out


@dataclass
class Section:
    """A part of the page; `title` and `body` are HTML."""

    name: str
    title: str
    body: str


def heat_map(xs: np.ndarray, ys: np.ndarray, x: str, y: str, title: str) -> Axes:
    """Where points are dense, with the line on which both are equal."""
    x_span, y_span = common_range(xs), common_range(ys)
    axes = Axes(WIDE, 0.9 * WIDE, title, x_span, y_span, x, y)
    x_edges, y_edges = (np.linspace(*span, CELLS + 1) for span in (axes.x, axes.y))
    axes.heat(x_edges, y_edges, np.histogram2d(xs, ys, (x_edges, y_edges))[0], "counted")
    axes.diagonal("fitted-line")
    return axes


def common_range(*values: np.ndarray) -> tuple[float, float]:
    """What axes show of some arrays: all but a few outliers."""
    ends = np.array([np.percentile(some, [OUTLIERS, 100 - OUTLIERS]) for some in values])
    return float(ends[:, 0].min()), float(ends[:, 1].max())


def figure(picture: Picture, caption: str) -> str:
    """A picture and what is to be said of it."""
    return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"


def pictures(*parts: str) -> str:
    """Side by side, where there is room."""
    return f'<div class="pictures">{"".join(parts)}</div>'


def missing(why: str) -> str:
    """The sentence of a section that cannot be."""
    return f'<p class="why">{safe(why)}</p>'
