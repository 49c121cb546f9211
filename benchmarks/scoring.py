"""How trained vectors are scored: similarity sets, analogies, and Rare Words with words never seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np
from inputs import DATA
from scipy.stats import spearmanr

RARE_WORDS = DATA / "eval/similarity/rarewords.tsv"


def scores(names: list[str], matrix: np.ndarray, only_analogies: Collection[str] | None = None) -> dict[str, float]:
    """The mean over similarity sets, each of them, and the analogies, or those of them that are named."""
    from gensim_hilbert.evaluation import analogies, find_data, similarity
    from gensim_hilbert.export.reading import keyed_vectors

    vectors, data = keyed_vectors("trained", names, matrix), find_data(DATA)
    if only_analogies is not None:
        data = replace(data, analogy={name: path for name, path in data.analogy.items() if name in only_analogies})
    found = {score.name: score.rho for score in similarity(vectors, data)}
    mean = {"mean": float(np.mean(list(found.values())))}
    return mean | found | {score.name: score.accuracy for score in analogies(vectors, data)}


def measured(row: Mapping[str, float], measure: str) -> float:
    """Return a score of a row, or for "verbs" the mean of the two sets of verbs."""
    return (row["B143"] + row["Y130"]) / 2 if measure == "verbs" else row[measure]


def all_pairs(vector_of: Callable[[str], np.ndarray], names: list[str], centred: bool = False) -> float:
    """Spearman over Rare Words, whether or not a word is in the vocabulary."""
    rows = [line.split("\t") for line in RARE_WORDS.read_text(encoding="utf-8").splitlines()]
    vectors = {word: vector_of(word) for row in rows for word in row[:2]}
    if centred:
        known = set(names)
        of_known = np.mean([vector_of(word) for word in names], axis=0)
        of_others = np.mean([vector for word, vector in vectors.items() if word not in known], axis=0)
        vectors = {word: vector - (of_known if word in known else of_others) for word, vector in vectors.items()}
    left, right = (np.array([vectors[row[k]] for row in rows]) for k in (0, 1))
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosines = np.einsum("kd,kd->k", left, right) / np.maximum(lengths, 1e-9)
    return float(spearmanr(cosines, [float(row[2]) for row in rows]).statistic)
