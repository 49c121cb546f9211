"""Finished runs are kept, are not made again, and are told from runs of earlier settings."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SIBLINGS = {path.stem: path for path in BENCHMARKS.glob("*.py")}
SCORES = {"gensim SGNS": {"CPU s": 12.4, "mean": 0.5}}


@pytest.fixture
def runs(module):
    return module("runs")


@pytest.fixture
def log(runs, tmp_path):
    return runs.RunLog(tmp_path / "results")


@pytest.fixture
def run(runs):
    return runs.Run("sgns", "gensim 4.4.0", "abc", "text.gz", "def", 300, 50_000, 1)


def make(log, run, models=SCORES):
    with log.claimed(run) as is_ours:
        if is_ours:
            log.add(run, models)
        return is_ours


def test_a_finished_run_is_not_made_again(log, run):
    assert make(log, run)
    assert not make(log, run)
    assert make(log, replace(run, seed=2))
    assert log.models(run) == SCORES
    assert len(log.path.read_text().splitlines()) == 2


def test_a_run_that_was_broken_off_can_be_made(log, run):
    with pytest.raises(KeyboardInterrupt), log.claimed(run):
        raise KeyboardInterrupt
    assert make(log, run)


def test_two_commands_do_not_make_the_same_run(runs, log, run, capsys):
    other = runs.RunLog(log.folder)
    with log.claimed(run) as is_ours:
        assert is_ours
        assert not make(other, run)
        assert make(other, replace(run, seed=2))
        log.add(run, SCORES)
    assert capsys.readouterr().err == "sgns, seed 1 is being run by another command\n"
    assert not make(other, run)
    assert len(log.read()) == 2


def test_runs_of_other_code_or_versions_do_not_count(log, run):
    make(log, replace(run, settings="earlier"))
    make(log, replace(run, version="gensim 4.3.3", seed=2))
    make(log, replace(run, text="another.gz"))
    wanted = [replace(run, seed=seed) for seed in (1, 2, 3)]
    assert log.select(wanted) == ([], 2)
    assert make(log, run)
    assert log.select(wanted) == ([SCORES], 2)


def test_of_a_system_that_is_not_installed_the_last_version_counts(log, run):
    make(log, replace(run, version="gensim 4.3.3"))
    make(log, run)
    assert log.select([replace(run, version="")]) == ([SCORES], 1)


def test_a_damaged_line_is_named(log, run):
    make(log, run)
    log.path.write_text(log.path.read_text() + '{"system": "sg\n')
    with pytest.raises(SystemExit, match=r"Line 2 of .*runs\.jsonl is damaged"):
        log.read()


def test_wording_is_not_part_of_the_settings_but_code_is(runs, module, monkeypatch, tmp_path):
    before = {name: runs.settings_of(name) for name in ("hilbert", "sgns")}
    package = tmp_path / "gensim_hilbert"
    (package / "training").mkdir(parents=True)
    prior = package / "training" / "prior.py"
    prior.write_text('"""The prior."""\nPOWER = 0.5  # measured\n')
    monkeypatch.setattr(runs, "PACKAGE", package)
    first = runs.settings_of("hilbert")
    prior.write_text('"""How vectors are kept short."""\n# Chosen on text8.\nPOWER = 0.5\n')
    assert runs.settings_of("hilbert") == first != before["hilbert"]
    prior.write_text("POWER = 0.6\n")
    assert runs.settings_of("hilbert") != first
    assert runs.settings_of("sgns") == before["sgns"]
    monkeypatch.setattr(module("systems"), "EPOCHS", 6)
    assert runs.settings_of("sgns") != before["sgns"]


def test_a_new_default_is_another_setting(runs, monkeypatch):
    before = runs.settings_of("subwords")
    option = next(iter(runs.OPTIONS.values()))
    monkeypatch.setitem(runs.OPTIONS, option.name, replace(option, default="another"))
    assert runs.settings_of("subwords") != before


def test_tables_mark_what_is_missing(module):
    table = module("score_table").table
    rows = {
        "ours": [{"CPU s": 10.2, "wall s": 6.0, "mean": 0.57}, {"CPU s": 10.0, "mean": 0.59}],
        "peer": [{"CPU s": 99.6, "mean": -0.1, "RARE, all": 0.3}],
        "none": [],
    }
    assert table(rows, 2, {"none": "2 of earlier settings"}).splitlines() == [
        "| | runs | CPU s | wall s | mean | RARE, all |",
        "|---|---|---|---|---|---|",
        "| ours | 2 | 10 ± 0 | 6 | .580 ± .014 |  |",
        "| peer | 1 of 2 | 100 |  | -.100 | .300 |",
        "| none | 0 of 2 (2 of earlier settings) |  |  |  |  |",
    ]


@pytest.mark.parametrize("name", sorted(SIBLINGS))
def test_what_scripts_import_from_each_other_is_there(name):
    for node in ast.walk(ast.parse(SIBLINGS[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in SIBLINGS:
            names = defined(SIBLINGS[node.module])
            assert {alias.name for alias in node.names} <= names, node.module


def defined(path: Path) -> set[str]:
    """Names that the module itself defines, so that none is imported by way of another."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return found


def test_committed_runs_can_be_read(runs):
    for record in runs.RunLog(BENCHMARKS / "results").read():
        assert json.loads(json.dumps(record["models"])) == record["models"]
