"""Word similarity and analogies, for the benchmarks: Spearman on covered pairs, 3CosMul over the whole vocabulary."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

DATA = Path(os.environ.get("GENSIM_HILBERT_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = {
    "B143": "baker_verb143",
    "MENd": "men_dev",
    "MENt": "men_test",
    "RMT": "radinsky_mturk287",
    "RARE": "rarewords",
    "SE17": "semeval2017_task2",
    "S999": "simlex999",
    "WS-R": "wordsim353_relatedness",
    "WS-S": "wordsim353_similarity",
    "Y130": "yang_powers_verb130",
}


def scores(words: list[str], vectors: np.ndarray) -> dict[str, float]:
    """The paper's ten similarity sets, their mean, and accuracy on Google's and BATS's analogies."""
    index = {word: k for k, word in enumerate(words)}
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    result = {name: similarity(index, unit, DATA / "eval/similarity" / f"{file}.tsv") for name, file in SETS.items()}
    result = {"mean": float(np.mean(list(result.values())))} | result
    for name in ("google", "bats"):
        result[name.capitalize()] = analogies(index, unit, DATA / "eval/analogy" / f"{name}.txt")
    return result


def similarity(index: dict[str, int], unit: np.ndarray, path: Path) -> float:
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    known = [(index[a], index[b], float(score)) for a, b, score in rows if a in index and b in index]
    left, right, gold = zip(*known, strict=True)
    return float(spearmanr(np.einsum("kd,kd->k", unit[list(left)], unit[list(right)]), gold).statistic)


def analogies(index: dict[str, int], unit: np.ndarray, path: Path) -> float:
    """3CosMul: cos(d, c) cos(d, b) / cos(d, a), cosines shifted to 0..1; the three given words are no answers."""
    questions, answers = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith(":"):
            *given, right = line.split()
            accepted = {index[word] for word in right.split("/") if word in index}
            if accepted and all(word in index for word in given):
                questions.append([index[word] for word in given])
                answers.append(accepted)
    # Few words make many questions: the cosines of each with all others are computed once.
    words, numbers = np.unique(np.array(questions), return_inverse=True)
    cosines = unit[words] @ unit.T
    cosines += 1
    cosines /= 2
    numbers = numbers.reshape(-1, 3)
    right = 0
    for start in range(0, len(questions), 64):
        a, b, c = numbers[start : start + 64].T
        total = cosines[b]
        total *= cosines[c]
        total /= cosines[a] + 1e-6
        np.put_along_axis(total, words[numbers[start : start + 64]], -1, axis=1)
        best = total.argmax(axis=1)
        right += sum(int(guess) in accepted for guess, accepted in zip(best, answers[start : start + 64], strict=True))
    return right / len(questions)
