"""The explorer's answers about words, pairs, sums of words and places in sentences."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from gensim_hilbert.explore.shapes import (
    Completions,
    Context,
    Like,
    PairAnswer,
    SharedContext,
    SubstituteAnswer,
    SumAnswer,
    WordAnswer,
)
from gensim_hilbert.explore.words import ExploredModel
from gensim_hilbert.markup import number
from gensim_hilbert.queries import similar

MOST_WORDS = 100  # in one answer
LONGEST_TEXT = 2000  # characters
SHARED_CONTEXTS = 12
TOKENS = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]")


def complete(model: ExploredModel, prefix: str, limit: int = 12) -> Completions:
    """Return words that begin like this, most frequent first."""
    return {"words": model.complete(prefix, checked(limit))}


def word(model: ExploredModel, name: str, limit: int = 20) -> WordAnswer:
    """Return the words like a word and those that go with it."""
    limit = checked(limit)
    row = model.row_of(name)
    key = model.vectors.index_to_key[row]
    like = neighbours(similar(model.vectors, [key], limit)[0])
    return {
        "word": model.texts[row],
        "rank": row + 1,
        "occurrences": model.occurrences(row),
        "like": like,
        "with_it": contexts(model, row, limit),
    }


def contexts(model: ExploredModel, row: int, limit: int) -> list[Context]:
    """Return the words with the highest fitted PMI with a word, and what was counted of each; empty without PMI."""
    if model.queries is None:
        return []
    found = model.queries.cooccurring([model.vectors.index_to_key[row]], limit)[0]
    rows = [model.vectors.get_index(other) for other, _ in found]
    evidence = model.evidence(rows, [row] * len(rows))
    return [
        {"word": str(other), "pmi": float(pmi), **facts} for (other, pmi), facts in zip(found, evidence, strict=True)
    ]


def pair(model: ExploredModel, context: str, term: str) -> PairAnswer:
    """Return what is known of two words together."""
    i, j = model.row_of(context), model.row_of(term)
    keys = model.vectors.index_to_key
    facts = model.evidence([i], [j])[0]
    fitted = psi = None
    shared: list[SharedContext] = []
    if model.queries is not None:
        fitted = float(model.queries.pmi(keys[i], keys[j]))
        psi = float(model.queries.covectors[i] @ model.vectors.vectors[j])
        shared = shared_contexts(model, i, j)
    pmi = facts["counted"] if facts["counted"] is not None else fitted
    if facts["count"] == 0:
        pmi = None
    times = None if pmi is None else math.exp(pmi)
    return {
        "context": model.texts[i],
        "term": model.texts[j],
        "cosine": float(model.vectors.similarity(keys[i], keys[j])),
        "pmi": fitted,
        "psi": psi,
        **facts,
        "times": times,
        "sentence": sentence(model, model.texts[i], model.texts[j], times, facts["count"]),
        "shared": shared,
    }


def sentence(model: ExploredModel, context: str, term: str, times: float | None, count: float | None) -> str:
    """Say in words how often two words meet."""
    if model.queries is None:
        return "These vectors do not tell how often words meet, because they have no covectors."
    if model.facts()["score"] != "PMI":
        return f"The vectors of {model.name} do not tell how often words meet: their products are no PMI."
    if count == 0:
        return f"{context} was never seen near {term}."
    assert times is not None
    verb = "By the fit, " if count is None else ""
    factor = max(times, 1 / times)
    often = "as often as" if times >= 1 else "more rarely than"
    return f"{verb}{context} is near {term} {number(factor, 1 if factor < 9.95 else 0)} times {often} by chance."


def shared_contexts(model: ExploredModel, one: int, other: int) -> list[SharedContext]:
    """Return the contexts that go with both words: those whose lower PMI of the two is highest."""
    queries = model.queries
    assert queries is not None
    pmi = [all_pmi(model, row) for row in (one, other)]
    both = np.minimum(*pmi)
    both[[one, other]] = -np.inf
    count = min(SHARED_CONTEXTS, max(0, len(both) - 2))
    rows = np.argpartition(-both, count - 1)[:count] if count else np.empty(0, dtype=np.int64)
    rows = rows[np.argsort(-both[rows], kind="stable")]
    return [
        {"word": model.texts[row], "pmi_context": float(pmi[0][row]), "pmi_term": float(pmi[1][row])} for row in rows
    ]


def all_pmi(model: ExploredModel, term: int, first: int | None = None) -> np.ndarray:
    """Return the fitted PMI of all contexts, or of the `first` so many, with a term."""
    queries = model.queries
    assert queries is not None
    scores = queries.covectors[:first] @ model.vectors.vectors[term] - queries.psi_offset
    if queries.offsets is not None:
        scores = scores - queries.offsets[0][:first] - queries.offsets[1][term]
    return np.asarray(scores)


# ---------------------------------------------------------------------------------------------------- sums


def parse_sum(expression: str) -> tuple[list[str], list[str]]:
    """Divide `king - man + woman` into words to add and words to subtract; signs stand between spaces."""
    positive: list[str] = []
    negative: list[str] = []
    target, expects_word = positive, True
    for part in expression.split():
        if part in ("+", "-", "−", "–"):
            if expects_word and (positive or negative):
                raise ValueError(f"a word must stand between the signs of {expression!r}")
            target, expects_word = (positive if part == "+" else negative), True
        elif not expects_word:
            raise ValueError(f"write + or - between the words of {expression!r}, such as king - man + woman")
        else:
            target.append(part)
            expects_word = False
    if expects_word:
        raise ValueError(f"{expression!r} has no word at its end; write a sum such as king - man + woman")
    return positive, negative


def word_sum(model: ExploredModel, expression: str, limit: int = 20) -> SumAnswer:
    """Return the words near a sum of vectors of length 1, without those of the sum itself (3CosAdd)."""
    limit = checked(limit)
    positive, negative = parse_sum(short(expression))
    rows = [[model.row_of(part) for part in parts] for parts in (positive, negative)]
    keys: list[list[Any]] = [[model.vectors.index_to_key[row] for row in part] for part in rows]
    found = model.vectors.most_similar(positive=keys[0], negative=keys[1], topn=limit)
    names = [[model.texts[row] for row in part] for part in rows]
    return {"positive": names[0], "negative": names[1], "like": neighbours(found)}


# ---------------------------------------------------------------------------------------------------- sentences


def tokens_of(model: ExploredModel, text: str) -> list[str]:
    """Divide a sentence into words, by the tokeniser of the model if it has one."""
    if getattr(model.model, "tokenizer", None) is not None:
        return [str(token) for token in model.model.tokenize(text)]
    return TOKENS.findall(text)


def substitute(model: ExploredModel, text: str, position: int | None, limit: int = 20) -> SubstituteAnswer:
    """Return what could stand in a place of a sentence.

    With covectors these are the most probable words given the words within the window around the place, whatever stands
    there. Without, they are the words like the one that stands there.
    """
    limit = checked(limit)
    tokens = tokens_of(model, short(text))
    rows = [model.rows.get(token, model.rows.get(token.lower())) for token in tokens]
    method = "cosine" if model.queries is None else "probability"
    answer: SubstituteAnswer = {
        "tokens": tokens,
        "known": [row is not None for row in rows],
        "position": position,
        "method": method,
        "substitutes": [],
    }
    if position is None:
        return answer
    if not 0 <= position < len(tokens):
        raise ValueError(f"position must be from 0 to {len(tokens) - 1}, got {position}")
    own = rows[position]
    found: list[tuple[Any, float]] = []
    if model.queries is None:
        if own is not None:
            found = similar(model.vectors, [model.vectors.index_to_key[own]], limit)[0]
    else:
        window = int(getattr(model.model, "window", 5))
        around = rows[max(0, position - window) : position] + rows[position + 1 : position + 1 + window]
        known = [row for row in around if row is not None]
        if known:
            found = model.queries.predict(known, frequencies(model), limit)
    answer["substitutes"] = [{"word": str(key), "probability": float(value)} for key, value in found]
    return answer


def frequencies(model: ExploredModel) -> np.ndarray:
    """Return the share of each word in the text; all the same if the vectors do not tell."""
    if hasattr(model.model, "term_frequencies"):
        return np.asarray(model.model.term_frequencies())
    numbers = model.vectors.expandos.get("count")
    numbers = np.ones(len(model)) if numbers is None else np.asarray(numbers, dtype=np.float64)
    return np.asarray(numbers / max(1.0, float(numbers.sum())))


# ---------------------------------------------------------------------------------------------------- checks


def neighbours(found: list[tuple[Any, float]]) -> list[Like]:
    """Return neighbours with their names as text."""
    return [{"word": str(key), "cosine": float(cosine)} for key, cosine in found]


def checked(limit: int) -> int:
    """Refuse to return no words, or too many."""
    if not 1 <= limit <= MOST_WORDS:
        raise ValueError(f"n must be from 1 to {MOST_WORDS}, got {limit}")
    return limit


def short(text: str) -> str:
    """Refuse text that is longer than a sentence can be."""
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"the text must have at most {LONGEST_TEXT:,} characters, got {len(text):,}")
    return text
