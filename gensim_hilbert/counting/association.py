"""How strongly two words are associated by their counts: PMI, and what the counts leave open about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gensim_hilbert.counting.intervals import Meetings, PmiInterval, meeting_weight, pmi_quantiles

if TYPE_CHECKING:
    from gensim_hilbert.counting.pair_counts import PairCounts


def pmi_intervals(table: PairCounts, contexts: Any, terms: Any, counts: Any, level: float = 0.95) -> PmiInterval:
    """Return the PMI of many pairs, given their counts, with a credible interval for each.

    Parameters
    ----------
    table : PairCounts
        The counts of all words.
    contexts, terms : int, or arrays of int
        Row numbers of words; arrays are broadcast.
    counts : float, or array
        The count of each pair, as `count` and `shard` return it.
    level : float
        The probability with which the true PMI is between the bounds.

    Returns
    -------
    PmiInterval
        Three arrays: value, low and high.
    """
    contexts, terms, counts = np.asarray(contexts), np.asarray(terms), np.asarray(counts, dtype=np.float64)
    stored = table._store.marginals_scaled
    of_context, of_term, total = (
        sums / table.scale for sums in (stored[0][contexts], stored[1][terms], stored[0].sum())
    )
    kept = 1.0 if table._keep is None else table._keep[contexts] * table._keep[terms]
    weight = meeting_weight(table.window)
    # A mirrored table has each meeting twice: in two of its cells, or twice in one cell if a word meets itself.
    copies = 2 if table.symmetric else 1
    weights = np.where(contexts == terms, copies * weight, weight)
    meetings = Meetings(counts / kept / weights, of_context / weights, of_term / weights, total / (copies * weight))
    low, high = pmi_quantiles(meetings, level)
    shift = np.log(copies * weight / weights)  # because the total above is that of meetings, not of the table
    if table._keep is not None:
        # Counts in expectation are stored counts times known numbers, which move an interval but do not widen it.
        contexts_kept = ratio(table.marginals.contexts[contexts], of_context, otherwise=1.0)
        terms_kept = ratio(table.marginals.terms[terms], of_term, otherwise=1.0)
        shift = shift + np.log(kept * ratio(table.total, total, otherwise=1.0) / (contexts_kept * terms_kept))
    return PmiInterval(pmi_of_rows(table, contexts, terms, counts), low + shift, high + shift)


def pmi_of_rows(table: PairCounts, contexts: Any, terms: Any, counts: Any) -> np.ndarray:
    """Return the PMI of pairs, given their counts; minus infinity where these are 0."""
    by_chance = ratio(table.marginals.contexts[contexts] * table.marginals.terms[terms], table.total, otherwise=0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(ratio(counts, by_chance, otherwise=0.0)))


def ratio(numerator: Any, denominator: Any, otherwise: float) -> np.ndarray:
    """Divide, with another result where the denominator is 0."""
    result = np.full(np.broadcast(numerator, denominator).shape, otherwise)
    np.divide(numerator, denominator, out=result, where=np.asarray(denominator) > 0)
    return result
