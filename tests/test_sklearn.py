"""HilbertVectorizer in scikit-learn's own tools."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from gensim_hilbert import HilbertMLE
from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.phrases.joining import Round
from gensim_hilbert.phrases.table import Phrases
from gensim_hilbert.sklearn import HilbertVectorizer
from gensim_hilbert.text_vectors import encoder

# The checks of `check_estimator` that do not need a matrix of numbers as input.
CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.fixture(scope="module")
def labelled():
    """Texts about two topics, which share most of their words."""
    rng = np.random.default_rng(1)
    common = ["the", "a", "of", "and", "said", "that", "it", "was", "in", "on"]
    topics = [
        ["court", "police", "judge", "charges", "crime", "law"],
        ["match", "cricket", "team", "score", "goal", "play"],
    ]
    labels = np.arange(120) % 2
    return [
        " ".join(rng.permutation([*rng.choice(common, 8), *rng.choice(topics[k], 4)])) + "." for k in labels
    ], labels


@pytest.fixture
def vectorizer():
    return HilbertVectorizer(vector_size=8, min_count=2, epochs=1, options={"passes": 2})


@pytest.mark.parametrize("check", CHECKS)
def test_checks_of_scikit_learn(check):
    getattr(estimator_checks, check)("HilbertVectorizer", HilbertVectorizer())


def test_check_estimator():
    # scikit-learn warns that it has no texts to go on with, and leaves the other checks out.
    found = estimator_checks.check_estimator(HilbertVectorizer(), on_fail=None, on_skip=None)
    assert {result["status"] for result in found} == {"passed"}


def test_transform_is_encode(vectorizer, labelled):
    texts, _ = labelled
    with pytest.raises(NotFittedError):
        vectorizer.transform(texts)
    found = vectorizer.fit_transform(np.array(texts))
    np.testing.assert_array_equal(found, vectorizer.model_.encode(texts))
    np.testing.assert_array_equal(clone(vectorizer).set_params(n_jobs=2).fit(texts).transform(texts), found)
    assert vectorizer.get_feature_names_out().tolist() == [f"hilbertvectorizer{k}" for k in range(8)]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(vectorizer)).transform(texts), found)
    plain = clone(vectorizer).set_params(weighting="mean", normalize=False)
    lists = [vectorizer.model_.tokenize(text) for text in texts]
    expected = [np.mean([vectorizer.model_.wv[word] for word in words], axis=0) for words in lists]
    np.testing.assert_allclose(plain.fit(lists).transform(lists), expected, atol=1e-5)


def test_trained_vectors_are_taken(small_model, labelled, tmp_path):
    texts, _ = labelled
    small_model.save_pretrained(tmp_path / "folder")
    expected = small_model.encode(texts)
    for vectors in (small_model, small_model.wv, tmp_path / "folder"):
        found = HilbertVectorizer(vectors=vectors).fit(texts)
        np.testing.assert_array_equal(found.transform(texts), expected)
        assert found.n_features_out_ == small_model.vector_size


@pytest.mark.parametrize("as_vectors", [False, True], ids=["model", "KeyedVectors"])
def test_minus_one_job_uses_every_core(vectorizer, labelled, as_vectors, monkeypatch):
    texts, _ = labelled
    expected = vectorizer.fit(texts).transform(texts)
    if as_vectors:
        vectorizer = HilbertVectorizer(vectorizer.model_.wv)
        expected = vectorizer.fit(texts).transform(texts)
    monkeypatch.setattr(encoder, "TEXTS_AT_A_TIME", 16)
    threads, in_order = [], encoder.in_order
    monkeypatch.setattr(encoder, "in_order", lambda *given: threads.append(given[2]) or in_order(*given))
    found = vectorizer.set_params(n_jobs=-1).fit(texts).transform(texts)
    np.testing.assert_array_equal(found, expected)
    if default_workers(None) > 1:
        assert threads == [default_workers(None)]
    with pytest.raises(ValueError, match="n_jobs must be 1 or more, or -1 for every core, got 0"):
        vectorizer.set_params(n_jobs=0).transform(texts)


@pytest.mark.parametrize("tokenizer", ["words", None])
def test_texts_are_cut_into_sentences_by_the_model(vectorizer, tokenizer):
    texts = ["one two . three four ."] * 20
    vectorizer.set_params(tokenizer=tokenizer, options={"passes": 1, "sentence_ends": "punctuation"}).fit(texts)
    assert vectorizer.model_.corpus_count == 40
    assert vectorizer.model_.counts.count("two", "three") == 0 < vectorizer.model_.counts.count("one", "two")


def test_phrases_are_joined_once(vectorizer):
    texts = ["new york city hall"] * 20
    phrases = Phrases([Round({("new", "york"): 9.0, ("new_york", "city"): 8.0}, "_")])
    vectorizer.set_params(options={"passes": 1, "phrases": phrases}).fit(texts)
    assert set(vectorizer.model_.wv.index_to_key) == set(phrases.transform(texts[0].split()))


def test_pipeline_and_search(vectorizer, labelled):
    texts, labels = labelled
    pipeline = make_pipeline(vectorizer, LogisticRegression())
    search = GridSearchCV(pipeline, {"hilbertvectorizer__weighting": ["sif", "mean"]}, cv=2, error_score="raise")
    search.fit(texts, labels)
    assert search.best_score_ > 0.9
    assert (search.predict(["the judge said", "the goal of the match"]) == [0, 1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_search_in_parallel(vectorizer, labelled, backend):
    joblib = pytest.importorskip("joblib")
    texts, labels = labelled
    HilbertMLE([text.split() for text in texts], min_count=2, vector_size=8, passes=1)  # which starts torch's threads
    pipeline = make_pipeline(vectorizer, LogisticRegression())
    expected = cross_val_score(pipeline, texts, labels, cv=2)
    with joblib.parallel_backend(backend, n_jobs=2):
        np.testing.assert_allclose(cross_val_score(pipeline, texts, labels, cv=2, error_score="raise"), expected)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "put a single text into a list"),
        (np.array([["a", "b"]]), "one column of texts"),
        ([], "min_count=2"),
        (["rare words"], "min_count=2"),
    ],
)
def test_what_cannot_be_fitted_is_named(vectorizer, texts, message):
    with pytest.raises(ValueError, match=message):
        vectorizer.fit(texts)


def test_the_package_does_without_scikit_learn():
    code = "import sys, gensim_hilbert.model; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    code = "import sys; sys.modules['sklearn'] = None; import gensim_hilbert.sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'gensim-hilbert[sklearn]'" in done.stderr
