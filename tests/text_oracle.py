"""A slow oracle for vectors of texts."""

from __future__ import annotations

import numpy as np


def sif_vectors(texts, vectors, counts, *, a, whiten, remove):
    """Vectors of lists of words, by the formulas of `gensim_hilbert.text_vectors.weighting`; of length 1, or zeros."""
    total = sum(counts.values())
    scaled = {word: a / (a + counts[word] / total) * v / np.linalg.norm(v) for word, v in vectors.items()}
    shares = {word: counts[word] / total for word in vectors}
    mean = sum(shares[word] * v for word, v in scaled.items())
    matrix = np.eye(len(mean))
    if whiten:
        moment = sum(shares[word] * np.outer(v, v) for word, v in scaled.items())
        values, axes = np.linalg.eigh(moment)
        matrix = axes @ np.diag(np.maximum(values, values.mean() / 1000) ** -0.5) @ axes.T
        mean = mean @ matrix
    found = []
    for text in texts:
        v = sum((scaled[word] @ matrix for word in text if word in scaled), np.zeros(len(mean)))
        if remove:
            v = v - mean * (v @ mean) / (mean @ mean)
        found.append(v / (np.linalg.norm(v) or 1))
    return np.array(found)
