"""Candidates for phrases that are frequent enough, of those that a kernel has counted.

gensim counts strings: a candidate and a word, or two candidates, that are the same string when they are joined are one
to it. That can only be if a word holds a part of the delimiter or is empty. Such words, and candidates with one, are
called ambiguous here; of all others, each is a string of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gensim_hilbert._phrases import AdjacentCounter

NODE = 1 << 31  # added to the numbers of nodes; see cython_ext/_phrases.pyx


@dataclass(frozen=True)
class Words:
    """All words of a corpus, connector words first."""

    words: Sequence[str]
    counts: np.ndarray
    connectors: int  # how many are connector words
    delimiter: str
    are_plain: bool = False  # It is known that no two candidates can be the same string.

    @cached_property
    def ambiguous(self) -> np.ndarray:
        """Whether each word is empty or holds a character of the delimiter."""
        characters = set(self.delimiter)
        if self.are_plain or (all(self.words) and characters.isdisjoint("".join(self.words))):
            return np.zeros(len(self.words), dtype=bool)
        return np.fromiter((not word or not characters.isdisjoint(word) for word in self.words), bool, len(self.words))

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each word."""
        return {word: k for k, word in enumerate(self.words)}


@dataclass
class Frequent:
    """Candidates with at least `min_count` occurrences, one entry in each list; and the number of different strings."""

    first: list[np.ndarray] = field(default_factory=list)
    between: list[np.ndarray] = field(default_factory=list)  # numbers of sequences of connector words
    last: list[np.ndarray] = field(default_factory=list)
    counts: list[np.ndarray] = field(default_factory=list)
    sequences: dict[tuple[int, ...], int] = field(default_factory=lambda: {(): 0})
    strings: int = 0  # different ones among candidates, and words that may be the same string as a candidate
    words: dict[int, int] = field(default_factory=dict)  # counts of such words, with those of the candidates

    def add(self, counter: AdjacentCounter, words: Words, min_count: int, in_class: np.ndarray | None) -> None:
        """Add the candidates of a counter; `in_class` tells which words its class has, None for all."""
        if words.ambiguous.any():
            self._join_equal_strings(counter, words, in_class)
        else:
            self.strings += len(counter)
        first, last, counts, nodes = counter.state(min_count)
        between = np.zeros(len(first), dtype=np.int64)
        for k in np.flatnonzero(first >= NODE).tolist():
            first[k], sequence = resolved(int(first[k]), nodes)
            between[k] = self.sequences.setdefault(sequence, len(self.sequences))
        self.first.append(first)
        self.between.append(between)
        self.last.append(last)
        self.counts.append(counts)

    def _join_equal_strings(self, counter: AdjacentCounter, words: Words, in_class: np.ndarray | None) -> None:
        """Give each candidate the count of all candidates and words that are the same string."""
        before, last, _, nodes = counter.state()
        of_word = words.ambiguous
        of_node = np.zeros(len(nodes), dtype=bool)
        for k, (parent, connector) in enumerate(nodes.tolist()):
            of_node[k] = of_word[connector] or (of_node[parent - NODE] if parent >= NODE else of_word[parent])
        ambiguous = of_word[last]
        is_node = before >= NODE
        ambiguous[is_node] |= of_node[before[is_node] - NODE]
        ambiguous[~is_node] |= of_word[before[~is_node]]

        totals: Counter[str] = Counter()
        members: list[tuple[list[int], str]] = []  # the words of each candidate, and the string that they make
        for k in np.flatnonzero(ambiguous).tolist():
            first, sequence = resolved(int(before[k]), nodes)
            parts = [first, *sequence, int(last[k])]
            members.append((parts, words.delimiter.join(words.words[part] for part in parts)))
        singles = np.flatnonzero(of_word if in_class is None else of_word & in_class)
        singles = singles[singles >= words.connectors].tolist()
        for parts, string in members:
            totals[string] += counter.count_of(parts)
        for k in singles:
            totals[words.words[k]] += int(words.counts[k])
        self.strings += int((~ambiguous).sum()) + len(totals)
        for string in totals:
            plain = plain_parts(string, words)
            if plain is not None and (count := counter.count_of(plain)):
                totals[string] += count
                members.append((plain, string))
                self.strings -= 1  # This string has been counted twice.
        for parts, string in members:
            counter.set_count(parts, totals[string])
        for k in singles:
            self.words[k] = totals[words.words[k]]


def resolved(before: int, nodes: np.ndarray) -> tuple[int, tuple[int, ...]]:
    """Return the word that a candidate begins with, and the connector words after it."""
    connectors = []
    while before >= NODE:
        before, connector = nodes[before - NODE].tolist()
        connectors.append(connector)
    return before, tuple(reversed(connectors))


def plain_parts(string: str, words: Words) -> list[int] | None:
    """Return the words of the candidate that makes a string without being ambiguous; None if there is none."""
    parts = [words.index.get(part, -1) for part in string.split(words.delimiter)]
    first, *between, last = parts if len(parts) > 1 else [-1, -1]
    if min(first, last) < words.connectors or not all(0 <= part < words.connectors for part in between):
        return None
    return None if words.ambiguous[parts].any() else parts
