"""Logistic regression on vectors of texts."""

from __future__ import annotations

import numpy as np
import pytest

from gensim_hilbert.evaluation import Data, linear
from gensim_hilbert.evaluation.linear import compare_linear, fitted, guesses


def test_the_regression_is_scikit_learns():
    library = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(1)
    gold = rng.integers(3, size=400)
    rows = rng.normal(size=(3, 5))[gold] + rng.normal(size=(400, 5))
    ours = fitted(rows, gold, 3, strength=1e-2, start=None)
    theirs = library.LogisticRegression(C=1 / (1e-2 * 400), tol=1e-8, max_iter=1000).fit(rows, gold)
    np.testing.assert_allclose(ours[:-1].T, theirs.coef_, atol=2e-3)
    assert (guesses(rows, ours) == theirs.predict(rows)).mean() > 0.99


def test_classes_that_differ_by_their_words_are_told_apart(news_model, tmp_path):
    rng = np.random.default_rng(1)
    topics = {"law": ["court", "police", "charges"], "sport": ["test", "match", "cricket"]}
    with open(tmp_path / "texts.tsv", "w", encoding="utf-8") as file:
        for number in range(200):
            label = ("law", "sport")[number % 2]
            file.write(f"{label}\tthe {rng.choice(topics[label])} said {rng.choice(topics[label])}\n")
    found = linear(news_model.wv, Data(classification={"topics": (tmp_path / "texts.tsv",)}))
    assert list(found) == ["encode", "mean"]
    assert found["encode"][0].accuracy > 0.9
    assert found["encode"][0].examples == (126, 14, 60)
    assert compare_linear(found["encode"][0], found["encode"][0]).p == 1
