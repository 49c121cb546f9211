"""Encodes texts: their words are looked up and their rows are added in C, by several threads."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, islice
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from gensim.models import KeyedVectors
from gensim.models.fasttext import FastTextKeyedVectors

from gensim_hilbert._texts import add_rows, project, scale_rows
from gensim_hilbert._tokens import WordTable
from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.corpus.token_lists import encode_words
from gensim_hilbert.text_vectors.weighting import Weighting, frequencies, text_matrix, word_weights

TEXTS_AT_A_TIME = 256  # by one thread
REMEMBERED = 1 << 17  # unknown words whose known parts are remembered
PARTS = re.compile(r"\w+(?:'\w+)*")
MIXED = "texts must be str, or all of them lists of words; got {!r:.80}"


class Sums(NamedTuple):
    """The sums of the rows of some texts, and the number of words that each sum is made of."""

    rows: np.ndarray
    words: np.ndarray

    def scaled(self, *, unit: bool) -> np.ndarray:
        """Return means, or with `unit` vectors of length 1, in place of the sums."""
        scale_rows(self.rows, self.words, unit)
        return self.rows


class TextEncoder:
    """Makes vectors of texts, of the vectors of words as they are now.

    Texts that are str are cut into words by the preparation, or else at white space; in the latter case, a word that is
    not known is looked at again in lower case and without punctuation. A word that is still unknown has the vector of
    its n-grams, if the vectors have some, and otherwise none.

    The row of a word, weighted and multiplied by the matrix, is computed when the word first occurs, and kept.
    """

    def __init__(self, vectors: KeyedVectors, settings: Weighting, preparation: Preparation | None = None):
        self.vectors, self.settings, self.preparation = vectors, settings, preparation
        self.index = vectors.key_to_index
        self.source = np.ascontiguousarray(vectors.vectors, dtype=np.float32)
        self.size = self.source.shape[1]
        self.rows = self.source
        self.made: np.ndarray | None = None  # whether each of `rows` has been computed
        self.weights = self.matrix = np.empty(0)
        if not settings.is_plain:
            p = frequencies(vectors)
            self.weights = word_weights(self.source, p, settings)
            self.matrix = text_matrix(self.source, p, self.weights, settings)
            self.rows, self.made = np.empty_like(self.source), np.zeros(len(vectors), dtype=bool)
        self.table = WordTable()
        for number, word in enumerate(vectors.index_to_key):
            # No word in a text has a newline, so that nothing is found for a key that is not a str.
            name = word.encode("utf-8", "surrogatepass") if isinstance(word, str) else b"\n%d" % number
            self.table.add(name, 0, 0)
        self.parts: dict[str, list[int]] = {}
        self.lock = Lock()

    def word_rows(self, ids: np.ndarray) -> np.ndarray:
        """Return the rows of known words by their numbers: their sums are vectors of texts, but for the lengths."""
        self._make_rows(ids)
        return np.asarray(self.rows[ids])

    # ------------------------------------------------------------------ many texts

    def sums(self, texts: Iterable[Any], workers: int = 1) -> Iterator[Sums]:
        """Yield the sums of texts in their order, some texts at a time."""
        if not isinstance(texts, Iterable) or isinstance(texts, bytes):
            raise TypeError(MIXED.format(texts))
        waiting = iter(texts)
        first = list(islice(waiting, 1))
        take = self._of_text if first and isinstance(first[0], str) else self._of_words
        waiting = chain(first, waiting)
        batches: Iterator[list[Any]] = iter(lambda: list(islice(waiting, TEXTS_AT_A_TIME)), [])
        yield from map(take, batches) if workers < 2 else in_order(take, batches, workers)

    def encode(self, texts: Iterable[Any], workers: int = 1) -> Sums:
        """Return the sums of all texts in one array."""
        found = list(self.sums(texts, workers))
        if len(found) == 1:
            return found[0]
        rows = np.empty((sum(len(some.words) for some in found), self.size), dtype=np.float32)
        words = np.empty(len(rows), dtype=np.float32)
        start = 0
        for number, some in enumerate(found):
            rows[start : start + len(some.words)], words[start : start + len(some.words)] = some
            start += len(some.words)
            found[number] = some._replace(rows=some.rows[:0])  # Free what has been copied.
        return Sums(rows, words)

    # ------------------------------------------------------------------ some texts

    def _of_text(self, texts: list[str]) -> Sums:
        """Add the rows of the words of texts that are str."""
        if self.preparation is None or (self.preparation.tokenizer is None and self.preparation.joiner is None):
            return self._of_bytes(as_lines(texts).encode("utf-8", "surrogatepass"), len(texts), listed=False)
        as_lines(texts)  # which raises an error if there is anything else
        filled = [number for number, text in enumerate(texts) if text and not text.isspace()]
        # A preparation takes no notice of blank lines.
        lines = as_lines([texts[number] for number in filled]).encode("utf-8", "replace") if filled else b""
        prepared = replace(self.preparation, sentence_ends="lines").of_text(lines, errors="replace")
        sums = self._of_bytes(prepared.data, len(filled), listed=True)
        if len(filled) == len(texts):
            return sums
        rows, words = np.zeros((len(texts), self.size), dtype=np.float32), np.zeros(len(texts), dtype=np.float32)
        rows[filled], words[filled] = sums
        return Sums(rows, words)

    def _of_bytes(self, data: bytes, number: int, *, listed: bool) -> Sums:
        """Add the rows of the words of texts that are lines, or token lists in the form of the scanner."""
        ids, ends = np.empty(len(data), dtype=np.uint32), np.zeros(number, dtype=np.int64)
        unknown = WordTable()
        found = self.table.ids_of_texts(data, listed, unknown, ids, ends)
        if found != number:
            raise ValueError(f"the tokenizer has made {found} texts of {number}: it must return one list for each")
        return self._add(ids[: ends[-1:].sum()], ends, unknown.words(), no_parts if listed else self._known_parts)

    def _of_words(self, texts: list[Sequence[Any]]) -> Sums:
        """Add the rows of the words of texts that are lists of words."""
        if self.preparation is not None and self.preparation.joiner is not None:
            lists = b"".join(encode_words(list(words)) + b"\xfe" for words in texts)
            return self._of_bytes(self.preparation.of_lists(lists).data, len(texts), listed=True)
        get, known = self.index.get, len(self.index)
        unknown: dict[Any, int] = {}
        ids: list[int] = []
        ends = np.empty(len(texts), dtype=np.int64)
        for number, words in enumerate(texts):
            if isinstance(words, str | bytes) or not isinstance(words, Iterable):
                raise TypeError(MIXED.format(words))
            for word in words:
                row = get(word)
                ids.append(known + unknown.setdefault(word, len(unknown)) if row is None else row)
            ends[number] = len(ids)
        return self._add(np.array(ids, dtype=np.uint32), ends, list(unknown), no_parts)

    def _add(
        self, ids: np.ndarray, ends: np.ndarray, unknown: list[Any], known_parts: Callable[[str], list[int]]
    ) -> Sums:
        """Add the rows with these numbers; those that are too large stand for unknown words."""
        self._make_rows(ids[ids < len(self.index)])
        out, words = np.empty((len(ends), self.size), dtype=np.float32), np.empty(len(ends), dtype=np.float32)
        more = self._rows_of_unknown(unknown, known_parts)
        add_rows(self.rows, more.rows, more.words, ids, ends, out, words)
        return Sums(out, words)

    def _make_rows(self, ids: np.ndarray) -> None:
        """Compute the rows of words that have not occurred before."""
        if self.made is None:
            return
        fresh = np.unique(ids[~self.made[ids]]).astype(np.int64)
        if len(fresh):
            with self.lock:
                fresh = fresh[~self.made[fresh]]  # Another thread may have made some while this one waited.
                project(self.source, fresh, self.weights, self.matrix, self.rows)
                self.made[fresh] = True

    # ------------------------------------------------------------------ unknown words

    def _rows_of_unknown(self, words: list[Any], known_parts: Callable[[str], list[int]]) -> Sums:
        """Return one row for each unknown word: the sum of its known parts, or what its n-grams give."""
        parts = [known_parts(word) for word in words]
        ids = np.fromiter(chain.from_iterable(parts), dtype=np.uint32)
        self._make_rows(ids)
        ends = np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))
        rows, counts = np.empty((len(words), self.size), dtype=np.float32), np.empty(len(words), dtype=np.float32)
        add_rows(self.rows, rows[:0], counts[:0], ids, ends, rows, counts)
        if isinstance(self.vectors, FastTextKeyedVectors):
            for number in np.flatnonzero(counts == 0):
                self._set_by_ngrams(words[number], rows[number : number + 1], counts[number : number + 1])
        return Sums(rows, counts)

    def _known_parts(self, word: str) -> list[int]:
        """Return the rows of an unknown word in lower case and without punctuation around it, or of its parts."""
        found = self.parts.get(word)
        if found is None:
            plain = word.lower().replace("’", "'")
            parts = PARTS.findall(plain)
            whole = plain[plain.find(parts[0]) : plain.rfind(parts[-1]) + len(parts[-1])] if parts else ""
            candidates = [whole] if whole in self.index else parts
            found = [self.index[part] for part in candidates if part in self.index]
            if len(self.parts) < REMEMBERED:
                self.parts[word] = found
        return found

    def _set_by_ngrams(self, word: Any, row: np.ndarray, count: np.ndarray) -> None:
        """Set the row of a word to what its n-grams give; with SIF, a word that never occurred has the weight 1."""
        vector = self.vectors.get_vector(word)[None].astype(np.float32) if isinstance(word, str) else row * 0
        length = np.linalg.norm(vector)
        if not length:
            return
        count[0] = 1
        if self.made is None:
            row[:] = vector
        else:
            weight = np.array([1 / length if self.settings.weighting == "sif" else 1], dtype=np.float32)
            project(vector, np.zeros(1, dtype=np.int64), weight, self.matrix, row)


def no_parts(word: str) -> list[int]:
    """Return nothing: an unknown word is not looked at again."""
    return []


def as_lines(texts: list[str]) -> str:
    """Return texts as lines, one for each."""
    try:
        joined = "\n".join(texts)
    except TypeError:
        wrong = next(text for text in texts if not isinstance(text, str))
        raise TypeError(MIXED.format(wrong)) from None
    if joined.count("\n") >= len(texts):
        joined = "\n".join(text.replace("\n", " ") for text in texts)
    return joined + "\n"


def in_order(task: Callable[[Any], Any], items: Iterator[Any], workers: int) -> Iterator[Any]:
    """Yield the results of a task over items in their order, by so many threads, a few items ahead of the reader."""
    with ThreadPoolExecutor(workers, thread_name_prefix="gensim_hilbert") as pool:
        running: deque[Future[Any]] = deque()
        try:
            for item in items:
                running.append(pool.submit(task, item))
                if len(running) > 2 * workers:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()
