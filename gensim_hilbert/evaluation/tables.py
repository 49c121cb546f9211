"""Scores of several embeddings side by side, with marks where a difference is real; as text, Markdown or LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gensim_hilbert.evaluation.significance import LEVEL, Difference, holm


class Score(NamedTuple):
    """What a cell shows: a value, how far it is to be trusted, and how much of the set it stands for."""

    value: float
    spread: float = math.nan
    items: int = 0
    covered: int = 0


class Comparison(NamedTuple):
    """An embedding against the best one on a set; `p` is corrected for all comparisons of the table."""

    embedding: str
    best: str
    column: str
    difference: Difference
    p: float

    @property
    def real(self) -> bool:
        """Return True where chance alone would hardly make such a difference."""
        return self.p < LEVEL


@dataclass(frozen=True)
class Table:
    """Scores by embedding and set."""

    title: str
    columns: Sequence[str]
    scores: Mapping[str, Mapping[str, Score]]
    comparisons: Sequence[Comparison] = ()
    note: str = ""
    digits: int = 3

    def best(self, column: str) -> float:
        """Return the highest value of a set, as it is shown."""
        values = [row[column].value for row in self.scores.values() if column in row]
        return max((round(value, self.digits) for value in values if not math.isnan(value)), default=math.nan)

    def lower(self, name: str, column: str) -> bool:
        """Return True if an embedding is really behind the best one there."""
        return any(found.real and (found.embedding, found.column) == (name, column) for found in self.comparisons)

    def grid(self, style: Style) -> list[list[str]]:
        """Return rows of cells, the first row and column being names."""
        rows = [[style.text(self.title), *map(style.text, self.columns)]]
        for name, row in self.scores.items():
            rows.append(
                [style.text(name), *(self.cell(name, row.get(column), column, style) for column in self.columns)]
            )
        return rows

    def cell(self, name: str, score: Score | None, column: str, style: Style) -> str:
        """Return a value with its marks."""
        if score is None or math.isnan(score.value):
            return style.none
        shown = number(score.value, self.digits)
        if len(self.scores) > 1 and round(score.value, self.digits) == self.best(column):
            shown = style.best.format(shown)
        elif self.lower(name, column):
            shown += style.lower
        return shown if math.isnan(score.spread) else shown + style.spread.format(number(score.spread, self.digits))

    def coverage(self, column: str) -> str:
        """Return how much of a set has been used: `998/999`, or the least and the most."""
        scores = [row[column] for row in self.scores.values() if column in row and row[column].items]
        if not scores:
            return ""
        least, most = min(score.covered for score in scores), max(score.covered for score in scores)
        return f"{least if least == most else f'{least}-{most}'}/{scores[0].items}"

    def notes(self, style: Style) -> str:
        """Tell what the marks mean."""
        told = [style.text(self.note)]
        if len(self.scores) > 1:
            told.append(f"{style.best.format('best')} of a set")
        if self.comparisons:
            rule = f"p < {number(LEVEL, 2)}, Holm's correction over this table: {len(self.comparisons)} comparisons"
            told.append(f"{style.lower} really lower than the best ({style.text(rule)})")
        return "; ".join(filter(None, told)) + "."


class Style(NamedTuple):
    """How marks of scores are written in one kind of table."""

    best: str
    lower: str
    spread: str
    none: str
    text: Callable[[str], str]


def escape(text: str) -> str:
    """Escape the characters that are special in LaTeX."""
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "<": "$<$",
    }
    return "".join(special.get(sign, f"\\{sign}" if sign in "&%$#_{}" else sign) for sign in text)


TEXT = Style("{}*", "↓", " ±{}", "-", str)
MARKDOWN = Style("**{}**", "↓", " ± {}", "–", lambda text: text.replace("|", r"\|"))
LATEX = Style(r"\textbf{{{}}}", r"$^\downarrow$", r" $\pm$ {}", "--", escape)


def number(value: float, digits: int = 3) -> str:
    """Return a number as the paper prints it: .462."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def tabulate(
    title: str,
    scores: Mapping[str, Mapping[str, Any]],
    show: Callable[[Any], Score],
    compare: Callable[[Any, Any], Difference | None],
    note: str = "",
    digits: int = 3,
) -> Table:
    """Return a table of scores by embedding and set, in which each is compared with the best one of its set."""
    columns = list(dict.fromkeys(column for row in scores.values() for column in row))
    shown = {name: {column: show(score) for column, score in row.items()} for name, row in scores.items()}
    found: list[tuple[str, str, str, Difference]] = []
    for column in columns:
        there = [name for name, row in shown.items() if column in row and not math.isnan(row[column].value)]
        best = max(there, key=lambda name: shown[name][column].value, default="")
        for name in there:
            if name != best and (differs := compare(scores[name][column], scores[best][column])) is not None:
                found.append((name, best, column, differs))
    corrected = holm([differs.p for *_, differs in found])
    comparisons = [Comparison(*entry, p) for entry, p in zip(found, corrected, strict=True)]
    return Table(title, columns, shown, comparisons, note, digits)


def as_text(table: Table) -> str:
    """Return a table for a terminal: one row per set, because there are more sets than embeddings."""
    grid = [list(row) for row in zip(*table.grid(TEXT), strict=True)]
    if any(table.coverage(column) for column in table.columns):
        grid = [[*row, told] for row, told in zip(grid, ["covered", *map(table.coverage, table.columns)], strict=True)]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    rows = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in grid]
    return "\n".join([*rows, table.notes(TEXT)])


def as_markdown(table: Table) -> str:
    """Return a table in Markdown, with one row per embedding as in the paper."""
    head, *rows = table.grid(MARKDOWN)
    if any(table.coverage(column) for column in table.columns):
        rows.append(["covered", *map(table.coverage, table.columns)])
    body = [head, ["---"] * len(head), *rows]
    return "\n".join([*(f"| {' | '.join(row)} |" for row in body), "", table.notes(MARKDOWN)])


def as_latex(table: Table) -> str:
    """Return a table in LaTeX for the package booktabs, with one row per embedding."""
    head, *rows = (" & ".join(row) + r" \\" for row in table.grid(LATEX))
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{LATEX.text(table.title)}. {table.notes(LATEX)}}}",
            r"\end{table}",
        ]
    )


WRITERS: dict[str, Callable[[Table], str]] = {"text": as_text, "markdown": as_markdown, "latex": as_latex}
