"""Tokenizers of others: those of Hugging Face, and functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from gensim_hilbert.corpus.tokenizers import Tokenizer


def import_tokenizers() -> Any:
    """Return the package of Hugging Face, or raise an error that tells how to install it."""
    try:
        import tokenizers
    except ImportError as error:
        raise ImportError(
            f"a tokenizer.json needs tokenizers ({error}): pip install 'gensim-hilbert[tokenizers]'"
        ) from error
    return tokenizers


class HuggingFaceTokenizer(Tokenizer):
    """A `tokenizers.Tokenizer`, which works on many texts at once with threads of its own.

    Special tokens are not added, and texts are neither cut off nor padded.

    Parameters
    ----------
    json : str
        What is in a tokenizer.json.
    """

    def __init__(self, json: str):
        self.json = json

    @cached_property
    def _tokenizer(self) -> Any:
        """The object itself; it is made when it is needed, so that models can be loaded without the package."""
        package = import_tokenizers()
        try:
            tokenizer = package.Tokenizer.from_str(self.json)
        except Exception as error:  # The package raises nothing more special.
            raise ValueError(f"the tokenizer.json cannot be read: {error}") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> HuggingFaceTokenizer:
        """Read a tokenizer.json."""
        with open(path, encoding="utf-8") as file:
            json = file.read()
        made = cls(json)
        try:
            made._tokenizer  # noqa: B018  # A file that cannot be read is better refused now than by a worker.
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error
        return made

    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each text."""
        return [found.tokens for found in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def describe(self) -> dict[str, Any]:
        """Return the tokenizer as plain JSON."""
        return {"kind": "tokenizer.json", "json": self.json}

    def __reduce__(self) -> Any:
        return HuggingFaceTokenizer, (self.json,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HuggingFaceTokenizer) and self.json == other.json

    def __hash__(self) -> int:
        return hash(self.json)

    def __repr__(self) -> str:
        return f"HuggingFaceTokenizer({len(self.json)} bytes, {sha256(self.json.encode()).hexdigest()[:8]})"


@dataclass(frozen=True)
class FunctionTokenizer(Tokenizer):
    """A function of the user from a str to a list of str.

    It cannot be stored: what is made with it remembers its name only.
    """

    function: Callable[[str], Sequence[str]]

    is_stored = False

    @property
    def name(self) -> str:
        """The name of the function, or of its class."""
        named = self.function if hasattr(self.function, "__qualname__") else type(self.function)
        return f"{getattr(named, '__module__', 'builtins')}.{named.__qualname__}"

    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text."""
        return [self._words(text) for text in texts]

    def _words(self, text: str) -> list[str]:
        found = self.function(text)
        if not isinstance(found, str):
            words = list(found)
            if all(isinstance(word, str) for word in words):
                return words
        raise TypeError(f"the tokenizer {self.name} must return a list of str for a str, but returned {found!r:.200}")

    def describe(self) -> dict[str, Any]:
        """Return the name of the function, as plain JSON."""
        return {"kind": "function", "name": self.name}

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class MissingTokenizer(Tokenizer):
    """Takes the place of a function that was not stored: nothing is imported because a file names it."""

    name: str

    is_stored = False

    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """Raise an error that tells what to do."""
        raise ValueError(
            f"the tokenizer {self.name} is a function, of which only the name was stored: give it again, by "
            "model.tokenizer = ..."
        )

    def describe(self) -> dict[str, Any]:
        """Return the name of the function, as plain JSON."""
        return {"kind": "function", "name": self.name}

    def __repr__(self) -> str:
        return self.name
