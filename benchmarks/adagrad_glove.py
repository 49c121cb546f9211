"""GloVe as its authors train it, with their default settings: adagrad_glove.c, compiled when it is needed."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

SOURCE = Path(__file__).with_name("adagrad_glove.c")
SIZE, RATE, X_MAX, ALPHA = 50, 0.05, 100.0, 0.75  # The defaults of their program.


class Rows(NamedTuple):
    """Covectors and vectors; the last column holds biases."""

    w: np.ndarray
    v: np.ndarray


def compiled(folder: str) -> ctypes.CDLL:
    """Compile the loop to a library in a folder."""
    library = f"{folder}/adagrad_glove.so"
    # Of -ffast-math only what lets sums be vectorised: the rest would have the whole process round subnormals to zero.
    sums = ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno"]
    command = [os.environ.get("CC", "cc"), "-O3", "-march=native", *sums, "-shared", "-fPIC", "-o", library]
    subprocess.run([*command, str(SOURCE), "-lm"], check=True)
    return ctypes.CDLL(library)


def train(
    contexts: np.ndarray, terms: np.ndarray, counts: np.ndarray, words: int, *, epochs: int, seed: int = 1,
    size: int = SIZE, rate: float = RATE, x_max: float = X_MAX, alpha: float = ALPHA,
) -> Rows:  # fmt: skip
    """Train on pairs that occur, in another random order in each epoch."""
    random = np.random.default_rng(seed)
    w, v = ((random.random((words, size + 1), dtype=np.float32) - 0.5) / (size + 1) for _ in range(2))
    squares = [np.ones_like(w), np.ones_like(v)]
    fixed = [contexts.astype(np.int32), terms.astype(np.int32), counts.astype(np.float32), w, v, *squares]
    settings = [ctypes.c_int(size), *map(ctypes.c_float, (rate, x_max, alpha))]
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        for _ in range(epochs):
            order = random.permutation(len(counts))
            places = [ctypes.c_void_p(array.ctypes.data) for array in (order, *fixed)]
            library.adagrad_pass(places[0], ctypes.c_int64(len(order)), *places[1:], *settings)
    return Rows(w, v)
