"""Finished runs are kept, are not made again, and are told from runs of earlier settings."""

import ast
import inspect
import json
import shutil
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


@pytest.fixture
def package(runs, monkeypatch, tmp_path):
    """A copy of the package's Python files that tests may change."""
    target = tmp_path / "gensim_hilbert"
    only_python = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(runs.PACKAGE, target, ignore=only_python)
    shutil.copytree(runs.PACKAGE.parent / "cython_ext", tmp_path / "cython_ext")
    monkeypatch.setattr(runs, "PACKAGE", target)
    return target


def rewrite(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_wording_is_not_part_of_the_settings(runs, package):
    before = {name: runs.settings_of(name) for name in ("hilbert", "sgns")}
    rewrite(package / "automatic.py", "AUTO = ", "# A comment.\nAUTO = ")
    rewrite(package / "vocabulary.py", '"""Return the probability', '"""Tell the probability')
    rewrite(package / "vocabulary.py", "SHOWN_WORDS = ", "OTHER_WORDS = ")
    assert {name: runs.settings_of(name) for name in before} == before


def test_of_kernels_comments_are_not_part_of_the_settings_but_all_else_is(runs):
    cython = "# A comment.\n\ncdef int x = 1  # and another\n    # one more\n    y = x\n"
    assert runs.without_comments(cython, "#") == ["cdef int x = 1", "    y = x"]
    c = "#define WIDTH 8\n// A comment.\nint x = WIDTH;  // and another\n"
    assert runs.without_comments(c, "//") == ["#define WIDTH 8", "int x = WIDTH;"]


DETERMINING = (
    ("training/schedule.py", "Schedule.rate_at"),
    ("automatic.py", "SMALL_TEXT"),
    ("automatic.py", "automatic_gauge"),
    ("automatic.py", "automatic_temperature"),
    ("model_text.py", "FEW_TOKENS"),
    ("model_vocabulary.py", "VocabularyHooks._settle"),
    ("model_training.py", "counts_solver"),
    ("vocabulary.py", "Vocabulary.keep_probability"),
    ("counting/pair_counts.py", "PairCounts.expected"),
)


def change_definition(runs, path, name):
    """Give a constant another value, or let a function do nothing."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = runs.definition(tree, name)
    if isinstance(found, ast.Assign):
        found.value = ast.Constant(None)
    else:
        found.body = [ast.Pass()]
    path.write_text(ast.unparse(tree), encoding="utf-8")


def test_code_that_determines_vectors_is_part_of_the_settings(runs, package):
    before, of_sgns = runs.settings_of("hilbert"), runs.settings_of("sgns")
    for module, name in DETERMINING:
        text = (package / module).read_text(encoding="utf-8")
        change_definition(runs, package / module, name)
        assert runs.settings_of("hilbert") != before, name
        assert runs.settings_of("sgns") == of_sgns
        (package / module).write_text(text, encoding="utf-8")
        assert runs.settings_of("hilbert") == before


def test_code_that_has_moved_is_asked_for(runs, package):
    rewrite(package / "vocabulary.py", "def keep_probability", "def probability")
    with pytest.raises(SystemExit, match=r"Vocabulary\.keep_probability is not where"):
        runs.settings_of("hilbert")


def test_numbers_and_helpers_of_systems_are_part_of_the_settings(runs, module, monkeypatch):
    systems = module("systems")
    before = {name: runs.settings_of(name) for name in ("sgns", "glove", "word2vec")}
    called = runs.with_helpers(systems.TRAINERS["glove"])
    assert called == [systems.glove, systems.glove_fit]
    whole = inspect.getsource
    monkeypatch.setattr(runs.inspect, "getsource", lambda one: whole(one).replace("x_max=10", "x_max=100"))
    assert runs.settings_of("glove") != before["glove"]
    assert runs.settings_of("word2vec") == before["word2vec"]
    monkeypatch.setattr(systems, "EPOCHS", 6)
    assert runs.settings_of("sgns") != before["sgns"]


def test_settings_of_peers_whose_runs_are_kept_have_not_changed(runs):
    """Their runs take hours: whoever changes these functions of systems.py, or Python's unparsing, must know it."""
    kept = {"sgns": "802df2b7df0e4220", "fasttext": "6991562faa3cda6f", "word2vec": "6458acd3e70d9588"}
    assert {name: runs.settings_of(name) for name in kept} == kept


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
        "| ours | 2 | 10 ± 0 | 6 | .580 ± .014 | |",
        "| peer | 1 of 2 | 100 | | -.100 | .300 |",
        "| none | 0 of 2 (2 of earlier settings) | | | | |",
    ]
    assert table({"none": []}, 2).splitlines() == ["| | runs |", "|---|---|", "| none | 0 of 2 |"]


def test_every_table_has_the_sample_standard_deviation(module, capsys):
    values = [0.5, 0.6, 0.7]
    rows = [
        {"input": "toy", "system": system, "tokens": 9, "words": 3, "cpu": 1.0, "scores": {"neighbours": value}}
        for system in ("HilbertMLE", "Word2Vec", "Word2Vec, sg=1")
        for value in values
    ]
    module("defaults").print_table(rows)
    assert capsys.readouterr().out.count("| 0.600 ± 0.100 ") == 3
    columns = ("mean", "S999", "B143", "Y130", "MENd", "RARE", "Google", "BATS")
    rows = [
        dict.fromkeys(columns, value)
        | {"tokens": 9, "system": "HilbertMLE", "cpu": 1.0, "settings": "window=2", "gauge": 0.3, "vectors": "v"}
        for value in values
    ]
    module("more_text").print_table(rows)
    assert capsys.readouterr().out.count("| 0.600 ± 0.100 ") == 7
    assert module("more_text").curves(rows, "verbs")["HilbertMLE"] == [(9, pytest.approx(0.6), pytest.approx(0.1))]
    module("levers").print_table(rows)
    assert capsys.readouterr().out.count("| 0.600 ± 0.100 ") == 6


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
