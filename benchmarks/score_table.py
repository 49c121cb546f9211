"""Tables of scores: one line for each model, with the mean and the standard deviation over its runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TIMES = ("CPU s", "wall s")


def columns_of(rows: dict[str, list[dict[str, float]]]) -> list[str]:
    """The columns of all runs: times first, the rest in the order in which they appear."""
    found = dict.fromkeys(column for runs in rows.values() for run in runs for column in run)
    return [column for column in TIMES if column in found] + [column for column in found if column not in TIMES]


def spread(values: Sequence[float]) -> float:
    """Return the sample standard deviation over runs, which every ± of our tables is; 0 for a single run."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def mean_and_spread(values: Sequence[float], digits: int = 3) -> str:
    """Write the mean over runs and, if there are several, ± their standard deviation."""
    numbers = [float(np.mean(values)), *([spread(values)] if len(values) > 1 else [])]
    return " ± ".join(f"{number:.{digits}f}" for number in numbers)


def cell(column: str, runs: Sequence[dict[str, float]]) -> str:
    """Mean and standard deviation of the runs that have a value; scores without the zero before the point."""
    values = [run[column] for run in runs if column in run]
    if not values:
        return ""
    if column in TIMES:
        return mean_and_spread(values, digits=0)
    return mean_and_spread(values).replace("0.", ".")


def line_of(*cells: str) -> str:
    """Write a line of a table in Markdown."""
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def table(rows: dict[str, list[dict[str, float]]], wanted: int = 0, notes: dict[str, str] | None = None) -> str:
    """Write a table in Markdown.

    `wanted` is the number of runs that each model should have, if that is known; `notes` go beside a model's number.
    """
    columns = columns_of(rows)
    lines = [line_of("", "runs", *columns), "|" + "---|" * (2 + len(columns))]
    for name, runs in rows.items():
        count = str(len(runs)) if len(runs) >= wanted else f"{len(runs)} of {wanted}"
        count += f" ({notes[name]})" if notes and name in notes else ""
        lines.append(line_of(name, count, *(cell(column, runs) for column in columns)))
    return "\n".join(lines)
