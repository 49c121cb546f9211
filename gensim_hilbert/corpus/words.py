"""The tokenizer `"words"`: runs of Unicode letters and digits, cut out by a kernel."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from gensim_hilbert._listing import list_words
from gensim_hilbert._tokens import InvalidUTF8
from gensim_hilbert._words import WordScanner, invalid_position, marked_positions
from gensim_hilbert.corpus.characters import CAPITAL_SIGMA, CASES, rewritten_tables, white_space_tables, word_tables
from gensim_hilbert.corpus.sentences import breaks_in
from gensim_hilbert.corpus.token_lists import PLACE_SHIFT, Prepared, decode_lists
from gensim_hilbert.corpus.tokenizers import Tokenizer

NUMBERS = ("keep", "fold", "drop")
NEWLINE = 0x0A
MOST_LENGTH = (1 << 32) - 1


class ScannedText(Tokenizer):
    """A tokenizer whose words are found by a `WordScanner`."""

    nfkc: bool = False
    case: str = "keep"

    def scanner(self) -> WordScanner:
        """Return what finds the words."""
        raise NotImplementedError

    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text."""
        return [
            [
                word
                for sentence in decode_lists(self.prepare(text.encode("utf-8", "replace"), errors="strict").data)
                for word in sentence
            ]
            for text in texts
        ]

    def prepare(
        self,
        text: bytes,
        *,
        errors: str,
        sentences: str = "lines",
        inside: bool = False,
        is_open: bool = False,
    ) -> Prepared:
        """Return the words of lines of text."""
        scanner = self.scanner()
        breaks = breaks_in(text, sentences)
        invalid, is_ascii = invalid_position(text)
        if invalid >= 0 and errors == "strict":
            raise InvalidUTF8(invalid)
        marked = None if invalid >= 0 else self.marked(text, is_ascii)
        if marked is not None and not len(marked):
            return Prepared(*scanner.scan(text, 0, len(text), breaks, inside, is_open))
        parts, ends_of_sentences = [], set(breaks.tolist())
        for start, stop, rewritten in self.pieces(text, breaks, errors, marked):
            first, last = start == 0 and inside, stop == len(text) and is_open
            if rewritten is None:
                parts.append(scanner.scan(text, start, stop, breaks, first, last))
            else:
                ends = np.array([len(rewritten)] if stop in ends_of_sentences else [], dtype=np.int64)
                parts.append(scanner.scan(rewritten, 0, len(rewritten), ends, first, last, start))
        return Prepared(b"".join(data for data, _ in parts), np.concatenate([places for _, places in parts]))

    def marked(self, text: bytes, is_ascii: bool) -> np.ndarray:
        """Return where valid text has characters because of which it may have to be changed before it is scanned."""
        if is_ascii or not (self.nfkc or self.case == "lower"):
            return np.zeros(0, dtype=np.int64)
        pages, entries, _ = rewritten_tables(self.nfkc, self.case == "lower")
        return marked_positions(text, pages, entries)

    def pieces(
        self, text: bytes, breaks: np.ndarray, errors: str, marked: np.ndarray | None
    ) -> Iterator[tuple[int, int, bytes | None]]:
        """Yield stretches of whole sentences with what they become before they are scanned; None if they stay.

        Only sentences with marked characters are looked at; without these, all.
        """
        ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == NEWLINE) + 1
        ends = np.unique(np.concatenate([ends, breaks, [len(text)]]))
        numbers = np.arange(len(ends)) if marked is None else np.unique(np.searchsorted(ends, marked, side="right"))
        unchanged = 0
        for number in numbers.tolist():
            start, stop = int(ends[number - 1]) if number else 0, int(ends[number])
            piece = text[start:stop]
            changed = None if piece.isascii() else self.rewritten(piece, errors)
            if changed is not None:
                if unchanged < start:
                    yield unchanged, start, None
                yield start, stop, changed
                unchanged = stop
        if unchanged < len(text):
            yield unchanged, len(text), None

    def rewritten(self, piece: bytes, errors: str) -> bytes | None:
        """Return a sentence without malformed bytes, in NFKC and with the right small sigmas; None if it is that."""
        text = before = piece.decode("utf-8", errors)
        if self.nfkc:
            text = unicodedata.normalize("NFKC", text)
        if self.case == "lower" and CAPITAL_SIGMA in text:
            # Without the only letter that becomes two, each letter is where it was.
            lowered = text.replace("İ", "I").lower()
            text = re.sub(CAPITAL_SIGMA, lambda match: lowered[match.start()], text)
        changed = text.encode()
        return None if text == before and changed == piece else changed


@dataclass(frozen=True)
class Words(ScannedText):
    """Takes runs of Unicode letters and digits for words; everything else separates them.

    Words consist of characters of the general categories L (letters), N (digits and other numbers) and, except at the
    beginning, M (marks, such as accents and vowel signs), and of the zero-width joiner and non-joiner. Case is changed
    before words are cut out. `HilbertMLE(tokenizer="words")` takes the defaults; in files and on command lines,
    "words(numbers=fold, nfkc=True)" has settings.

    Parameters
    ----------
    case : {"fold", "lower", "keep"}
        Whether words are case-folded, by which "Straße" becomes "strasse" (`str.casefold`), lower-cased, by which it
        becomes "straße" (`str.lower`), or neither.
    nfkc : bool
        Whether text is first brought to the normal form NFKC (`unicodedata.normalize`), in which ligatures, full-width
        letters and accents have one spelling.
    numbers : {"keep", "fold", "drop"}
        Whether words of decimal digits alone stay, all become "0", or whether digits separate words as punctuation
        does, also within words such as "b2b".
    marks : bool
        Whether marks and joiners belong to words. If not, they separate words, as for Python's regular
        expressions.
    underscores : bool
        Whether an underscore is a letter. Words that begin with one are then left out.
    min_length : int
        Words of fewer characters are left out.
    max_length : int
        Words of more characters are left out; 0 for no limit.
    """

    case: str = "fold"
    nfkc: bool = False
    numbers: str = "keep"
    marks: bool = True
    underscores: bool = False
    min_length: int = 0
    max_length: int = 0

    def __post_init__(self) -> None:
        for name, choices in (("case", tuple(CASES)), ("numbers", NUMBERS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} of Words must be one of {', '.join(choices)}, got {getattr(self, name)!r}")
        for name in ("nfkc", "marks", "underscores"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} of Words must be True or False, got {getattr(self, name)!r}")
        for name in ("min_length", "max_length"):
            number = getattr(self, name)
            if type(number) is not int or not 0 <= number <= MOST_LENGTH:
                raise ValueError(f"{name} of Words must be a whole number of 0 or more, got {number!r}")

    @classmethod
    def simple_preprocess(cls, min_len: int = 2, max_len: int = 15) -> Words:
        """Return the settings by which words are those of `gensim.utils.simple_preprocess`, one by one."""
        return cls("lower", False, "drop", False, True, min_len, max_len)

    def scanner(self) -> WordScanner:
        """Return what finds the words."""
        return _scanner(self)

    def describe(self) -> dict[str, Any]:
        """Return the tokenizer as plain JSON."""
        return {"kind": "words", **asdict(self)}


@cache
def _scanner(words: Words) -> WordScanner:
    tables = word_tables(words.case, words.numbers, words.marks, words.underscores)
    return WordScanner(
        *tables,
        fold_numbers=words.numbers == "fold",
        drop_underscored=words.underscores,
        min_length=words.min_length,
        max_length=words.max_length,
    )


class WhiteSpace(ScannedText):
    """Takes for a word what stands between white space, as `str.split` does."""

    def scanner(self) -> WordScanner:
        """Return what finds the words."""
        return _white_space_scanner()

    def prepare(
        self, text: bytes, *, errors: str, sentences: str = "lines", inside: bool = False, is_open: bool = False
    ) -> Prepared:
        """Return the words of lines of text; of valid text whose sentences are lines, in half the time."""
        if sentences != "lines" or invalid_position(text)[0] >= 0:
            return super().prepare(text, errors=errors, sentences=sentences, inside=inside, is_open=is_open)
        return Prepared(*list_words(text, inside, is_open, 1 << PLACE_SHIFT))

    def describe(self) -> None:
        """Return None: this is what is done with text unless something else is asked for."""


@cache
def _white_space_scanner() -> WordScanner:
    return WordScanner(*white_space_tables(), fold_numbers=False, drop_underscored=False, min_length=0, max_length=0)
