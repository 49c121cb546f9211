"""The verb info, which tells what a path holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from gensim_hilbert.cli.loading import CHECKPOINT, COUNTS, MODEL, MODEL_FOLDER, kind_of, load, trust_pickle
from gensim_hilbert.cli.names import Verb
from gensim_hilbert.cli.results import as_json, show, table
from gensim_hilbert.files import read_json
from gensim_hilbert.untrusted import damage_named

MOST_RECORDS = 8  # of a training that are shown


@click.command(cls=Verb, short_help="Tell what a file or directory holds.")
@click.argument("path", type=click.Path(path_type=Path))
@trust_pickle
@as_json
def info(path: Path, trust_pickle: bool, as_json: bool) -> None:
    """Tell what PATH holds (counts, a model, vectors ...), with its settings, sizes and history."""
    kind = kind_of(path)
    if kind in (MODEL, MODEL_FOLDER):
        about = about_model(path, trust_pickle)
    else:
        about = {COUNTS: about_counts, CHECKPOINT: about_checkpoint}.get(kind, about_vectors)(path)
    facts = {"path": str(path), "kind": kind, **about}
    show(facts, as_text(facts), as_json)


def about_counts(path: Path) -> dict[str, Any]:
    """Collect settings and sizes of counts from their manifest."""
    from gensim_hilbert.counting.pair_counts import PairCounts
    from gensim_hilbert.model_tokenizer import in_words

    counts = PairCounts.open(path)
    names = ("words", "tokens", "sentences", "entries", "oov", "sample", "seed", "errors", "fingerprint")
    window = counts.window
    return {
        **{name: counts.manifest[name] for name in names if name in counts.manifest},
        "words_by": in_words(counts.manifest.get("preparation")),
        "total": counts.total,
        "weights_left": [weight / window.scale for weight in window.left],
        "weights_right": [weight / window.scale for weight in window.right],
        "bytes": size_of(path),
    }


def about_checkpoint(path: Path) -> dict[str, Any]:
    """Collect how far each training of a checkpoint has come."""
    from gensim_hilbert.training.checkpoint import read_manifest

    facts: dict[str, Any] = {}
    if (path / "command.json").exists():
        with damage_named(path / "command.json", "the command of an interrupted training"):
            facts["command"] = read_json(path / "command.json")
    for folder in sorted(path.glob("training-*")):
        manifest = read_manifest(folder)
        if manifest is None:
            facts[folder.name] = "no epoch yet"
        else:
            facts[folder.name] = f"{manifest['epochs']} of {manifest['request']['settings'].get('epochs')} epochs"
    return {**facts, "bytes": size_of(path)}


def about_model(path: Path, trust_pickle: bool) -> dict[str, Any]:
    """Collect class, settings and sizes of a model, how its training went, and gensim's record of its life."""
    from gensim_hilbert.options import settings_of

    model = load(path, trust_pickle)
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
    """Collect the sizes of vectors."""
    vectors = load(path, trust_pickle=False)
    return {"words": len(vectors), "vector_size": vectors.vector_size, "bytes": size_of(path)}


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files in a directory."""
    return sum(file.stat().st_size for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())


def as_text(facts: dict[str, Any]) -> str:
    """Write one line per fact; settings, some records of the training, and history stand below."""
    facts = dict(facts)
    settings, history, training = facts.pop("settings", {}), facts.pop("history", []), facts.pop("training", [])
    first = f"{facts.pop('path')}: {facts.pop('kind')}"
    events = [(event.get("datetime", ""), event["event"], event.get("msg", "")) for event in history]
    given = [(name, value) for name, value in settings.items() if value is not None]
    sections = ((first, list(facts.items())), ("settings", given), ("training", curve(training)), ("history", events))
    return "\n".join(f"{title}\n{indented(rows)}" for title, rows in sections if rows)


def curve(records: list[dict[str, float]]) -> list[tuple[Any, ...]]:
    """Return a heading and a few records of the last training, evenly spaced, with its end among them."""
    last = [record for record in records if record["training"] == records[-1]["training"]]
    few = sorted({len(last) - 1 - k * len(last) // MOST_RECORDS for k in range(min(MOST_RECORDS, len(last)))})
    rows = [tuple(f"{value:.6g}" for name, value in last[k].items() if name != "training") for k in few]
    return [tuple(name for name in last[0] if name != "training"), *rows] if last else []


def indented(rows: list[tuple[Any, ...]]) -> str:
    """Set rows in a table that is indented a little."""
    return table([("", *map(in_words, row)) for row in rows])


def in_words(value: Any) -> str:
    """Write a value in words."""
    if isinstance(value, list):
        return " ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)
