"""The section on how the vectors score on published data sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gensim_hilbert.evaluation import Data, analogies, find_data, similarity
from gensim_hilbert.evaluation.data import SOURCES
from gensim_hilbert.evaluation.summary import mean_similarity
from gensim_hilbert.markup import number, safe
from gensim_hilbert.report.sections import Section, missing
from gensim_hilbert.report.subject import Subject
from gensim_hilbert.report.svg import Picture
from gensim_hilbert.report.text import table

WHISKER_WIDTH, WHISKER_HEIGHT = 176.0, 16.0
Row = tuple[str, float, float, float, int, int]  # name, score, its interval, all and covered items


def scores(subject: Subject) -> Section:
    """Show scores on word similarity and analogies, with intervals."""
    try:
        data = find_data(subject.data)
    except FileNotFoundError as error:
        if subject.data is not None:
            raise
        return Section("Scores", "The vectors were not scored", missing(f"$GENSIM_HILBERT_DATA: {error}"))
    text = (
        "<p>Similarity: how well cosines of vectors rank pairs of words as people do, by Spearman’s correlation. "
        "Analogies: how often the word found for “a is to b as c is to …” is the right one, by 3CosMul. Another choice "
        "of pairs or questions might have given any score within the interval, a bootstrap’s. Items with words that "
        "are not in the vocabulary are left out.</p>"
    )
    parts, titles = [], []
    near = scored(subject, data, similarity)
    if isinstance(near, str):
        parts.append(missing(near))
    elif near:
        rows = [(each.name, each.rho, each.low, each.high, each.pairs, each.covered) for each in near]
        known = [each for each in near if not math.isnan(each.rho)]
        if len(known) > 1:
            mean = mean_similarity(known)
            ends = mean.value - mean.spread, mean.value + mean.spread
            rows.append(("mean", mean.value, *ends, sum(each.pairs for each in known), sum(e.covered for e in known)))
            titles.append(f"a mean correlation of {number(mean.value)} with people’s judgements")
        parts.append(score_table("Similarity", "Spearman", "pairs", rows))
    right = scored(subject, data, analogies)
    if isinstance(right, str):
        parts.append(missing(right))
    elif right:
        rows = [(each.name, each.accuracy, each.low, each.high, each.questions, each.covered) for each in right]
        titles += [f"{100 * each.accuracy:.0f}% of {safe(each.name)}’s analogies" for each in right[:1] if each.covered]
        parts.append(score_table("Analogies", "right", "questions", rows))
    title = "The vectors score " + " and ".join(titles) if titles else "How the vectors score"
    return Section("Scores", title, text + "".join(parts))


def scored(subject: Subject, data: Data, task: Callable[[Any, Data], list[Any]]) -> list[Any] | str:
    """Return the scores, or why there are none: default data sets may be in another language, or keys no words."""
    try:
        return task(subject.vectors, data)
    except (ValueError, TypeError) as error:
        if subject.data is not None:
            raise
        return f"Not scored: {error}"


def score_table(name: str, score: str, items: str, rows: list[Row]) -> str:
    """Return a table with one row per data set."""
    about = {source.name: source.what for source in SOURCES}
    cells = [
        (
            f"{safe(name)}<small>{safe(about[name])}</small>" if name in about else safe(name),
            number(value, 3),
            f"{number(low, 3)} – {number(high, 3)}",
            str(whisker(name, value, low, high)),
            f"{covered:,}",
            f"{total:,}",
        )
        for name, value, low, high, total, covered in rows
    ]
    return table((name, score, "95% interval", "from 0 to 1", "covered", items), cells, name)


def whisker(name: str, value: float, low: float, high: float) -> Picture:
    """Draw a score and its interval on a line from 0 to 1."""
    picture = Picture(WHISKER_WIDTH, WHISKER_HEIGHT, f"{name}: {number(value, 3)}")
    middle, reach = WHISKER_HEIGHT / 2, WHISKER_WIDTH - 10

    def at(share: float) -> float:
        return 5 + reach * min(1.0, max(0.0, share))

    picture.line(at(0), middle, at(1), middle, "grid")
    for mark in (0, 0.25, 0.5, 0.75, 1):
        picture.line(at(mark), middle - 3, at(mark), middle + 3, "grid")
    if math.isfinite(value):
        picture.line(at(low), middle, at(high), middle, "counted-line")
        picture.add("circle", cx=at(value), cy=middle, r=4, class_="counted")
    return picture
