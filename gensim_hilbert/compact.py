"""Smaller files of vectors: fewer bits per number, fewer words, fewer dimensions."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

DTYPES = ("float32", "float16", "int8")  # of the numbers in a file; in memory they are float32
LARGEST_INT8 = 127
LARGEST_FLOAT16 = float(np.finfo(np.float16).max)
ROWS = 1 << 14  # that are converted at a time


def refuse_sizes(dtype: Any, max_vocab: Any, pca: Any, vector_size: int) -> None:
    """Raise an error unless these options of a smaller file make sense."""
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(map(repr, DTYPES))}, got {dtype!r}")
    if max_vocab is not None and not (is_integer(max_vocab) and max_vocab >= 1):
        raise ValueError(f"max_vocab must be a whole number of 1 or more, got {max_vocab!r}")
    if pca is not None and not (is_integer(pca) and 1 <= pca <= vector_size):
        raise ValueError(f"pca must be a whole number from 1 to the {vector_size} dimensions of vectors, got {pca!r}")


def is_integer(value: Any) -> bool:
    """Tell whether a value is a whole number, also one of numpy's."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def quantised(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows as int8 from -127 to 127, and for each row the number by which it has to be multiplied."""
    rows, scales = np.empty(matrix.shape, dtype=np.int8), np.empty(len(matrix), dtype=np.float32)
    for start in range(0, len(matrix), ROWS):
        part = matrix[start : start + ROWS].astype(np.float32, copy=False)
        largest = np.abs(part).max(axis=1, initial=0.0)
        if not np.isfinite(largest).all():
            raise ValueError("vectors with NaN or infinity cannot be written as int8")
        scale = np.where(largest > 0, largest / LARGEST_INT8, 1).astype(np.float32)
        scale[scale == 0] = 1  # Rows of denormal numbers become zeros.
        scales[start : start + ROWS] = scale
        rows[start : start + ROWS] = np.clip(np.rint(part / scale[:, None]), -LARGEST_INT8, LARGEST_INT8)
    return rows, scales


def restored(rows: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return rows of int8 as float32, given the scale of each."""
    return np.asarray(rows.astype(np.float32) * scales.astype(np.float32)[:, None])


def halved(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix as float16, unless a number is too large for it."""
    half = np.empty(matrix.shape, dtype=np.float16)
    for start in range(0, len(matrix), ROWS):
        part = matrix[start : start + ROWS]
        largest = float(np.abs(part).max(initial=0))
        if np.isfinite(largest) and largest > LARGEST_FLOAT16:
            raise ValueError(f"float16 holds numbers up to {LARGEST_FLOAT16:g}, got {largest:g}; use dtype='int8'")
        half[start : start + ROWS] = part
    return half


def frequent_rows(counts: np.ndarray | None, size: int, most: int | None) -> np.ndarray:
    """Return the rows of the most frequent words, in their order; without counts, those of the first words."""
    if most is None or most >= size:
        return np.arange(size)
    if counts is None:
        return np.arange(most)
    return np.sort(np.argsort(-np.asarray(counts), kind="stable")[:most])


def strongest_axes(matrix: np.ndarray, dimensions: int) -> np.ndarray:
    """Return the orthonormal axes, one per column, along which rows are longest.

    They go through the origin and not through the mean, so that cosines change as little as possible.
    """
    moments = np.zeros((matrix.shape[1],) * 2)
    for start in range(0, len(matrix), ROWS):
        part = matrix[start : start + ROWS].astype(np.float64)
        moments += part.T @ part
    axes = np.linalg.eigh(moments)[1][:, ::-1][:, :dimensions]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimensions)])  # The same on every machine.
    return np.asarray(axes * signs)


def turned(matrix: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return rows as float32 along other axes."""
    out = np.empty((len(matrix), axes.shape[1]), dtype=np.float32)
    for start in range(0, len(matrix), ROWS):
        out[start : start + ROWS] = matrix[start : start + ROWS].astype(np.float64) @ axes
    return out
