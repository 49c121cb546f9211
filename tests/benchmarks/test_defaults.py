"""Scores of small inputs, the verdict over seeds, and which runs are made."""

import argparse
import json
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = ("defaults", "inputs", "peers", "quality", "small_inputs")


@pytest.fixture
def scripts(module):
    return {name: module(name) for name in SCRIPTS}


def test_neighbours_vote_is_leave_one_out(scripts, tmp_path):
    draw = np.random.default_rng(1)
    names = [f"{kind}{k}" for kind in "ab" for k in range(20)]
    apart = np.repeat([[1.0, 0.0], [0.0, 1.0]], 20, axis=0) + 0.1 * draw.normal(size=(40, 2))
    vectors = KeyedVectors(2)
    vectors.add_vectors([*names, "without a class"], np.vstack([apart, [[1.0, 1.0]]]))
    (tmp_path / "labels.json").write_text(json.dumps({name: name[0] for name in [*names, "not in the vocabulary"]}))
    assert scripts["small_inputs"].neighbours_vote(vectors, tmp_path) == {"neighbours": 1.0}
    # Classes that have nothing to do with vectors: a word that could vote for itself would still be right too often.
    (tmp_path / "labels.json").write_text(json.dumps({name: str(draw.integers(10)) for name in names}))
    assert scripts["small_inputs"].neighbours_vote(vectors, tmp_path)["neighbours"] < 0.4


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([0.5, 0.51, 0.49], [0.4, 0.41, 0.39], "+"),
        ([0.4, 0.41, 0.39], [0.5, 0.51, 0.49], "-"),
        ([0.4, 0.5, 0.3], [0.42, 0.5, 0.35], "="),
        ([0.4, 0.5], [0.1], "?"),
    ],
)
def test_verdict(scripts, ours, theirs, expected):
    assert scripts["defaults"].verdict(ours, theirs) == expected


def test_classes_of_tokens(scripts):
    kinds = {"for": "keyword", "ValueError": "exception", "len": "function", "__init__": "special name"}
    kinds |= {"MAX_SIZE": "constant", "PairCounts": "class", "json": "module", "(": "operator"}
    kinds |= {"counter": None, "<number>": None}
    assert {token: scripts["small_inputs"].kind_of(token) for token in kinds} == kinds


@pytest.mark.parametrize("name", ["toy", "walks", "lee"])
def test_inputs_that_are_always_there(scripts, name, tmp_path):
    assert scripts["small_inputs"].INPUTS[name].write(tmp_path)
    words = set((tmp_path / "corpus.txt").read_text(encoding="utf-8").split())
    if name != "lee":
        assert set(json.loads((tmp_path / "labels.json").read_text(encoding="utf-8"))) <= words


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("defaults", {"only": ["agnews"], "settings": [], "again": ["HilbertMLE"]}),
        ("more_text", {"tokens": [5_000_000], "vector_size": 100, "again": ["gensim SGNS"]}),
    ],
)
def test_again_keeps_rows_until_there_are_new_ones(module, monkeypatch, tmp_path, name, options):
    path = tmp_path / "rows.jsonl"
    shutil.copy(BENCHMARKS / "rows" / f"{name}.jsonl", path)
    script = module(name)
    for other in (module("small_inputs"), script):
        monkeypatch.setattr(other, "DATA", tmp_path / "missing", raising=False)
    with suppress(FileNotFoundError):  # More text cannot be written, and AG News is skipped.
        script.run(argparse.Namespace(rows=path, seeds=1, **options))
    assert path.read_bytes() == (BENCHMARKS / "rows" / f"{name}.jsonl").read_bytes()
