"""Two models side by side."""

import numpy as np
import pytest
from helpers import keyed

from gensim_hilbert.explore.endpoints import Explorer


@pytest.fixture(scope="module")
def two():
    """Models over two groups of words, turned against each other; in the second, `moved` is in the other group."""
    random = np.random.default_rng(7)
    words = [f"a{k}" for k in range(30)] + [f"b{k}" for k in range(30)] + ["moved"]
    middles = np.repeat(np.eye(2, 8), 30, axis=0)
    first = np.vstack([middles, middles[:1]]) + 0.02 * random.normal(size=(61, 8))
    second = np.vstack([middles, middles[-1:]]) + 0.02 * random.normal(size=(61, 8))
    turn = np.linalg.qr(random.normal(size=(8, 8)))[0]
    order = random.permutation(61)
    other = keyed([words[k] for k in order] + ["only"], np.vstack([(second @ turn)[order], np.ones(8)]))
    return Explorer([("one", keyed(words, first)), ("other", other)])


def test_the_word_that_has_moved_differs_most(two):
    found = two.answer("compare", {"model": "0", "other": "1", "n": "5"})
    assert found["shared"] == 61
    assert found["changed"][0] == {"word": "moved", "difference": 1.0}
    assert found["changed"][1]["difference"] < 0.5
    painted = two.answer("paint", {"by": "difference", "other": "1"})["values"]
    assert painted[60] == 1
    assert max(painted[:60]) == pytest.approx(found["changed"][1]["difference"], abs=1e-3)


def test_of_words_that_differ_alike_those_with_near_neighbours_come_first():
    """`turned` has near neighbours in both models, `alone` is far from everything: both change all neighbours."""
    words = [*(f"a{k}" for k in range(30)), *(f"b{k}" for k in range(30)), "alone", "turned"]
    groups = np.repeat(np.eye(2, 4), 30, axis=0)
    alone = [np.array([[0.2, 0.1, 1, 0]]), np.array([[0.1, 0.2, 1, 0]])]
    explorer = Explorer(
        [(str(k), keyed(words, np.vstack([groups, alone[k], np.eye(2, 4)[k : k + 1]]))) for k in range(2)]
    )
    changed = explorer.answer("compare", {"other": "1", "n": "2"})["changed"]
    assert changed == [{"word": "turned", "difference": 1.0}, {"word": "alone", "difference": 1.0}]


def test_neighbours_lost_and_gained(two):
    found = two.answer("compare", {"word": "moved", "n": "10"})
    assert {near["word"][0] for near in found["lost"]["like"]} == {"a"}
    assert {near["word"][0] for near in found["gained"]["like"]} == {"b"}
    assert found["kept"] == []
    same = two.answer("compare", {"model": "0", "other": "0", "word": "moved", "n": "10"})
    assert (same["lost"]["like"], same["gained"]["like"], len(same["kept"])) == ([], [], 10)


def test_shared_neighbours_are_found_behind_many_that_are_not_shared():
    shared = ["here", "near", "far"]
    circle = np.linspace(0, 1, 203)
    vectors = np.stack([np.cos(circle), np.sin(circle)], axis=1)
    names = ["here", *(f"own{k}" for k in range(200)), "near", "far"]
    other = keyed(shared, np.stack([np.cos([0, 1, 2]), np.sin([0, 1, 2])], axis=1))
    explorer = Explorer([("one", keyed(names, vectors)), ("other", other)])
    found = explorer.answer("compare", {"word": "here", "n": "2"})
    assert found["kept"] == ["near", "far"]


def test_one_model_cannot_be_compared(two):
    with pytest.raises(ValueError, match="only one model"):
        Explorer([("one", two.models[0].model)]).answer("compare", {})
