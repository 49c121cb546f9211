"""Stores in a bucket: small files are copied to this machine at once, shards when they are wanted."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from gensim_hilbert.counting.layout import MANIFEST, PHRASES, SHARDS, shard_name
from gensim_hilbert.counting.store import Store, read_manifest
from gensim_hilbert.counting.validation import CHECKED_WHOLE, StoreError, check_file
from gensim_hilbert.objects import ObjectPath
from gensim_hilbert.processes import remove_with

DEFAULT_CACHE_GB = 10.0


class BucketStore(Store):
    """A store in a bucket, open for reading.

    Parameters
    ----------
    place : ObjectPath
        Where it is.
    cache_gb : float
        How many gigabytes of its shards are kept on this machine, in the folder for temporary files. The one that was
        not used for the longest time makes room for another; one of them always fits.
    """

    def __init__(self, place: ObjectPath, cache_gb: float = DEFAULT_CACHE_GB):
        if not cache_gb > 0:
            raise ValueError(f"cache_gb must be a number of gigabytes above 0, got {cache_gb}")
        self._place = place
        self._most = int(cache_gb * (1 << 30))
        self._cached: OrderedDict[int, int] = OrderedDict()  # sizes of the shards that are here, the oldest use first
        self._lock = Lock()
        files = read_manifest(place)["files"]
        self._small = [name for name in (*CHECKED_WHOLE, PHRASES) if name in files]
        mirror = Path(tempfile.mkdtemp(prefix="gensim_hilbert-"))
        remove_with(self, mirror)
        (mirror / SHARDS).mkdir()
        for name in (MANIFEST, *self._small):
            (place / name).download(mirror / name)
        super().__init__(mirror)

    def __reduce__(self) -> tuple[type[Store], tuple[Any, ...]]:
        """Pickle the place in the bucket, which is opened again, on any machine."""
        return BucketStore, (self._place, self._most / (1 << 30))

    @property
    def place(self) -> ObjectPath:
        """The place of the store by the name that users know."""
        return self._place

    def _check_files(self) -> None:
        sizes = self._place.below()
        for name, facts in self.manifest["files"].items():
            if name in self._small:
                check_file(self.directory / name, facts)
            elif sizes.get(name) != facts["bytes"]:
                raise StoreError(f"{self._place / name} is missing, or damaged: count again")

    def local_directory(self) -> Path:
        """Return a directory on this machine to which all shards are copied, whatever room they take."""
        with self._lock:
            self._most = max(self._most, sum(facts["bytes"] for facts in self.manifest["files"].values()))
            for row_class in range(self.classes):
                self._fetch(row_class)
        return self.directory

    def map_files(self) -> None:
        """Do nothing: shards are fetched when they are needed."""

    def _bytes(self, row_class: int) -> np.ndarray:
        with self._lock:
            self._fetch(row_class)
            return super()._bytes(row_class)

    def _fetch(self, row_class: int) -> None:
        """Copy a shard to this machine, unless it is here, and let others go that would be too much with it."""
        name = shard_name(row_class)
        if row_class not in self._cached:
            size = self.manifest["files"][name]["bytes"]
            while self._cached and sum(self._cached.values()) + size > self._most:
                oldest, _ = self._cached.popitem(last=False)
                self._maps.pop(oldest, None)
                (self.directory / shard_name(oldest)).unlink()  # Whoever still reads the map goes on with it.
            (self._place / name).download(self.directory / name)
            self._cached[row_class] = size
        self._cached.move_to_end(row_class)
