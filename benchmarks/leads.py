"""Differences between systems over their runs, with intervals, and whether they are more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import ttest_ind
from score_table import TIMES, columns_of, line_of

from gensim_hilbert.evaluation.significance import LEVEL, holm

Runs = list[dict[str, float]]
SUMS, THOROUGH = 'HilbertMLE, `vectors="v+w"`', "HilbertMLE, `passes=32`"
COMPARED = (  # ours, and what it is compared with
    ("HilbertMLE", "gensim SGNS"),
    ("HilbertMLE", "word2vec in C"),
    ("HilbertMLE", "GloVe"),
    (SUMS, "gensim SGNS"),
    (THOROUGH, "gensim SGNS"),
    (THOROUGH, "HilbertMLE"),
    (f'{THOROUGH}, `vectors="v+w"`', "gensim SGNS"),
    ("HilbertMLE, gibbs", "gensim SGNS"),
    ("HilbertMLE, gibbs", "HilbertMLE"),
    ("HilbertMLE, `subwords=True`", "fastText"),
    ("HilbertMLE, `subwords=True, passes=32`", "fastText"),
)


class Lead(NamedTuple):
    """The difference of two means, half of its interval at the 95% level, and p by Welch's test."""

    value: float
    half: float
    p: float


def lead(ours: Sequence[float], theirs: Sequence[float]) -> Lead:
    """Compare two systems by their runs, at least two of each."""
    value = float(np.mean(ours) - np.mean(theirs))
    if np.ptp(ours) == np.ptp(theirs) == 0:
        return Lead(value, 0.0, float(value == 0))
    test = ttest_ind(ours, theirs, equal_var=False)
    low, high = test.confidence_interval(1 - LEVEL)
    return Lead(value, float(high - low) / 2, float(test.pvalue))


def leads_table(rows: dict[str, Runs]) -> str:
    """Write a line for each comparison of `COMPARED` of which both systems have two runs or more; else nothing.

    What is bold is significant after Holm's correction over the columns of its line.
    """
    pairs = [pair for pair in COMPARED if min(len(rows.get(name, [])) for name in pair) > 1]
    if not pairs:
        return ""
    columns = [column for column in columns_of(rows) if column not in TIMES]
    lines = [line_of("difference", *columns), "|" + "---|" * (1 + len(columns))]
    for pair in pairs:
        sides = [{column: [run[column] for run in rows[name] if column in run] for column in columns} for name in pair]
        found = {
            column: lead(*(side[column] for side in sides))
            for column in columns
            if min(len(side[column]) for side in sides) > 1
        }
        corrected = dict(zip(found, holm([one.p for one in found.values()]), strict=True))
        cells = [written(found[column], corrected[column]) if column in found else "" for column in columns]
        lines.append(line_of(" − ".join(pair), *cells))
    return "\n".join(lines)


def written(one: Lead, p: float) -> str:
    """Write a difference and half of its interval, bold if it is significant."""
    value = f"{one.value:+.3f}".replace("0.", ".", 1)
    value = f"**{value}**" if p < LEVEL else value
    return f"{value} ± {one.half:.3f}".replace("± 0.", "± .")
