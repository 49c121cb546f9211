"""Vectors of which it is known how they should score."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from helpers import keyed

from gensim_hilbert.evaluation import Data
from gensim_hilbert.evaluation.analogy import read_questions

QUESTIONS = Path(datapath("questions-words.txt"))


def planted(noise: float, case: Callable[[str], str] = str.lower, seed: int = 1) -> KeyedVectors:
    """Words of questions-words, most of them, of which b is a plus what is peculiar to the section, plus noise."""
    random = np.random.default_rng(seed)
    questions = read_questions(QUESTIONS)
    shifts = random.normal(size=(len(questions.sections), 40))
    found: dict[str, np.ndarray] = {}
    for section, (a, b, _) in zip(questions.section, questions.given, strict=True):
        start = found.setdefault(a.lower(), random.normal(size=40))
        found.setdefault(b.lower(), start + shifts[section] + noise * random.normal(size=40))
    words = [word for place, word in enumerate(found) if place % 15]
    fill = [f"filler{k}" for k in range(2500)]  # more words than are looked at in a block
    matrix = np.concatenate([[found[word] for word in words], random.normal(size=(len(fill), 40))])
    order = random.permutation(len(matrix))
    return keyed([case([*words, *fill][k]) for k in order], matrix[order])


def google() -> Data:
    return Data(analogy={"Google": QUESTIONS})


def some_pairs(
    covered: float = 0.8, seed: int = 1, noise: float = 1.0, case: Callable[[str], str] = str
) -> KeyedVectors:
    """Vectors whose cosines go, more or less, with what people say of pairs in WordSim-353."""
    random = np.random.default_rng(seed)
    text = Path(datapath("wordsim353.tsv")).read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    words = sorted({word for row in rows for word in row[:2]})
    matrix = random.normal(size=(len(words), 50))
    for first, second, value in rows:
        matrix[words.index(second)] += float(value) / 5 * matrix[words.index(first)]
    matrix += noise * random.normal(size=matrix.shape)
    kept = random.random(len(words)) < covered
    return keyed([case(word) for word, keep in zip(words, kept, strict=True) if keep], matrix[kept])
