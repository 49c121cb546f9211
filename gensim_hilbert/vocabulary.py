"""The vocabulary: words of a corpus with their counts, kept and ordered by gensim's rules."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from functools import cached_property
from hashlib import sha256
from itertools import islice
from json.encoder import encode_basestring_ascii
from typing import Any

import numpy as np

from gensim_hilbert._tokens import WordTable, all_str
from gensim_hilbert.corpus.any_tokens import EncodedWords, numbered
from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.corpus.executors import RETRIES, as_executor
from gensim_hilbert.corpus.preparation import preparation_of
from gensim_hilbert.corpus.sources import Corpus, as_corpus
from gensim_hilbert.divided_words import DividedWords
from gensim_hilbert.files import Staging
from gensim_hilbert.keys import OBJECT, UnwritableKey, UnwrittenKey, key_from_json, key_to_json, same_key, same_keys
from gensim_hilbert.markup import cut, notebook_table
from gensim_hilbert.objects import Place, place_of
from gensim_hilbert.untrusted import damage_named, parse_json
from gensim_hilbert.word_scan import CountedWords, TrimRule, keep_words, refuse_rules, scan_words, sort_words

logger = logging.getLogger(__name__)

ERRORS = ("strict", "replace", "ignore")
LINES_AT_ONCE = 4096  # of a file: faster than one by one, and much smaller than all at once
SHOWN_WORDS = 10  # in notebooks


class Vocabulary:
    """Words with their numbers of occurrences, most frequent first unless asked otherwise.

    Attributes
    ----------
    words : list
        The id of a word is its place in this list. Most words are str, but any hashable object can be one: what is one
        key of a dict, such as 1, 1.0 and True, is one word, and the one that came first stays.
    counts : numpy.ndarray of int64
        How often each word occurs.
    tokens : int
        Number of words in the corpus, rare ones included; 0 if unknown.
    sentences : int
        Number of sentences in the corpus; 0 if unknown.
    """

    def __init__(self, words: Iterable[Any], counts: Any, *, tokens: int = 0, sentences: int = 0):
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

    @property
    def text_size(self) -> int:
        """Number of words in the corpus, or that of the known ones if only these have been counted."""
        return self.tokens or int(self.counts.sum())

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        tokenizer: Any = None,
        sentence_ends: str = "lines",
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
        column: str | None = None,
        progress: bool = True,
    ) -> Vocabulary:
        """Count the words of a corpus and keep those that gensim's `build_vocab` would keep, in its order.

        Parameters
        ----------
        corpus : path, URI, glob, directory, list of those, file object, table, or re-iterable of token lists
            Text is UTF-8 with one sentence per line and words separated by white space. For tables see
            `PairCounts.from_corpus`.
        tokenizer, sentence_ends
            What makes words and sentences of text, as in `PairCounts.from_corpus`.
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
        column : str, optional
            The column of tables that holds the text; it may be left out if there is only one such column.
        progress : bool
            Whether to show a progress bar if standard error is a terminal.
        """
        refuse_rules(min_count, max_vocab_size, max_final_vocab)
        if errors not in ERRORS:
            raise ValueError(f"errors must be one of {', '.join(ERRORS)}, got {errors!r}")
        source = as_corpus(corpus, transport_params, preparation_of(tokenizer, sentence_ends), column=column)
        executor = as_executor(executor)
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
        table: CountedWords,
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
    def index(self) -> dict[Any, int]:
        """The id of each word."""
        return {word: k for k, word in enumerate(self.words)}

    @cached_property
    def table(self) -> WordTable:
        """The words in the table in which kernels look them up; it may be shared between threads."""
        table, encoded = WordTable(), list(self._in_bytes())
        ends = np.cumsum(np.fromiter(map(len, encoded), np.uint64, len(encoded)), dtype=np.uint64)
        text, places = np.frombuffer(b"".join(encoded), np.uint8), np.zeros(len(encoded), np.uint64)
        table.merge((text, ends, self.counts.astype(np.uint64), places, 0, 0))
        return table

    @cached_property
    def encoded(self) -> EncodedWords:
        """The bytes of each word in token lists."""
        return EncodedWords(zip(self.words, (word + b"\xff" for word in self._in_bytes()), strict=True))

    def _in_bytes(self) -> Iterator[bytes]:
        """Yield the bytes of each word in `table`: text in UTF-8, others by their numbers."""
        for number, word in enumerate(self.words):
            text = word if type(word) is str else self._text_of(number)
            yield numbered(number) if text is None else text.encode("utf-8", "surrogatepass")

    def _text_of(self, number: int) -> str | None:
        """Return the text of a word; None if it is none, so that text never stands for it."""
        word = self.words[number]
        if not isinstance(word, str):
            return None
        text = str.__str__(word)  # The word may be a member of a StrEnum, or behave in whatever way its class does.
        return text if self.index.get(text) == number else None

    @property
    def nbytes(self) -> int:
        """Approximate memory of words, counts and `table`: a short str takes 64 bytes, and 8 in the list."""
        return self.table.nbytes + (64 + 8 + 8) * len(self)

    @property
    def fingerprint(self) -> str:
        """A hash of words and counts; of words that no file without pickle can hold, it tells only the types."""
        if all_str(self.words):
            digest = sha256("\0".join(self.words).encode("utf-8", "surrogatepass"))
        else:
            digest = sha256("\n".join(self._in_json(any_type=True)).encode())
        digest.update(self.counts.tobytes())
        return digest.hexdigest()

    def id(self, word: Any) -> int:
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
            corpus.over(self), workers=workers, executor=executor, retries=retries, errors=errors, progress=progress
        )
        assert isinstance(table, WordTable | DividedWords)  # Over a vocabulary, all words have bytes.
        counts = [table.count_of(word) for word in self._in_bytes()]
        return Vocabulary(self.words, counts, tokens=table.tokens, sentences=table.sentences)

    def save(self, path: str | Place, *, any_type: bool = False) -> None:
        """Write one JSON array `[word, count]` per line, a form that holds any text.

        Other words are written as keys.py says. If it has no form for one, that is an error, or with `any_type` only
        the name of its type is written, for those who have the words themselves.
        """
        with Staging() as staging, staging.create(os.fspath(path)) as file:
            words = zip(self._in_json(any_type=any_type), self.counts.tolist(), strict=True)
            while lines := [f"[{word}, {count}]\n" for word, count in islice(words, LINES_AT_ONCE)]:
                file.write("".join(lines).encode("ascii"))

    def _in_json(self, *, any_type: bool) -> Iterator[str]:
        """Yield each word as JSON."""
        for number, word in enumerate(self.words):
            if type(word) is str:
                yield encode_basestring_ascii(word)
                continue
            try:
                value = key_to_json(word)
            except UnwritableKey:
                if not any_type:
                    raise
                text = self._text_of(number)
                value = {OBJECT: type(word).__name__} if text is None else text
            yield json.dumps(value)

    @classmethod
    def load(
        cls,
        path: str | Place,
        *,
        tokens: int = 0,
        sentences: int = 0,
        words: Sequence[Any] | None = None,
        any_type: bool = False,
    ) -> Vocabulary:
        """Read a file that `save` has written; whatever is wrong with it is a ValueError that names it.

        Those who have the words themselves give them as `words`: they take the place of words of which the file tells
        only the type. With `any_type`, such words may be left unknown.
        """
        found: list[Any] = []
        counts: list[int] = []
        with damage_named(path, "a vocabulary"), place_of(os.fspath(path)).open("r", encoding="ascii") as file:
            while lines := list(islice(file, LINES_AT_ONCE)):
                for word, count in parse_json("[" + ",".join(lines) + "]"):
                    found.append(word)
                    counts.append(count)
            if not all(type(count) is int and count >= 0 for count in counts):
                raise ValueError("the counts are not whole numbers of 0 or more")
            if not all_str(found):
                found = list(map(word_from_json, found))
            if words is not None and not all_str(words):
                found = [
                    own if isinstance(word, UnwrittenKey) or same_key(own, word) else word
                    for word, own in zip(found, [*words, *found[len(words) :]], strict=False)
                ]
            unwritten = next((word for word in found if isinstance(word, UnwrittenKey)), None)
            if unwritten is not None and not any_type:
                raise ValueError(
                    f"it holds a word of type {unwritten.kind}, which is known only to a model that was saved with it "
                    "by `save`: load that model"
                )
            return cls(found, counts, tokens=tokens, sentences=sentences)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and same_keys(self.words, other.words)

    __hash__ = None  # type: ignore[assignment]  # It is mutable in principle.

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} words, {self.counts.sum()} tokens)"

    def _repr_html_(self) -> str:
        """Return a table of the first words, for notebooks."""
        rows: list[tuple[object, object]] = [
            (cut(word), int(count)) for word, count in zip(self.words[:SHOWN_WORDS], self.counts, strict=False)
        ]
        if len(self) > SHOWN_WORDS:
            rows.append((f"and {len(self) - SHOWN_WORDS:,} more", int(self.counts[SHOWN_WORDS:].sum())))
        return notebook_table(f"Vocabulary of {len(self):,} words", rows, heading=("word", "occurrences"))


def word_from_json(value: Any) -> Any:
    """Return a word of a file, or what stands for one of which the file tells only the type."""
    if isinstance(value, dict) and list(value) == [OBJECT] and isinstance(value[OBJECT], str):
        return UnwrittenKey(value[OBJECT])
    return key_from_json(value)
