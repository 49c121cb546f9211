"""Word similarity: how well cosines of vectors rank pairs of words as people do."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from scipy.stats import spearmanr

from gensim_hilbert.evaluation.data import Data, lines
from gensim_hilbert.evaluation.significance import Difference, difference, interval, resampled_spearman
from gensim_hilbert.evaluation.words import Words

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SimilarityScore:
    """Spearman's rho on the pairs of a set whose words are known, with the 95% interval of a bootstrap.

    `gold` and `cosines` hold all pairs in the order of the file; the cosine is NaN where a word is not known.
    """

    name: str
    rho: float
    low: float
    high: float
    pairs: int
    covered: int
    gold: np.ndarray = field(repr=False, compare=False)
    cosines: np.ndarray = field(repr=False, compare=False)


def similarity(vectors: KeyedVectors, data: Data, seed: int = 1) -> list[SimilarityScore]:
    """Score vectors on word similarity.

    Parameters
    ----------
    vectors : KeyedVectors
        Such as `model.wv`, or what `gensim_hilbert.export.load_vectors` returns.
    data : Data
        Whose `similarity` sets to take; see `find_data`.
    seed : int
        For the bootstrap: 1,000 resamples of each set's pairs.

    Returns
    -------
    list of SimilarityScore
        One for each set; rho is NaN where fewer than two pairs are covered, or all cosines are the same. Pairs with a
        word that is not known are left out, as in the paper; words are looked up whatever their case, as in gensim.

    Raises
    ------
    ValueError
        If a file is not of the form `word, word, score`, or none of all pairs is covered.
    """
    words = Words(vectors)
    scores = [score(name, read_pairs(path), words, seed) for name, path in data.similarity.items()]
    if scores and not any(found.covered for found in scores):
        raise ValueError(
            f"none of the {sum(found.pairs for found in scores)} pairs has both words among the {len(words)} known "
            f"ones, such as {', '.join(map(repr, words.keys[:3]))}: are these the vectors of English words?"
        )
    return scores


def read_pairs(path: Path) -> list[tuple[str, str, float]]:
    """Read pairs of words and their scores; lines that begin with # are comments."""
    pairs = []
    for number, line in lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [part.strip() for part in line.split("\t")]
        try:
            first, second, value = fields
            pairs.append((first, second, float(value)))
            if not math.isfinite(pairs[-1][2]):
                raise ValueError
        except ValueError:
            raise ValueError(
                f"{path}, line {number}: expected word, word, score between tabs, got {line!r:.80}"
            ) from None
    if not pairs:
        raise ValueError(f"{path} holds no pairs of words")
    return pairs


def score(name: str, pairs: list[tuple[str, str, float]], words: Words, seed: int) -> SimilarityScore:
    """Score vectors on one set of pairs."""
    gold = np.array([value for *_, value in pairs])
    cosines = np.full(len(pairs), np.nan)
    found = [(words.find(first), words.find(second)) for first, second, _ in pairs]
    covered = np.array([None not in rows for rows in found])
    rows = np.array([rows for rows in found if None not in rows], dtype=np.intp).reshape(-1, 2)
    left, right = (words.unit(side, np.float64) for side in rows.T)
    cosines[covered] = np.einsum("kd,kd->k", left, right)
    rho, low, high = math.nan, math.nan, math.nan
    if len(np.unique(cosines[covered])) > 1 and len(np.unique(gold[covered])) > 1:
        rho = float(spearmanr(gold[covered], cosines[covered]).statistic)
        low, high = interval(resampled_spearman(gold[covered], [cosines[covered]], seed)[0])
    else:
        logger.warning("%s has no score: %d of its %d pairs are covered", name, covered.sum(), len(pairs))
    return SimilarityScore(name, rho, low, high, len(pairs), int(covered.sum()), gold, cosines)


def compare_similarity(first: SimilarityScore, second: SimilarityScore, seed: int = 1) -> Difference:
    """Tell whether two embeddings differ on a set: a paired bootstrap over the pairs that both cover."""
    if first.name != second.name or len(first.gold) != len(second.gold):
        raise ValueError(f"scores on one and the same set can be compared, got {first.name} and {second.name}")
    both = ~np.isnan(first.cosines) & ~np.isnan(second.cosines)
    gold, sides = first.gold[both], [first.cosines[both], second.cosines[both]]
    if min(len(np.unique(values)) for values in (gold, *sides)) < 2:
        return Difference(math.nan, math.nan, math.nan, 1.0, int(both.sum()))
    ours, theirs = (spearmanr(gold, side).statistic for side in sides)
    resampled = resampled_spearman(gold, sides, seed)
    return difference(float(ours - theirs), resampled[0] - resampled[1], len(gold))
