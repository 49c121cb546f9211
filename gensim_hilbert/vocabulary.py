"""The vocabulary: words are counted in parallel in C, and kept by gensim's own rules."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from functools import cached_property, partial
from hashlib import sha256
from itertools import islice
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

import numpy as np

from gensim_hilbert._tokens import InvalidUTF8, WordTable
from gensim_hilbert.corpus import BOM, Block, Corpus, as_corpus
from gensim_hilbert.engine import default_workers, reads_here, run
from gensim_hilbert.progress import Progress

logger = logging.getLogger(__name__)

TrimRule = Callable[[str, int, int], int]
ERRORS = ("strict", "replace", "ignore")


class Vocabulary:
    """Words with their numbers of occurrences, most frequent first unless asked otherwise.

    Attributes
    ----------
    words : list of str
        A word's id is its place in this list.
    counts : numpy.ndarray of int64
        How often each word occurs.
    tokens, sentences : int
        Size of the corpus, rare words included; 0 where unknown.
    """

    def __init__(self, words: Iterable[str], counts: Any, *, tokens: int = 0, sentences: int = 0):
        self.words = list(words)
        self.counts = np.asarray(counts, dtype=np.int64)
        self.tokens = int(tokens)
        self.sentences = int(sentences)
        if len(self.words) != len(self.counts):
            raise ValueError(f"{len(self.words)} words but {len(self.counts)} counts")
        if len(set(self.words)) != len(self.words):  # the index waits until it is wanted: it takes much memory
            twice = next(word for k, word in enumerate(self.words) if self.index[word] != k)
            raise ValueError(f"the word {twice!r} stands twice in the vocabulary")

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
        executor: Executor | None = None,
        errors: str = "strict",
        transport_params: dict[str, Any] | None = None,
        progress: bool = True,
    ) -> Vocabulary:
        """Count the words of a corpus and keep those that gensim's `build_vocab` would keep, in its order.

        Parameters
        ----------
        corpus : path, URI, glob, directory, list of those, file object, or re-iterable of token lists
            Text is UTF-8, one sentence a line, words separated by white space.
        min_count, max_vocab_size, max_final_vocab, trim_rule, sorted_vocab
            As in `gensim.models.Word2Vec`. `max_vocab_size` prunes while scanning, which is only defined in corpus
            order: with it, one thread counts.
        workers : int, optional
            Threads; by default one a core.
        executor : concurrent.futures.Executor, optional
            Where to run instead of threads.
        errors : {"strict", "replace", "ignore"}
            What to do about malformed UTF-8.
        transport_params : dict, optional
            Handed to smart_open.
        progress : bool
            Whether to draw a bar, if standard error is a terminal.
        """
        for name, number in (
            ("min_count", min_count),
            ("max_vocab_size", max_vocab_size),
            ("max_final_vocab", max_final_vocab),
        ):
            if number is not None and number < 0:
                raise ValueError(f"{name} must be 0 or more, got {number}")
        if errors not in ERRORS:
            raise ValueError(f"errors must be one of {', '.join(ERRORS)}, got {errors!r}")
        source = as_corpus(corpus, transport_params)
        table = scan_words(
            source,
            max_vocab_size=max_vocab_size,
            trim_rule=trim_rule,
            workers=default_workers(workers),
            executor=executor,
            errors=errors,
            progress=progress,
        )
        words, counts = keep_words(table, min_count or 0, max_final_vocab, trim_rule)
        if not words:
            if trim_rule is not None:
                reason = "trim_rule discards them all; let it keep some"
            elif (table.counts() >= (min_count or 0)).any():
                reason = f"more than max_final_vocab={max_final_vocab} are equally frequent; raise it"
            else:
                reason = f"none occurs min_count={min_count} times; lower min_count"
            raise ValueError(f"no word is left of {len(table)}: {reason}")
        if sorted_vocab:
            words, counts = sort_words(words, counts)
        logger.info("kept %d of %d words, %d of %d tokens", len(words), len(table), counts.sum(), table.tokens)
        return cls(words, counts, tokens=table.tokens, sentences=table.sentences)

    @cached_property
    def index(self) -> dict[str, int]:
        """The id of each word."""
        return {word: k for k, word in enumerate(self.words)}

    @cached_property
    def table(self) -> WordTable:
        """The words as the kernels look them up; safe to share between threads."""
        table = WordTable()
        for word, count in zip(self.words, self.counts.tolist(), strict=True):
            table.add(word.encode("utf-8", "surrogatepass"), count, 0)
        return table

    @property
    def nbytes(self) -> int:
        """Memory held by words, counts and `table`, about: a short str takes 64 bytes, and 8 in the list."""
        return self.table.nbytes + (64 + 8 + 8) * len(self)

    @property
    def fingerprint(self) -> str:
        """Of words and counts."""
        digest = sha256("\0".join(self.words).encode("utf-8", "surrogatepass"))
        digest.update(self.counts.tobytes())
        return digest.hexdigest()

    def id(self, word: str) -> int:
        """The id of a word, or a KeyError that names it."""
        try:
            return self.index[word]
        except KeyError:
            raise KeyError(f"{word!r} is not in the vocabulary of {len(self)} words") from None

    def keep_probability(self, sample: float) -> np.ndarray:
        """With what probability word2vec's subsampling keeps a token of each word; all ones for sample = 0."""
        total = self.counts.sum()
        if not sample:
            return np.ones(len(self))
        # gensim reads 1 and above as a count: this threshold thins out the words above it, and no others.
        threshold = sample * total if sample < 1 else int(sample * (3 + np.sqrt(5)) / 2)
        ratio = threshold / np.maximum(self.counts, 1)
        return np.minimum(np.sqrt(ratio) + ratio, 1.0)

    def keep_below(self, sample: float) -> np.ndarray:
        """The same as 32-bit numbers: a token stays where its draw is not above that of its word."""
        return (self.keep_probability(sample) * (2**32 - 1)).astype(np.uint32)

    def recounted(
        self, corpus: Corpus, *, workers: int, executor: Executor | None, errors: str, progress: bool
    ) -> Vocabulary:
        """These words, with their numbers of occurrences in a corpus, and its size."""
        table = scan_words(corpus, workers=workers, executor=executor, errors=errors, progress=progress)
        counts = [table.count_of(word.encode("utf-8", "surrogatepass")) for word in self.words]
        return Vocabulary(self.words, counts, tokens=table.tokens, sentences=table.sentences)

    def save(self, path: str | Path) -> None:
        """Write one JSON array `[word, count]` a line, which any word survives."""
        with open(path, "w", encoding="ascii", newline="\n") as file:
            for word, count in zip(self.words, self.counts.tolist(), strict=True):
                file.write(f"[{encode_basestring_ascii(word)}, {count}]\n")

    @classmethod
    def load(cls, path: str | Path, *, tokens: int = 0, sentences: int = 0) -> Vocabulary:
        """Read what `save` wrote."""
        words: list[str] = []
        counts: list[int] = []
        with open(path, encoding="ascii") as file:
            while some := list(islice(file, 4096)):  # faster than one by one, and much smaller than all at once
                for word, count in json.loads("[" + ",".join(some) + "]"):
                    words.append(word)
                    counts.append(count)
        return cls(words, counts, tokens=tokens, sentences=sentences)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    __hash__ = None  # type: ignore[assignment]  # it is mutable in principle

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} words, {self.counts.sum()} tokens)"


# ---------------------------------------------------------------------------------------------------- counting words


def text_start(block: Block, data: bytes) -> int:
    """Where the text of a block begins: behind a byte order mark at the start of a file."""
    return len(BOM) if block.start == 0 and not block.listed and data.startswith(BOM) else 0


def malformed(block: Block, error: InvalidUTF8) -> UnicodeError:
    """The error a user sees for malformed bytes."""
    return UnicodeError(
        f"{block.name}: invalid UTF-8 at byte {block.start + error.position}; mend the file, or count its pairs with "
        "errors='replace' or errors='ignore' (gensim-hilbert count --errors) and train on those"
    )


def count_words(
    blocks: Iterable[Block], errors: str = "strict", report: Callable[[int, int], None] | None = None
) -> tuple[Any, int]:
    """The task: the words of some blocks, as a `WordTable.state()`, and how many bytes were read for them."""
    table = WordTable()
    cost = 0
    for given in blocks:
        for block in given.read():
            before = table.tokens
            assert block.data is not None
            try:
                table.count(block.data, text_start(block, block.data), block.place, block.listed, errors, block.inside)
            except InvalidUTF8 as error:
                raise malformed(block, error) from None
            cost += block.cost
            if report:
                report(block.cost, table.tokens - before)
    return table.state(), cost


def scan_words(
    corpus: Corpus,
    *,
    max_vocab_size: int | None = None,
    trim_rule: TrimRule | None = None,
    workers: int,
    executor: Executor | None,
    errors: str,
    progress: bool,
) -> WordTable:
    """Count all words of a corpus."""
    with Progress("words", corpus.total, show=progress) as bar:
        if max_vocab_size:
            table = scan_pruned(corpus, max_vocab_size, trim_rule, errors, bar)
        else:
            table = scan_parallel(corpus, workers, executor, errors, bar)
    if table.tokens == 0:
        raise ValueError(f"the corpus is empty: no word in {', '.join(corpus.names[:3])}")
    return table


def scan_parallel(corpus: Corpus, workers: int, executor: Executor | None, errors: str, bar: Progress) -> WordTable:
    """Count in any order: where a word was first seen is kept with it."""
    live = bar.update if executor is None else None
    table = WordTable()
    for state, cost in run(
        partial(count_words, errors=errors, report=live),
        corpus,
        workers=workers,
        executor=executor,
        share=1 << 62,
        streams=reads_here(corpus, workers, executor),
    ):
        table.merge(state)
        if not live:
            bar.update(cost, state[4])
    return table


def scan_pruned(corpus: Corpus, max_size: int, trim_rule: TrimRule | None, errors: str, bar: Progress) -> WordTable:
    """Count in corpus order, dropping ever more frequent words whenever a sentence leaves more than `max_size`."""
    from gensim.utils import keep_vocab_item

    table = WordTable()
    min_reduce = 1

    def prune() -> WordTable:
        nonlocal min_reduce
        counts = table.counts()
        if trim_rule is None:
            kept = np.flatnonzero(counts >= min_reduce)
        else:
            pairs = zip(table.words(), counts.tolist(), strict=True)
            kept = np.flatnonzero([keep_vocab_item(word, count, min_reduce, trim_rule) for word, count in pairs])
        logger.info("pruned %d of %d words with a count below %d", len(table) - len(kept), len(table), min_reduce)
        min_reduce += 1
        return table.keep(kept)

    for block in corpus.blocks(streams=True):
        for piece in block.read():
            assert piece.data is not None
            position, before, inside = text_start(piece, piece.data), table.tokens, piece.inside
            while position < len(piece.data):
                try:
                    position = table.count(piece.data, position, piece.place, piece.listed, errors, inside, max_size)
                except InvalidUTF8 as error:
                    raise malformed(piece, error) from None
                inside = False
                if len(table) > max_size and (position < len(piece.data) or not piece.open):
                    table = prune()
            bar.update(piece.cost, table.tokens - before)
    return table


# ---------------------------------------------------------------------------------------------------- gensim's rules


def keep_words(
    table: WordTable, min_count: int, max_final_vocab: int | None, trim_rule: TrimRule | None
) -> tuple[list[str], np.ndarray]:
    """Which words `Word2Vec.prepare_vocab` keeps, in the order in which the corpus first has them."""
    _, _, counts, places, _, _ = table.state()
    counts = counts.astype(np.int64)
    if max_final_vocab is not None and max_final_vocab < len(counts):
        # The count of the first word that may not stay, plus one: ties are dropped together.
        largest_out = np.partition(counts, len(counts) - max_final_vocab - 1)[len(counts) - max_final_vocab - 1]
        min_count = max(min_count, int(largest_out) + 1)
    if trim_rule is None:
        kept = np.flatnonzero(counts >= min_count)
        kept = kept[np.argsort(places[kept], kind="stable")]
        return table.words(kept.tolist()), counts[kept]
    from gensim.utils import keep_vocab_item

    order = np.argsort(places, kind="stable")
    words = table.words(order.tolist())
    pairs = list(zip(words, counts[order].tolist(), strict=True))
    mask = np.array([keep_vocab_item(word, count, min_count, trim_rule) for word, count in pairs], dtype=bool)
    return [word for word, keep in zip(words, mask, strict=True) if keep], counts[order][mask]


def sort_words(words: list[str], counts: np.ndarray) -> tuple[list[str], np.ndarray]:
    """gensim's own order: by descending count, ties as the installed version breaks them."""
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vector_size=0)
    keyed.index_to_key = words
    keyed.expandos["count"] = counts
    keyed.sort_by_descending_frequency()
    return keyed.index_to_key, np.asarray(keyed.expandos["count"], dtype=np.int64)
