"""Semantic textual similarity: how well cosines of vectors of sentences agree with what people say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from scipy.stats import spearmanr

from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.evaluation.data import Data, lines
from gensim_hilbert.evaluation.significance import (
    Difference,
    difference,
    interval,
    resampled_pearson,
    resampled_spearman,
)
from gensim_hilbert.evaluation.words import check
from gensim_hilbert.text_vectors.encoder import TextEncoder
from gensim_hilbert.text_vectors.weighting import Weighting, common_components, remove_components


@dataclass(frozen=True)
class Correlation:
    """A correlation with the 95% interval of a bootstrap."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class StsScore:
    """Correlations of scores and cosines on all pairs of a set; the cosine is 0 where a sentence has no known word.

    `covered` is the number of pairs whose sentences both have known words.
    """

    name: str
    pearson: Correlation
    spearman: Correlation
    pairs: int
    covered: int
    gold: np.ndarray = field(repr=False, compare=False)
    cosines: np.ndarray = field(repr=False, compare=False)


Encode = Callable[[list[str]], np.ndarray]
METRICS = {"pearson": resampled_pearson, "spearman": resampled_spearman}
Pairs = list[tuple[str, str, float]]


def readings(vectors: KeyedVectors, preparation: Preparation | None = None) -> dict[str, Encode]:
    """Return the ways in which vectors of words become vectors of sentences, by name.

    "encode" is the default of `HilbertMLE.encode`. "encode, common of set" removes the component that the sentences of
    the set at hand have in common, as Arora et al. did, instead of that of the corpus. "mean" is the plain mean.
    """
    weighted, uncommon, plain = (
        TextEncoder(vectors, settings, preparation)
        for settings in (Weighting(), Weighting(remove=0), Weighting("mean", whiten=False, remove=0))
    )

    def without_common(texts: list[str]) -> np.ndarray:
        sums = uncommon.encode(texts)
        means = sums.scaled(unit=False)
        remove_components(means, common_components(means, 1))
        return sums.scaled(unit=True)

    return {
        "encode": partial(unit_vectors, weighted),
        "encode, common of set": without_common,
        "mean": partial(unit_vectors, plain),
    }


def unit_vectors(encoder: TextEncoder, texts: list[str]) -> np.ndarray:
    """Return vectors of length 1."""
    return encoder.encode(texts).scaled(unit=True)


def sts(
    vectors: KeyedVectors, data: Data, seed: int = 1, preparation: Preparation | None = None
) -> dict[str, list[StsScore]]:
    """Score vectors of words by the vectors of sentences that they make.

    Parameters
    ----------
    vectors : KeyedVectors
        The vectors.
    data : Data
        Whose `sts` sets to take; see `find_data`.
    seed : int
        For the bootstrap: 1,000 resamples of each set's pairs.
    preparation : Preparation, optional
        How text becomes words. By default it is cut at white space, and words that are then unknown are looked up in
        lower case and without punctuation, too.

    Returns
    -------
    dict of lists of StsScore
        For each of `readings`, one score for each set.
    """
    check(vectors)
    sets = {name: read_sentence_pairs(path) for name, path in data.sts.items()}
    return {
        how: [score_sentences(name, pairs, encode, seed) for name, pairs in sets.items()]
        for how, encode in readings(vectors, preparation).items()
    }


def read_sentence_pairs(path: Path) -> Pairs:
    """Return sentence, sentence, score of each line, between tabs."""
    pairs = []
    for number, line in lines(path):
        if not line.strip():
            continue
        try:
            first, second, value = line.split("\t")
            pairs.append((first, second, float(value)))
            if not math.isfinite(pairs[-1][2]):
                raise ValueError
        except ValueError:
            raise ValueError(
                f"{path}, line {number}: expected sentence, sentence, score between tabs, got {line!r:.80}"
            ) from None
    if not pairs:
        raise ValueError(f"{path} holds no pairs of sentences")
    return pairs


def score_sentences(name: str, pairs: Pairs, encode: Encode, seed: int = 1) -> StsScore:
    """Score unit vectors of sentences on one set; `encode` may be that of any library."""
    gold = np.array([value for *_, value in pairs])
    found = encode([first for first, *_ in pairs] + [second for _, second, _ in pairs]).astype(np.float64)
    left, right = found[: len(pairs)], found[len(pairs) :]
    cosines = np.einsum("kd,kd->k", left, right)
    covered = int((left.any(axis=1) & right.any(axis=1)).sum())
    values = {metric: correlation(metric, gold, cosines, seed) for metric in METRICS}
    return StsScore(name, **values, pairs=len(pairs), covered=covered, gold=gold, cosines=cosines)


def correlation(metric: str, gold: np.ndarray, cosines: np.ndarray, seed: int) -> Correlation:
    """Return a correlation, which is NaN if there is nothing to correlate."""
    value = correlate(metric, gold, cosines)
    if math.isnan(value):
        return Correlation(math.nan, math.nan, math.nan)
    return Correlation(value, *interval(METRICS[metric](gold, [cosines], seed)[0]))


def correlate(metric: str, gold: np.ndarray, cosines: np.ndarray) -> float:
    """Return Pearson's or Spearman's correlation."""
    if min(len(np.unique(gold)), len(np.unique(cosines))) < 2:
        return math.nan
    return float(np.corrcoef(gold, cosines)[0, 1] if metric == "pearson" else spearmanr(gold, cosines).statistic)


def compare_sts(first: StsScore, second: StsScore, metric: str, seed: int = 1) -> Difference:
    """Tell whether two vectors of sentences differ on a set: a paired bootstrap."""
    if first.name != second.name or len(first.gold) != len(second.gold):
        raise ValueError(f"scores on one and the same set can be compared, got {first.name} and {second.name}")
    value = getattr(first, metric).value - getattr(second, metric).value
    if math.isnan(value):
        return Difference(math.nan, math.nan, math.nan, 1.0, len(first.gold))
    ours, theirs = METRICS[metric](first.gold, [first.cosines, second.cosines], seed)
    return difference(value, ours - theirs, len(first.gold))
