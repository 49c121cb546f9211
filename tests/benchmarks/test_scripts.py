"""Benchmarks run to their end on a small text, whichever peers are installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from browser import NAMES
from gensim.test.utils import datapath

ROOT = Path(__file__).parents[2]
SMALL = ["--vector-size", "8", "--max-final-vocab", "200"]


def benchmark(name, *arguments, **variables):
    return subprocess.run(
        [sys.executable, ROOT / "benchmarks" / name, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "shown"),
    [
        ("counting.py", ["--repeat", "1"], "| numpy |"),
        ("keys.py", ["--repeat", "1", "--tokens", "20000"], "| tuple |"),
        ("text_phrases.py", ["--repeat", "1"], "all results are the same: True"),
        ("text_encode.py", ["--only", "speed", "--vector-size", "8", "--repeat", "1"], "| loop over KeyedVectors |"),
        ("text_tokens.py", ["--repeat", "1"], "| words(nfkc=True), sentences end in punctuation |"),
        ("training.py", ["--only", "factorization", *SMALL], "peak memory"),
        ("training.py", ["--only", "stream", "--tokens", "20000", *SMALL], "| gibbs against gensim |"),
        ("builds.py", ["--builds", ROOT, ROOT, "--repeat", "1", "--only", "vocabulary"], "| vocabulary |"),
    ],
)
def test_on_a_small_text(name, options, shown):
    done = benchmark(name, datapath("lee_background.cor"), *options)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout


@pytest.mark.slow
def test_defaults_goes_on_where_it_stopped(tmp_path):
    arguments = "defaults.py", "--only", "toy", "--rows", str(tmp_path / "rows.jsonl"), "--seeds"
    assert benchmark(*arguments, "1").stderr.count('"input": "toy"') == 3
    done = benchmark(*arguments, "2")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count('"input": "toy"') == 3
    assert "| 400 sentences of a tutorial |" in done.stdout
    done = benchmark(*arguments, "1", "--again", "HilbertMLE")
    assert done.stderr.count('"input": "toy"') == 1
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 6


@pytest.mark.slow
def test_the_explorer():
    pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install 'gensim-hilbert[explore]'")
    done = benchmark("explore.py", "--words", "100", "--vector-size", "4")
    assert done.returncode == 0, done.stderr
    assert "| word |" in done.stdout


@pytest.mark.slow
def test_the_map(saved_news_model):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install 'gensim-hilbert[explore]'")
    if not any(map(shutil.which, NAMES)):
        pytest.skip(f"no browser to look at the map with: none of {', '.join(NAMES)} is installed")
    done = benchmark("explore_map.py", saved_news_model, "--word", "police", "--trust-pickle")
    assert done.returncode == 0, done.stderr
    assert "| zoom in |" in done.stdout
    assert "times as long" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("counting", "evaluation", "family", "keys", "levers", "more_text", "paper", "quality", "subwords"),
        *("text_encode", "text_tokens", "training"),
    ],
)
def test_without_data_it_says_how_to_name_them(name, tmp_path):
    done = benchmark(f"{name}.py", GENSIM_HILBERT_DATA=str(tmp_path / "missing"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(str(tmp_path / "missing"))
    assert done.stderr.endswith("set GENSIM_HILBERT_DATA to the folder of all data.\n")


def test_networks_skips_sets_that_are_not_there(module, monkeypatch, tmp_path, capsys):
    script = module("networks")
    pairs = tmp_path / "eval" / "similarity" / "simlex999.tsv"
    pairs.parent.mkdir(parents=True)
    pairs.touch()
    monkeypatch.setattr(script, "DATA", tmp_path)
    monkeypatch.setattr("sys.argv", ["networks.py", "--sets", "WSJ"])
    threads = torch.get_num_threads()
    try:
        script.main()
    finally:
        torch.set_num_threads(threads)
    shown = capsys.readouterr()
    assert shown.err == f"WSJ is skipped because it is not in {tmp_path}.\n"
    assert shown.out.count("\n") == 2
