"""Finds phrases: counts all candidates of a corpus in parallel, within a memory budget, and scores them.

If the candidates take more memory than there is, they are divided into classes by their first word, and the corpus is
read once for each class. So counts are always exact.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np

from gensim_hilbert._phrases import AdjacentCounter, TooManyPairs
from gensim_hilbert._tokens import WordTable
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.dispatch import UNLIMITED_SHARE, map_blocks, reads_here
from gensim_hilbert.corpus.sources import Corpus
from gensim_hilbert.corpus.texts import texts
from gensim_hilbert.phrases.candidates import Frequent, Words
from gensim_hilbert.phrases.joining import Parts, Round, as_bytes, encoded_connectors
from gensim_hilbert.phrases.scores import Counts, score
from gensim_hilbert.progress import Progress

logger = logging.getLogger(__name__)

MOST_CLASSES = 256  # passes over a corpus


@dataclass(frozen=True)
class Rules:
    """Which candidates become phrases."""

    min_count: int
    threshold: float
    scoring: str
    delimiter: str
    connector_words: frozenset[str]


@dataclass(frozen=True)
class Resources:
    """What the work may use. None of it changes the result."""

    workers: int
    memory_gb: float
    executor: Executor | None
    errors: str
    progress: bool


@dataclass(frozen=True)
class CountTask:
    """What a worker needs besides blocks."""

    connectors: list[bytes]
    delimiter: bytes
    errors: str
    most: int  # bytes for candidates
    classes: int = 1
    wanted: int = 0  # the class whose candidates are counted

    def has(self, words: Sequence[str]) -> np.ndarray:
        """Tell for each word whether candidates that begin with it are in the class.

        Candidates that are the same string when joined are in the same class.
        """
        pieces = ((as_bytes(word) + self.delimiter).split(self.delimiter, 1)[0] for word in words)
        return np.fromiter((crc32(piece) % self.classes == self.wanted for piece in pieces), np.uint8, len(words))


Counted = tuple[Any, AdjacentCounter, int]  # a `WordTable.state()`, and the bytes read


def count_adjacent(
    blocks: Iterable[Block], task: CountTask, report: Callable[[int, int], None] | None = None
) -> Counted:
    """Count the words and the candidates of some blocks. This is the task that workers run."""
    table, counter, cost = WordTable(), AdjacentCounter(len(task.connectors), task.most), 0
    for word in task.connectors:
        table.add(word, 0, 0)
    numbers = np.empty(0, dtype=np.uint32)
    wanted: np.ndarray | None = None
    for text in texts(blocks, task.errors, report):
        if len(numbers) <= len(text.data):
            numbers = np.empty(len(text.data) + 1, dtype=np.uint32)
        text.count(table, numbers=numbers)
        if task.classes > 1:
            known = np.empty(0, dtype=np.uint8) if wanted is None else wanted
            wanted = np.concatenate([known, task.has(table.words(range(len(known), len(table))))])
        counter.count(numbers[: table.numbered], wanted)
        counter.end_sentence()  # also where a line of more than a block has been cut
        cost += text.block.cost
    return table.state(), counter, cost


def count_class(corpus: Corpus, task: CountTask, resources: Resources, table: WordTable) -> AdjacentCounter:
    """Count one class of candidates; words that are not in the table are added to it."""
    total: AdjacentCounter | None = None
    with Progress("phrases", corpus.total, show=resources.progress) as bar:
        live = bar.update if resources.executor is None else None
        for state, counter, cost in map_blocks(
            partial(count_adjacent, task=task, report=live),
            corpus,
            workers=resources.workers,
            executor=resources.executor,
            share=UNLIMITED_SHARE,
            streams=reads_here(corpus, resources.workers, resources.executor),
        ):
            is_first = len(table) == 0
            table.merge(state)
            if total is None and is_first:
                total = counter  # The table has the numbers of this one.
            else:
                total = total or AdjacentCounter(len(task.connectors), task.most)
                total.merge(counter, table.numbers_of(state))
            if not live:
                bar.update(cost, state[4])
    return total or AdjacentCounter(len(task.connectors), task.most)


def find_phrases(corpus: Corpus, rules: Rules, resources: Resources, are_plain: bool = False) -> tuple[Round, bool]:
    """Return the phrases of a corpus, and whether none of its words could be mistaken for a phrase.

    With `are_plain`, that is known to be so: the words are those of such a corpus, with phrases joined.
    """
    classes = 1
    while True:
        try:
            words, tokens, frequent = count_candidates(corpus, rules, resources, classes, are_plain)
            break
        except TooManyPairs:
            classes *= 2
            if classes > MOST_CLASSES:
                raise MemoryError(
                    f"memory_gb={resources.memory_gb} is too small for the pairs of words that follow each other; "
                    "raise it, or use fewer workers"
                ) from None
            logger.info("the pairs take too much memory at once: they are counted in %d passes", classes)
    found = score_candidates(words, frequent, tokens, rules)
    logger.info("found %d phrases among %d words and pairs", len(found), frequent.strings)
    return Round(found, rules.delimiter, rules.connector_words), not words.ambiguous.any()


def count_candidates(
    corpus: Corpus, rules: Rules, resources: Resources, classes: int, are_plain: bool
) -> tuple[Words, int, Frequent]:
    """Count the words and the candidates of a corpus, class by class; return also how many words it has in all."""
    connectors = encoded_connectors(rules.connector_words)
    most = int(resources.memory_gb * (1 << 30) / (resources.workers + 1))  # for each worker, and for the sum
    frequent, words, tokens = Frequent(), None, 0
    for wanted in range(classes):
        task = CountTask(connectors, as_bytes(rules.delimiter), resources.errors, most, classes, wanted)
        table = WordTable()
        if words is not None:
            for word in words.words:  # Their numbers are those of the first pass.
                table.add(as_bytes(word), 0, 0)
        counter = count_class(corpus, task, resources, table)
        if words is None:
            words = Words(table.words(), table.counts().astype(np.int64), len(connectors), rules.delimiter, are_plain)
            tokens = table.tokens
        in_class = task.has(words.words).astype(bool) if classes > 1 else None
        frequent.add(counter, words, rules.min_count, in_class)
    assert words is not None
    return words, tokens, frequent


def score_candidates(words: Words, frequent: Frequent, tokens: int, rules: Rules) -> dict[Parts, float]:
    """Return the candidates whose score is above the threshold, best first."""
    counts = words.counts.copy()
    counts[list(frequent.words)] = list(frequent.words.values())
    different = frequent.strings + int((~words.ambiguous[words.connectors :]).sum())
    first, between, last, together = (
        np.concatenate(parts) for parts in (frequent.first, frequent.between, frequent.last, frequent.counts)
    )
    scores = score(
        Counts(counts[first], counts[last], together),
        rules.scoring,
        min_count=rules.min_count,
        different=different,
        tokens=tokens,
    )
    sequences = [tuple(words.words[part] for part in sequence) for sequence in frequent.sequences]
    above = np.flatnonzero(scores > rules.threshold)
    found = [
        ((words.words[first[k]], *sequences[between[k]], words.words[last[k]]), float(scores[k]))
        for k in above.tolist()
    ]
    return dict(sorted(found, key=lambda entry: (-entry[1], entry[0])))
