"""The section on how training went."""

from __future__ import annotations

import numpy as np

from gensim_hilbert.markup import number
from gensim_hilbert.report.sections import PICTURE_HEIGHT, PICTURE_WIDTH, Section, figure, missing, pictures
from gensim_hilbert.report.subject import Subject
from gensim_hilbert.report.svg import Axes


def training(subject: Subject) -> Section:
    """Show the curve of the last training."""
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
    mean = "a pass, the prior included" if counted else "the pairs since the point before it"
    drawn = pictures(figure(first, f"Each point is the mean over {mean}."), beside(records, done, unit))
    text = "Training changes vectors and covectors until their products say as well as they can which words meet."
    if trainings > 1:
        text += f" This is the last of {trainings} trainings."
    return Section("Training", title, f"<p>{text}</p>{drawn}")


def beside(records: list[dict[str, float]], done: list[float], unit: str) -> str:
    """Draw what else tells how training went: the sum of probabilities, if the objective has any."""
    last = records[-1]
    if "rate" in last:
        name, title, rule = "rate", "rate", 0.0
        caption = "The rate falls in proportion to the words read."
    elif np.isfinite(last["unitarity"]):
        name, title, rule = "unitarity", "sum of all fitted probabilities", 1.0
        caption = f"It should be 1; over the last pass it was {number(last['unitarity'], 3)}."
    else:
        name, title, rule = "gradient", "gradient", 0.0
        caption = "The norm of the gradient of a shard, which becomes small as the loss becomes flat."
    if not any(record[name] for record in records):
        return ""  # what is solved at once has no gradient
    drawn = curve(done, [record[name] for record in records], unit, title, f"The {title} by {unit}", rule)
    return figure(drawn, caption)


def curve(xs: list[float], ys: list[float], x: str, y: str, title: str, rule: float | None = None) -> Axes:
    """Draw one line; the axis includes the rule, if there is one."""
    points = [(a, b) for a, b in zip(xs, ys, strict=True) if np.isfinite(b)]
    known = [b for _, b in points] + ([] if rule is None else [rule])
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = 0.06 * (high - low)
    axes = Axes(
        PICTURE_WIDTH, PICTURE_HEIGHT, title, (min(xs), max(xs)), (low if low == 0 else low - room, high + room), x, y
    )
    if rule is not None:
        axes.level(rule, "rule")
    if points:
        axes.curve([a for a, _ in points], [b for _, b in points], "fitted-line")
    return axes
