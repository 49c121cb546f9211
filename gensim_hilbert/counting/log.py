"""Where the lines of a journal are kept: in one file that grows, or in a bucket as one object per line."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path

from gensim_hilbert.objects import ObjectPath, Place
from gensim_hilbert.untrusted import require_regular


class Log(ABC):
    """Lines that are only ever added to."""

    @abstractmethod
    def lines(self) -> list[bytes]:
        """Return all lines that were written completely; none if there is no log, a ValueError if it is none."""

    @abstractmethod
    def keep(self, lines: list[bytes]) -> None:
        """Remove what follows after these lines, which are its first ones: half a line, after a crash."""

    @abstractmethod
    def append(self, line: bytes) -> None:
        """Add a line; after an error there is nothing of it."""

    @abstractmethod
    def discard(self) -> None:
        """Remove the log."""


class FileLog(Log):
    """A log in a local file."""

    def __init__(self, path: Path):
        self.path = path

    def lines(self) -> list[bytes]:
        """Return its lines; after the last line end there may be half a line."""
        if not os.path.lexists(self.path):
            return []
        require_regular(self.path)
        return self.path.read_bytes().split(b"\n")[:-1]

    def keep(self, lines: list[bytes]) -> None:
        """Cut the file off after these lines."""
        os.truncate(self.path, sum(len(line) + 1 for line in lines))

    def append(self, line: bytes) -> None:
        """Add a line."""
        size = self.path.stat().st_size if self.path.exists() else 0
        try:
            with open(self.path, "ab") as file:
                file.write(line + b"\n")
        except OSError:  # The disk is full. Half a line must not become the beginning of another one.
            os.truncate(self.path, size)
            raise

    def discard(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


class BucketLog(Log):
    """A log in a bucket, whose objects cannot be added to: they are numbered, and each holds one line."""

    def __init__(self, folder: ObjectPath):
        self.folder = folder
        self._next: int | None = None

    def lines(self) -> list[bytes]:
        """Return its lines in their order."""
        return [(self.folder / name).read_bytes() for name in self._names()]

    def keep(self, lines: list[bytes]) -> None:
        """Do nothing, because there are no halves of objects."""

    def append(self, line: bytes) -> None:
        """Add a line."""
        if self._next is None:
            self._next = 1 + int((self._names() or ["-1"])[-1])
        (self.folder / f"{self._next:08d}").write_bytes(line)
        self._next += 1

    def discard(self) -> None:
        """Remove all its objects."""
        self.folder.remove_below(self._names()[::-1])
        self._next = 0

    def _names(self) -> list[str]:
        return sorted(name for name in self.folder.below() if name.isdecimal())


def log_in(directory: Place, name: str) -> Log:
    """Return the log of that name in a folder."""
    return FileLog(directory / name) if isinstance(directory, Path) else BucketLog(directory / name)
