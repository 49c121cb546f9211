"""The folder NAME.partial in which a store is put together, from its lock to its final name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gensim_hilbert.counting.layout import JOURNAL, KEEP_BELOW, RUN_SUFFIX, partial_of
from gensim_hilbert.counting.recovery import keep_finished, raise_explained
from gensim_hilbert.files import LOCK, locked, remove, remove_leftovers, replace_folder
from gensim_hilbert.interruption import is_interruption


@dataclass(frozen=True)
class Destination:
    """Where a store goes, and whether it may take the place of something else."""

    path: Path
    overwrite: bool = False
    temporary: bool = False  # It need not outlive a power cut, so nobody waits for the disk.

    def refuse_existing(self) -> None:
        """Raise an error if something is there that may not be replaced."""
        if self.path.exists() and not self.overwrite:
            raise FileExistsError(
                f"{self.path} exists and holds something else, or damaged counts; choose another directory, or pass "
                "overwrite=True (--overwrite)"
            )


@contextmanager
def building(destination: Destination, *, resumable: bool = False) -> Iterator[Path]:
    """Yield a folder to put a store together in; at the end it takes its final name.

    After an interruption (Ctrl-C, a kill, a power cut) it stays, so that the work can go on; after Ctrl-C only if the
    work is resumable. After an error what is finished stays, if the work is resumable and the user knows the place.
    """
    target = destination.path
    destination.refuse_existing()
    work = partial_of(target)
    with locked(work):
        try:
            yield work
            remove_leftovers(work)
            for path in [*work.glob(f"*{RUN_SUFFIX}"), work / JOURNAL, work / KEEP_BELOW]:
                path.unlink(missing_ok=True)
            destination.refuse_existing()  # Something may have appeared there meanwhile.
            replace_folder(work, target, durable=not destination.temporary)
            (target / LOCK).unlink(missing_ok=True)  # It kept others away until the folder had its name.
        except BaseException as error:
            interrupted = is_interruption(error)
            kept = resumable and not destination.temporary and keep_finished(work)
            if not kept and not (resumable and (interrupted or not isinstance(error, Exception))):
                discard(work)
            if interrupted and isinstance(error, Exception):
                raise KeyboardInterrupt from error
            if isinstance(error, Exception):
                raise_explained(error, work, kept)
            raise


def clear(work: Path) -> None:
    """Remove what an abandoned count has left, except for the lock."""
    for path in work.iterdir():
        if path.name != LOCK:
            remove(path)


def discard(work: Path) -> None:
    """Remove a folder into which a task that nobody waits for any more may be about to write."""
    removed = work.with_name(work.name + ".removed")
    remove(removed)
    with suppress(OSError):
        os.rename(work, removed)  # Nothing new can appear under this name.
    for path in (removed, work):
        remove(path)
