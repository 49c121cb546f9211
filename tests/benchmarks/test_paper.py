"""What the reproduction of the paper is computed with: GloVe's own training, PMI of pairs, and models as elsewhere."""

import ast
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gensim.test.utils import datapath
from scipy.stats import linregress

from gensim_hilbert import PairCounts

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TEXT = datapath("lee_background.cor")


def test_adagrad_is_that_of_a_slow_loop(module):
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    words, size, epochs = 20, 4, 2
    random = np.random.default_rng(0)
    table = random.random((words, words)) * 200
    i, j = np.nonzero(table > 60)
    counts = table[i, j].astype(np.float32)
    found = module("adagrad_glove").train(i, j, counts, words, epochs=epochs, size=size, seed=3)
    random = np.random.default_rng(3)
    w, v = ((random.random((words, size + 1), dtype=np.float32) - 0.5) / (size + 1) for _ in range(2))
    squares = np.ones((2, words, size + 1))
    for _ in range(epochs):
        for k in random.permutation(len(counts)):
            a, b, a2, b2 = w[i[k]], v[j[k]], squares[0, i[k]], squares[1, j[k]]
            difference = a[:-1] @ b[:-1] + a[-1] + b[-1] - np.log(counts[k])
            slope = 0.05 * difference * min(1, (counts[k] / 100) ** 0.75)
            to_a, to_b = np.append(slope * b[:-1], slope), np.append(slope * a[:-1], slope)
            a -= to_a / np.sqrt(a2)
            b -= to_b / np.sqrt(b2)
            a2 += to_a**2
            b2 += to_b**2
    assert np.allclose(found.w, w, atol=1e-5)
    assert np.allclose(found.v, v, atol=1e-5)
    assert np.full(1, 1e-310)[0] / 2 > 0, "numbers are rounded as before"


def test_pmi_and_lines_are_those_of_others(module):
    script = module("paper_pmi")
    counts = PairCounts.from_corpus(TEXT, max_final_vocab=200, progress=False)
    pairs = script.occurring(counts)
    assert len(pairs.pmi) == counts.to_scipy().nnz
    words = counts.vocabulary.words
    for k in range(0, len(pairs.pmi), 1000):
        assert pairs.pmi[k] == pytest.approx(counts.pmi(words[pairs.contexts[k]], words[pairs.terms[k]]))
    x, y = np.random.default_rng(1).normal(size=(2, 50))
    fit, line = script.compared(x, y), linregress(x, y)
    assert (fit.r, fit.slope) == pytest.approx((line.rvalue, line.slope))
    assert (fit.shift, fit.error) == pytest.approx(((y - x).mean(), np.sqrt(((y - x) ** 2).mean())))
    assert script.quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 8.0]), (0.05, 0.5, 0.95)) == [1, 2, 3]


def keywords(function):
    """The keywords with which a function trains, except for the text."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(function))) if isinstance(node, ast.Call)]
    (call,) = (call for call in calls if ast.unparse(call.func) in ("HilbertMLE", "Word2Vec"))
    return {one.arg: ast.unparse(one.value) for one in call.keywords if one.arg != "corpus_file"}


@pytest.mark.parametrize(("name", "other"), [("hilbert", "factorized"), ("sgns", "sgns")])
def test_models_are_trained_as_for_the_other_tables(module, name, other):
    ours, others = keywords(getattr(module("paper_models"), name)), keywords(getattr(module("systems"), other))
    assert others.pop("passes", "passes") == "passes", "a parameter, which is left at its default"
    assert ours == others


@pytest.mark.slow
def test_models_are_those_of_the_other_tables(module, tmp_path):
    models, systems = module("paper_models"), module("systems")
    for name in ("hilbert", "sgns"):
        found = getattr(models, name)(TEXT, tmp_path, 8, 200, 1)
        words, others = getattr(systems, name)(TEXT, 8, 200, 1)[:2]
        wanted = next(iter(others.values()))
        assert found.words == words
        if name == "hilbert":  # gensim's threads race
            assert np.array_equal(found.scored, wanted)
        assert found.vectors.shape == found.covectors.shape == wanted.shape


@pytest.mark.slow
def test_scripts_make_models_and_the_figure(tmp_path):
    def run(name, *arguments):
        command = [sys.executable, BENCHMARKS / name, TEXT, "--keep", tmp_path, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done

    small = ["--vector-size", "8", "--max-final-vocab", "6000"]
    assert run("paper_models.py", *small).stderr.count(": made in") == 8
    assert run("paper_models.py", *small).stderr == ""
    shown = run("paper_pmi.py", "--plot", tmp_path / "figure.svg").stdout
    for name in ("HilbertMLE", "gensim SGNS", "SGNS, our objective", "GloVe, our objective", "GloVe by AdaGrad"):
        assert f"| {name}" in shown
    assert (tmp_path / "figure.svg").read_text().startswith("<svg")


@pytest.fixture
def keep(module, tmp_path):
    """Counts, and one of the models, as paper_models.py leaves them."""
    models = module("paper_models")
    for name in models.COUNTS:
        models.count(name, TEXT, tmp_path, 200)
    models.make("sgns_mf", TEXT, str(tmp_path), 4, 200, 1)
    return tmp_path


def test_what_is_missing_is_said_before_anything_is_computed(module, keep, monkeypatch, capsys):
    script = module("paper_pmi")

    def sentence(*arguments, folder=keep):
        monkeypatch.setattr("sys.argv", ["paper_pmi.py", TEXT, "--keep", str(folder), *arguments])
        with pytest.raises(SystemExit) as stopped:
            script.main()
        assert capsys.readouterr().out == ""
        return stopped.value.code

    assert sentence(folder=keep / "no").startswith(f"{keep / 'no'} lacks counts and thinned: run benchmarks/paper_")
    plot = "--plot", str(keep / "figure.svg")
    assert sentence(*plot) == f"--plot needs glove_adagrad.npz in {keep}: run benchmarks/paper_models.py."
    (keep / "glove_adagrad.npz").write_bytes((keep / "sgns_mf.npz").read_bytes())
    assert "--plot needs counts of more than 500 words, got 1" in sentence(*plot)
    model = dict(np.load(keep / "sgns_mf.npz"))
    np.savez(keep / "sgns.npz", **{**model, "words": model["words"][::-1]})
    assert sentence() == (
        f"{keep / 'sgns.npz'} has other words than {keep / 'thinned'}: remove it, and run benchmarks/paper_models.py."
    )


def test_models_are_optional(module, keep, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["paper_pmi.py", TEXT, "--keep", str(keep)])
    script = module("paper_pmi")
    monkeypatch.setattr(script, "LEAST", {"all": 0})
    script.main()
    assert "| SGNS, our objective |" in capsys.readouterr().out
