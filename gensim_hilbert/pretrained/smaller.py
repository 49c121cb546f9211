"""Smaller model folders: models with fewer words or dimensions, and arrays of them with fewer bits."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gensim_hilbert.compact import frequent_rows, halved, quantised, refuse_sizes, restored, strongest_axes, turned
from gensim_hilbert.model_files import LearntFrom
from gensim_hilbert.model_training import vectors_crc
from gensim_hilbert.tensors import TensorFile
from gensim_hilbert.vectors.keyed import WordVectors

if TYPE_CHECKING:
    from gensim_hilbert.model import HilbertMLE

MATRICES = ("vectors", "covectors", "vectors_vocab", "vectors_ngrams")  # which may have fewer bits
SCALES = ".scales"  # behind the name of a matrix of int8: one number per row


def smaller_model(model: HilbertMLE, max_vocab: int | None, pca: int | None) -> HilbertMLE:
    """Return a model with the most frequent words only, or with vectors along their strongest axes only.

    Covectors are turned to the same axes, so that covector . vector changes little. The counts do not fit such a model
    any more.
    """
    if model.subwords:
        raise ValueError("max_vocab= and pca= do not work for a model with subwords, whose vectors are made of n-grams")
    counts = model.wv.expandos.get("count")
    rows = frequent_rows(counts, len(model.wv), max_vocab)
    sides = [side[rows] for side in (model.wv.vectors, model.syn1neg)]
    if pca is not None:
        axes = strongest_axes(sides[0], pca)
        sides = [turned(side, axes) for side in sides]
    twin = copy.copy(model)
    twin.vector_size = twin.layer1_size = sides[0].shape[1]
    twin.wv = WordVectors(twin.vector_size)
    twin.wv.index_to_key = [model.wv.index_to_key[row] for row in rows.tolist()]
    twin.wv.key_to_index = {word: row for row, word in enumerate(twin.wv.index_to_key)}
    twin.wv.expandos = {name: np.asarray(values)[rows] for name, values in model.wv.expandos.items()}
    lock = model.wv.vectors_lockf
    twin.wv.vectors_lockf = lock if len(lock) == 1 else lock[rows]
    twin.wv.next_index = len(rows)
    twin.wv.vectors, twin.syn1neg = sides
    for name in ("biases", "offsets"):
        pair = getattr(model, name)
        setattr(twin, name, None if pair is None else tuple(side[rows] for side in pair))
    twin.counts = twin.space = None
    if twin.learnt_from is LearntFrom.COUNTS:
        twin.learnt_from = LearntFrom.LOST_COUNTS
    twin._vectors_crc = vectors_crc(twin)
    return twin


def model_to_write(model: HilbertMLE, dtype: str, max_vocab: int | None, pca: int | None) -> HilbertMLE:
    """Return the model that a folder with these options holds."""
    refuse_sizes(dtype, max_vocab, pca, model.vector_size)
    return model if max_vocab is None and pca is None else smaller_model(model, max_vocab, pca)


def packed(arrays: Mapping[str, np.ndarray], dtype: str) -> dict[str, np.ndarray]:
    """Return the arrays of a model with the numbers of matrices in another type."""
    result: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if name not in MATRICES or dtype == "float32":
            result[name] = array
        elif dtype == "float16":
            result[name] = halved(array)
        else:
            result[name], result[name + SCALES] = quantised(array)
    return result


class PackedFile:
    """The arrays of a model folder as they were before they were packed."""

    def __init__(self, file: TensorFile):
        self.file = file
        self.is_packed = False
        self.found: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}
        for name, tensor in file.tensors.items():
            if name.endswith(SCALES) and name.removesuffix(SCALES) in file.tensors:
                continue
            dtype = tensor.dtype
            if name in MATRICES and (dtype.name == "float16" or self._has_scales(name)):
                dtype, self.is_packed = np.dtype(np.float32), True
            self.found[name] = dtype, tensor.shape

    def _has_scales(self, name: str) -> bool:
        """Whether a matrix is one of int8 with one scale per row."""
        scales, matrix = self.file.tensors.get(name + SCALES), self.file.tensors[name]
        return (
            scales is not None
            and matrix.dtype.name == "int8"
            and scales.dtype.name == "float32"
            and len(matrix.shape) == 2
            and scales.shape == matrix.shape[:1]
        )

    def read(self, name: str, mode: str | None) -> np.ndarray:
        """Return an array; one that was packed is in memory, whatever the mode is."""
        if name in MATRICES and self._has_scales(name):
            return restored(self.file.read(name, "r"), self.file.read(name + SCALES, None))
        if name in MATRICES and self.file.tensors[name].dtype.name == "float16":
            return self.file.read(name, "r").astype(np.float32)
        return self.file.read(name, mode)
