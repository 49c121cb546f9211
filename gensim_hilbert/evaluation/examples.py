"""Texts and tagged sentences, how they are split, and how words become rows of a matrix."""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gensim_hilbert.evaluation.data import lines
from gensim_hilbert.evaluation.words import Words

TOKENS = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
NEWS_ENTITIES = (("#39;", "'"), ("quot;", '"'), ("\\", " "))  # as AG News was published
TEST_SHARE, TEST_SEED = 0.3, 1917  # the paper's
VALID_SHARE, VALID_SEED = 0.1, 1848


class Example(NamedTuple):
    """Words in lower case, and one label for all of them or one per word."""

    words: list[str]
    labels: list[str]


@dataclass(frozen=True)
class Split:
    """Examples to train a network on, to decide when to stop, and to score it on."""

    train: list[Example]
    valid: list[Example]
    test: list[Example]


def read_texts(path: Path) -> list[Example]:
    """Read lines of a label and a text, with tabs between them; the label comes first and the text last."""
    found = []
    for number, line in lines(path):
        label, tab, rest = line.partition("\t")
        if not tab or not label:
            raise ValueError(f"{path}, line {number}: expected a label, a tab and a text, got {line!r:.80}")
        text = rest.rpartition("\t")[2]
        for written, meant in NEWS_ENTITIES:
            text = text.replace(written, meant)
        words = TOKENS.findall(text.lower())
        if words:
            found.append(Example(words, [label]))
    return found


def read_sentences(path: Path, column: int) -> list[Example]:
    """Read lines of a word and its tags, with tabs between them; empty lines separate sentences."""
    found, words, tags = [], [], []
    for number, line in chain(lines(path), [(0, "")]):  # the last sentence ends, too
        fields = line.split("\t")
        if len(fields) > column:
            words.append(fields[0].lower())
            tags.append(fields[column])
        elif line:
            raise ValueError(f"{path}, line {number}: expected a word and {column} tags between tabs, got {line!r:.80}")
        elif words:
            found.append(Example(words, tags))
            words, tags = [], []
    return found


def train_test_split(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """Return the split that scikit-learn's function of that name makes, which the paper's authors used."""
    order = np.random.RandomState(seed).permutation(len(examples))
    tests = math.ceil(share * len(examples))
    return [examples[k] for k in order[tests:]], [examples[k] for k in order[:tests]]


def split(examples: Sequence[Example], test: Sequence[Example] | None = None) -> Split:
    """Split examples: 70% to train, of which a tenth to validate, 30% to test; or a test set of its own."""
    train = list(examples)
    if test is None:
        train, test = train_test_split(examples, TEST_SHARE, TEST_SEED)
    if len(train) < 2 or not test:
        raise ValueError(f"{len(train)} examples to learn from and {len(test)} to test are too few")
    train, valid = train_test_split(train, VALID_SHARE, VALID_SEED)
    return Split(train, valid, list(test))


def is_punctuation(word: str) -> bool:
    """Return True if there is neither a letter nor a digit in a word."""
    return not any(unicodedata.category(sign)[0] in "LN" for sign in word)


class Rows:
    """Rows of a matrix for words: the vectors of those known, and what stands for others.

    As with the paper's authors, all unknown words share one vector; here it is the mean of all. Punctuation that is
    unknown, because the text that vectors were trained on had none, has vectors of its own, drawn at random, of mean
    length: else full stops and rare nouns would look the same, as they did not to the paper's taggers.
    """

    def __init__(self, words: Words, *, unit: bool):
        self.words = words
        self.unit = unit
        self.mean = words.vectors.mean(axis=0)
        self.length = float(np.linalg.norm(words.vectors, axis=1).mean())
        self.numbers: dict[str, int] = {"": 0}
        self.vectors: list[np.ndarray] = [self.mean]
        self.unknown = 0
        self.tokens = 0

    def __call__(self, word: str) -> int:
        """Return the row of a word."""
        self.tokens += 1
        number = self.numbers.get(word)
        if number is None:
            row = self.words.find(word)
            if row is None and not is_punctuation(word):
                number = 0
            else:
                number = len(self.vectors)
                self.vectors.append(self.words.vectors[row] if row is not None else self.drawn(word))
            self.numbers[word] = number
        self.unknown += number == 0
        return number

    def drawn(self, word: str) -> np.ndarray:
        """Return a random vector, always the same for a word."""
        found = np.random.default_rng(zlib.crc32(word.encode())).standard_normal(len(self.mean))
        return found * self.length / np.linalg.norm(found)

    def matrix(self) -> np.ndarray:
        """Return the matrix of the rows in use."""
        found: np.ndarray = np.array(self.vectors, dtype=np.float32)
        if not self.unit:
            return found
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(lengths > 0, lengths, 1)
