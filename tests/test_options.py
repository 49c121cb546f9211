"""Every keyword is checked before any work, and those without effect are named."""

import inspect
import warnings

import numpy as np
import pytest
from gensim.models import Word2Vec
from helpers import SMALL_OPTIONS

from gensim_hilbert import HilbertMLE

pytestmark = pytest.mark.usefixtures("short_training")


def test_the_signature_is_gensims_and_ours_comes_after():
    theirs, ours = (list(inspect.signature(kind.__init__).parameters.values()) for kind in (Word2Vec, HilbertMLE))
    for mine, gensims in zip(ours, theirs, strict=False):
        assert (mine.name, mine.default) == (gensims.name, gensims.default)
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in ours[len(theirs) :])
    assert isinstance(HilbertMLE(), Word2Vec)


def test_one_warning_names_all_arguments_without_effect():
    with pytest.warns(UserWarning, match="hs, negative, cbow_mean") as caught:
        HilbertMLE(hs=1, negative=10, cbow_mean=0)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HilbertMLE(sg=1)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"solver": "magic"}, "'magic'"),
        ({"vectors": "w"}, "'w'"),
        ({"threshold": 1.5}, r"threshold.*1\.5"),
        ({"l2": "strong"}, "l2 must be a number"),
        ({"l2": -1}, "l2 must be a number"),
        ({"l2": float("nan")}, "l2 must be a number"),
        ({"alpha": float("nan")}, "alpha must be above 0"),
        ({"alpha": -0.1}, "alpha must be above 0"),
        ({"vector_size": 0}, "vector_size must be 1 or more"),
        ({"precision": "half"}, "precision must be one of .*'half'"),
        ({"max_vocab_size": -1}, "max_vocab_size must be None"),
        ({"temperature": 0.5}, "temperature must be 1 or more"),
        ({"gauge": 2}, "got 2"),
        ({"solver": "gibbs", "negative": -1}, "negative=-1"),
        ({"solver": "gibbs", "gibbs_steps": 0}, "gibbs_steps=0"),
        ({"solver": "gibbs", "sampler": "magic"}, "'magic'"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_read(wrong, why):
    with pytest.raises(ValueError, match=why):
        HilbertMLE(**wrong)


@pytest.mark.parametrize(("wrong", "why"), [({"workers": 0}, "workers"), ({"device": "cuda:7"}, "cuda:7")])
def test_wrong_arguments_are_refused_when_training_begins(wrong, why):
    with pytest.raises(ValueError, match=why):
        HilbertMLE([["a", "b"]] * 10, min_count=1, **wrong)


def test_numbers_of_numpy_and_none_are_taken_as_gensim_takes_them(some_news):
    model = HilbertMLE(some_news, **{**SMALL_OPTIONS, "workers": None}, seed=np.int64(3), sample=None)
    assert np.array_equal(model.wv.vectors, HilbertMLE(some_news, **SMALL_OPTIONS, seed=3, sample=0).wv.vectors)
    assert HilbertMLE(seed=None).seed != HilbertMLE(seed=None).seed


def test_what_has_no_effect_is_named_by_solver():
    with pytest.warns(UserWarning, match="solver='gibbs' .* has no use for hs, temperature"):
        HilbertMLE(solver="gibbs", hs=1, temperature=2.0, negative=10)
    with pytest.warns(UserWarning, match="solver='gibbs' .* has no use for hs, negative=0"):
        HilbertMLE(solver="gibbs", hs=1, negative=0)
    with pytest.warns(UserWarning, match="solver='factorization' .* has no use for negative, gibbs_steps"):
        HilbertMLE(negative=10, gibbs_steps=2)
