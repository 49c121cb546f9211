"""Questions about synonyms ask what they say, and vectors that know the answers are told from others."""

import sys

import numpy as np
import pytest

from gensim_hilbert import PairCounts
from gensim_hilbert.export import export
from gensim_hilbert.export.reading import keyed_vectors

LICENCE = "  1 This is the licence.\n"
# Two synonyms, one sibling of theirs, and words that have nothing to do with these.
INDEX = {
    "gift": "10", "present": "10", "presentation": "10", "bribe": "11", "river": "12", "engine": "13", "song": "14",
    "cloud": "15",
}  # fmt: skip
PARENTS = {"10": "20", "11": "20", "12": "21", "13": "22", "14": "23", "15": "24"}
SENTENCE = "the {0} with a {1} and a {1} of the {0}"


@pytest.fixture
def synonyms(module):
    return module("synonyms")


@pytest.fixture
def wordnet(tmp_path):
    for part in ("verb", "noun", "adj"):
        words, senses = (INDEX, PARENTS) if part == "noun" else ({}, {})
        index = "".join(f"{word} n 1 1 @ 1 0 {sense}  \n" for word, sense in words.items())
        data = (f"{one} 00 n 01 word 0 001 @ {parent} n 0000 | what it means  \n" for one, parent in senses.items())
        (tmp_path / f"index.{part}").write_text(LICENCE + index)
        (tmp_path / f"data.{part}").write_text(LICENCE + "".join(data))
    return tmp_path


@pytest.fixture
def counts(tmp_path):
    company = [("gift", "river"), ("gift", "engine"), ("gift", "song"), ("gift", "present"), ("present", "bribe")]
    lines = [SENTENCE.format(*pair) for pair in company for _ in range(20)] + ["cloud presentation"] * 9
    path = tmp_path / "counts"
    PairCounts.from_corpus([line.split() for line in lines], min_count=1, directory=str(path), progress=False)
    return path


def test_others_are_no_relatives_and_go_with_the_word(synonyms, wordnet, counts):
    table = PairCounts.open(counts)
    asked = synonyms.questions(synonyms.read_wordnet(wordnet, "noun"), table)
    words = table.vocabulary.words
    pairs = {(words[one.word], words[one.synonym]) for one in asked["chance"]}
    assert {frozenset(pair) for pair in pairs} == {frozenset({"gift", other}) for other in ("present", "presentation")}
    assert len(pairs) == 4, "present and presentation are spelt alike"
    for found in asked.values():
        for one in found:
            assert {words[row] for row in one.others} <= {"river", "engine", "song", "cloud"}
    company = {words[one.word]: {words[row] for row in one.others} for one in asked["company"]}
    assert company == {"gift": {"river", "engine", "song"}}, "what goes with present is its relative"


def test_vectors_that_know_synonyms_answer_all(synonyms, wordnet, counts, tmp_path, monkeypatch, capsys):
    words = PairCounts.open(counts).vocabulary.words
    places = {word: INDEX.get(word, word) for word in words}
    axes = {place: axis for axis, place in enumerate(dict.fromkeys(places.values()))}
    right = np.eye(len(axes), dtype=np.float32)[[axes[places[word]] for word in words]]
    for name, vectors in (("right", right), ("wrong", np.eye(len(words), dtype=np.float32))):
        export(keyed_vectors(name, words, vectors), str(tmp_path / f"{name}.npy"))
    files = [f"{name}={tmp_path / name}.npy" for name in ("right", "wrong")]
    monkeypatch.setattr(sys, "argv", ["", "--wordnet", str(wordnet), "--counts", str(counts), "--vectors", *files])
    synonyms.main()
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "| | runs | nouns, chance (4) | nouns, company (1) |", "there are no verbs and no adjectives"
    assert shown[2] == "| right | 1 | 1.000 | 1.000 |"
    assert shown[3] == "| wrong | 1 | .000 (+1.000 to +1.000) | .000 (+1.000 to +1.000) |"


def test_company_is_about_as_frequent(synonyms, wordnet, counts, monkeypatch):
    """Words in company occur a quarter as often as their synonyms, or more rarely."""
    monkeypatch.setattr(synonyms, "SPAN", 1.5)
    asked = synonyms.questions(synonyms.read_wordnet(wordnet, "noun"), PairCounts.open(counts))
    assert asked["chance"]
    assert not asked["company"]
