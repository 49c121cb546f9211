"""Tokens that are no text: any hashable object can be a word, as in gensim.

In token lists, a plain str is written in UTF-8 (token_lists.py). Any other token is what Python's dict takes it for: 1,
1.0 and True are one word, and so are a member of a StrEnum and its text. No bytes tell that, so such tokens are counted
by a dict, and get bytes once there is a vocabulary in which they can be looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from gensim_hilbert._tokens import all_str

# Begins the bytes of words that are not text. The first byte never occurs in UTF-8, and no word of a file has a space.
NUMBERED = b"\xf8 "


class EncodedWords(dict[Any, bytes]):
    """The bytes of each known word, with the byte that ends it; unknown words have bytes that no known one has."""

    def __missing__(self, word: Any) -> bytes:
        return NUMBERED + b"\xff"


class KnownWords(Protocol):
    """A vocabulary that tokens are looked up in."""

    @property
    def encoded(self) -> Mapping[Any, bytes]:
        """The bytes of each word, with the byte that ends it."""


def numbered(number: int) -> bytes:
    """Return the bytes of a word that is not text: its number in its vocabulary."""
    return b"%b%d" % (NUMBERED, number)


def tokens_of(sentence: Any, number: int) -> Sequence[Any]:
    """Return a sentence as a sequence of tokens, or raise an error if it is none."""
    if isinstance(sentence, list | tuple | str):
        return sentence
    if not isinstance(sentence, Iterable):
        kind = type(sentence).__name__
        raise TypeError(f"sentence {number} is {sentence!r}, of type {kind}; a sentence must be a list of words")
    return list(sentence)


def are_text(tokens: Sequence[Any]) -> bool:
    """Tell whether all tokens of a sentence are plain str; those of a sentence that is a str are its characters."""
    return isinstance(tokens, str) or all_str(tokens)


def encode_tokens(tokens: Sequence[Any], number: int, words: KnownWords) -> bytes:
    """Write a sentence with the bytes that a vocabulary has for its words, and 0xFE at the end."""
    try:
        return b"".join(map(words.encoded.__getitem__, tokens)) + b"\xfe"
    except TypeError:
        refuse_unhashable(tokens, number)
        raise


def refuse_unhashable(tokens: Sequence[Any], number: int) -> None:
    """Raise an error that names the first token of a sentence that cannot be a key of a dict, if there is one."""
    for token in tokens:
        try:
            hash(token)
        except TypeError as error:
            raise TypeError(
                f"sentence {number} holds {token!r}, of type {type(token).__name__}; words must be "
                "hashable, as keys of a dict are"
            ) from error
