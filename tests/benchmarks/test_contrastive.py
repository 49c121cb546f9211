"""The expected updates of contrastive divergence are what enumeration says."""

import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
WORDS = 5


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("contrastive", ROOT / "benchmarks" / "contrastive.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["contrastive"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["contrastive"]


@pytest.fixture(scope="module")
def table(script):
    pairs = np.random.default_rng(1).random((WORDS, WORDS)) ** 3
    return script.Table(pairs / pairs.sum())


@pytest.fixture(scope="module")
def psi():
    return np.random.default_rng(2).normal(size=(WORDS, WORDS))


def redrawn_by_enumeration(pairs, psi, candidates):
    """Expected weights of pairs whose terms are drawn anew: a sum over all words and all lists of candidates."""
    p = pairs.sum(axis=0)
    q = p**0.75 / (p**0.75).sum()
    found = np.zeros_like(pairs)
    for i, j in itertools.product(range(WORDS), repeat=2):
        for drawn in itertools.product(range(WORDS), repeat=candidates):
            words = [j, *drawn]
            weights = np.exp(psi[i, words]) * p[words] / q[words]
            np.add.at(found[i], words, pairs[i, j] * np.prod(q[list(drawn)]) * weights / weights.sum())
    return found


@pytest.mark.parametrize("candidates", [1, 2, 3])
def test_candidates(script, table, psi, candidates):
    sides = (table.pairs, psi), (table.pairs.T, psi.T)
    terms, contexts = (redrawn_by_enumeration(*side, candidates) for side in sides)
    expected = (terms + contexts.T) / 2
    np.testing.assert_allclose(script.with_candidates(table, psi, candidates), expected, atol=1e-8)


def test_many_candidates_are_the_exact_conditional(script, table, psi):
    many, exact = script.with_candidates(table, psi, 20_000), script.after_steps(table, psi, 1)
    np.testing.assert_allclose(many, exact, atol=1e-4)


def test_many_steps_are_the_model_itself(script, table, psi):
    np.testing.assert_allclose(script.after_steps(table, psi, 200), script.exact(table, psi), atol=1e-12)


def test_where_the_model_is_the_text_nothing_is_biased(script, table):
    pmi = np.log(table.pairs / np.outer(table.contexts, table.terms))
    for negatives in (script.exact, *script.estimators().values()):
        np.testing.assert_allclose(negatives(table, pmi), table.pairs, atol=1e-8)


def test_the_gradient_is_that_of_the_loss(script, table):
    draw = np.random.default_rng(3)
    w, v, step = draw.normal(size=(WORDS, 2)), draw.normal(size=(WORDS, 2)), 1e-6
    g = script.gradient(table, w, v, script.exact(table, w @ v.T))
    moved = v.copy()
    moved[1, 0] += step
    assert (table.loss(w @ moved.T) - table.loss(w @ v.T)) / step == pytest.approx(g[WORDS + 1, 0], abs=1e-5)
