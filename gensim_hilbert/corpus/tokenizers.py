"""Tokenisers: what makes words of text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from gensim_hilbert._tokens import InvalidUTF8
from gensim_hilbert.corpus.token_lists import PLACE_SHIFT, Prepared, encode_words


class Tokenizer(ABC):
    """Makes words of text. It can be pickled, so that workers in other processes have it, too."""

    @abstractmethod
    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text."""

    @abstractmethod
    def describe(self) -> Any:
        """Return the tokeniser as plain JSON."""

    def prepare(self, text: bytes, *, errors: str, inside: bool, is_open: bool) -> Prepared:
        """Return the words of lines of text; each line that is not blank is a sentence, even one without words.

        `inside` and `is_open` tell whether the text begins and ends in the middle of a line. Raises `InvalidUTF8`.
        """
        *lines, rest = text.split(b"\n")
        lines.append(rest)
        decoded = []
        start = 0
        for line in lines:
            try:
                decoded.append(line.removesuffix(b"\r").decode("utf-8", errors))
            except UnicodeDecodeError as error:
                raise InvalidUTF8(start + error.start) from None
            start += len(line) + 1
        filled = [k for k, line in enumerate(decoded) if line and not line.isspace()]
        words = dict(zip(filled, self.tokenize([decoded[k] for k in filled]), strict=True))
        parts: list[bytes] = []
        places = [np.zeros(0, dtype=np.uint64)]
        start, last = 0, len(lines) - 1
        for k, line in enumerate(lines):
            if k in words or (k == 0 and inside):
                found = words.get(k, [])
                if len(found) > (len(line) + 1) << PLACE_SHIFT:
                    raise ValueError(
                        f"{self!r} makes {len(found)} words of a line of {len(line)} bytes, but at most "
                        f"{1 << PLACE_SHIFT} per byte can be told apart"
                    )
                parts.append(encode_words(found))
                places.append(np.arange(len(found), dtype=np.uint64) + np.uint64(start << PLACE_SHIFT))
                if k < last or not is_open:
                    parts.append(b"\xfe")
            start += len(line) + 1
        return Prepared(b"".join(parts), np.concatenate(places))


class WhiteSpace(Tokenizer):
    """Takes for a word what stands between white space."""

    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text."""
        return [text.split() for text in texts]

    def describe(self) -> None:
        """Return None."""

    def __repr__(self) -> str:
        return "WhiteSpace()"
