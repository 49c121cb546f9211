"""An explorer of models that may be trained further while it is shown."""

from __future__ import annotations

import threading
import weakref
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from gensim_hilbert.explore.endpoints import Explorer, Query
from gensim_hilbert.explore.refusals import refusal

SAMPLED_ROWS = 256  # of each matrix, by which a change of vectors is noticed


class LiveExplorer:
    """Answers about models as they are now: when their vectors have changed, it begins anew.

    Parameters
    ----------
    models : list of (name, model)
        As of `Explorer`.
    """

    def __init__(self, models: Sequence[tuple[str, Any]]):
        self.models = list(models)
        self.version = 0
        self._lock = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        """Take over the models as they are."""
        self.current = Explorer(self.models)
        self._state = [state_of(model) for _, model in self.models]
        self._layouts_begun = False
        self._end = weakref.finalize(self, self.current.stop)

    def follow(self) -> None:
        """Begin anew if the models are not what they were."""
        with self._lock:
            if self._state != [state_of(model) for _, model in self.models]:
                self._end()
                self._begin()
                self.version += 1

    def answer(self, name: str, query: Query) -> tuple[int, bytes]:
        """Return the version of the models, and the answer of an endpoint as JSON, or an `error` in its place."""
        with self._lock:
            try:
                self.follow()
                if name == "map" and not self._layouts_begun:
                    self._layouts_begun = True
                    self.current.start()
                return self.version, self.current.encoded(name, query)
            except Exception as error:  # The page would wait for ever.
                return self.version, refusal(name, error)


def state_of(model: Any) -> tuple[Any, ...]:
    """Return what tells whether a model has been trained further, or its vectors have been replaced."""
    vectors = getattr(model, "wv", model)
    matrices = [vectors.vectors, getattr(model, "syn1neg", None)]
    known = [(id(matrix), matrix.shape, sample_checksum(matrix)) for matrix in matrices if matrix is not None]
    return (len(vectors.index_to_key), getattr(model, "train_count", None), *known)


def sample_checksum(matrix: np.ndarray) -> int:
    """Return a checksum of some rows."""
    return zlib.crc32(np.ascontiguousarray(matrix[:: max(1, len(matrix) // SAMPLED_ROWS)]).data)


# Cells that show the same models share one explorer, also those that are run again: it knows their layouts.
_EXPLORERS: weakref.WeakValueDictionary[tuple[tuple[str, int], ...], LiveExplorer] = weakref.WeakValueDictionary()


def shared_explorer(models: Sequence[tuple[str, Any]]) -> LiveExplorer:
    """Return the explorer of these models: the one that a widget already has, or a new one."""
    key = tuple((name, id(model)) for name, model in models)  # An explorer holds its models, so that ids stay theirs.
    found = _EXPLORERS.get(key)
    if found is None:
        found = _EXPLORERS[key] = LiveExplorer(models)
    found.follow()
    return found
