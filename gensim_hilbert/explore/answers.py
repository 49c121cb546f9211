"""The explorer's answers about words, pairs, sums of words and places in sentences."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from gensim_hilbert.explore.selection import Found, Question
from gensim_hilbert.explore.shapes import (
    Completions,
    Evidence,
    Like,
    PairAnswer,
    SharedContext,
    SubstituteAnswer,
    SumAnswer,
    WordAnswer,
)
from gensim_hilbert.explore.steps import Counted, InSteps, Need, Scores, Search, Steps
from gensim_hilbert.explore.words import ExploredModel
from gensim_hilbert.markup import number

MOST_WORDS = 100  # in one answer
LONGEST_TEXT = 2000  # characters
MOST_IN_A_SUM = 100
SHARED_CONTEXTS = 12
SHORTEST = 1e-12  # length by which a vector is divided
NOTHING = Found(np.empty(0, dtype=np.int64), np.empty((0, 1)))
TOKENS = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]")


def complete(model: ExploredModel, prefix: str, limit: int = 12) -> Completions:
    """Return words that begin like this, most frequent first."""
    return {"words": model.complete(prefix, checked(limit))}


@InSteps
def word(model: ExploredModel, name: str, limit: int = 20) -> Steps[WordAnswer]:
    """Return the words like a word and those that go with it."""
    limit = checked(limit)
    row = model.row_of(name)
    like, contexts = yield from neighbours(model, row, limit)
    evidence: list[Evidence]
    (evidence,) = yield [Counted(model, contexts.rows.tolist(), [row] * len(contexts.rows))]
    return {
        "word": model.texts[row],
        "rank": row + 1,
        "occurrences": model.occurrences(row),
        "like": named(model, like),
        "with_it": [
            {"word": model.texts[other], "pmi": pmi, **facts}
            for other, pmi, facts in zip(contexts.rows, contexts.scores[:, 0].tolist(), evidence, strict=True)
        ],
    }


def neighbours(model: ExploredModel, row: int, limit: int) -> Steps[tuple[Found, Found]]:
    """Return the words like a word, and the contexts with the highest fitted PMI; none without PMI."""
    needs = [Search(model.like, Question((model.unit(row),), limit, excluded=(row,)))]
    if model.contexts is not None:
        question = Question((model.vectors.vectors[row],), limit, (model.shift(row),))
        needs.append(Search(model.contexts, question))
    found = yield needs
    return found[0], found[1] if model.contexts is not None else NOTHING


@InSteps
def pair(model: ExploredModel, context: str, term: str) -> Steps[PairAnswer]:
    """Return what is known of two words together."""
    i, j = model.row_of(context), model.row_of(term)
    needs: list[Need] = [Counted(model, [i], [j])]
    fitted = psi = None
    if model.queries is not None:
        assert model.contexts is not None
        vectors = model.vectors.vectors
        psi = float(model.queries.covectors[i] @ vectors[j])
        fitted = float(model.queries.pmi_of_rows(np.array([i]), np.array([j]))[0])
        # Contexts of both words: those whose lower PMI of the two is highest.
        shifts, rows = (model.shift(i), model.shift(j)), tuple({i, j})
        needs.append(Search(model.contexts, Question((vectors[i], vectors[j]), SHARED_CONTEXTS, shifts, rows)))
    facts: Evidence
    (facts,), *found = yield needs
    shared: list[SharedContext] = [
        {"word": model.texts[row], "pmi_context": pmi_context, "pmi_term": pmi_term}
        for part in found
        for row, (pmi_context, pmi_term) in zip(part.rows, part.scores.tolist(), strict=True)
    ]
    pmi = facts["counted"] if facts["counted"] is not None else fitted
    if facts["count"] == 0:
        pmi = None
    times = None if pmi is None else math.exp(pmi)
    return {
        "context": model.texts[i],
        "term": model.texts[j],
        "cosine": float(model.unit(i) @ model.unit(j)),
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


@InSteps
def word_sum(model: ExploredModel, expression: str, limit: int = 20) -> Steps[SumAnswer]:
    """Return the words near a sum of vectors of length 1, without those of the sum itself (3CosAdd)."""
    limit = checked(limit)
    positive, negative = parse_sum(short(expression))
    if len(positive) + len(negative) > MOST_IN_A_SUM:
        raise ValueError(f"a sum can have {MOST_IN_A_SUM} words, got {len(positive) + len(negative)}")
    rows = [[model.row_of(part) for part in parts] for parts in (positive, negative)]
    total = sum((model.unit(row) for row in rows[0]), np.zeros(model.vectors.vector_size, dtype=np.float64))
    total = total - sum(model.unit(row) for row in rows[1])
    total /= max(float(np.linalg.norm(total)), SHORTEST)
    found = yield [Search(model.like, Question((total,), limit, excluded=tuple({*rows[0], *rows[1]})))]
    names = [[model.texts[row] for row in part] for part in rows]
    return {"positive": names[0], "negative": names[1], "like": named(model, found[0])}


# ---------------------------------------------------------------------------------------------------- sentences


def tokens_of(model: ExploredModel, text: str) -> tuple[list[str], list[int | None]]:
    """Divide a sentence into words, by the tokeniser of the model if it has one; return also the rows of known ones."""
    if getattr(model.model, "tokenizer", None) is not None:
        tokens = [str(token) for token in model.model.tokenize(text)]
    else:
        tokens = TOKENS.findall(text)
    return tokens, [model.rows.get(token, model.rows.get(token.lower())) for token in tokens]


def around(model: ExploredModel, rows: list[int | None], position: int) -> tuple[int | None, list[int]]:
    """Return the row of the word in a place, and those of the known words within the window around it."""
    if not 0 <= position < len(rows):
        raise ValueError(f"position must be from 0 to {len(rows) - 1}, got {position}")
    window = int(getattr(model.model, "window", 5))
    others = rows[max(0, position - window) : position] + rows[position + 1 : position + 1 + window]
    return rows[position], [row for row in others if row is not None]


@InSteps
def substitute(model: ExploredModel, text: str, position: int | None, limit: int = 20) -> Steps[SubstituteAnswer]:
    """Return what could stand in a place of a sentence.

    With covectors these are the most probable words given the words within the window around the place, whatever stands
    there. Without, they are the words like the one that stands there.
    """
    limit = checked(limit)
    tokens, rows = tokens_of(model, short(text))
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
    own, known = around(model, rows, position)
    found: list[tuple[int, float]] = []
    if model.queries is None:
        if own is not None:
            needs = [Search(model.like, Question((model.unit(own),), limit, excluded=(own,)))]
            ((nearest, cosines),) = yield needs
            found = list(zip(nearest.tolist(), cosines[:, 0].tolist(), strict=True))
    elif known:
        (scores,) = yield [Scores(model.terms, model.queries.covectors[known].sum(axis=0))]
        found = most_probable(model, scores, len(known), limit)
    answer["substitutes"] = [{"word": model.texts[row], "probability": value} for row, value in found]
    return answer


def most_probable(model: ExploredModel, scores: np.ndarray, contexts: int, limit: int) -> list[tuple[int, float]]:
    """Return the most probable terms, given the products of the sum of so many contexts: p_j exp(sum of PMI_ij)."""
    logits = log_weights(model, scores, contexts)
    limit = min(limit, len(logits))
    rows = np.argpartition(-logits, limit - 1)[:limit]
    rows = rows[np.lexsort([rows, -logits[rows]])]
    probabilities = np.exp(logits[rows]) / np.exp(logits).sum()
    return list(zip(rows.tolist(), probabilities.tolist(), strict=True))


def log_weights(model: ExploredModel, scores: np.ndarray, contexts: int, rows: Any = slice(None)) -> np.ndarray:
    """Return ln(p_j exp(sum of PMI_ij)) of terms, all or those of some rows, less that of the most probable one."""
    assert model.queries is not None
    logits = scores + model.log_frequencies[rows]
    if model.queries.offsets is not None:
        logits -= contexts * model.queries.offsets[1][rows]
    return np.asarray(logits - logits.max(initial=-np.inf))


# ---------------------------------------------------------------------------------------------------- checks


def named(model: ExploredModel, found: Found) -> list[Like]:
    """Return neighbours by their names."""
    rows, cosines = found.rows.tolist(), found.scores[:, 0].tolist()
    return [{"word": model.texts[row], "cosine": cosine} for row, cosine in zip(rows, cosines, strict=True)]


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
