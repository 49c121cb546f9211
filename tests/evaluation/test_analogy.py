"""Analogies: answers are Gensim's, case is ignored as Gensim does, errors are named."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from embeddings import QUESTIONS, google, planted
from helpers import keyed

from gensim_hilbert.evaluation import Data, analogies, compare_analogies
from gensim_hilbert.evaluation.analogy import read_questions


def write(folder: Path, text: str) -> Path:
    path = folder / "questions.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("case", "restrict_vocab"), [(str.lower, None), (str.capitalize, 1500)])
def test_sums_of_cosines_answer_as_gensim_does(case, restrict_vocab):
    vectors = planted(0.8, case)
    (score,) = analogies(vectors, google(), "add", restrict_vocab)
    accuracy, sections = vectors.evaluate_word_analogies(str(QUESTIONS), restrict_vocab=restrict_vocab or 300_000)
    assert 0.1 < score.accuracy < 0.9
    assert score.accuracy == accuracy
    wrong = {tuple(word.lower() for word in question) for question in sections[-1]["incorrect"]}
    questions = read_questions(QUESTIONS)
    rows = [(*given, *answers) for given, answers in zip(questions.given, questions.answers, strict=True)]
    ours = {tuple(map(str.lower, row)) for row, right in zip(rows, score.right, strict=True) if right == 0}
    assert ours == wrong
    assert score.covered == len(sections[-1]["correct"]) + len(sections[-1]["incorrect"])
    for section, found in zip(sections[:-1], score.sections, strict=True):
        assert found.name == section["section"]
        assert found.covered == len(section["correct"]) + len(section["incorrect"])
        if found.covered:
            assert found.accuracy == pytest.approx(len(section["correct"]) / found.covered)
    assert score.low < score.accuracy < score.high


def test_case_is_ignored_in_given_words_and_in_answers(tmp_path):
    random = np.random.default_rng(1)
    a, b, c = np.eye(6)[:3]
    words = ["a", "b", "c", "C", "D", "d"] + [f"filler{k}" for k in range(50)]
    rows = [a, b, c, c + b - a, c + b - a + 0.05, c, *random.normal(size=(50, 6))]
    rows[10] = c + 2 * (b - a)  # would be the answer if C stood for c
    vectors = keyed(words, np.array(rows))
    for text, accuracy in ((": s\na b c d\n", 1.0), (": s\nA B C filler1\n", 0.0)):
        data = Data(analogy={"one": write(tmp_path, text)})
        assert analogies(vectors, data, "add")[0].accuracy == accuracy
        assert vectors.evaluate_word_analogies(str(data.analogy["one"]))[0] == accuracy


def test_products_of_cosines_answer_as_gensim_does(vectors):
    questions = read_questions(QUESTIONS)
    (score,) = analogies(vectors, google(), "mul")
    for place in range(0, len(questions.given), 97):
        (a, b, c), (d,) = (tuple(map(str.lower, words)) for words in (questions.given[place], questions.answers[place]))
        known = all(word in vectors for word in (a, b, c, d))
        assert (score.right[place] >= 0) == known
        if known:
            guess = vectors.most_similar_cosmul(positive=[b, c], negative=[a], topn=1)[0][0]
            assert score.right[place] == (guess == d), (a, b, c, d)


def test_any_of_several_answers_is_right(tmp_path):
    words = ["a", "b", "c", "d", "e", "f"]
    vectors = keyed(words, np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 1, 1], [1, 1, 0], [1, 0, 1]]))
    text = ": one\na b c e/d\na b c unknown/d\na b c e/f\n: two\na b c unknown\na unknown c d\n"
    (score,) = analogies(vectors, Data(analogy={"some": write(tmp_path, text)}), "add")
    assert score.right.tolist() == [1, 1, 0, -1, -1]
    assert (score.accuracy, score.questions, score.covered) == (2 / 3, 5, 3)
    assert [(section.name, section.questions, section.covered) for section in score.sections] == [
        ("one", 3, 3),
        ("two", 2, 0),
    ]
    assert math.isnan(score.sections[1].accuracy)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (": s\na b c\n", "line 2: expected four words, got 'a b c'"),
        ("a b c d\n", "line 1: there is no ': section' line"),
        (": s\n", "holds no questions"),
        (": s\nun deux trois quatre\n", "none of the 1 questions has all words"),
    ],
)
def test_wrong_questions(text, message, vectors, tmp_path):
    with pytest.raises(ValueError, match=message):
        analogies(vectors, Data(analogy={"wrong": write(tmp_path, text)}))


def test_wrong_arguments(vectors):
    with pytest.raises(ValueError, match="method must be one of mul, add, got 'both'"):
        analogies(vectors, google(), "both")
    with pytest.raises(ValueError, match="restrict_vocab must be a positive number of words, got 0"):
        analogies(vectors, google(), restrict_vocab=0)


def test_analogies_compared(vectors):
    (good,), (bad,) = analogies(vectors, google(), "add"), analogies(planted(1.0), google(), "add")
    assert compare_analogies(good, good)[::3] == (0, 1)
    differs = compare_analogies(good, bad)
    assert differs.p < 0.001
    assert differs.value == pytest.approx(good.accuracy - bad.accuracy)
    assert 0 < differs.low < differs.value < differs.high
    with pytest.raises(ValueError, match="one and the same set"):
        compare_analogies(good, analogies(vectors, Data(analogy={"other": QUESTIONS}))[0])


def test_intervals_are_wider_where_questions_share_words(vectors):
    (score,) = analogies(vectors, google(), "add")
    as_if_independent = 1.96 * math.sqrt(score.accuracy * (1 - score.accuracy) / score.covered)
    assert (score.high - score.low) / 2 > 2 * as_if_independent
