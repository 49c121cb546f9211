"""Scores of small inputs, the verdict over seeds, and the file from which a study goes on."""

import json

import numpy as np
import pytest
from gensim.models import KeyedVectors

SCRIPTS = ("defaults", "inputs", "peers", "quality", "rows", "small_inputs")


@pytest.fixture
def scripts(module):
    return {name: module(name) for name in SCRIPTS}


def test_a_row_that_was_cut_off_is_made_again(scripts, tmp_path):
    rows, path = scripts["rows"], tmp_path / "made" / "rows.jsonl"
    assert rows.read_rows(path) == []
    rows.append_row(path, {"seed": 1})
    with open(path, "a", encoding="utf-8") as file:
        file.write('{"seed": 2, "sco')
    assert rows.read_rows(path) == [{"seed": 1}]
    rows.append_row(path, {"seed": 3})
    assert rows.read_rows(path) == [{"seed": 1}, {"seed": 3}]
    assert [path.name] == [file.name for file in path.parent.iterdir()]


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
