"""Tables of scores, one per task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import norm

from gensim_hilbert.evaluation.analogy import AnalogyScore, SectionScore, compare_analogies
from gensim_hilbert.evaluation.extrinsic import ExtrinsicScore, compare_extrinsic
from gensim_hilbert.evaluation.significance import Difference
from gensim_hilbert.evaluation.similarity import SimilarityScore, compare_similarity
from gensim_hilbert.evaluation.tables import Score, Table, tabulate

WIDTH = float(norm.ppf(0.975))  # half of a 95% interval, in standard deviations
METHOD_NAMES = {"mul": "3CosMul", "add": "3CosAdd"}


def similarity_table(scores: Mapping[str, Sequence[SimilarityScore]]) -> Table:
    """Return the table of Spearman's rho by set, and the mean over those sets that all embeddings have a score on."""
    common = set.intersection(*({s.name for s in row if not math.isnan(s.rho)} for row in scores.values()))
    rows: dict[str, dict[str, Sequence[SimilarityScore]]] = {}
    for name, row in scores.items():
        rows[name] = {score.name: [score] for score in row}
        if len(common) > 1:
            rows[name]["mean"] = [score for score in row if score.name in common]
    return tabulate("Spearman", rows, mean_similarity, compare_means, "± half of the 95% interval of a bootstrap")


def mean_similarity(scores: Sequence[SimilarityScore]) -> Score:
    """Return the score of one set, or the mean score of several, which are resampled independently."""
    spread = math.sqrt(sum(((score.high - score.low) / 2) ** 2 for score in scores)) / len(scores)
    one = scores[0] if len(scores) == 1 else None
    value = float(np.mean([score.rho for score in scores]))
    return Score(value, spread, one.pairs if one else 0, one.covered if one else 0)


def compare_means(first: Sequence[SimilarityScore], second: Sequence[SimilarityScore]) -> Difference:
    """Return the difference of mean scores."""
    if len(first) == len(second) == 1:
        return compare_similarity(first[0], second[0])
    found = [compare_similarity(*pair) for pair in zip(first, second, strict=True)]
    found = [one for one in found if not math.isnan(one.value)]  # where they cover pairs in common
    if not found:
        return Difference(math.nan, math.nan, math.nan, 1.0, 0)
    value = float(np.mean([one.value for one in found]))
    spread = math.sqrt(sum(((one.high - one.low) / 2 / WIDTH) ** 2 for one in found)) / len(found)
    p = 2 * float(norm.sf(abs(value) / spread)) if spread > 0 else 1.0
    return Difference(value, value - WIDTH * spread, value + WIDTH * spread, p, sum(one.items for one in found))


def analogy_table(scores: Mapping[str, Sequence[AnalogyScore]]) -> Table:
    """Return the table of accuracies by set and method."""
    several = len({score.method for row in scores.values() for score in row}) > 1
    rows = {
        name: {f"{s.name}, {METHOD_NAMES[s.method]}" if several else s.name: s for s in row}
        for name, row in scores.items()
    }
    method = "" if several else METHOD_NAMES[next(score.method for row in scores.values() for score in row)] + ", "
    note = "± half of the 95% interval of a bootstrap over word pairs; differences by that and by McNemar's test"
    return tabulate(f"Analogies ({method}accuracy)", rows, show_analogy, compare_analogies, note)


def show_analogy(score: AnalogyScore | SectionScore) -> Score:
    """Return an accuracy with its interval, where there is one."""
    spread = (score.high - score.low) / 2 if isinstance(score, AnalogyScore) else math.nan
    return Score(score.accuracy, spread, score.questions, score.covered)


def section_table(scores: Mapping[str, AnalogyScore]) -> Table:
    """Return the table of accuracies by section of a set."""
    some = next(iter(scores.values()))
    rows = {name: {section.name: section for section in score.sections} for name, score in scores.items()}
    return tabulate(f"{some.name} by section ({METHOD_NAMES[some.method]})", rows, show_analogy, lambda *_: None)


def extrinsic_table(
    title: str, scores: Mapping[str, Sequence[ExtrinsicScore]], baseline: Mapping[str, float] | None = None
) -> Table:
    """Return the table of means over seeds by set, and what the most frequent tag achieves."""
    rows = {name: {score.name: score for score in row} for name, row in scores.items()}
    some = next(iter(scores.values()))
    seeds, sizes = len(some[0].runs), ", ".join(f"{s.name} {'/'.join(map(str, s.examples))}" for s in some)
    note = f"± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
    note += f"; examples to train/validate/test: {sizes}"
    if any(score.metric != "accuracy" for score in some):
        note += "; " + ", ".join(f"{score.name}: {score.metric}" for score in some if score.metric != "accuracy")
    table = tabulate(title, rows, lambda score: Score(score.mean, score.sd), compare_extrinsic, note, digits=4)
    if baseline:
        told = {"most frequent tag": {name: Score(value) for name, value in baseline.items()}}
        table = replace(table, scores=told | dict(table.scores))
    return table
