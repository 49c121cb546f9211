"""Writes an explorer to a folder that any web server can serve: a page that computes its answers itself."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from gensim_hilbert.explore.encoding import as_json, rounded
from gensim_hilbert.explore.endpoints import Explorer
from gensim_hilbert.explore.shapes import Evidence
from gensim_hilbert.explore.static_files import STATIC
from gensim_hilbert.explore.words import ExploredModel, frequencies
from gensim_hilbert.files import Staging, keep_anything
from gensim_hilbert.queries import SCORES_AT_A_TIME

PAGE = "index.html"
CONTEXTS = 20  # of each word, whose counts are written
DIGITS = 4  # behind the point


def write_explorer(explorer: Explorer, folder: str | os.PathLike[str], *, words: int = 5000) -> int:
    """Write a static explorer of the most frequent words, and return its size in bytes.

    The folder must not exist; it appears when it is complete. Layouts that are not known are computed first.

    Parameters
    ----------
    explorer : Explorer
        The models.
    folder : path
        Where the explorer goes.
    words : int
        How many words of each model are written; a word takes 8 bytes per dimension.
    """
    with Staging() as staging:
        target = Path(staging.local_folder(os.fspath(folder), keep_anything))
        for name, data in contents(explorer, words):
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    return size


def contents(explorer: Explorer, words: int) -> Iterable[tuple[str, bytes]]:
    """Yield the names of the files and what is in them."""
    for path in sorted(STATIC.iterdir()):
        data = path.read_bytes()
        if path.name == PAGE:
            server, files = b'name="answers" content="server"', b'name="answers" content="files"'
            assert server in data
            yield PAGE, data.replace(server, files)
        else:
            yield f"static/{path.name}", data
    facts = []
    for number, model in enumerate(explorer.models):
        count = min(words, len(model))
        known = model.facts()
        examples = [word for word in known["examples"] if model.rows[word] < count]
        facts.append({**known, "words": count, "examples": examples})
        explorer.maps[number].compute()
        yield f"data/{number}/words.json", as_json(words_file(explorer, number, count))
        yield f"data/{number}/vectors.bin", matrix_bytes(model.vectors.vectors[:count])
        if model.queries is not None:
            yield f"data/{number}/covectors.bin", matrix_bytes(model.queries.covectors[:count])
    yield "data/models.json", as_json({"models": facts})
    for one, other in permutations(range(len(explorer.models)), 2):
        comparison = explorer.comparison(one, other)
        written = set(explorer.models[one].texts[:words]) & set(explorer.models[other].texts[:words])
        changed = [item for item in comparison.most_changed(len(comparison.differences)) if item["word"] in written]
        differences = rounded(comparison.differences[:words])
        found = {"shared": len(written), "changed": changed[:CONTEXTS], "differences": differences}
        yield f"data/compare-{one}-{other}.json", as_json(found)


def matrix_bytes(matrix: np.ndarray) -> bytes:
    """Return a matrix as numbers of four bytes, row after row."""
    return np.ascontiguousarray(matrix, dtype="<f4").tobytes()


def words_file(explorer: Explorer, number: int, count: int) -> dict[str, Any]:
    """Return what the page needs to know of a model besides its matrices."""
    model, place = explorer.models[number], explorer.maps[number].answer()
    on_map = min(count, len(place["words"]))
    numbers = model.vectors.expandos.get("count")
    queries = model.queries
    context_offsets, term_offsets = np.zeros(count), np.zeros(count)
    if queries is not None and queries.offsets is not None:
        context_offsets, term_offsets = (offsets[:count].astype(np.float64) for offsets in queries.offsets)
    facts = model.facts()
    return {
        "name": model.name,
        "words": model.texts[:count],
        "size": facts["dimensions"],
        "pmi": facts["pmi"],
        "score": facts["score"],
        "without_pmi": facts["without_pmi"],
        "occurrences": None if numbers is None else np.asarray(numbers[:count]).tolist(),
        "frequencies": frequencies(model)[:count].tolist(),
        "window": int(getattr(model.model, "window", 5)),
        "context_offsets": context_offsets.tolist(),
        "term_offsets": (term_offsets + (0.0 if queries is None else queries.psi_offset)).tolist(),
        "own_term_offsets": term_offsets.tolist(),
        "map": {"x": place["x"][:on_map], "y": place["y"][:on_map], "method": place["method"]},
        "evidence": evidence_file(model, count),
    }


def evidence_file(model: ExploredModel, count: int) -> list[list[list[float | None]]] | None:
    """Return what was counted of each word with the contexts that the page shows for it; None without counts.

    For each word there is one list per context: its row, the count, counted PMI, and the ends of its interval.
    """
    queries = model.queries
    if model.counts is None or queries is None:
        return None
    keys = model.vectors.index_to_key
    contexts: list[int] = []
    for start in range(0, count, max(1, SCORES_AT_A_TIME // count)):
        some = keys[start : min(count, start + max(1, SCORES_AT_A_TIME // count))]
        for found in queries.cooccurring(some, min(CONTEXTS, count), restrict_vocab=count):
            contexts += [model.vectors.get_index(key) for key, _ in found]
    per_word = len(contexts) // count
    evidence = model.evidence(contexts, np.repeat(np.arange(count), per_word).tolist())
    facts = [[context, *short_numbers(found)] for context, found in zip(contexts, evidence, strict=True)]
    return [facts[start : start + per_word] for start in range(0, len(facts), per_word)]


def short_numbers(found: Evidence) -> list[float | None]:
    """Return what was counted of one pair, with as many digits as the page may need."""
    values = (found["count"], found["counted"], found["low"], found["high"])
    return [None if value is None else round(value, DIGITS) for value in values]
