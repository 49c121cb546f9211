"""Files and folders that appear whole or not at all, and JSON.

Everything that this package leaves on a disk is written through this module. A file or a folder is first written under
a temporary name beside its target, brought to the disk (fsync), and then renamed. So a crash, a full disk or a power
cut leaves either the old state or the new one.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO
from zlib import crc32

import smart_open
from smart_open.compression import compression_wrapper

from gensim_hilbert.locations import AnyPath, is_local, missing_package
from gensim_hilbert.untrusted import parse_json

# ---------------------------------------------------------------------------------------------------- whole files


def write_whole(path: AnyPath, data: bytes) -> None:
    """Write a file so that it appears whole, in place of the one that may be there."""
    with Staging() as staging, staging.create(os.fspath(path)) as file:
        file.write(data)


class Staging:
    """Writes files and folders under temporary names, and puts all of them in place together at the end.

    After an error the targets are as they were, and nothing else is left. Buckets and servers cannot rename, but show
    nothing of a file before it is complete: there, and to pipes and devices, everything is written directly. Of several
    targets only those in one folder appear in a single step; the others follow each other within milliseconds, in the
    order in which they were asked for, and a failure of one takes back those before it.

    Parameters
    ----------
    transport_params : dict, optional
        Passed to smart_open for targets that are URIs.
    never_mixed : bool
        Whether all old files are moved away before the first new one is put in place. A process that is killed between
        two renames then leaves files missing, and never new files beside old ones.
    """

    def __init__(self, transport_params: dict[str, Any] | None = None, *, never_mixed: bool = False) -> None:
        self._transport_params = transport_params
        self._never_mixed = never_mixed
        self._staged: list[tuple[str, str]] = []  # temporary name, target
        self._folders: dict[str, str] = {}  # target, temporary name
        self._judges: dict[str, Judge] = {}  # for targets that are folders

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

    def folder(self, target: str, reason_to_keep: Judge | None = None) -> str:
        """Have a folder appear whole at `target`, and return its name, in which `create` makes files.

        Something that is there already is an error, unless `reason_to_keep` finds none: then it is replaced.
        """
        target = target.rstrip("/") or target
        if is_local(target):
            self._folders[target] = self.local_folder(target, reason_to_keep or keep_anything)
        return target

    def local_folder(self, target: str, reason_to_keep: Judge) -> str:
        """Have a folder appear whole at a local path, as `folder` does, and return its temporary name until then."""
        place = os.path.realpath(target)  # A symbolic link stays one.
        refuse_foreign(place, reason_to_keep)
        self._judges[place] = reason_to_keep
        temporary = self._reserve(place)
        with naming(target):
            os.mkdir(temporary)
        return temporary

    def _reserve(self, target: str) -> str:
        """Return a temporary name beside a local target, and note that it is to take the name of the target."""
        temporary = temporary_name(target)
        self._staged.append((temporary, target))
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
            elif not name:
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
            elif os.path.exists(target) and not os.path.isfile(target):  # a pipe or a device
                with _opened(target, name) as file:
                    yield file
            else:
                # A symbolic link stays one; its own name says how to compress.
                temporary = self._reserve(os.path.realpath(target))
                with _opened(temporary, name) as file:
                    yield file

    def _put_in_place(self) -> None:
        for temporary, _ in self._staged:
            sync_tree(temporary)
        undo: list[tuple[str, str]] = []  # names of now, and of before
        aside: str | None
        with ExitStack() as old:
            try:
                if self._never_mixed:
                    for _, target in self._staged:
                        if os.path.lexists(target):
                            aside = temporary_name(target)
                            old.callback(remove, aside)
                            os.rename(target, aside)
                            undo.append((aside, target))
                for place, (temporary, target) in enumerate(self._staged, start=1):
                    if os.path.isdir(temporary):
                        if (aside := put_folder(temporary, target, self._judges[target])) is not None:
                            old.callback(remove, aside)
                    else:
                        aside = _second_name(target) if place < len(self._staged) else None
                        if aside is not None:
                            old.callback(remove, aside)
                            undo.append((aside, target))
                        os.replace(temporary, target)
                        if aside is None:
                            undo.append((target, temporary))
            except BaseException:
                for now, before in reversed(undo):
                    os.replace(now, before)
                raise
        for folder in {os.path.dirname(target) for _, target in self._staged}:
            sync(folder)


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
        if error.errno is not None:  # Others have a sentence of their own.
            error.filename = target
        raise


# ---------------------------------------------------------------------------------------------------- renaming


def temporary_name(target: str) -> str:
    """Return a name beside `target` that nobody else uses."""
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{secrets.token_hex(4)}.partial.{name}")


def remove_leftovers(folder: Path, name: str = "*") -> None:
    """Remove what killed processes have left in a folder, of all targets or of one; nobody else may work on them."""
    for path in folder.glob(f".????????.partial.{name if name == '*' else glob.escape(name)}"):
        if TEMPORARY.fullmatch(path.name):
            remove(path)


# Tells of a path that exists why it must stay, in words that follow its name; None means that it may be replaced.
Judge = Callable[[str], str | None]


def keep_anything(path: str) -> str | None:
    """Judge that nothing may be replaced."""
    return "exists; choose another name, or move it away"


def refuse_foreign(target: str, reason_to_keep: Judge, found: str | None = None) -> None:
    """Raise an error if something is at `target` that must not be replaced; it may have another name just now."""
    if os.path.lexists(found or target) and (reason := reason_to_keep(found or target)) is not None:
        raise FileExistsError(f"{target} {reason}")


def put_folder(fresh: str, target: str, reason_to_keep: Judge) -> str | None:
    """Give a finished folder its final name, in place of what is there if there is no reason to keep that.

    What was there is returned under a temporary name, to be removed. It is judged a last time when it has left its
    name, so that nothing can appear in between, and is put back if it has to stay. Where the system can exchange two
    names there is no moment without one of the two.
    """
    if not os.path.lexists(target):
        with suppress(FileExistsError):  # Something may appear just now.
            rename_to_new(fresh, target)
            return None
    refuse_foreign(target, reason_to_keep)
    aside = fresh if exchange(fresh, target) else temporary_name(target)
    if aside != fresh:
        os.rename(target, aside)
    try:
        refuse_foreign(target, reason_to_keep, aside)
        if aside != fresh:
            rename_to_new(fresh, target)
    except BaseException:
        if aside != fresh or not exchange(fresh, target):
            os.rename(aside, target)
        raise
    return aside


def replace_folder(fresh: Path, target: Path, reason_to_keep: Judge = keep_anything, *, durable: bool = True) -> None:
    """Bring a finished folder to the disk, and give it its final name as `put_folder` does."""
    if durable:
        sync_tree(fresh)
    replaced = put_folder(str(fresh), str(target), reason_to_keep)
    if replaced is not None:
        remove(replaced)
    if durable:
        sync(target.parent)


def rename_to_new(fresh: str, target: str) -> None:
    """Rename a file or a folder, or raise an error if something has the new name already."""
    call = _system_rename(exclusive=True)
    if call is not None:
        if call(os.fsencode(fresh), os.fsencode(target)) == 0:
            return
        if os.path.lexists(target) and os.path.lexists(fresh):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    if not os.path.isdir(fresh) and _linked(fresh, target):  # Links never replace anything.
        os.unlink(fresh)
        return
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    os.rename(fresh, target)


def _second_name(target: str) -> str | None:
    """Give a file that is about to be replaced a second name, so that it can come back; None if there is no file."""
    if not os.path.lexists(target):
        return None
    aside = temporary_name(target)
    if not _linked(target, aside):
        os.rename(target, aside)
    return aside


def _linked(path: str, name: str) -> bool:
    """Give a file a second name; returns False where the file system has no such links."""
    try:
        os.link(path, name)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


def exchange(one: str, other: str) -> bool:
    """Exchange two names in a single step; returns False where the system or the file system cannot."""
    call = _system_rename(exclusive=False)
    return call is not None and call(os.fsencode(one), os.fsencode(other)) == 0


@cache
def _system_rename(*, exclusive: bool) -> Callable[[bytes, bytes], int] | None:
    """Find the system call that exchanges two names, or renames without replacing: renameat2 or renamex_np."""
    if sys.platform not in ("linux", "darwin"):
        return None
    import ctypes

    library = ctypes.CDLL(None)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        here, flag = -100, 1 if exclusive else 2  # AT_FDCWD, RENAME_NOREPLACE, RENAME_EXCHANGE
        return lambda one, other: int(library.renameat2(here, one, here, other, flag))
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        flag = 4 if exclusive else 2  # RENAME_EXCL, RENAME_SWAP
        return lambda one, other: int(library.renamex_np(one, other, flag))
    return None


TEMPORARY = re.compile(r"\.[0-9a-f]{8}\.partial\..+")


def remove(path: AnyPath) -> None:
    """Remove a file, or a folder and as much as possible of what is in it, if it is there.

    A folder first gets a temporary name: a process that is killed while it removes one leaves no half of it behind.
    """
    if os.path.isdir(path) and not os.path.islink(path):
        name = os.path.abspath(path)
        if not TEMPORARY.fullmatch(os.path.basename(name)):
            doomed = temporary_name(name)
            with suppress(OSError):  # Some folders can be emptied, but not renamed.
                os.rename(name, doomed)
                name = doomed
        shutil.rmtree(name, ignore_errors=True)
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


# ---------------------------------------------------------------------------------------------------- JSON


def to_json(value: Any, indent: int | None = None) -> str:
    """Write a value as JSON, in ASCII and with keys in their order; numpy's numbers become Python's."""
    return json.dumps(value, indent=indent, default=lambda number: number.item())


def as_read_back(value: Any) -> Any:
    """Return a value as it will be after it was written as JSON and read again, to be compared with that."""
    return json.loads(to_json(value))


def manifest_checksum(manifest: dict[str, Any]) -> int:
    """Return a checksum of all that a manifest says besides it."""
    return crc32(to_json({key: value for key, value in manifest.items() if key != "crc32"}).encode())


def read_json(path: Path) -> Any:
    """Read a file that holds JSON; whatever is wrong with it is a ValueError."""
    return parse_json(path.read_text(encoding="utf-8"))
