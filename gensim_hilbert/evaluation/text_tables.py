"""Tables of scores of vectors of texts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from gensim_hilbert.evaluation.linear import LinearScore, compare_linear
from gensim_hilbert.evaluation.significance import Difference
from gensim_hilbert.evaluation.sts import StsScore, compare_sts
from gensim_hilbert.evaluation.tables import Score, Table, tabulate

WIDTH = float(norm.ppf(0.975))  # half of a 95% interval, in standard deviations
YEAR = re.compile(r"sts(\d{4})_")


class Mean(NamedTuple):
    """Scores on sets, and the weight of each."""

    scores: list[StsScore]
    weights: list[float]


def sts_tables(scores: Mapping[str, Sequence[StsScore]]) -> list[Table]:
    """Return Pearson's and Spearman's correlations by set, the mean of each year, and those of all years and sets."""
    rows = {name: with_means(row) for name, row in scores.items()}
    note = "± half of the 95% interval of a bootstrap"
    return [
        tabulate(f"STS, {metric.title()}", rows, partial(show, metric), partial(compare, metric), note)
        for metric in ("pearson", "spearman")
    ]


def with_means(row: Sequence[StsScore]) -> dict[str, Mean]:
    """Return what stands in the columns of a table."""
    columns = {score.name: Mean([score], [1.0]) for score in row}
    years: dict[str, list[StsScore]] = {}
    for score in row:
        if match := YEAR.match(score.name):
            years.setdefault(match[1], []).append(score)
    for year, of_year in years.items():
        columns[year] = Mean(of_year, [1 / len(of_year)] * len(of_year))
    if len(years) > 1:
        every = [score for of_year in years.values() for score in of_year]
        shares = [1 / len(of_year) / len(years) for of_year in years.values() for _ in of_year]
        columns["mean of years"] = Mean(every, shares)
        columns["mean of sets"] = Mean(every, [1 / len(every)] * len(every))
    return columns


def show(metric: str, mean: Mean) -> Score:
    """Return the mean; sets are resampled independently of one another."""
    found = [getattr(score, metric) for score in mean.scores]
    value = float(np.dot([one.value for one in found], mean.weights))
    spread = math.sqrt(
        sum((weight * (one.high - one.low) / 2) ** 2 for one, weight in zip(found, mean.weights, strict=True))
    )
    one = mean.scores[0] if len(found) == 1 else None
    return Score(value, spread, one.pairs if one else 0, one.covered if one else 0)


def compare(metric: str, first: Mean, second: Mean) -> Difference:
    """Return the difference of two means over the same sets."""
    found = [compare_sts(*pair, metric) for pair in zip(first.scores, second.scores, strict=True)]
    if len(found) == 1:
        return found[0]
    value = float(np.dot([one.value for one in found], first.weights))
    halves = [weight * (one.high - one.low) / 2 / WIDTH for one, weight in zip(found, first.weights, strict=True)]
    spread = math.sqrt(sum(half**2 for half in halves))
    p = 2 * float(norm.sf(abs(value) / spread)) if spread > 0 else 1.0
    return Difference(value, value - WIDTH * spread, value + WIDTH * spread, p, sum(one.items for one in found))


def linear_table(scores: Mapping[str, Sequence[LinearScore]]) -> Table:
    """Return accuracies by set."""
    rows = {name: {score.name: score for score in row} for name, row in scores.items()}
    sizes = ", ".join(f"{s.name} {'/'.join(map(str, s.examples))}" for s in next(iter(scores.values())))
    note = f"± half of the 95% interval of a bootstrap; examples to train/validate/test: {sizes}"

    def shown(score: LinearScore) -> Score:
        return Score(score.accuracy, (score.high - score.low) / 2)

    return tabulate("Logistic regression (accuracy)", rows, shown, compare_linear, note)
