"""Joins phrases: one round of it, and the stage of a preparation that joins all rounds in the workers."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from gensim_hilbert._phrases import PhraseJoiner
from gensim_hilbert.corpus.token_lists import Prepared
from gensim_hilbert.files import remove

Parts = tuple[str, ...]


@dataclass(frozen=True)
class Round:
    """Phrases that are joined in one pass from left to right, so that each word becomes part of at most one.

    Attributes
    ----------
    scores : mapping of tuples of str to float
        The words of each phrase, connector words included, and its score.
    delimiter : str
        What joins the words.
    connector_words : frozenset of str
        Words that neither begin nor end a phrase.
    """

    scores: Mapping[Parts, float]
    delimiter: str
    connector_words: frozenset[str] = frozenset()

    def __reduce__(self) -> tuple[type[Round], tuple[Any, ...]]:
        return Round, (self.scores, self.delimiter, self.connector_words)

    @cached_property
    def joiner(self) -> PhraseJoiner:
        """The phrases as a table of the kernel, which may be shared between threads."""
        phrases = [tuple(map(as_bytes, parts)) for parts in self.scores]
        return PhraseJoiner(phrases, encoded_connectors(self.connector_words), as_bytes(self.delimiter))

    def joined(self, parts: Parts) -> str:
        """Return a phrase as one word."""
        return self.delimiter.join(parts)


def as_bytes(word: str) -> bytes:
    """Return a word as kernels have it."""
    return word.encode("utf-8", "surrogatepass")


def encoded_connectors(words: Iterable[str]) -> list[bytes]:
    """Return connector words as kernels have them, in an order that is always the same."""
    return sorted(map(as_bytes, words))


class SavedPhrases(Protocol):
    """What the stage has to know of the phrases that it joins."""

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds in which phrases are joined."""

    @property
    def fingerprint(self) -> str:
        """A hash of them."""

    def save(self, path: Path) -> None:
        """Write them to a file."""

    def describe(self) -> dict[str, Any]:
        """Return what is to be said of them in a manifest."""


class JoinPhrases:
    """The stage of a preparation that joins phrases.

    Blocks are sent to other processes by the thousand, and so only the name of a file is pickled, which a process reads
    once. It is written when it is first needed, and vanishes with this object.
    """

    def __init__(self, phrases: SavedPhrases):
        self.phrases = phrases

    @cached_property
    def _file(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="gensim_hilbert-"))
        weakref.finalize(self, remove, folder)
        self.phrases.save(folder / "phrases.jsonl")
        return folder / "phrases.jsonl"

    def __call__(self, prepared: Prepared) -> Prepared:
        """Return token lists with their phrases joined."""
        for one in self.phrases.rounds:
            prepared = Prepared(*one.joiner.join(*prepared))
        return prepared

    def describe(self) -> dict[str, Any]:
        """Return what it does as plain JSON."""
        return self.phrases.describe()

    def __reduce__(self) -> tuple[Callable[..., JoinPhrases], tuple[str, str]]:
        return loaded_joiner, (str(self._file), self.phrases.fingerprint)


_loaded: dict[str, JoinPhrases] = {}


def loaded_joiner(path: str, fingerprint: str) -> JoinPhrases:
    """Return the stage whose phrases are in a file; a process reads it once."""
    found = _loaded.get(fingerprint)
    if found is None:
        from gensim_hilbert.phrases.table import Phrases

        _loaded.clear()  # Only the phrases of the corpus at hand are kept.
        found = _loaded[fingerprint] = JoinPhrases(Phrases.load(path))
    return found
