"""Locks, by which processes keep out of each other's way: empty files that nobody else has made."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from gensim_hilbert.files import remove
from gensim_hilbert.locations import AnyPath

if sys.platform != "win32":
    import fcntl

LOCK = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder, unless it is there, and keep other processes that ask for the same lock out of it."""
    if sys.platform == "win32":  # where nothing is locked
        folder.mkdir(parents=True, exist_ok=True)
        (folder / LOCK).touch()
        yield
        return
    while (lock := _taken_lock(folder)) is None:
        pass
    with lock:
        yield


def _taken_lock(folder: Path) -> TextIO | None:
    """Return the open lock of a folder, or None if its owner has just renamed or removed the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            file = stack.enter_context(_open_lock(folder / LOCK))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(file.fileno()), os.stat(folder / LOCK)):
                return None
        except FileNotFoundError:
            return None
        except BlockingIOError:
            raise RuntimeError(
                f"another process is working in {folder}; wait for it, or choose another directory"
            ) from None
        stack.pop_all()  # The file stays open.
        return file


def _open_lock(path: AnyPath) -> TextIO:
    """Open a lock: an empty file, and neither a link to another file, nor a pipe, which would be waited for."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode) or facts.st_size:
        os.close(descriptor)
        raise FileExistsError(f"{path} is where a lock would be, and holds something else: move it away")
    return os.fdopen(descriptor, "r")


@contextmanager
def turn_of(target: str) -> Iterator[None]:
    """Hold the lock `.NAME.lock` beside a target while it is replaced; whoever else asks for it waits."""
    if sys.platform == "win32":  # where nothing is locked
        yield
        return
    folder, name = os.path.split(os.path.abspath(target))
    path = os.path.join(folder, f".{name}.lock")
    with ExitStack() as stack:
        while True:
            file = stack.enter_context(_open_lock(path))
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
            except OSError as error:
                if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
                    raise
                break  # This file system has no locks.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    break
            stack.close()  # The owner before has removed this file.
        try:
            yield
        finally:
            remove(path)
