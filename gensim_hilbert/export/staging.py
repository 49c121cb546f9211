"""Files that appear whole, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, BinaryIO

import smart_open

from gensim_hilbert.corpus import is_local
from gensim_hilbert.remote import missing_extra


class Staging:
    """Local files are written beside their targets, and renamed when all of them are whole.

    After an error the targets are as they were, and nothing else is left. Buckets and servers have no renaming, but
    show nothing of a file before it is complete; those, and pipes and devices, are written to directly.
    """

    def __init__(self, transport_params: dict[str, Any] | None = None) -> None:
        self._transport_params = transport_params
        self._renames: list[tuple[str, str]] = []
        self._made: list[str] = []

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            while self._renames and error is None:
                os.replace(*self._renames[0])
                del self._renames[0]
        finally:
            for temporary, _ in self._renames:
                with suppress(FileNotFoundError):
                    os.unlink(temporary)
            if error is not None:
                for folder in self._made:
                    with suppress(OSError):  # the first error tells more
                        os.rmdir(folder)

    def folder(self, path: str) -> str:
        """Make a folder, unless it is there."""
        if is_local(path) and not os.path.isdir(path):
            os.mkdir(path)
            self._made.append(path)
        return path if is_local(path) else path.rstrip("/")

    @contextmanager
    def create(self, target: str) -> Iterator[BinaryIO]:
        """A file to write to, compressed if its name says so."""
        written = target
        if is_local(target) and (os.path.isfile(target) or not os.path.exists(target)):
            whole = os.path.realpath(target)  # a symbolic link stays one, and its own name says how to compress
            name = f".{secrets.token_hex(4)}.partial.{os.path.basename(target)}"
            written = os.path.join(os.path.dirname(whole), name)
            self._renames.append((written, whole))
        try:
            with smart_open.open(written, "wb", transport_params=self._transport_params) as file:
                yield file
            if written != target:
                with open(written, "rb+") as file:
                    os.fsync(file.fileno())  # a rename may reach the disk before what is renamed
        except ImportError as error:
            raise missing_extra(target, error) from error
        except OSError as error:
            error.filename = target  # a full disk names none, a missing folder names the temporary one
            raise


def name_of(path: str | os.PathLike[str]) -> str:
    """A path or a URI as a str, as smart_open understands it."""
    name = os.fsdecode(path).removeprefix("file://")
    return os.path.expanduser(name) if is_local(name) else name
