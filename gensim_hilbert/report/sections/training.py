"""How training went."""

from __future__ import annotations

import numpy as np

from gensim_hilbert.report.sections import HIGH, WIDE, Section, figure, missing, pictures
from gensim_hilbert.report.subject import Subject
from gensim_hilbert.report.svg import Axes
from gensim_hilbert.report.text import number


def training(subject: Subject) -> Section:
    """The curve of the last training."""
    records = getattr(subject.model, "training_history", [])
    if not records:
        why = f"{subject.what} keeps no record of its training, so no curve can be drawn."
        return Section("Training", "How training went is not known", missing(why))
    trainings = records[-1]["training"]
    records = [record for record in records if record["training"] == trainings]
    loss = [record["loss"] for record in records]
    counted = "passes" in records[0]
    done = [record["passes" if counted else "words"] for record in records]
    unit = "passes over the counts" if counted else "words read"
    went = "fell" if loss[-1] < loss[0] else "went"
    title = f"The loss {went} from {number(loss[0], 3)} to {number(loss[-1], 3)} in {done[-1]:,.0f} {unit}"
    first = curve(done, loss, unit, "loss", "The loss by " + unit)
    if counted:
        sums = [record["unitarity"] for record in records]
        second = curve(done, sums, unit, "sum of all fitted probabilities", "The sum of probabilities by " + unit, 1.0)
        left = "Each point is the mean over a pass, the prior included."
        right = f"The probabilities of all pairs should add up to 1; in the last pass it was {number(sums[-1], 3)}."
    else:
        second = curve(done, [record["rate"] for record in records], unit, "rate", "The rate by " + unit, 0.0)
        left = "Each point is the mean over the pairs since the point before it."
        right = "The rate falls in proportion to the words read."
    text = "Training changes vectors and covectors until their products say as well as they can which words meet."
    if trainings > 1:
        text += f" This is the last of {trainings} trainings."
    return Section("Training", title, f"<p>{text}</p>{pictures(figure(first, left), figure(second, right))}")


def curve(xs: list[float], ys: list[float], x: str, y: str, title: str, rule: float | None = None) -> Axes:
    """One line; with a rule, its axis reaches to that."""
    known = [value for value in (*ys, rule) if value is not None and np.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = 0.06 * (high - low)
    axes = Axes(WIDE, HIGH, title, (min(xs), max(xs)), (low if low == 0 else low - room, high + room), x, y)
    if rule is not None:
        axes.level(rule, "rule")
    axes.curve(xs, ys, "fitted-line")
    return axes
