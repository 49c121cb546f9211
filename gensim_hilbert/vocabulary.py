"""The vocabulary: words are counted in parallel in C, and kept and ordered by gensim's rules."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from functools import cached_property, partial
from hashlib import sha256
from itertools import islice
from json.encoder import encode_basestring_ascii
from numbers import Integral
from typing import Any

import numpy as np

from gensim_hilbert._tokens import WordTable
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.dispatch import UNLIMITED_SHARE, default_workers, map_blocks, reads_here
from gensim_hilbert.corpus.executors import RETRIES, as_executor
from gensim_hilbert.corpus.sources import Corpus, as_corpus
from gensim_hilbert.corpus.texts import texts
from gensim_hilbert.files import Staging
from gensim_hilbert.objects import Place, place_of
from gensim_hilbert.progress import Progress
from gensim_hilbert.untrusted import damage_named, parse_json

logger = logging.getLogger(__name__)

TrimRule = Callable[[str, int, int], int]
MOST_WORDS = (1 << 32) - 1  # Ids have 32 bits.
ERRORS = ("strict", "replace", "ignore")


class NothingToCount(ValueError):
    """Raised for a corpus without words, or with so few that no two of them are a pair."""

    def __init__(self, what: str, words: int = 0):
        super().__init__(what)
        self.words = words


class Vocabulary:
    """Words with their numbers of occurrences, most frequent first unless asked otherwise.

    Attributes
    ----------
    words : list of str
        The id of a word is its place in this list.
    counts : numpy.ndarray of int64
        How often each word occurs.
    tokens, sentences : int
        Size of the corpus, rare words included; 0 if unknown.
    """

    def __init__(self, words: Iterable[str], counts: Any, *, tokens: int = 0, sentences: int = 0):
        self.words = list(words)
        self.counts = np.asarray(counts, dtype=np.int64)
        self.tokens = int(tokens)
        self.sentences = int(sentences)
        if len(self.words) != len(self.counts):
            raise ValueError(f"{len(self.words)} words but {len(self.counts)} counts")
        if self.counts.sum(dtype=np.float64) >= 2.0**63:
            raise ValueError("the counts of the words add up to more than 64 bits can hold")
        if len(set(self.words)) != len(self.words):  # The index takes much memory, so it is made only when wanted.
            twice = next(word for k, word in enumerate(self.words) if self.index[word] != k)
            raise ValueError(f"the word {twice!r} is in the vocabulary twice")

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        min_count: int = 5,
        max_vocab_size: int | None = None,
        max_final_vocab: int | None = None,
        trim_rule: TrimRule | None = None,
        sorted_vocab: bool = True,
        workers: int | None = None,
        executor: Any = None,
        retries: int = RETRIES,
        errors: str = "strict",
        transport_params: dict[str, Any] | None = None,
        progress: bool = True,
    ) -> Vocabulary:
        """Count the words of a corpus and keep those that gensim's `build_vocab` would keep, in its order.

        Parameters
        ----------
        corpus : path, URI, glob, directory, list of those, file object, or re-iterable of token lists
            Text is UTF-8 with one sentence per line and words separated by white space.
        min_count, max_vocab_size, max_final_vocab, trim_rule, sorted_vocab
            As in `gensim.models.Word2Vec`. `max_vocab_size` prunes while scanning. The result depends on the order of
            the corpus, so that only one thread counts.
        workers : int, optional
            Number of threads; by default one per core.
        executor : concurrent.futures.Executor or dask.distributed.Client, optional
            Where the work runs, instead of on threads.
        retries : int
            How often a task on the executor is tried again if it fails for a reason that may pass.
        errors : {"strict", "replace", "ignore"}
            How malformed UTF-8 is handled, as in `bytes.decode`.
        transport_params : dict, optional
            Passed to smart_open.
        progress : bool
            Whether to show a progress bar if standard error is a terminal.
        """
        refuse_rules(min_count, max_vocab_size, max_final_vocab)
        if errors not in ERRORS:
            raise ValueError(f"errors must be one of {', '.join(ERRORS)}, got {errors!r}")
        source, executor = as_corpus(corpus, transport_params), as_executor(executor)
        table = scan_words(
            source,
            max_vocab_size=max_vocab_size,
            trim_rule=trim_rule,
            workers=default_workers(workers, executor),
            executor=executor,
            retries=retries,
            errors=errors,
            progress=progress,
        )
        return cls.from_table(
            table,
            min_count=min_count,
            max_final_vocab=max_final_vocab,
            trim_rule=trim_rule,
            sorted_vocab=sorted_vocab,
        )

    @classmethod
    def from_table(
        cls,
        table: WordTable,
        *,
        min_count: int,
        max_final_vocab: int | None,
        trim_rule: TrimRule | None,
        sorted_vocab: bool,
        rare: int = 0,
    ) -> Vocabulary:
        """Keep the words of a table that gensim would keep; `rare` is how many there were that it does not have."""
        words, counts = keep_words(table, min_count or 0, max_final_vocab, trim_rule)
        if not words:
            if trim_rule is not None:
                reason = "trim_rule discards all of them; let it keep some"
            elif (table.counts() >= (min_count or 0)).any():
                reason = f"more than max_final_vocab={max_final_vocab} are equally frequent; raise it"
            else:
                reason = f"none occurs min_count={min_count} times; lower min_count"
            raise ValueError(f"no word is left of {len(table) + rare}: {reason}")
        if sorted_vocab:
            words, counts = sort_words(words, counts)
        logger.info("kept %d of %d words, %d of %d tokens", len(words), len(table) + rare, counts.sum(), table.tokens)
        return cls(words, counts, tokens=table.tokens, sentences=table.sentences)

    @cached_property
    def index(self) -> dict[str, int]:
        """The id of each word."""
        return {word: k for k, word in enumerate(self.words)}

    @cached_property
    def table(self) -> WordTable:
        """The words in the table in which kernels look them up; it may be shared between threads."""
        table = WordTable()
        for word, count in zip(self.words, self.counts.tolist(), strict=True):
            table.add(word.encode("utf-8", "surrogatepass"), count, 0)
        return table

    @property
    def nbytes(self) -> int:
        """Approximate memory of words, counts and `table`: a short str takes 64 bytes, and 8 in the list."""
        return self.table.nbytes + (64 + 8 + 8) * len(self)

    @property
    def fingerprint(self) -> str:
        """A hash of words and counts."""
        digest = sha256("\0".join(self.words).encode("utf-8", "surrogatepass"))
        digest.update(self.counts.tobytes())
        return digest.hexdigest()

    def id(self, word: str) -> int:
        """Return the id of a word, or raise a KeyError that names it."""
        try:
            return self.index[word]
        except KeyError:
            raise KeyError(f"{word!r} is not in the vocabulary of {len(self)} words") from None

    def keep_probability(self, sample: float) -> np.ndarray:
        """Return the probability with which word2vec's subsampling keeps a token of each word: 1 for sample = 0."""
        total = self.counts.sum()
        if not sample:
            return np.ones(len(self))
        # gensim reads 1 and above as a count: with this threshold, exactly the words above that count lose tokens.
        threshold = sample * total if sample < 1 else int(sample * (3 + np.sqrt(5)) / 2)
        ratio = threshold / np.maximum(self.counts, 1)
        return np.minimum(np.sqrt(ratio) + ratio, 1.0)

    def keep_below(self, sample: float) -> np.ndarray:
        """Return the same as 32-bit numbers: a token stays if its random draw is not above the number of its word."""
        return (self.keep_probability(sample) * (2**32 - 1)).astype(np.uint32)

    def recounted(
        self, corpus: Corpus, *, workers: int, executor: Executor | None, retries: int, errors: str, progress: bool
    ) -> Vocabulary:
        """Return a vocabulary of the same words with their counts in a corpus, and the size of that."""
        table = scan_words(
            corpus, workers=workers, executor=executor, retries=retries, errors=errors, progress=progress
        )
        counts = [table.count_of(word.encode("utf-8", "surrogatepass")) for word in self.words]
        return Vocabulary(self.words, counts, tokens=table.tokens, sentences=table.sentences)

    def save(self, path: str | Place) -> None:
        """Write one JSON array `[word, count]` per line, a form that holds any word."""
        with Staging() as staging, staging.create(os.fspath(path)) as file:
            for word, count in zip(self.words, self.counts.tolist(), strict=True):
                file.write(f"[{encode_basestring_ascii(word)}, {count}]\n".encode("ascii"))

    @classmethod
    def load(cls, path: str | Place, *, tokens: int = 0, sentences: int = 0) -> Vocabulary:
        """Read a file that `save` has written; whatever is wrong with it is a ValueError that names it."""
        words: list[str] = []
        counts: list[int] = []
        with damage_named(path, "a vocabulary"), place_of(os.fspath(path)).open("r", encoding="ascii") as file:
            while lines := list(islice(file, 4096)):  # Faster than one by one, and much smaller than all at once.
                for word, count in parse_json("[" + ",".join(lines) + "]"):
                    words.append(word)
                    counts.append(count)
            if not all(type(word) is str for word in words):
                raise ValueError("a word is not a string")
            if not all(type(count) is int and count >= 0 for count in counts):
                raise ValueError("the counts are not whole numbers of 0 or more")
            return cls(words, counts, tokens=tokens, sentences=sentences)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    __hash__ = None  # type: ignore[assignment]  # It is mutable in principle.

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} words, {self.counts.sum()} tokens)"


# ---------------------------------------------------------------------------------------------------- counting words


def count_words(
    blocks: Iterable[Block], errors: str = "strict", report: Callable[[int, int], None] | None = None
) -> tuple[Any, int]:
    """Count the words of some blocks; returns a `WordTable.state()` and how many bytes were read.

    This is the task that workers run.
    """
    table = WordTable()
    cost = 0
    for text in texts(blocks, report):
        text.count(table, errors)
        cost += text.block.cost
    return table.state(), cost


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
) -> WordTable:
    """Count all words of a corpus; the table that is returned has rare ones, too."""
    with Progress("words", corpus.total, show=progress) as bar:
        if max_vocab_size:
            table = scan_pruned(corpus, max_vocab_size, trim_rule, errors, bar)
        else:
            table = scan_parallel(corpus, workers, executor, retries, errors, bar)
    if table.tokens == 0:
        raise NothingToCount(f"the corpus is empty: no word in {', '.join(corpus.names[:3])}")
    return table


def scan_parallel(
    corpus: Corpus, workers: int, executor: Executor | None, retries: int, errors: str, bar: Progress
) -> WordTable:
    """Count blocks in any order: the table keeps the place where each word was first seen."""
    live = bar.update if executor is None else None
    table = WordTable()
    for state, cost in map_blocks(
        partial(count_words, errors=errors, report=live),
        corpus,
        workers=workers,
        executor=executor,
        share=UNLIMITED_SHARE,
        streams=reads_here(corpus, workers, executor),
        retries=retries,
    ):
        table.merge(state)
        if not live:
            bar.update(cost, state[4])
    return table


def scan_pruned(corpus: Corpus, max_size: int, trim_rule: TrimRule | None, errors: str, bar: Progress) -> WordTable:
    """Count in corpus order, dropping ever more frequent words whenever a sentence leaves more than `max_size`."""
    table = WordTable()
    min_reduce = 1

    def prune() -> WordTable:
        nonlocal min_reduce
        kept = kept_numbers(table, min_reduce, trim_rule)
        logger.info("pruned %d of %d words with a count below %d", len(table) - len(kept), len(table), min_reduce)
        min_reduce += 1
        return table.keep(kept)

    for text in texts(corpus.blocks(streams=True), bar.update):
        while not text.is_read():
            text.count(table, errors, max_size)
            if len(table) > max_size and not (text.is_read() and text.block.open):
                table = prune()
    return table


# ---------------------------------------------------------------------------------------------------- gensim's rules


def refuse_rules(min_count: Any, max_vocab_size: Any, max_final_vocab: Any) -> None:
    """Raise an error unless the numbers by which words are kept are whole numbers of 0 or more."""
    numbers = {"min_count": min_count, "max_vocab_size": max_vocab_size, "max_final_vocab": max_final_vocab}
    for name, number in numbers.items():
        if number is not None and not (isinstance(number, Integral) and 0 <= int(number) <= MOST_WORDS):
            raise ValueError(f"{name} must be a whole number from 0 to {MOST_WORDS}, got {number!r}")


def keep_words(
    table: WordTable, min_count: int, max_final_vocab: int | None, trim_rule: TrimRule | None
) -> tuple[list[str], np.ndarray]:
    """Return the words that `Word2Vec.prepare_vocab` keeps and their counts, in the order of first occurrence."""
    counts = table.counts().astype(np.int64)
    if max_final_vocab is not None and max_final_vocab < len(counts):
        # The count of the first word that may not stay, plus one: ties are dropped together.
        largest_out = np.partition(counts, len(counts) - max_final_vocab - 1)[len(counts) - max_final_vocab - 1]
        min_count = max(min_count, int(largest_out) + 1)
    kept = kept_numbers(table, min_count, trim_rule)
    return table.words(kept.tolist()), counts[kept]


def kept_numbers(table: WordTable, min_count: int, trim_rule: TrimRule | None) -> np.ndarray:
    """Return the numbers of the words that are frequent enough, or that the rule keeps, by first occurrence."""
    _, _, counts, places, _, _ = table.state()
    if trim_rule is None:
        frequent = np.flatnonzero(counts >= min_count)
        return frequent[np.argsort(places[frequent], kind="stable")]
    from gensim.utils import keep_vocab_item  # Only users of a rule need gensim, whose constants the rule returns.

    order = np.argsort(places, kind="stable")
    pairs = zip(table.words(order.tolist()), counts[order].tolist(), strict=True)
    kept = np.array([keep_vocab_item(word, count, min_count, trim_rule) for word, count in pairs], dtype=bool)
    selected: np.ndarray = order[kept]
    return selected


def sort_words(words: list[str], counts: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Order words as gensim's `sort_by_descending_frequency` does: by count, and of equals the one seen last first."""
    order = np.lexsort((-np.arange(len(counts)), -counts))
    return [words[k] for k in order.tolist()], counts[order]
