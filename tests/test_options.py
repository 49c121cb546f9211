"""Every keyword is checked before any work, and those without effect are named."""

import copy
import inspect
import json
import warnings

import numpy as np
import pytest
from gensim.models import Word2Vec
from helpers import SMALL_OPTIONS
from shell import run_python

from gensim_hilbert import HilbertMLE
from gensim_hilbert.objectives import SGNS, GloVe, Hilbert
from gensim_hilbert.options import OPTIONS, checkpoint_settings, ignored_options, settings_of
from gensim_hilbert.training.from_counts import GENSIM_ALPHA

pytestmark = pytest.mark.usefixtures("short_training")


def test_the_signature_is_gensims_and_ours_comes_after():
    theirs, ours = (list(inspect.signature(kind.__init__).parameters.values()) for kind in (Word2Vec, HilbertMLE))
    for mine, gensims in zip(ours, theirs, strict=False):
        assert (mine.name, mine.default) == (gensims.name, "auto" if mine.name == "sample" else gensims.default)
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
        ({"l2": "strong"}, "'l2' parameter of HilbertMLE must be a number of 0 or more, or 'auto', got"),
        ({"alpha": float("nan")}, "'alpha' parameter of HilbertMLE must be a number above 0, got"),
        ({"vector_size": 0}, "'vector_size' parameter of HilbertMLE must be a whole number of 1 or more, got 0"),
        ({"precision": "half"}, "'precision' parameter of HilbertMLE must be one of 'float32', .* got 'half'"),
        ({"max_vocab_size": -1}, "'max_vocab_size' .* whole number of 0 or more, or None, got -1"),
        ({"threshold": 1.5}, r"threshold.*1\.5"),
        ({"temperature": 0.5}, "temperature must be 1 or more"),
        ({"solver": "gibbs", "negative": -1}, "'negative' .* got -1"),
        ({"solver": "gibbs", "gibbs_steps": 0}, "'gibbs_steps' .* got 0"),
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


DATA = {"sentences", "corpus_file", "trim_rule", "callbacks"}  # what is not kept in the model


def test_the_signature_has_these_names_and_defaults_in_this_order():
    keywords = inspect.signature(HilbertMLE).parameters.items()
    assert {name: option.default for name, option in OPTIONS.items()} == {
        name: keyword.default for name, keyword in keywords if name not in DATA
    }
    assert list(OPTIONS) == [name for name, _ in keywords if name not in DATA]
    assert OPTIONS["alpha"].default == GENSIM_ALPHA


def test_every_keyword_of_ours_is_documented():
    documented = HilbertMLE.__doc__.partition("Parameters\n")[2]
    ours = [name for name, keyword in inspect.signature(HilbertMLE).parameters.items() if keyword.kind == 3]
    assert [name for name in ours if name not in documented] == []


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if option.kind is not None])
def test_defaults_are_allowed_and_nonsense_is_not(name):
    option = OPTIONS[name]
    assert option.complaint(option.default) is None
    assert option.complaint(object()) is not None
    with pytest.raises(ValueError, match=f"^The '{name}' parameter of HilbertMLE must be .*, got <object"):
        HilbertMLE(**{name: object()})


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("alpha", [1e-9, 1, np.float32(0.5)], [0, -1, float("nan"), float("inf"), "0.1", None]),
        ("window", [1, np.int64(3), 5.0, 10_000], [0, 2.5, -1, "5", float("nan"), float("inf"), 10_001, 530_000]),
        ("vector_size", [1, 1000], [0, 10**9, 10**30]),
        ("negative", [0, 20], [-1, 2**28, 2**31, 10**30]),
        ("gibbs_steps", [1, 100], [0, 10**9, 2**31]),
        ("ns_exponent", [-1, 0, 0.75], [1e300, -1e300, 500]),
        ("max_vocab_size", [None, 10**6], [-1, 10**30]),
        ("passes", [None, 1], [0, 10**12]),
        ("epochs", [1, 100], [0, 10**9]),
        ("gauge", [None, 0, 1, 0.5], [-0.1, 1.1, float("nan"), "half"]),
        ("l2", ["auto", 0, 10], ["strong", -1, float("inf")]),
        ("solver", ["gibbs"], ["gibs", 5]),
        ("subwords", [True, False, 0, np.True_], ["yes", None, 2]),
        ("memory_gb", [0.1], [0, float("inf"), float("nan"), 1e300]),
        ("min_count", [0, 5], [-4, None]),
        ("max_final_vocab", [None, 10], [-3]),
        ("min_alpha", [0], [float("nan"), -1, 1e300]),
        ("seed", [0, 2**32 - 1], [-1, 2**32]),
    ],
)
def test_bounds(name, good, bad):
    assert [value for value in good if OPTIONS[name].complaint(value)] == []
    assert [value for value in bad if not OPTIONS[name].complaint(value)] == []


@pytest.mark.parametrize("solver", ["factorization", "gibbs"])
@pytest.mark.parametrize(
    "wrong",
    [{"window": 530_000}, {"window": 10**9}, {"min_alpha": float("nan")}, {"negative": 2**28}, {"passes": 10**12}],
)
def test_bad_requests_are_refused_before_the_text_is_read(solver, wrong):
    def text():
        raise AssertionError("the text is read")
        yield

    class Text:
        __iter__ = staticmethod(text)

    (name,) = wrong
    with pytest.raises(ValueError, match=f"^The '{name}' parameter of HilbertMLE must be "):
        HilbertMLE(Text(), solver=solver, **wrong)


@pytest.mark.parametrize("rates", [{"start_alpha": float("nan")}, {"end_alpha": float("inf")}, {"start_alpha": -1}])
def test_bad_rates_are_refused_and_not_kept(rates, small_model):
    model = copy.deepcopy(small_model)
    before = model.alpha, model.min_alpha
    with pytest.raises(ValueError, match=r"^The learning rate '(min_)?alpha' must be a number"):
        model.train([["a"]], total_examples=1, epochs=1, **rates)
    assert (model.alpha, model.min_alpha) == before


def test_the_message_tells_the_way_out():
    with pytest.raises(ValueError, match=r"from 0 to 1, or None, got 2; 0\.35 suits most texts"):
        HilbertMLE(gauge=2)


def test_what_has_no_effect():
    assert "negative" in ignored_options("factorization", Hilbert(), subwords=False)
    assert "negative" not in ignored_options("factorization", SGNS(), subwords=False)
    assert "negative" not in ignored_options("gibbs", Hilbert(), subwords=False)
    assert "temperature" in ignored_options("factorization", GloVe(), subwords=False)
    assert "bucket" in ignored_options("gibbs", Hilbert(), subwords=False)
    assert "bucket" not in ignored_options("gibbs", Hilbert(), subwords=True)


def test_shown_and_stored_settings_are_those_with_an_effect():
    model = HilbertMLE(vectors="v+w", temperature=2, window=3, checkpoint="folder")
    shown, stored = settings_of(model), checkpoint_settings(model)
    assert (shown["vectors"], shown["temperature"], shown["window"]) == ("v+w", 2, 3)
    assert not {"negative", "checkpoint", "progress", "bucket"} & shown.keys()
    assert stored["window"] == 3
    assert stored["objective"] == "Hilbert(temperature=2, threshold=0.0)"
    assert not {"workers", "device", "memory_gb", "comment", "sampler"} & stored.keys()
    assert json.loads(json.dumps(stored)) == stored


def test_the_command_line_knows_its_options_without_gensim_and_torch():
    code = (
        "import sys, gensim_hilbert.cli\n"
        "sys.argv[1:] = ['train', '--help']\n"
        "try: gensim_hilbert.cli.main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'torch' not in sys.modules and 'gensim' not in sys.modules, sorted(sys.modules)"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    assert "--gibbs-steps" in done.stdout
