"""The places in a bucket where a store is put together, and where it is then found.

A bucket cannot rename. So a store is put together under NAME.partial, where workers on any machine write runs and
shards, and a process that was killed finds what it had done. At the end the server copies it to NAME, the manifest
last. Whoever works there holds a lease: an object that is renewed all the time, so that one whose owner was killed is
known by its age.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from uuid import uuid4

from gensim_hilbert.corpus.dispatch import in_parallel
from gensim_hilbert.counting.journal import finished_runs
from gensim_hilbert.counting.layout import (
    INDEX,
    JOURNAL,
    KEEP_BELOW,
    MANIFEST,
    MARGINALS,
    PHRASES,
    SCAN,
    SHARDS,
    VOCABULARY,
    partial_of,
)
from gensim_hilbert.counting.ownership import RUN_NAME, SHARD_NAME
from gensim_hilbert.counting.recovery import raise_explained
from gensim_hilbert.counting.store import read_manifest
from gensim_hilbert.interruption import is_interruption
from gensim_hilbert.locations import name_of
from gensim_hilbert.locks import LOCK
from gensim_hilbert.objects import ObjectPath

logger = logging.getLogger(__name__)

RENEWAL_SECONDS = 5  # between two renewals of a lease
LEASE_SECONDS = 30  # A lease that has not been renewed for so long is void.
COPIES_AT_ONCE = 8
STORE_FILES = (VOCABULARY, INDEX, MARGINALS, PHRASES, MANIFEST)


@dataclass(frozen=True)
class BucketDestination:
    """Where a store goes in a bucket, and whether it may take the place of another one."""

    path: ObjectPath
    overwrite: bool = False
    temporary: bool = False  # It outlives the process that makes it.

    def refuse_inputs(self, inputs: Iterable[str | PathLike[str]], *, inside: bool) -> None:
        """Raise an error if the store, or what it is put together in, would take the place of an input."""
        for given in map(name_of, inputs):
            for output in (self.path, partial_of(self.path)):
                if f"{given}/".startswith(f"{output}/") or (inside and f"{output}/".startswith(f"{given}/")):
                    raise ValueError(f"{self.path} cannot be the output, because the input {given} is there")

    def refuse_existing(self) -> None:
        """Raise an error if something is there that may not be replaced."""
        names = self.path.below()
        foreign = sorted(name for name in names if not is_part(name))
        if foreign:
            raise FileExistsError(
                f"{self.path} is not replaced, because {foreign[0]} in it is no part of pair counts; choose another "
                "name"
            )
        if MANIFEST in names and not self.overwrite:
            raise FileExistsError(
                f"{self.path} exists and holds other counts, or damaged ones; choose another directory, or pass "
                "overwrite=True (--overwrite) to replace them"
            )


def is_part(name: str) -> bool:
    """Tell whether an object of this name can be part of a store."""
    folder, slash, last = name.rpartition("/")
    return bool(SHARD_NAME.fullmatch(last)) if slash and folder == SHARDS else name in STORE_FILES


def is_part_of_work(name: str) -> bool:
    """Tell whether an object of this name can be part of a count that is under way."""
    return is_part(name) or name in (LOCK, KEEP_BELOW) or is_log(name) or RUN_NAME.fullmatch(name) is not None


def is_log(name: str) -> bool:
    """Tell whether an object of this name is a line of a journal."""
    return name.startswith((f"{JOURNAL}/", f"{SCAN}/"))


@contextmanager
def building_in_bucket(destination: BucketDestination, *, resumable: bool) -> Iterator[ObjectPath]:
    """Yield a folder to put a store together in; at the end its objects are copied to their final place.

    After an interruption or an error what is finished stays, if the work is resumable.
    """
    work = partial_of(destination.path)
    destination.refuse_existing()
    foreign = sorted(name for name in work.below() if not is_part_of_work(name))
    if foreign:
        raise FileExistsError(f"{work} cannot be used, because {foreign[0]} in it is no part of a count; move it away")
    with leased(work / LOCK) as lease:
        try:
            destination.refuse_existing()  # Another process may have finished just before this one got the lease.
            yield work
            lease.check()
            publish(work, destination.path)
        except BaseException as error:
            kept = True
            if lease.is_ours():  # Otherwise another process goes on with what is there.
                kept = resumable and keep_finished_objects(work)
                if not kept:
                    clear_objects(work)
            if is_interruption(error) and isinstance(error, Exception):
                raise KeyboardInterrupt from error
            if isinstance(error, Exception):
                raise_explained(error, work, kept)
            raise
        clear_objects(work)


def clear_objects(work: ObjectPath) -> None:
    """Remove all that is in a folder, except for the lock."""
    work.remove_below([name for name in work.below() if name != LOCK])


def publish(work: ObjectPath, target: ObjectPath) -> None:
    """Have a store appear in its place: there is no manifest while its other parts are copied."""
    parts = [name for name in work.below() if is_part(name) and name != MANIFEST]
    old = target.below()
    (target / MANIFEST).unlink()
    for _ in in_parallel(lambda name: (work / name).copy_to(target / name), parts, COPIES_AT_ONCE, None):
        pass
    target.remove_below([name for name in old if name not in parts and name != MANIFEST])
    (work / MANIFEST).copy_to(target / MANIFEST)


def keep_finished_objects(work: ObjectPath) -> bool:
    """Remove what is unfinished, and tell whether anything is left that counting can go on from."""
    names = work.below()
    if MANIFEST in names:
        return True  # Only its final place is missing.
    kept = {LOCK, VOCABULARY, KEEP_BELOW} | finished_runs(work) | set(filter(is_log, names))
    work.remove_below([name for name in names if name not in kept])
    return any(map(is_log, names))


def is_complete(place: ObjectPath) -> bool:
    """Tell whether all objects of a store are there, with the sizes that its manifest tells."""
    sizes = place.below()
    facts = read_manifest(place)["files"]
    return all(sizes.get(name) == facts[name]["bytes"] for name in facts)


# ---------------------------------------------------------------------------------------------------- leases


class Lease:
    """An object that its owner renews until it is released."""

    def __init__(self, place: ObjectPath, owner: bytes):
        self.place, self.owner = place, owner
        self.released = threading.Event()
        self.thread = threading.Thread(target=self._renew, name="gensim_hilbert lease", daemon=True)
        self.thread.start()

    def _renew(self) -> None:
        while not self.released.wait(RENEWAL_SECONDS):
            try:
                if not self.is_ours():
                    return
                self.place.write_bytes(self.owner)
            except OSError as error:  # It may work the next time; `check` tells whether it has been too long.
                logger.warning("the lease %s could not be renewed: %s", self.place, error)

    def is_ours(self) -> bool:
        """Tell whether nobody has taken the place of this process."""
        try:
            return self.place.read_bytes() == self.owner
        except FileNotFoundError:
            return False

    def check(self) -> None:
        """Raise an error if another process has taken the place of this one."""
        if not self.is_ours():
            raise RuntimeError(
                f"another process has taken over the work in {self.place}, because this one did not renew its lease "
                f"for {LEASE_SECONDS} seconds"
            )

    def release(self) -> None:
        """Give the lease up, so that others can work there."""
        self.released.set()
        self.thread.join()
        if self.is_ours():
            self.place.unlink()


@contextmanager
def leased(place: ObjectPath) -> Iterator[Lease]:
    """Hold a lease; one that is there already is waited for, until it is void or seen to be renewed."""
    owner = uuid4().hex.encode()
    first_seen = None
    while not place.create(owner):
        try:
            _, written, now = place.facts()
        except FileNotFoundError:
            continue
        if (now - written).total_seconds() > LEASE_SECONDS:
            logger.info("%s was left by a process that has ended", place)
            place.unlink()
        elif first_seen is None or first_seen == written:
            first_seen = written
            time.sleep(1)
        else:
            raise RuntimeError(f"another process is working in {place}; wait for it, or choose another directory")
    lease = Lease(place, owner)
    try:
        yield lease
    finally:
        lease.release()
