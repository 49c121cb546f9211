"""Token lists as bytes: 0xFF after each word and 0xFE after each sentence, as cython_ext/scanner.pxd describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Places of prepared words are in units of 1/16 byte of the text they come from: one byte may become several words.
PLACE_SHIFT = 4


class Prepared(NamedTuple):
    """Token lists of a block, and where their words come from.

    Places ascend strictly. They decide the order of equally frequent words and the random draws of subsampling, and so
    they depend on the text alone, and not on where it is cut into blocks: the place of a word is not below 16 times the
    byte of the block's text where the word begins, and below 16 times the byte where the next line begins.
    """

    data: bytes
    places: np.ndarray  # uint64, one for each word


def encode_words(words: Sequence[str]) -> bytes:
    """Return words with 0xFF after each."""
    if not words:
        return b""
    joined = "\n".join(words)
    if joined.count("\n") == len(words) - 1:
        return joined.encode("utf-8", "surrogatepass").replace(b"\n", b"\xff") + b"\xff"
    return b"".join(word.encode("utf-8", "surrogatepass") + b"\xff" for word in words)


def places_in_lists(data: bytes) -> np.ndarray:
    """Return the places of the words of token lists that the user has made."""
    array = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(array >= 0xFE)
    starts = np.concatenate([[0], ends + 1])[:-1]
    places: np.ndarray = starts[array[ends] == 0xFF].astype(np.uint64) << np.uint64(PLACE_SHIFT)
    return places


def decode_lists(data: bytes) -> list[list[str]]:
    """Return token lists as Python has them; the words of a sentence without end are a list, too."""
    *sentences, rest = data.split(b"\xfe")
    if rest:
        sentences.append(rest)
    return [[word.decode("utf-8", "surrogatepass") for word in line.split(b"\xff")[:-1]] for line in sentences]
