"""The folder in which a store is put together, on this machine or in a bucket."""

from __future__ import annotations

from contextlib import AbstractContextManager

from gensim_hilbert.counting import workspace
from gensim_hilbert.counting.bucket import BucketDestination, building_in_bucket, clear_objects
from gensim_hilbert.counting.workspace import Destination
from gensim_hilbert.locations import S3_SCHEMES, AnyPath, name_of, scheme_of
from gensim_hilbert.objects import ObjectPath, Place
from gensim_hilbert.outputs import local_path

AnyDestination = Destination | BucketDestination


def destination_of(directory: AnyPath, overwrite: bool) -> AnyDestination:
    """Return where counts go that the user wants at a path or at a URI."""
    name = name_of(directory)
    if scheme_of(name) in S3_SCHEMES:
        return BucketDestination(ObjectPath.parse(name), overwrite)
    return Destination(local_path(directory, "counts"), overwrite)


def building(destination: AnyDestination, *, resumable: bool = False) -> AbstractContextManager[Place]:
    """Return a context in which there is a folder to put a store together in, which becomes the store at the end."""
    if isinstance(destination, BucketDestination):
        return building_in_bucket(destination, resumable=resumable)
    return workspace.building(destination, resumable=resumable)


def clear(work: Place) -> None:
    """Remove what an abandoned count has left, except for the lock."""
    if isinstance(work, ObjectPath):
        clear_objects(work)
    else:
        workspace.clear(work)
