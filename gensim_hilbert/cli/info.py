"""The verb that tells what a path holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from gensim_hilbert.cli.loading import CHECKPOINT, COUNTS, MODEL, kind_of, load, load_pickled
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.results import as_json, show, table

SHOWN = 8  # records of a training, at most


@click.command(cls=Verb, short_help="What a file or directory holds.")
@click.argument("path", type=click.Path(path_type=Path))
@as_json
def info(path: Path, as_json: bool) -> None:
    """What PATH is (counts, a model, vectors ...): its settings, its sizes and its history."""
    kind = kind_of(path)
    about = {COUNTS: about_counts, CHECKPOINT: about_checkpoint, MODEL: about_model}.get(kind, about_vectors)
    facts = {"path": str(path), "kind": kind, **about(path)}
    show(facts, as_text(facts), as_json)


def about_counts(path: Path) -> dict[str, Any]:
    """From the manifest."""
    from gensim_hilbert.counting.pair_counts import PairCounts

    counts = PairCounts.open(path)
    names = ("words", "tokens", "sentences", "entries", "oov", "sample", "seed", "errors", "fingerprint")
    window = counts.window
    return {
        **{name: counts.manifest[name] for name in names if name in counts.manifest},
        "total": counts.total,
        "weights_left": [weight / window.scale for weight in window.left],
        "weights_right": [weight / window.scale for weight in window.right],
        "bytes": size_of(path),
    }


def about_checkpoint(path: Path) -> dict[str, Any]:
    """How far each training has come."""
    from gensim_hilbert.training.checkpoint import read_manifest

    facts: dict[str, Any] = {}
    if (path / "command.json").exists():
        facts["command"] = json.loads((path / "command.json").read_text(encoding="utf-8"))
    for folder in sorted(path.glob("training-*")):
        manifest = read_manifest(folder)
        if manifest is None:
            facts[folder.name] = "no epoch yet"
        else:
            facts[folder.name] = f"{manifest['epochs']} of {manifest['request']['settings']['epochs']} epochs"
    return {**facts, "bytes": size_of(path)}


def about_model(path: Path) -> dict[str, Any]:
    """Class, settings, sizes, how training went, and gensim's record of what was done to it."""
    from gensim_hilbert.options import settings_of

    model = load_pickled(path)
    words = getattr(model, "wv", model)
    facts: dict[str, Any] = {"class": type(model).__name__}
    if hasattr(words, "key_to_index"):
        facts |= {"words": len(words), "vector_size": words.vector_size}
    for name in ("corpus_count", "corpus_total_words", "total_train_time"):
        if hasattr(model, name):
            facts[name] = getattr(model, name)
    counts = getattr(model, "counts", None)
    if counts is not None:
        facts["counts"] = str(counts.directory)
    history = [event for event in getattr(model, "lifecycle_events", None) or [] if event["event"] != "loaded"]
    training = getattr(model, "training_history", [])
    return {**facts, "settings": settings_of(model), "training": training, "history": history}


def about_vectors(path: Path) -> dict[str, Any]:
    """Sizes."""
    vectors = load(path)
    return {"words": len(vectors), "vector_size": vectors.vector_size, "bytes": size_of(path)}


def size_of(path: Path) -> int:
    """Of a file, or of all in a directory."""
    return sum(file.stat().st_size for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())


def as_text(facts: dict[str, Any]) -> str:
    """A line a fact; settings, some of the training's curve, and history below."""
    facts = dict(facts)
    settings, history, training = facts.pop("settings", {}), facts.pop("history", []), facts.pop("training", [])
    first = f"{facts.pop('path')}: {facts.pop('kind')}"
    events = [(event.get("datetime", ""), event["event"], event.get("msg", "")) for event in history]
    given = [(name, value) for name, value in settings.items() if value is not None]
    sections = ((first, list(facts.items())), ("settings", given), ("training", curve(training)), ("history", events))
    return "\n".join(f"{title}\n{rows_of(rows)}" for title, rows in sections if rows)


def curve(records: list[dict[str, float]]) -> list[tuple[Any, ...]]:
    """The last training, in a heading and a few of its records, evenly spaced; its end is among them."""
    last = [record for record in records if record["training"] == records[-1]["training"]]
    few = sorted({len(last) - 1 - k * len(last) // SHOWN for k in range(min(SHOWN, len(last)))})
    rows = [tuple(f"{value:.6g}" for name, value in last[k].items() if name != "training") for k in few]
    return [tuple(name for name in last[0] if name != "training"), *rows] if last else []


def rows_of(rows: list[tuple[Any, ...]]) -> str:
    """A table, set in a little."""
    return table([("", *map(said, row)) for row in rows])


def said(value: Any) -> str:
    """A value, in words."""
    if isinstance(value, list):
        return " ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)
