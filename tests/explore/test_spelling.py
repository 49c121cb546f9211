"""Words that are spelt much like an unknown one."""

import numpy as np
import pytest
from helpers import keyed

from gensim_hilbert.explore.spelling import edits, spelling
from gensim_hilbert.explore.words import ExploredModel

WORDS = ["the", "of", "university", "police", "policy", "yale", "Vale", "halle", "yell", "quiz", "שלום", "it"]


@pytest.fixture(scope="module")
def explored():
    return ExploredModel(keyed(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 3))), "some")


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("polcie", ["police", "policy"]),  # two letters that changed places
        ("olice", ["police"]),  # another beginning
        ("policee", ["police", "policy"]),
        ("unversty", ["university"]),  # two letters are missing
        ("yalle", ["yale", "halle", "yell"]),  # nearer ones first, then more frequent ones
        ("YALLE", ["yale", "halle", "yell"]),
        ("of", []),
        ("Police", []),  # known in lower case
        ("i", []),
        ("xyzzy", []),
        ("שלוס", ["שלום"]),
        ("x" * 500, []),
    ],
)
def test_near_spellings(explored, word, near):
    found = spelling(explored, word)
    assert found["near"] == near
    assert found["known"] == (word in ("of", "Police"))


def slow_edits(one, other):
    """The definition, by recursion."""
    if not one or not other:
        return len(one) + len(other)
    choices = [
        slow_edits(one[1:], other) + 1,
        slow_edits(one, other[1:]) + 1,
        slow_edits(one[1:], other[1:]) + (one[0] != other[0]),
    ]
    if len(one) > 1 and len(other) > 1 and (one[0], one[1]) == (other[1], other[0]):
        choices.append(slow_edits(one[2:], other[2:]) + 1)
    return min(choices)


def test_letters_are_counted_as_by_the_definition():
    random = np.random.default_rng(5)
    for _ in range(60):
        one, other = ("".join(random.choice(list("abc"), size)) for size in random.integers(0, 6, 2))
        assert edits(one, other) == slow_edits(one, other)
