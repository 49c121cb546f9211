"""Texts in which only one thing tells a tag or a class."""

from __future__ import annotations

import numpy as np

from gensim_hilbert.evaluation.examples import Example
from gensim_hilbert.evaluation.extrinsic import Settings

WORDS = [f"word{k}" for k in range(10)]
SETTINGS = Settings(batch=16, epochs=12)


def tagged_sentences(count: int, seed: int) -> list[Example]:
    """A word's tag tells whether the word before it has an odd number: no word has a tag of its own."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        drawn = random.integers(10, size=random.integers(4, 12))
        tags = ["first", *("odd" if k % 2 else "even" for k in drawn[:-1])]
        found.append(Example([WORDS[k] for k in drawn], tags))
    return found


def classified_texts(count: int, seed: int) -> list[Example]:
    """A text is of one kind if word3 stands anywhere in it."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        drawn = random.integers(4, 10, size=10)
        if random.random() < 0.5:
            drawn[random.integers(10)] = 3
        found.append(Example([WORDS[k] for k in drawn], [str(3 in drawn)]))
    return found
