"""gensim's own tests, pointed at HilbertMLE: the measure of "drop-in"."""

import importlib.util
import re
import types
import unittest
from contextlib import nullcontext
from pathlib import Path

import gensim.models.word2vec
import pytest
from helpers import short_training

from gensim_hilbert import HilbertMLE

pytest.importorskip("testfixtures", reason="gensim's tests need testfixtures")

# What is not run, and why.
LEFT_OUT = {
    "TestWord2VecModel.test_training": "reads syn1, the matrix of hierarchical softmax",
    "TestWord2VecModel.test_training_from_file": "reads syn1, the matrix of hierarchical softmax",
    "TestWord2VecModel.test_training_cbow": "reads syn1, the matrix of hierarchical softmax",
    "TestWord2VecModel.test_vocab": "reads the codes of a Huffman tree",
    "TestWord2VecModel.test_method_in_bulk": "gensim itself skips it",
    # What it saves an index to is not where it looks for it.
    "TestWord2VecAnnoyIndexer.test_word2vec": "fails with gensim's own Word2Vec as well",
    "TestWord2VecAnnoyIndexer.test_fast_text": "has no Word2Vec in it, and fails with gensim alone as well",
}


class GibbsMLE(HilbertMLE):
    """The same from the stream."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **{"solver": "gibbs"} | kwargs)


def load(name: str, model: type) -> types.ModuleType:
    """A module of gensim's tests under another name, in which Word2Vec is ours; gensim's own stays as it is."""
    spec = importlib.util.find_spec(name)
    module = types.ModuleType(name.replace(".", "_"))
    module.__file__ = spec.origin
    exec(compile(Path(spec.origin).read_text(encoding="utf-8"), spec.origin, "exec"), module.__dict__)
    module.word2vec = types.SimpleNamespace(**vars(gensim.models.word2vec) | {"Word2Vec": model})
    return module


def cases(model: type) -> dict[str, unittest.TestCase]:
    words, similarities = load("gensim.test.test_word2vec", model), load("gensim.test.test_similarities", model)
    # TestWord2VecNmslibIndexer is not there: gensim refuses nmslib from Python 3.10 on.
    return {
        f"{case.__name__}.{name}": case(name)
        for case in (words.TestWord2VecModel, words.TestWMD, similarities.TestWord2VecAnnoyIndexer)
        for name in unittest.TestLoader().getTestCaseNames(case)
    }


CASES = {"factorization": cases(HilbertMLE), "gibbs": cases(GibbsMLE)}
# Softmax and bags of words have no effect here: of tests that differ in nothing else, one runs by default. So does one
# of those that load models of old versions, and one that evaluates vectors, which are KeyedVectors in any case.
ALIKE = re.compile(r"\w+.test_(cbow_|sg_hs|sg_fixedwindowsize|evaluate_word_pairs|load_old_models_[12])")


def runs() -> list:
    """(name, solver) of each test; by default one solver, and one of tests that are alike."""
    names = [name for name in CASES["gibbs"] if name not in LEFT_OUT]
    slow = [(name, solver) for name in names for solver in CASES if solver == "gibbs" or ALIKE.match(name)]
    fast = [(name, "factorization") for name in names if not ALIKE.match(name)]
    return [*fast, *(pytest.param(*run, marks=pytest.mark.slow) for run in slow)]


@pytest.mark.filterwarnings("ignore:HilbertMLE with solver=")
@pytest.mark.parametrize(("name", "solver"), runs())
def test_gensim(name, solver):
    result = unittest.TestResult()
    # Those that are alike look at neighbours, and some of them set a rate that is too high for short training.
    with nullcontext() if ALIKE.match(name) else short_training():
        CASES[solver][name].run(result)
    if result.skipped:
        pytest.skip(result.skipped[0][1])
    for _, trace in result.failures + result.errors:
        pytest.fail(trace)


def test_what_is_left_out_exists():
    assert set(LEFT_OUT) <= set(CASES["gibbs"])
