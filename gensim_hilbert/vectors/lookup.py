"""gensim's look-ups for keys of all types: gensim itself takes only str and int for keys, and others for lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gensim.models import KeyedVectors

GENSIMS_KEYS = (str, int, np.integer)


class AnyKeyVectors(KeyedVectors):
    """KeyedVectors in which whatever is a key is looked up as one: tuples, bytes, None, members of enumerations."""

    key_to_index: dict[Any, int]

    def __getitem__(self, key_or_keys: Any) -> np.ndarray:
        """Return the vector of a key, or those of a list of keys."""
        if self._is_other_key(key_or_keys):
            return np.asarray(self.get_vector(key_or_keys))
        return np.asarray(super().__getitem__(key_or_keys))

    def distances(self, word_or_vector: Any, other_words: Any = ()) -> np.ndarray:
        """Return the cosine distances of a key, or of a vector, to other keys, or to all."""
        if self._is_other_key(word_or_vector):
            word_or_vector = self.get_vector(word_or_vector)
        return np.asarray(super().distances(word_or_vector, other_words))

    def most_similar(
        self, positive: Any = None, negative: Any = None, topn: int | None = 10, *args: Any, **kwargs: Any
    ) -> Any:
        """Return the keys with the highest cosine; the parameters are gensim's."""
        return self._without_own(super().most_similar, GENSIMS_KEYS, positive, negative, topn, *args, **kwargs)

    def most_similar_cosmul(
        self, positive: Any = None, negative: Any = None, topn: int | None = 10, *args: Any, **kwargs: Any
    ) -> Any:
        """Return the keys with the highest product of cosines; the parameters are gensim's."""
        return self._without_own(super().most_similar_cosmul, str, positive, negative, topn, *args, **kwargs)

    # ------------------------------------------------------------------

    def _without_own(
        self, ask: Callable[..., Any], known: Any, positive: Any, negative: Any, topn: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Ask gensim with vectors in the place of keys whose types it does not know, and leave those keys out."""
        own: set[Any] = set()
        sides = [self._as_vectors(side, known, own) for side in (positive, negative)]
        if not own or not isinstance(topn, int | np.integer) or topn < 1:
            return ask(*sides, topn, *args, **kwargs)
        found = ask(*sides, topn + len(own), *args, **kwargs)
        return [pair for pair in found if pair[0] not in own][:topn]

    def _as_vectors(self, items: Any, known: Any, own: set[Any]) -> Any:
        """Replace keys of types that are not known to gensim by their vectors, and add them to `own`."""
        if self._is_other_key(items, known) and items is not None:
            items = [items]
        if not isinstance(items, list | tuple):
            return items
        return [self._as_vector(item, known, own) for item in items]

    def _as_vector(self, item: Any, known: Any, own: set[Any]) -> Any:
        if self._is_other_key(item, known):
            own.add(item)
            return self.get_vector(item, norm=True)
        if isinstance(item, tuple) and len(item) == 2 and self._is_other_key(item[0], known):  # a key and its weight
            return self._as_vector(item[0], known, own), item[1]
        return item

    def _is_other_key(self, item: Any, known: Any = GENSIMS_KEYS) -> bool:
        """Tell whether something is a key of a type that is not known to gensim."""
        if isinstance(item, known):
            return False
        try:
            return item in self.key_to_index
        except TypeError:  # It cannot be a key: a list, or an array.
            return False
