"""The shapes of the explorer's answers: what `docs/explorer.md` documents, as types."""

from __future__ import annotations

from typing import TypedDict


class ModelFacts(TypedDict):
    """One of the models that are shown."""

    name: str
    words: int
    dimensions: int
    pmi: bool  # whether there are covectors, and so fitted PMI
    counts: bool  # whether there are pair counts, and so counted PMI
    score: str  # what the product of a covector and a vector is called: "PMI", or "product" for other software's
    without_pmi: str  # why something is missing, in a sentence; empty if nothing is
    examples: list[str]  # words to begin with


class Completions(TypedDict):
    """Words that begin as the user has begun, most frequent first."""

    words: list[str]


class Like(TypedDict):
    """A word whose vector points the same way."""

    word: str
    cosine: float


class Evidence(TypedDict):
    """What was counted of one pair; all are null where there are no counts."""

    count: float | None  # the weight with which the context was seen near the term
    counted: float | None  # PMI; null also for a pair that was never seen
    low: float | None  # of its 95% interval; null if it has no lower end
    high: float | None


class Context(Evidence):
    """A word that goes with another."""

    word: str
    pmi: float


class WordAnswer(TypedDict):
    """Both kinds of neighbours of a word."""

    word: str
    rank: int  # 1 is the most frequent word
    occurrences: int | None
    like: list[Like]
    with_it: list[Context]


class PairAnswer(Evidence):
    """Two words, as context and term."""

    context: str
    term: str
    cosine: float
    pmi: float | None  # fitted
    psi: float | None  # covector . vector
    times: float | None  # how many times as often as by chance: exp(PMI), counted if there are counts, else fitted
    sentence: str
    shared: list[SharedContext]  # contexts of both


class SharedContext(TypedDict):
    """A word that goes with both words of a pair."""

    word: str
    pmi_context: float
    pmi_term: float


class SumAnswer(TypedDict):
    """Words near a sum of vectors."""

    positive: list[str]
    negative: list[str]
    like: list[Like]


class Substitute(TypedDict):
    """A word that could stand in a place of a sentence."""

    word: str
    probability: float


class SubstituteAnswer(TypedDict):
    """What could stand in a place of a sentence."""

    tokens: list[str]
    known: list[bool]
    position: int | None
    method: str  # "probability" given the contexts, or "cosine" where there are no covectors
    substitutes: list[Substitute]


class FittingAnswer(TypedDict):
    """Words like the one in a place of a sentence, and how probable each of them is there."""

    fitting: list[Substitute]


class SpellingAnswer(TypedDict):
    """Whether a word is known, and words that are spelt much like one that is not."""

    word: str
    known: bool
    near: list[str]


class MapAnswer(TypedDict):
    """The most frequent words on a plane."""

    words: list[str]
    x: list[float]
    y: list[float]
    method: str
    final: bool  # whether the layout will stay as it is; ask again in a second if it will not


class ModelNeighbours(TypedDict):
    """The neighbours that a word has in one model but not in the other."""

    like: list[Like]
    with_it: list[Like]


class Changed(TypedDict):
    """A word, and which share of its neighbours differs between two models."""

    word: str
    difference: float


class CompareAnswer(TypedDict):
    """Two models side by side, for one word, or for all if none is named."""

    word: str | None
    shared: int  # words that both models have
    lost: ModelNeighbours  # of the first model only
    gained: ModelNeighbours  # of the second model only
    kept: list[str]
    changed: list[Changed]
