"""The section on settings."""

from __future__ import annotations

from gensim_hilbert.markup import number, safe
from gensim_hilbert.options import settings_of
from gensim_hilbert.report.sections import Section
from gensim_hilbert.report.subject import Subject


def settings(subject: Subject) -> Section | None:
    """Show the parameters of a model; vectors alone have none."""
    model = subject.model
    if model is subject.vectors:
        return None
    given = {name: value for name, value in settings_of(model).items() if value is not None}
    rows = "".join(f"<div><dt>{safe(name)}</dt><dd>{safe(value)}</dd></div>" for name, value in given.items())
    events = [event for event in getattr(model, "lifecycle_events", None) or [] if event["event"] == "train"]
    text = f"Last trained on {events[-1]['datetime'][:10]}. " if events and "datetime" in events[-1] else ""
    if seconds := getattr(model, "total_train_time", 0.0):
        text += f"Training took {number(seconds, 1)} s in all."
    return Section("Settings", "What was asked for", f'<p>{safe(text)}</p><dl class="settings">{rows}</dl>')
