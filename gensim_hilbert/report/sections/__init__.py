"""The sections of a report, and what they have in common.

Each section has a statement as its title, an explanation for newcomers, and figures. If it cannot be made, it says why.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensim_hilbert.markup import safe
from gensim_hilbert.report.svg import Axes, Picture

PICTURE_WIDTH, PICTURE_HEIGHT = 440, 270  # two pictures stand side by side, on a phone one above the other
HEAT_MAP_CELLS = 56  # per side
OUTLIERS = 0.05  # per cent at either end that axes leave out


@dataclass
class Section:
    """One part of the page; `title` and `body` are HTML."""

    name: str
    title: str
    body: str


def heat_map(xs: np.ndarray, ys: np.ndarray, x: str, y: str, title: str, alike: bool = False) -> Axes:
    """Draw how dense points are, and the line on which both numbers are equal; `alike` gives both axes one range."""
    x_span, y_span = (common_range(xs, ys),) * 2 if alike else (common_range(xs), common_range(ys))
    axes = Axes(PICTURE_WIDTH, 0.9 * PICTURE_WIDTH, title, x_span, y_span, x, y)
    x_edges, y_edges = (np.linspace(*span, HEAT_MAP_CELLS + 1) for span in (axes.x, axes.y))
    axes.heat(x_edges, y_edges, np.histogram2d(xs, ys, (x_edges, y_edges))[0], "counted")
    axes.diagonal("fitted-line")
    return axes


def common_range(*values: np.ndarray) -> tuple[float, float]:
    """Return the range that axes show of some arrays: all but a few outliers."""
    ends = np.array([np.percentile(some, [OUTLIERS, 100 - OUTLIERS]) for some in values])
    return float(ends[:, 0].min()), float(ends[:, 1].max())


def figure(picture: Picture, caption: str) -> str:
    """Return a picture with its caption."""
    return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"


def pictures(*parts: str) -> str:
    """Put pictures side by side, if there is room."""
    return f'<div class="pictures">{"".join(parts)}</div>'


def missing(why: str) -> str:
    """Return the sentence of a section that cannot be made."""
    return f'<p class="why">{safe(why)}</p>'
