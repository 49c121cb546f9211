"""Pictures as SVG. Colours are classes of a style sheet, so that a picture suits light and dark pages alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from gensim_hilbert.markup import number, safe

FONT_SIZE = 12.0
HEAT_SHADES = 10
Range = tuple[float, float]


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return at most so many round numbers within a range: multiples of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(step * power for step in (1, 2, 5, 10, 20) if math.floor((high - low) / (step * power)) + 1 <= most)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_labels(values: Sequence[float]) -> list[str]:
    """Return numbers as text, with enough digits to tell them apart; thousands as k, millions as M."""
    largest = max(map(abs, values), default=0.0)
    unit, sign = next(((u, s) for u, s in ((1e9, "G"), (1e6, "M"), (1e4, "k")) if largest >= u), (1.0, ""))
    unit = 1e3 if sign == "k" else unit
    step = min(np.diff(values), default=largest or 1.0) / unit
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [number(value / unit, digits) + (sign if value else "") for value in values]


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Return about how wide a text is; rather too much than too little."""
    return size * sum(1.05 if ord(character) > 0x2E7F else 0.6 for character in text)


class Picture:
    """Elements on a canvas. Its size is given in units that are pixels at full size."""

    def __init__(self, width: float, height: float, title: str):
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def add(self, element: str, content: str = "", **attributes: Any) -> None:
        """Add an element. `class_` is its class, other underscores are dashes, and `content` is SVG."""
        given = "".join(
            f' {name.rstrip("_").replace("_", "-")}="{short(value)}"'
            for name, value in attributes.items()
            if value is not None
        )
        self.parts.append(f"<{element}{given}>{content}</{element}>" if content else f"<{element}{given}/>")

    def text(self, x: float, y: float, words: str, *, anchor: str | None = None, **attributes: Any) -> None:
        """Add a line of text that starts here, unless `anchor` says middle or end."""
        self.add("text", safe(words), x=x, y=y, text_anchor=anchor, **attributes)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """Add a straight line."""
        self.add("path", d=f"M{short(x1)} {short(y1)}L{short(x2)} {short(y2)}", class_=style)

    def standalone(self) -> str:
        """Return a file of its own, with its style sheet and a background."""
        size = f'width="{short(self.width)}" height="{short(self.height)}"'
        under = f'<style>{style_sheet("colours", "pictures")}</style><rect {size} rx="8" class="paper"/>'
        root, _, rest = str(self).partition(">")
        return f"{root} {size}>{under}{rest}"

    def __str__(self) -> str:
        box = f"0 0 {short(self.width)} {short(self.height)}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" aria-label="{safe(self.title)}" '
            f'font-size="{short(FONT_SIZE)}">{"".join(self.parts)}</svg>'
        )


class Axes(Picture):
    """A picture with two axes, on which to draw in the units of the data.

    Parameters
    ----------
    x, y : (low, high)
        What the axes span.
    x_label, y_label : str
        What they measure. That of y stands above its axis, where it can be read without turning one's head.
    """

    def __init__(
        self,
        width: float,
        height: float,
        title: str,
        x: Range,
        y: Range,
        x_label: str,
        y_label: str,
    ):
        super().__init__(width, height, title)
        self.x, self.y = widened(x), widened(y)
        marks = ticks(*self.y, most=6)
        labels = tick_labels(marks)
        self.left = 10 + max(map(text_width, labels), default=0.0)
        self.right, self.top, self.bottom = width - 12, 26.0, height - 40
        self.text(0, 12, y_label, class_="muted")
        self.text(self.right, height - 4, x_label, anchor="end", class_="muted")
        for mark, label in zip(marks, labels, strict=True):
            at = self.at_y(mark)
            self.line(self.left, at, self.right, at, "grid")
            self.text(self.left - 6, at + 4, label, anchor="end", class_="muted")
        marks = ticks(*self.x, most=7)
        for mark, label in zip(marks, tick_labels(marks), strict=True):
            at = self.at_x(mark)
            self.line(at, self.bottom, at, self.bottom + 4, "axis")
            self.text(at, self.bottom + 18, label, anchor="middle", class_="muted")
        self.line(self.left, self.bottom, self.right, self.bottom, "axis")

    def at_x(self, value: Any) -> Any:
        """Return the horizontal place of a number, or of an array of numbers, on the canvas."""
        return self.left + (value - self.x[0]) / (self.x[1] - self.x[0]) * (self.right - self.left)

    def at_y(self, value: Any) -> Any:
        """Return the vertical place of a number, or of an array of numbers, on the canvas."""
        return self.bottom - (value - self.y[0]) / (self.y[1] - self.y[0]) * (self.bottom - self.top)

    def curve(self, xs: Any, ys: Any, style: str) -> None:
        """Draw a line through points; a single point is drawn as a dot."""
        places = [
            f"{short(a)} {short(b)}" for a, b in zip(self.at_x(np.array(xs)), self.at_y(np.array(ys)), strict=True)
        ]
        if len(places) == 1:
            self.add("circle", cx=self.at_x(xs[0]), cy=self.at_y(ys[0]), r=3, class_=f"{style} dot")
        else:
            self.add("path", d="M" + "L".join(places), class_=style)

    def steps(self, edges: np.ndarray, heights: np.ndarray, style: str) -> None:
        """Draw a histogram, from the axis up and back to it: an area or an outline, as its style says."""
        path = f"M{short(self.at_x(edges[0]))} {short(self.at_y(0))}"
        for right, height in zip(self.at_x(edges[1:]), self.at_y(heights), strict=True):
            path += f"V{short(height)}H{short(right)}"
        self.add("path", d=f"{path}V{short(self.at_y(0))}", class_=style)

    def heat(self, x_edges: np.ndarray, y_edges: np.ndarray, counts: np.ndarray, style: str) -> None:
        """Draw a heat map: the shade of a cell is the logarithm of its count. Cells of one shade are one path."""
        if not counts.any():
            return
        level = np.ceil(np.log1p(counts) / np.log1p(counts.max()) * HEAT_SHADES).astype(int)
        xs, ys = self.at_x(x_edges), self.at_y(y_edges)
        for shade in range(1, HEAT_SHADES + 1):
            cells = "".join(
                f"M{short(xs[i])} {short(ys[j + 1])}H{short(xs[i + 1])}V{short(ys[j])}H{short(xs[i])}z"
                for i, j in np.argwhere(level == shade)
            )
            if cells:
                opacity = 0.1 + 0.9 * shade / HEAT_SHADES
                self.add("path", d=cells, class_=style, fill_opacity=opacity, shape_rendering="crispEdges")

    def diagonal(self, style: str) -> None:
        """Draw the line on which x equals y, within both axes."""
        low, high = max(self.x[0], self.y[0]), min(self.x[1], self.y[1])
        if low < high:
            self.curve([low, high], [low, high], style)

    def upright(self, x: float, style: str) -> None:
        """Draw a line over the whole height."""
        self.line(self.at_x(x), self.top, self.at_x(x), self.bottom, style)

    def level(self, y: float, style: str) -> None:
        """Draw a line over the whole width."""
        self.line(self.left, self.at_y(y), self.right, self.at_y(y), style)

    def legend(self, entries: Sequence[tuple[str, str]]) -> None:
        """Draw a legend of (style, words) at the top right."""
        wide = max(text_width(words) for _, words in entries)
        for row, (style, words) in enumerate(entries):
            x, y = self.right - wide, self.top + 10 + 18 * row
            self.add("path", d=f"M{short(x - 22)} {short(y)}h14v-8h-14z", class_=style)
            self.text(x, y, words)


def style_sheet(*names: str) -> str:
    """Return some of the style sheets beside this file, one after the other."""
    return "".join(files(__package__).joinpath(f"{name}.css").read_text(encoding="utf-8") for name in names)


def widened(span: Range) -> Range:
    """Return a range that is not empty."""
    low, high = span
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def short(value: Any) -> str:
    """Return a number with as many digits as can be seen, or a word."""
    return value if isinstance(value, str) else f"{round(float(value), 2):g}"
