"""Analogies: a is to b as c is to what.

The answer is the word d with the highest cos(d, b) + cos(d, c) - cos(d, a) (3CosAdd) or cos(d, b) cos(d, c) / cos(d, a)
(3CosMul, cosines shifted to 0..1; Levy and Goldberg 2014, equation 4), other than a, b and c. Few words make many
questions: what b and a contribute is computed once for each pair of them, for a block of words d at a time, and a
question then costs one product and one comparison per word.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from gensim_hilbert.evaluation.data import Data, lines
from gensim_hilbert.evaluation.significance import Difference, difference, interval, mcnemar, resampled_mean
from gensim_hilbert.evaluation.words import Words

EPSILON = 1e-6  # gensim's, against division by zero
CHUNK, ROWS, COLUMNS = 4096, 64, 2048  # questions that share cosines; questions and words in the cache at a time
METHODS = ("mul", "add")


@dataclass(frozen=True)
class SectionScore:
    """Accuracy on the questions of a section whose words are known."""

    name: str
    accuracy: float
    questions: int
    covered: int


@dataclass(frozen=True)
class AnalogyScore:
    """Accuracy on the questions of a set whose words are known, with the 95% interval of a bootstrap over word pairs.

    `right` is 1 or 0 for each question of the file, and -1 where a word is not known; `word_pairs` numbers the two
    pairs that a question is made of.
    """

    name: str
    method: str
    accuracy: float
    low: float
    high: float
    questions: int
    covered: int
    sections: tuple[SectionScore, ...]
    right: np.ndarray = field(repr=False, compare=False)
    word_pairs: np.ndarray = field(repr=False, compare=False)


@dataclass
class Questions:
    """Questions of a file: sections by number, given words, accepted answers."""

    sections: list[str] = field(default_factory=list)
    section: list[int] = field(default_factory=list)
    given: list[tuple[str, str, str]] = field(default_factory=list)
    answers: list[tuple[str, ...]] = field(default_factory=list)

    def word_pairs(self) -> np.ndarray:
        """Return the numbers of the pairs (a, b) and (c, d) of each question; no two sections share a number."""
        numbers: defaultdict[tuple[int, str, str], int] = defaultdict(lambda: len(numbers))
        rows = [
            (numbers[section, a, b], numbers[section, c, answers[0]])
            for section, (a, b, c), answers in zip(self.section, self.given, self.answers, strict=True)
        ]
        return np.array(rows, dtype=np.intp)


def analogies(
    vectors: KeyedVectors, data: Data, method: str = "mul", restrict_vocab: int | None = None, seed: int = 1
) -> list[AnalogyScore]:
    """Score vectors on analogies.

    Parameters
    ----------
    vectors : KeyedVectors
        Such as `model.wv`, or what `gensim_hilbert.export.load_vectors` returns.
    data : Data
        Whose `analogy` sets to take; see `find_data`.
    method : {"mul", "add"}
        3CosMul, as in the paper, or 3CosAdd, as in gensim's `evaluate_word_analogies`.
    restrict_vocab : int, optional
        Take only so many words, from the first, for known and for answers; by default all. (gensim takes 300,000.)
    seed : int
        For the bootstrap: 1,000 resamples of the word pairs that questions are made of.

    Returns
    -------
    list of AnalogyScore
        One for each set. A question counts where a, b, c and an accepted answer are known; forms of a word that differ
        in case alone are one word, as in gensim: if a is "Paris", "paris" is no answer.

    Raises
    ------
    ValueError
        If a file is not of the form of word2vec's questions-words, or none of all questions is covered.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    words = Words(vectors, restrict_vocab)
    scores = [score(name, read_questions(path), words, method, seed) for name, path in data.analogy.items()]
    if scores and not any(found.covered for found in scores):
        raise ValueError(
            f"none of the {sum(found.questions for found in scores)} questions has all words among the {len(words)} "
            f"known ones, such as {', '.join(map(repr, words.keys[:3]))}: are these the vectors of English words?"
        )
    return scores


def read_questions(path: Path) -> Questions:
    """Read a file in word2vec's form: `: section` lines, and lines of four words.

    The last word may be several, with slashes between them.
    """
    found = Questions()
    for number, line in lines(path):
        if line.startswith(":"):
            found.sections.append(line[1:].strip())
            continue
        words = line.split()
        if not words:
            continue
        if len(words) != 4:
            raise ValueError(f"{path}, line {number}: expected four words, got {line!r:.80}")
        if not found.sections:
            raise ValueError(f"{path}, line {number}: there is no ': section' line before the first question")
        found.section.append(len(found.sections) - 1)
        found.given.append((words[0], words[1], words[2]))
        found.answers.append(tuple(word for word in words[3].split("/") if word))
    if not found.given:
        raise ValueError(f"{path} holds no questions")
    return found


def score(name: str, questions: Questions, words: Words, method: str, seed: int) -> AnalogyScore:
    """Score vectors on one set of questions."""
    right = np.full(len(questions.given), -1, dtype=np.int8)
    places, rows, accepted = [], [], []
    for place, (given, answers) in enumerate(zip(questions.given, questions.answers, strict=True)):
        row = [words.find(word) for word in given]
        known = {words.find(word) for word in answers} - {None}
        if known and None not in row:
            places.append(place)
            rows.append(row)
            accepted.append(known)
    if places:
        guesses = answer(words, np.array(rows, dtype=np.intp), method)
        # Another form of the right word is right, too.
        first = {form: row for row, forms in words.forms.items() for form in forms}
        right[places] = [
            first.get(guess, guess) in known for guess, known in zip(guesses.tolist(), accepted, strict=True)
        ]
    section, there = np.array(questions.section), right >= 0
    sections = []
    for number, title in enumerate(questions.sections):
        mine = section == number
        sections.append(SectionScore(title, mean(right[mine & there]), int(mine.sum()), int((mine & there).sum())))
    pairs = questions.word_pairs()
    low, high = math.nan, math.nan
    if there.any():
        low, high = interval(resampled_mean(right[there].astype(np.float64), pairs[there], seed))
    total = len(right), int(there.sum())
    return AnalogyScore(name, method, mean(right[there]), low, high, *total, tuple(sections), right, pairs)


def mean(values: np.ndarray) -> float:
    """Return the mean of numbers, or NaN if there are none."""
    return float(values.mean()) if len(values) else math.nan


def answer(words: Words, questions: np.ndarray, method: str) -> np.ndarray:
    """Return the row of the best answer to each question, given as rows of a, b and c."""
    chunks = (questions[start : start + CHUNK] for start in range(0, len(questions), CHUNK))
    return np.concatenate([best(words, chunk, method) for chunk in chunks])


def best(words: Words, questions: np.ndarray, method: str) -> np.ndarray:
    """Return the rows of the best answers to one chunk of questions, which fit into memory together."""
    used, numbers = np.unique(questions, return_inverse=True)
    a, b, c = numbers.reshape(-1, 3).T
    offsets, offset = np.unique(np.stack([a, b]), axis=1, return_inverse=True)
    offset = offset.ravel()
    given = ((place, row) for place, rows in enumerate(questions.tolist()) for row in rows)
    barred = np.array([(place, form) for place, row in given for form in words.forms.get(row, [row])])
    guesses = np.zeros(len(questions), dtype=np.intp)
    highest = np.full(len(questions), -np.inf, dtype=np.float32)
    room = np.empty((2, ROWS, COLUMNS), dtype=np.float32)
    asked = words.unit(used)
    for start in range(0, len(words), COLUMNS):
        cosines = asked @ words.unit(slice(start, start + COLUMNS)).T
        if method == "mul":
            cosines = (cosines + 1) / 2
            towards = cosines[offsets[1]] / (cosines[offsets[0]] + np.float32(EPSILON))
        else:
            towards = cosines[offsets[1]] - cosines[offsets[0]]
        combine = np.multiply if method == "mul" else np.add
        inside = barred[(barred[:, 1] >= start) & (barred[:, 1] < start + COLUMNS)]
        bounds = np.searchsorted(inside[:, 0], np.arange(0, len(questions) + ROWS, ROWS))
        for block, first in enumerate(range(0, len(questions), ROWS)):
            some = slice(first, first + ROWS)
            totals, others = room[:, : len(c[some]), : cosines.shape[1]]
            np.take(towards, offset[some], axis=0, out=totals, mode="clip")
            combine(totals, np.take(cosines, c[some], axis=0, out=others, mode="clip"), out=totals)
            out = inside[bounds[block] : bounds[block + 1]]
            totals[out[:, 0] - first, out[:, 1] - start] = -np.inf
            at = totals.argmax(axis=1)
            value = totals[np.arange(len(at)), at]
            better = value > highest[some]
            highest[some] = np.where(better, value, highest[some])
            guesses[some] = np.where(better, at + start, guesses[some])
    return guesses


def compare_analogies(first: AnalogyScore, second: AnalogyScore, seed: int = 1) -> Difference:
    """Tell whether two embeddings differ on a set, on the questions that both cover.

    p is the larger of two: McNemar's, which takes questions for independent, and that of a paired bootstrap over word
    pairs, which does not.
    """
    if first.name != second.name or len(first.right) != len(second.right):
        raise ValueError(f"scores on one and the same set can be compared, got {first.name} and {second.name}")
    both = (first.right >= 0) & (second.right >= 0)
    if not both.any():
        return Difference(math.nan, math.nan, math.nan, 1.0, 0)
    ours, theirs = first.right[both] > 0, second.right[both] > 0
    change = ours.astype(np.float64) - theirs
    found = difference(float(change.mean()), resampled_mean(change, first.word_pairs[both], seed), int(both.sum()))
    return found._replace(p=max(found.p, mcnemar(ours, theirs)))
