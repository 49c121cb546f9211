"""The folder NAME.partial in which a store is put together, from its lock to its final name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gensim_hilbert.counting.layout import JOURNAL, KEEP_BELOW, MANIFEST, RUN_SUFFIX, SCAN, SHARDS, partial_of
from gensim_hilbert.counting.ownership import reason_to_keep, reason_to_keep_work
from gensim_hilbert.counting.recovery import keep_finished, raise_explained
from gensim_hilbert.files import refuse_foreign, remove, remove_leftovers, replace_folder
from gensim_hilbert.interruption import is_interruption
from gensim_hilbert.locks import LOCK, locked
from gensim_hilbert.outputs import refuse_inputs


@dataclass(frozen=True)
class Destination:
    """Where a store goes, and whether it may take the place of another one."""

    path: Path
    overwrite: bool = False
    temporary: bool = False  # It need not outlive a power cut, so nobody waits for the disk.

    @property
    def place(self) -> Path:
        """The folder itself: if the path is a symbolic link, it stays one."""
        return Path(os.path.realpath(self.path))

    def refuse_inputs(self, inputs: Iterable[str | os.PathLike[str]], *, inside: bool) -> None:
        """Raise an error if the store, or the folder in which it is put together, would take the place of an input."""
        for output in (self.path, partial_of(self.place)):
            refuse_inputs(output, inputs, inside=inside)

    def reason_to_keep(self, path: str) -> str | None:
        """Tell why what is there must not be replaced."""
        if self.overwrite:
            return reason_to_keep(path)
        return (
            "exists and holds something else, or damaged counts; choose another directory, or pass overwrite=True "
            "(--overwrite) to replace counts"
        )

    def refuse_existing(self) -> None:
        """Raise an error if something is there that may not be replaced."""
        refuse_foreign(str(self.place), self.reason_to_keep)


@contextmanager
def building(destination: Destination, *, resumable: bool = False) -> Iterator[Path]:
    """Yield a folder to put a store together in; at the end it takes its final name.

    After an interruption (Ctrl-C, a kill, a power cut) it stays, so that the work can go on; after Ctrl-C only if the
    work is resumable. After an error what is finished stays, if the work is resumable and the user knows the place.
    """
    target = destination.place
    work = partial_of(target)
    destination.refuse_existing()
    refuse_foreign(str(work), reason_to_keep_work)
    with locked(work):
        try:
            destination.refuse_existing()  # Another process may have finished just before this one got the lock.
            remove_leftovers(work.parent, work.name)
            yield work
            for folder in (work, work / SHARDS):
                remove_leftovers(folder)
            for path in [*work.glob(f"*{RUN_SUFFIX}"), work / JOURNAL, work / SCAN, work / KEEP_BELOW]:
                path.unlink(missing_ok=True)
            mark_replaced(destination)
            replace_folder(work, target, destination.reason_to_keep, durable=not destination.temporary)
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
        (target / LOCK).unlink(missing_ok=True)  # It kept others away until the folder had its name.


def mark_replaced(destination: Destination) -> None:
    """Put a lock into counts that are about to be replaced, by which they are known if this process is killed then.

    The two folders exchange their names, and without it the old counts would look like a store that somebody has made
    under the name NAME.partial.
    """
    target = destination.place
    destination.refuse_existing()
    if (target / MANIFEST).exists():
        with suppress(PermissionError):
            (target / LOCK).touch()


def remove_replaced(destination: Destination) -> None:
    """Remove counts that have been replaced, if the process that did so was killed before it could remove them."""
    work = partial_of(destination.place)
    if (work / LOCK).exists() and reason_to_keep(str(work)) is None:
        remove(work)


def clear(work: Path) -> None:
    """Remove what an abandoned count has left, except for the lock."""
    for path in work.iterdir():
        if path.name != LOCK:
            remove(path)


def discard(work: Path) -> None:
    """Remove a folder into which a task that nobody waits for any more may be about to write."""
    remove(work)  # It is renamed first, so that nothing new can appear in it.
    remove(work)  # Such a task may just have made it again.
