"""What makes words of text: the interface of all tokenizers, and what those share that work on single sentences."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from gensim_hilbert._tokens import InvalidUTF8
from gensim_hilbert.corpus.sentences import breaks_in
from gensim_hilbert.corpus.token_lists import PLACE_SHIFT, Prepared, encode_words


class Tokenizer(ABC):
    """Makes words of text. It can be pickled, so that workers in other processes have it, too."""

    is_stored = True  # Whether `describe` tells all about it, so that it can be made again.

    @abstractmethod
    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text."""

    @abstractmethod
    def describe(self) -> Any:
        """Return the tokenizer as plain JSON, from which `tokenizer_from` makes it again."""

    def prepare(
        self, text: bytes, *, errors: str, sentences: str = "lines", inside: bool = False, is_open: bool = False
    ) -> Prepared:
        """Return the words of lines of text; what is not blank is a sentence, even one without words.

        `inside` and `is_open` tell whether the text begins and ends in the middle of a sentence. Raises `InvalidUTF8`
        with `errors="strict"`.
        """
        if not text:
            return Prepared(b"\xfe" if inside and not is_open else b"", np.zeros(0, dtype=np.uint64))
        ends = {match.end() for match in re.finditer(b"\n", text)} | set(breaks_in(text, sentences).tolist())
        starts = sorted({0, *ends} - {len(text)})
        stops = [*starts[1:], len(text)]
        pieces = [decoded(text, start, stop, errors) for start, stop in zip(starts, stops, strict=True)]
        filled = [k for k, piece in enumerate(pieces) if piece and not piece.isspace()]
        words = dict(zip(filled, self.tokenize([pieces[k] for k in filled]), strict=True))
        parts: list[bytes] = []
        places = [np.zeros(0, dtype=np.uint64)]
        for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            if k in words or (k == 0 and inside):
                found = words.get(k, [])
                if len(found) > (stop - start) << PLACE_SHIFT:
                    raise ValueError(
                        f"the tokenizer {self!r} makes {len(found)} words of {stop - start} bytes, but at most "
                        f"{1 << PLACE_SHIFT} per byte can be told apart"
                    )
                parts.append(encode_words(found))
                places.append(np.arange(len(found), dtype=np.uint64) + np.uint64(start << PLACE_SHIFT))
                if stop in ends or not is_open:
                    parts.append(b"\xfe")
        return Prepared(b"".join(parts), np.concatenate(places))


def decoded(text: bytes, start: int, stop: int, errors: str) -> str:
    """Return text[start:stop] without the line end as a str."""
    try:
        return text[start:stop].removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise InvalidUTF8(start + error.start) from None
