"""Stores as users ask for them: at a path, in a bucket, or for as long as somebody holds them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gensim_hilbert.counting.bucket_store import DEFAULT_CACHE_GB, BucketStore
from gensim_hilbert.counting.store import Store
from gensim_hilbert.counting.workplace import AnyDestination, destination_of
from gensim_hilbert.counting.workspace import Destination
from gensim_hilbert.locations import AnyPath, name_of
from gensim_hilbert.objects import ObjectPath, place_of
from gensim_hilbert.processes import remove_with
from gensim_hilbert.vocabulary import Vocabulary


def open_store(directory: AnyPath, words: Sequence[Any] | None = None, cache_gb: float = DEFAULT_CACHE_GB) -> Store:
    """Open a store on this machine, or in a bucket, of which so many gigabytes are then kept here."""
    place = place_of(name_of(directory))
    return BucketStore(place, cache_gb) if isinstance(place, ObjectPath) else Store(place, words)


def made_store(
    directory: AnyPath | None,
    overwrite: bool,
    make: Callable[[AnyDestination], Vocabulary | None],
    inputs: Sequence[AnyPath],
    *,
    inside: bool,
) -> Store:
    """Open what `make` writes to a directory, or to a temporary one that vanishes with the store.

    Nothing that is made takes the place of an input; with `inside`, it must not lie in one either.
    """
    if directory is not None:
        destination = destination_of(directory, overwrite)
        destination.refuse_inputs(inputs, inside=inside)
        make(destination)
        return open_store(destination.path)
    parent = Path(tempfile.mkdtemp(prefix="gensim_hilbert-"))
    try:
        vocabulary = make(Destination(parent / "counts", temporary=True))
        store = Store(parent / "counts", None if vocabulary is None else vocabulary.words)
    except BaseException:
        shutil.rmtree(parent, ignore_errors=True)
        raise
    remove_with(store, parent)
    return store
