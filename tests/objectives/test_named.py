"""Objectives are chosen by name, with settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from objective_cases import OBJECTIVES
from own_objective import WeightedLeastSquares

import gensim_hilbert.objectives as family
from gensim_hilbert import HilbertMLE
from gensim_hilbert.objectives import SGNS, GloVe, Hilbert, named


def test_each_name_is_a_file():
    files = {path.stem.replace("_", "-") for path in Path(family.__file__).parent.glob("*.py")} - {"--init--"}
    assert set(family.CLASSES) == files
    for name, kind in family.CLASSES.items():
        assert type(named(name)) is getattr(family, kind)


@pytest.mark.parametrize("objective", OBJECTIVES[:-1], ids=repr)
def test_an_objective_reads_as_it_is_written(objective):
    name = next(name for name, kind in family.CLASSES.items() if kind == type(objective).__name__)
    bracket = repr(objective).partition("(")[2]
    assert named(f"{name}({bracket}") == objective
    assert named(objective) is objective


def test_settings_come_from_the_arguments_that_have_their_names():
    assert HilbertMLE(objective="sgns", negative=12, ns_exponent=1).objective == SGNS(12, 1)
    assert HilbertMLE(temperature=2, threshold=1e-3).objective == Hilbert(2, 1e-3)
    assert HilbertMLE(objective="sgns(negative=12)").negative == 12
    assert HilbertMLE(objective=Hilbert(temperature=2)).temperature == 2
    with pytest.warns(UserWarning, match="no use for negative"):
        assert HilbertMLE(objective="glove", negative=12).objective == GloVe()
    with pytest.warns(UserWarning, match="'ppmi-svd' has no use for l2"):
        HilbertMLE(objective="ppmi-svd", l2=3.0)
    with pytest.warns(UserWarning, match="no use for temperature"):
        HilbertMLE(objective="sgns", temperature=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "word2vec"}, "one of hilbert, sgns, .*'word2vec'"),
        ({"objective": "glove(xmax=10)"}, "glove has no xmax; its settings are x_max, alpha"),
        ({"objective": "glove(10)"}, "reads? like"),
        ({"objective": "glove(x_max=__import__('os'))"}, "reads? like"),
        ({"objective": "glove(x_max=10"}, "reads? like"),
        ({"objective": "glove(x_max='a')"}, "x_max of objective glove must be a number, got 'a'"),
        ({"objective": "glove(x_max=-1)"}, "x_max must be more than 0, got -1"),
        ({"objective": "ppmi-svd(shift=0)"}, "shift must be more than 0, got 0"),
        ({"objective": "sgns", "negative": 0}, "negative must be more than 0, got 0"),
        ({"objective": "glove", "solver": "gibbs"}, "'gibbs' does not fit .*'glove'"),
        ({"objective": Hilbert(temperature=2), "temperature": 3}, r"temperature is given twice: as 3.*temperature=2"),
    ],
)
def test_bad_settings_are_refused_before_any_work(options, message):
    with pytest.raises(ValueError, match=message):
        HilbertMLE(**options)


def test_an_objective_must_be_a_dataclass():
    class Bare(WeightedLeastSquares):
        pass

    for bad in (Bare(), 5, GloVe):
        with pytest.raises(TypeError, match="decorated with @dataclass"):
            HilbertMLE(objective=bad)
