"""Files and folders that appear whole or not at all, locks, and JSON.

Everything that this package leaves on a disk is written through this module. A file or a folder is first written under
a temporary name beside its target, brought to the disk (fsync), and then renamed. So a crash, a full disk or a power
cut leaves either the old state or the new one.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, TextIO

import smart_open
from smart_open.compression import compression_wrapper

from gensim_hilbert.locations import is_local, missing_package
from gensim_hilbert.untrusted import parse_json, require_regular

if sys.platform != "win32":
    import fcntl

AnyPath = str | os.PathLike[str]
LOCK = "lock"


# ---------------------------------------------------------------------------------------------------- whole files


def write_whole(path: AnyPath, data: bytes) -> None:
    """Write a file so that it appears whole, in place of the one that may be there."""
    with Staging() as staging, staging.create(os.fspath(path)) as file:
        file.write(data)


class Staging:
    """Writes files and folders under temporary names, and puts all of them in place together at the end.

    After an error the targets are as they were, and nothing else is left. Buckets and servers cannot rename, but show
    nothing of a file before it is complete: there, and to pipes and devices, everything is written directly. Of several
    targets only those in one new folder appear in a single step; the others follow each other within milliseconds, in
    the order in which they were asked for, and a failure of one takes back those before it.

    Parameters
    ----------
    transport_params : dict, optional
        Passed to smart_open for targets that are URIs.
    check_target : callable, optional
        Called with the path of each target at the last moment, before the first of them is put in place. It raises an
        error to refuse, for instance because something that must not be replaced has appeared there in the meantime.
    """

    def __init__(
        self,
        transport_params: dict[str, Any] | None = None,
        check_target: Callable[[str], None] | None = None,
    ) -> None:
        self._transport_params = transport_params
        self._check_target = check_target
        self._staged: list[tuple[str, str]] = []  # temporary name, target
        self._folders: dict[str, str] = {}  # target, temporary name

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._put_in_place()
        finally:
            for temporary, _ in self._staged:
                remove(temporary)

    def folder(self, target: str) -> str:
        """Have a folder at `target`, and return its name, in which `create` makes files.

        A folder that is not there yet appears whole. In one that is, files are replaced one by one and others stay.
        """
        target = target.rstrip("/") or target
        if is_local(target) and not os.path.isdir(target):
            refuse_existing(target)
            self._folders[target] = temporary = self.reserve(target)
            with naming(target):
                os.mkdir(temporary)
        return target

    def reserve(self, target: str) -> str:
        """Return a temporary name beside a local target, under which the caller writes a file or a whole folder."""
        whole = os.path.abspath(target)
        temporary = temporary_name(whole)
        self._staged.append((temporary, whole))
        return temporary

    @contextmanager
    def create(self, target: str) -> Iterator[BinaryIO]:
        """Open a file to write to; it is compressed if its name says so."""
        folder, name = os.path.split(target)
        with naming(target):
            if not is_local(target):
                with smart_open.open(target, "wb", transport_params=self._transport_params) as file:
                    yield file
            elif folder in self._folders:
                with _opened(os.path.join(self._folders[folder], name), name) as file:
                    yield file
            elif os.path.exists(target) and not os.path.isfile(target):  # a pipe or a device
                with _opened(target, name) as file:
                    yield file
            else:
                # A symbolic link stays one; its own name says how to compress.
                temporary = self.reserve(os.path.realpath(target))
                with _opened(temporary, name) as file:
                    yield file

    def _put_in_place(self) -> None:
        for temporary, _ in self._staged:
            sync_tree(temporary)
        for temporary, target in self._staged:
            if temporary in self._folders.values():
                refuse_existing(target)
            if self._check_target:
                self._check_target(target)
        done: list[tuple[str, str, bool]] = []
        try:
            for temporary, target in self._staged:
                is_last = len(done) + 1 == len(self._staged)
                done.append((temporary, target, _place(temporary, target, reversible=not is_last)))
        except BaseException:
            for temporary, target, replaced in reversed(done):
                if replaced:
                    _place(temporary, target, reversible=True)
                else:
                    os.replace(target, temporary)
            raise
        for folder in {os.path.dirname(target) for _, target in self._staged}:
            sync(folder)


def refuse_existing(path: str) -> None:
    """Raise an error if something is at `path`, be it a link to nothing."""
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)


@contextmanager
def _opened(path: str, name: str) -> Iterator[BinaryIO]:
    """Open a local file to write to, compressed as `name` says."""
    with open(path, "wb") as raw:
        file: Any = compression_wrapper(raw, "wb", filename=name)
        try:
            yield file
        finally:
            if file is not raw:
                file.close()


@contextmanager
def naming(target: str) -> Iterator[None]:
    """Make errors name the target: a full disk names no file, and a missing folder would name a temporary one."""
    try:
        yield
    except ImportError as error:
        raise missing_package(target, error) from error
    except OSError as error:
        error.filename = target
        raise


# ---------------------------------------------------------------------------------------------------- renaming


def temporary_name(target: str) -> str:
    """Return a name beside `target` that nobody else uses."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{secrets.token_hex(4)}.partial.{name}")


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that killed processes have left in a folder that nobody else works in."""
    for path in folder.glob(".????????.partial.*"):
        remove(path)


def replace_folder(fresh: Path, target: Path, *, durable: bool = True) -> None:
    """Give a finished folder its final name, in place of the file or folder that may be there.

    Where the system can exchange two names there is no moment without one of the two.
    """
    if durable:
        sync_tree(fresh)
    if _place(str(fresh), str(target), reversible=False):
        remove(fresh)  # It names what was there before.
    if durable:
        sync(target.parent)


def _place(fresh: str, target: str, *, reversible: bool) -> bool:
    """Rename to `target`; returns whether `fresh` now names what was there before, as it always does if reversible."""
    if not os.path.lexists(target):
        os.replace(fresh, target)
        return False
    are_files = not os.path.isdir(fresh) and not os.path.isdir(target)
    if are_files and not reversible:
        os.replace(fresh, target)
        return False
    if exchange(fresh, target):
        return True
    aside = temporary_name(target)
    if not are_files or not _linked(target, aside):
        os.rename(target, aside)
    try:
        os.replace(fresh, target)
    except BaseException:
        os.replace(aside, target)
        raise
    os.rename(aside, fresh)
    return True


def _linked(path: str, name: str) -> bool:
    """Give a file a second name; returns False where the file system has no such links."""
    try:
        os.link(path, name)
    except OSError:
        return False
    return True


def exchange(one: str, other: str) -> bool:
    """Exchange two names in a single step; returns False where the system or the file system cannot."""
    swap = _system_exchange()
    return swap is not None and swap(os.fsencode(one), os.fsencode(other)) == 0


@cache
def _system_exchange() -> Callable[[bytes, bytes], int] | None:
    """Find the system call that exchanges two names: renameat2 on Linux, renamex_np on macOS."""
    if sys.platform not in ("linux", "darwin"):
        return None
    import ctypes

    library = ctypes.CDLL(None)
    here, linux_exchange, darwin_swap = -100, 2, 2  # AT_FDCWD, RENAME_EXCHANGE, RENAME_SWAP
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        return lambda one, other: int(library.renameat2(here, one, here, other, linux_exchange))
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda one, other: int(library.renamex_np(one, other, darwin_swap))
    return None


def remove(path: AnyPath) -> None:
    """Remove a file, or a folder and as much as possible of what is in it, if it is there."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)


def sync_tree(path: AnyPath) -> None:
    """Bring a file, or a folder with all files in it, to the disk: a rename may get there before what is renamed."""
    for parent, _, names in os.walk(path):
        for name in names:
            sync(os.path.join(parent, name))
    sync(path)


def sync(path: AnyPath) -> None:
    """Bring a file, or the list of what is in a folder, to the disk."""
    is_folder = os.path.isdir(path)
    with suppress(OSError) if is_folder else nullcontext():  # Some systems cannot do this for folders.
        descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# ---------------------------------------------------------------------------------------------------- locks


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder, unless it is there, and keep other processes that ask for the same lock out of it."""
    if sys.platform == "win32":  # where nothing is locked
        folder.mkdir(parents=True, exist_ok=True)
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
            # Somebody may have put a link to another file there, or a pipe, which would be waited for.
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
            file = stack.enter_context(open(os.open(folder / LOCK, flags, 0o666), "w"))
            require_regular(folder / LOCK)
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


# ---------------------------------------------------------------------------------------------------- JSON


def to_json(value: Any, indent: int | None = None) -> str:
    """Write a value as JSON, in ASCII and with keys in their order; numpy's numbers become Python's."""
    return json.dumps(value, indent=indent, default=lambda number: number.item())


def as_read_back(value: Any) -> Any:
    """Return a value as it will be after it was written as JSON and read again, to be compared with that."""
    return json.loads(to_json(value))


def read_json(path: Path) -> Any:
    """Read a file that holds JSON; whatever is wrong with it is a ValueError."""
    return parse_json(path.read_text(encoding="utf-8"))
