"""Words that could replace a word in a sentence: like it, and probable among the words around it."""

from __future__ import annotations

import numpy as np

from gensim_hilbert.explore.answers import checked, short, tokens_of
from gensim_hilbert.explore.selection import Question
from gensim_hilbert.explore.shapes import FittingAnswer
from gensim_hilbert.explore.steps import InSteps, Search, Steps
from gensim_hilbert.explore.words import ExploredModel

LIKE_WORDS = 100  # among which the most probable ones are looked for


@InSteps
def fitting(model: ExploredModel, text: str, position: int, limit: int = 20) -> Steps[FittingAnswer]:
    """Return those of the 100 words most like the one in a place that are the most probable there.

    The probabilities are among these words: p_j exp(sum of PMI_ij) over the contexts i within the window. Words that
    already stand around the place are left out. Nothing is found without covectors, for an unknown word, or if none of
    the words around it is known.
    """
    limit, tokens = checked(limit), tokens_of(model, short(text))
    if not 0 <= position < len(tokens):
        raise ValueError(f"position must be from 0 to {len(tokens) - 1}, got {position}")
    rows = [model.rows.get(token, model.rows.get(token.lower())) for token in tokens]
    own, window = rows[position], int(getattr(model.model, "window", 5))
    places = range(max(0, position - window), min(len(rows), position + window + 1))
    around = [row for place in places if place != position and (row := rows[place]) is not None]
    if own is None or model.queries is None or not around:
        return {"fitting": []}
    (found,) = yield [Search(model.like, Question((model.unit(own),), LIKE_WORDS, excluded=(own,)))]
    like = [row for row in found.rows.tolist() if row not in around]
    psi = model.queries.covectors[around].sum(axis=0) @ model.vectors.vectors[like].T
    logits = psi.astype(np.float64) + model.log_frequencies[like]
    if model.queries.offsets is not None:
        logits -= len(around) * model.queries.offsets[1][like]
    weights = np.exp(logits - logits.max(initial=-np.inf))
    best = np.argsort(-weights, kind="stable")[:limit]
    return {"fitting": [{"word": model.texts[like[k]], "probability": float(weights[k] / weights.sum())} for k in best]}
