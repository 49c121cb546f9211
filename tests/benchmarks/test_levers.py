"""Settings one at a time: every setting of the command can be fitted, and only fits that are missing are made."""

import argparse
from itertools import combinations
from pathlib import Path

import pytest
from gensim.test.utils import datapath

from gensim_hilbert import HilbertMLE

WORDS = ("said", "government", "people", "australia", "president", "police", "fire", "united", "states", "minister")


@pytest.fixture
def levers(module, monkeypatch, tmp_path):
    """The script with two sets of pairs, which are the ones that it takes for verbs."""
    folder = tmp_path / "data" / "eval" / "similarity"
    folder.mkdir(parents=True)
    for name in ("baker_verb143.tsv", "yang_powers_verb130.tsv"):
        pairs = "".join(f"{a}\t{b}\t{len(a + b)}\n" for a, b in combinations(WORDS, 2))
        (folder / name).write_text(pairs, encoding="utf-8")
    monkeypatch.setenv("GENSIM_HILBERT_DATA", str(tmp_path / "data"))
    return module("levers")


@pytest.fixture
def options(tmp_path):
    return argparse.Namespace(
        corpus=Path(datapath("lee_background.cor")), vector_size=4, max_final_vocab=100, seeds=1, settings=["passes=1"],
        gauges=[0.3], rows=tmp_path / "rows.jsonl",
    )  # fmt: skip


def test_settings_of_the_command_are_those_of_the_model(levers, options, short_training):
    for text in levers.SETTINGS:
        given = {"window": 5, "sample": 1e-4, **levers.parsed(text), "seed": 1}
        found = levers.fitted(str(options.corpus), levers.parsed(text), options, seed=1)
        wanted = HilbertMLE(corpus_file=options.corpus, vector_size=4, max_final_vocab=100, **given)
        assert found.counts.window == wanted.counts.window, text
        assert found.sample == wanted.sample
        assert found.temperature == wanted.temperature


def test_gauges_that_are_missing_are_made(levers, options):
    levers.run(options)
    first = levers.read_rows(options.rows)
    assert [(row["gauge"], row["vectors"]) for row in first] == [(0.3, "v"), (0.3, "v+w")]
    assert first[0]["mean"] != first[1]["mean"]
    levers.run(options)
    assert levers.read_rows(options.rows) == first
    options.gauges = [0.5, 0.3]
    levers.run(options)
    assert [row["gauge"] for row in levers.read_rows(options.rows)] == [0.3, 0.3, 0.5, 0.5]
    assert levers.read_rows(options.rows)[:2] == first


def test_rows_of_other_vocabularies_are_not_in_the_table(levers, options, monkeypatch, capsys):
    levers.run(options)
    monkeypatch.setattr(levers, "COLUMNS", ("mean", "verbs"))
    shown = []
    for words in ("100", "50"):
        arguments = [options.corpus, "--rows", options.rows, "--vector-size", "4", "--max-final-vocab", words]
        monkeypatch.setattr("sys.argv", ["levers.py", *map(str, arguments), "--settings"])
        levers.main()
        shown.append(capsys.readouterr().out.count("`passes=1`"))
    assert shown == [2, 0]
