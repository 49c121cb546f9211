"""Words that could replace a word in a sentence: like it, and probable among the words around it."""

from __future__ import annotations

import numpy as np

from gensim_hilbert.explore.answers import around, checked, log_weights, short, tokens_of
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
    limit, (_, rows) = checked(limit), tokens_of(model, short(text))
    own, known = around(model, rows, position)
    if own is None or model.queries is None or not known:
        return {"fitting": []}
    (found,) = yield [Search(model.like, Question((model.unit(own),), LIKE_WORDS, excluded=(own,)))]
    like = [row for row in found.rows.tolist() if row not in known]
    psi = model.queries.covectors[known].sum(axis=0) @ model.vectors.vectors[like].T
    weights = np.exp(log_weights(model, psi.astype(np.float64), len(known), like))
    best = np.argsort(-weights, kind="stable")[:limit]
    return {"fitting": [{"word": model.texts[like[k]], "probability": float(weights[k] / weights.sum())} for k in best]}
