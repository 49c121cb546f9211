"""Counts the words of a corpus: text in parallel in C, and other tokens as Python's dict tells them apart."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from gensim_hilbert._tokens import TokenCounter, WordTable
from gensim_hilbert.corpus.any_tokens import refuse_unhashable
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.dispatch import UNLIMITED_SHARE, map_blocks, reads_here
from gensim_hilbert.corpus.sources import Corpus, TextOfTokens, TokenCorpus
from gensim_hilbert.corpus.texts import texts
from gensim_hilbert.divided_words import DividedWords
from gensim_hilbert.progress import Progress

logger = logging.getLogger(__name__)

TrimRule = Callable[[Any, int, int], int]
MOST_WORDS = (1 << 32) - 1  # Ids have 32 bits.
TOKENS_PER_REPORT = 1 << 16


class NothingToCount(ValueError):
    """Raised for a corpus without words, or with so few that no two of them are a pair."""

    def __init__(self, what: str, words: int = 0, sentences: int = 0):
        super().__init__(what)
        self.words, self.sentences = words, sentences


class CountedWords(Protocol):
    """Words with their counts; a `WordTable` is one, too."""

    @property
    def tokens(self) -> int:
        """Number of all occurrences of all words, pruned ones included."""

    @property
    def sentences(self) -> int:
        """Number of sentences."""

    def __len__(self) -> int: ...

    def counts(self) -> np.ndarray:
        """Return the count of each word, by its number."""

    def first_places(self) -> np.ndarray:
        """Return numbers that tell in which order words were first seen."""

    def words(self, selection: Iterable[int] | None = None) -> list[Any]:
        """Return the words, or those with the given numbers."""


class CountedTokens:
    """Words of any type with their counts, as a dict has them: in the order in which they were first seen."""

    def __init__(self, counts: dict[Any, int], tokens: int, sentences: int):
        self.by_word, self.tokens, self.sentences = counts, tokens, sentences

    def __len__(self) -> int:
        return len(self.by_word)

    def counts(self) -> np.ndarray:
        """Return the count of each word, by its number."""
        return np.fromiter(self.by_word.values(), dtype=np.uint64, count=len(self))

    def first_places(self) -> np.ndarray:
        """Return numbers that tell in which order words were first seen."""
        return np.arange(len(self))

    def words(self, selection: Iterable[int] | None = None) -> list[Any]:
        """Return the words, or those with the given numbers."""
        words = list(self.by_word)
        return words if selection is None else [words[k] for k in selection]


def in_first_order(counted: CountedWords) -> dict[Any, int]:
    """Return words with their counts, in the order in which they were first seen."""
    order = np.argsort(counted.first_places(), kind="stable")
    return dict(zip(counted.words(order.tolist()), counted.counts()[order].tolist(), strict=True))


# ---------------------------------------------------------------------------------------------------- scans


def scan_words(
    corpus: Corpus,
    *,
    max_vocab_size: int | None = None,
    trim_rule: TrimRule | None = None,
    workers: int,
    executor: Executor | None,
    retries: int = 0,
    errors: str,
    progress: bool,
) -> CountedWords:
    """Count all words of a corpus, rare ones included."""
    text = corpus
    if isinstance(corpus, TokenCorpus) and corpus.words is None and corpus.preparation is None:
        text = TextOfTokens(corpus)  # Over a vocabulary all tokens have bytes, and what is prepared is text.
    with Progress("words", corpus.total, show=progress) as bar:
        pruning = Pruning(max_vocab_size, trim_rule) if max_vocab_size else None
        counted: CountedWords
        if pruning is not None:
            counted = scan_pruned(text, pruning, errors, bar)
        else:
            counted = scan_parallel(text, workers, executor, retries, errors, bar)
        if isinstance(text, TextOfTokens) and text.rest is not None:
            counted = scan_tokens(counted, text.rest, pruning, bar)
    if counted.tokens == 0:
        empty = f"the corpus is empty: no word in {', '.join(corpus.names[:3])}"
        raise NothingToCount(empty, sentences=counted.sentences)
    return counted


def count_words(
    blocks: Iterable[Block], errors: str = "strict", report: Callable[[int, int], None] | None = None
) -> tuple[WordTable, int]:
    """Count the words of some blocks; returns them and how many bytes were read."""
    table = WordTable()
    cost = 0
    for text in texts(blocks, errors, report):
        text.count(table)
        cost += text.block.cost
    return table, cost


def send_words(blocks: Iterable[Block], errors: str) -> tuple[Any, int]:
    """Count the words of some blocks in another process; returns a `WordTable.state()` and how many bytes were read."""
    table, cost = count_words(blocks, errors)
    return table.state(), cost


def add_words(
    blocks: Iterable[Block], words: DividedWords, errors: str, report: Callable[[int, int], None] | None
) -> tuple[int, int]:
    """Count the words of some blocks on a thread, and add them to all others; returns tokens and bytes read."""
    table, cost = count_words(blocks, errors, report)
    words.add(table)
    return table.tokens, cost


def scan_parallel(
    corpus: Corpus, workers: int, executor: Executor | None, retries: int, errors: str, bar: Progress
) -> WordTable | DividedWords:
    """Count blocks in any order: the tables keep the place where each word was first seen."""
    mapping: dict[str, Any] = {
        "workers": workers,
        "executor": executor,
        "share": UNLIMITED_SHARE,
        "streams": reads_here(corpus, workers, executor),
        "retries": retries,
    }
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        live = bar.update if executor is None else None
        words = DividedWords(workers)
        for tokens, cost in map_blocks(partial(add_words, words=words, errors=errors, report=live), corpus, **mapping):
            if not live:
                bar.update(cost, tokens)
        return words
    table = WordTable()
    for state, cost in map_blocks(partial(send_words, errors=errors), corpus, **mapping):
        table.merge(state)
        bar.update(cost, state[4])
    return table


class Pruning:
    """gensim's `max_vocab_size`: ever more frequent words are dropped whenever a sentence leaves too many."""

    def __init__(self, max_size: int, trim_rule: TrimRule | None):
        self.max_size, self.trim_rule = max_size, trim_rule
        self.min_reduce = 1

    def kept(self, counted: CountedWords) -> np.ndarray:
        """Return the numbers of the words that stay, by first occurrence; the next time more will go."""
        kept = kept_numbers(counted, self.min_reduce, self.trim_rule)
        logger.info(
            "pruned %d of %d words with a count below %d", len(counted) - len(kept), len(counted), self.min_reduce
        )
        self.min_reduce += 1
        return kept


def scan_pruned(corpus: Corpus, pruning: Pruning, errors: str, bar: Progress) -> WordTable:
    """Count in corpus order, and prune."""
    table = WordTable()
    for text in texts(corpus.blocks(streams=True), errors, bar.update):
        while not text.is_read():
            text.count(table, pruning.max_size)
            if len(table) > pruning.max_size and not (text.is_read() and text.block.open):
                table = table.keep(pruning.kept(table))
    return table


def scan_tokens(
    before: CountedWords, sentences: Iterator[Sequence[Any]], pruning: Pruning | None, bar: Progress
) -> CountedTokens:
    """Count the tokens of sentences as a dict tells them apart, in addition to the words of the sentences before."""
    counter = TokenCounter(in_first_order(before))
    tokens, number, shown = before.tokens, before.sentences, before.tokens
    for sentence in sentences:
        try:
            counter.add(sentence)
        except TypeError:
            refuse_unhashable(sentence, number)
            raise
        tokens, number = tokens + len(sentence), number + 1
        if tokens - shown > TOKENS_PER_REPORT:
            bar.update(0, tokens - shown)
            shown = tokens
        if pruning is not None and len(counter) > pruning.max_size:
            counter = TokenCounter(pruned(counter.counts(), pruning))
    bar.update(0, tokens - shown)
    return CountedTokens(counter.counts(), tokens, number)


def pruned(counts: dict[Any, int], pruning: Pruning) -> dict[Any, int]:
    """Return the words that stay, with their counts, in the same order."""
    words = list(counts)
    return {words[k]: counts[words[k]] for k in pruning.kept(CountedTokens(counts, 0, 0)).tolist()}


# ---------------------------------------------------------------------------------------------------- gensim's rules


def refuse_rules(min_count: Any, max_vocab_size: Any, max_final_vocab: Any) -> None:
    """Raise an error unless the numbers by which words are kept are whole numbers of 0 or more."""
    numbers = {"min_count": min_count, "max_vocab_size": max_vocab_size, "max_final_vocab": max_final_vocab}
    for name, number in numbers.items():
        if number is not None and not (isinstance(number, Integral) and 0 <= int(number) <= MOST_WORDS):
            raise ValueError(f"{name} must be a whole number from 0 to {MOST_WORDS}, got {number!r}")


def keep_words(
    counted: CountedWords, min_count: int, max_final_vocab: int | None, trim_rule: TrimRule | None
) -> tuple[list[Any], np.ndarray]:
    """Return the words that `Word2Vec.prepare_vocab` keeps and their counts, in the order of first occurrence."""
    counts = counted.counts().astype(np.int64)
    if max_final_vocab is not None and max_final_vocab < len(counts):
        # The count of the first word that may not stay, plus one: ties are dropped together.
        largest_out = np.partition(counts, len(counts) - max_final_vocab - 1)[len(counts) - max_final_vocab - 1]
        min_count = max(min_count, int(largest_out) + 1)
    kept = kept_numbers(counted, min_count, trim_rule)
    return counted.words(kept.tolist()), counts[kept]


def kept_numbers(counted: CountedWords, min_count: int, trim_rule: TrimRule | None) -> np.ndarray:
    """Return the numbers of the words that are frequent enough, or that the rule keeps, by first occurrence."""
    counts, places = counted.counts(), counted.first_places()
    if trim_rule is None:
        frequent = np.flatnonzero(counts >= min_count)
        return frequent[np.argsort(places[frequent], kind="stable")]
    from gensim.utils import keep_vocab_item  # Only users of a rule need gensim, whose constants the rule returns.

    order = np.argsort(places, kind="stable")
    pairs = zip(counted.words(order.tolist()), counts[order].tolist(), strict=True)
    kept = np.array([keep_vocab_item(word, count, min_count, trim_rule) for word, count in pairs], dtype=bool)
    selected: np.ndarray = order[kept]
    return selected


def sort_words(words: list[Any], counts: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Order words as gensim's `sort_by_descending_frequency` does: by count, and of equals the one seen last first."""
    order = np.lexsort((-np.arange(len(counts)), -counts))
    return [words[k] for k in order.tolist()], counts[order]
