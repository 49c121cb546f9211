"""Text classification by a logistic regression on vectors of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from gensim.models import KeyedVectors
from scipy.optimize import minimize
from scipy.special import logsumexp

from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.evaluation.classification import read
from gensim_hilbert.evaluation.data import Data
from gensim_hilbert.evaluation.examples import Example, Split
from gensim_hilbert.evaluation.significance import Difference, difference, draws, interval
from gensim_hilbert.evaluation.sts import readings
from gensim_hilbert.evaluation.words import check

STRENGTHS = (1e-6, 1e-5, 1e-4)  # of the penalty, of which validation data choose one
STEPS = 200


@dataclass(frozen=True)
class LinearScore:
    """Accuracy on test data, with the 95% interval of a bootstrap; `right` tells which texts it got right.

    `examples` are numbers of examples to train, to validate and to test.
    """

    name: str
    accuracy: float
    low: float
    high: float
    examples: tuple[int, int, int]
    right: np.ndarray = field(repr=False, compare=False)


def linear(
    vectors: KeyedVectors, data: Data, seed: int = 1, preparation: Preparation | None = None
) -> dict[str, list[LinearScore]]:
    """Score vectors of words by how well a logistic regression classifies the vectors of texts that they make.

    Sets are split as in `classification`.

    Parameters
    ----------
    vectors : KeyedVectors
        The vectors.
    data : Data
        Whose `classification` sets to take; see `find_data`.
    seed : int
        For the bootstrap.
    preparation : Preparation, optional
        How text becomes words, as in `sts`.

    Returns
    -------
    dict of lists of LinearScore
        For each way of making vectors of texts that needs no other texts, one score for each set.
    """
    check(vectors)
    sets = {name: read(name, paths) for name, paths in data.classification.items()}
    ways = readings(vectors, preparation)
    return {
        how: [score_texts(name, parts, ways[how], seed) for name, parts in sets.items()] for how in ("encode", "mean")
    }


def score_texts(name: str, parts: Split, encode: Callable[[list[str]], np.ndarray], seed: int = 1) -> LinearScore:
    """Score vectors of texts on one set; `encode` may be that of any library."""
    features, labels = zip(*(encoded(part, encode) for part in (parts.train, parts.valid, parts.test)), strict=True)
    names = sorted(set(labels[0]))
    gold = [np.array([names.index(label) if label in names else -1 for label in part]) for part in labels]
    # Components vary by 1 on average, so that a penalty means the same for all vectors.
    scale = float(np.sqrt(np.square(features[0]).mean())) or 1.0
    rows = [part / scale for part in features]
    best, weights = -1.0, None
    for strength in STRENGTHS:
        weights = fitted(rows[0], gold[0], len(names), strength, weights)
        accuracy = float((guesses(rows[1], weights) == gold[1]).mean())
        if accuracy > best:
            best, chosen = accuracy, weights
    right = guesses(rows[2], chosen) == gold[2]
    low, high = interval(resampled_accuracy([right], seed)[0])
    return LinearScore(name, float(right.mean()), low, high, (len(gold[0]), len(gold[1]), len(gold[2])), right)


def encoded(part: Sequence[Example], encode: Callable[[list[str]], np.ndarray]) -> tuple[np.ndarray, list[str]]:
    """Return vectors and labels of texts."""
    return encode([" ".join(example.words) for example in part]).astype(np.float64), [e.labels[0] for e in part]


def fitted(rows: np.ndarray, gold: np.ndarray, classes: int, strength: float, start: np.ndarray | None) -> np.ndarray:
    """Return the weights of a logistic regression, one column per class; the last row holds the constants."""
    inputs = np.hstack([rows, np.ones((len(rows), 1))])
    wanted = np.eye(classes)[gold]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(inputs.shape[1], classes)
        scores = inputs @ weights
        logs = scores - logsumexp(scores, axis=1, keepdims=True)
        slope = inputs.T @ (np.exp(logs) - wanted) / len(rows)
        penalised = weights.copy()
        penalised[-1] = 0
        value = -(logs * wanted).sum() / len(rows) + strength * (penalised**2).sum() / 2
        return float(value), (slope + strength * penalised).ravel()

    first = np.zeros((inputs.shape[1], classes)) if start is None else start
    found = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return np.asarray(found.x.reshape(inputs.shape[1], classes))


def guesses(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the most probable class of each text."""
    return np.asarray(np.argmax(rows @ weights[:-1] + weights[-1], axis=1))


def resampled_accuracy(right: Sequence[np.ndarray], seed: int) -> np.ndarray:
    """Return the accuracy of each in every resample of the texts, the same resamples for all."""
    found = [np.stack([counts @ one for one in right]) / len(right[0]) for counts in draws(len(right[0]), seed)]
    return np.concatenate(found, axis=1)


def compare_linear(first: LinearScore, second: LinearScore, seed: int = 1) -> Difference:
    """Tell whether two vectors of texts differ on a set: a paired bootstrap."""
    ours, theirs = resampled_accuracy([first.right, second.right], seed)
    return difference(first.accuracy - second.accuracy, ours - theirs, len(first.right))
