"""Takes over gensim's tables of phrases, which are keyed by the joined words.

gensim looks at strings alone: with the phrase "new_york_city" in its table, it joins "new_york" and "city" as well as
"new" and "york_city". Our tables hold the words that are joined, and so one string may become several entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gensim_hilbert.phrases.joining import Parts, Round


def round_of(table: Any) -> Round:
    """Return what gensim's `Phrases` or `FrozenPhrases` joins, with the scores that it has for it."""
    if isinstance(phrasegrams := getattr(table, "phrasegrams", None), dict):
        strings: Iterable[str] = phrasegrams
    elif isinstance(vocab := getattr(table, "vocab", None), dict) and hasattr(table, "score_candidate"):
        strings = vocab
    else:
        raise TypeError(
            f"phrases must be 'auto', gensim_hilbert's Phrases, the name of a file of them, or gensim's Phrases or "
            f"FrozenPhrases, got {table!r}"
        )
    delimiter, connectors = table.delimiter, frozenset(table.connector_words)
    scores: dict[Parts, float] = {}
    for string in strings:
        for parts in splits(string, delimiter, connectors):
            _, score = table.score_candidate(parts[0], parts[-1], list(parts[1:-1]))
            if score is not None:
                scores[parts] = float(score)
    return Round(scores, delimiter, connectors)


def splits(string: str, delimiter: str, connectors: frozenset[str]) -> Iterator[Parts]:
    """Yield all candidates that are this string when they are joined."""
    for first, rest in cuts(string, delimiter):
        if first not in connectors:
            for tail in tails(rest, delimiter, connectors):
                yield (first, *tail)


def tails(string: str, delimiter: str, connectors: frozenset[str]) -> Iterator[Parts]:
    """Yield what may follow the first word of a candidate: any connector words, and a word that is none."""
    if string not in connectors:
        yield (string,)
    for connector, rest in cuts(string, delimiter):
        if connector in connectors:
            for tail in tails(rest, delimiter, connectors):
                yield (connector, *tail)


def cuts(string: str, delimiter: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before and after each place where the delimiter occurs."""
    place = string.find(delimiter)
    while place >= 0:
        yield string[:place], string[place + len(delimiter) :]
        place = string.find(delimiter, place + 1)
