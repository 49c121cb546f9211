"""What tells one state of a file from another, so that a corpus that changes while it is used is noticed."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from typing import Any, NamedTuple

from gensim_hilbert.locations import compression_of


class FileFacts(NamedTuple):
    """What is known of a file before it is read; None stands for what a server does not tell."""

    size: int | None = None  # bytes as they are stored
    etag: str | None = None  # of an object in a bucket, or of a page
    modified: int | str | None = None  # nanoseconds since 1970 for a local file, Last-Modified for a page
    inode: int | None = None  # of a local file
    is_stream: bool = True  # it must be read from its beginning: it is compressed, remote, or a pipe
    can_repeat: bool = True  # it can be read more than once

    @property
    def version(self) -> Any:
        """Something that changes when the file does, for JSON; None if nothing of that kind is known."""
        if self.inode is not None:
            return [self.modified, self.inode]
        return self.etag or self.modified

    def completed(self, later: FileFacts) -> FileFacts:
        """Return these facts, with those of a later look where nothing was known."""
        known = {name: value for name, value in self._asdict().items() if value is not None}
        return later._replace(**known)


NOTHING_KNOWN = FileFacts()


class CorpusChanged(OSError):
    """Raised if a file is not what it was when it was first looked at."""

    def __init__(self, name: str, change: str):
        super().__init__(f"{name} {change}; leave a corpus as it is while it is being read, and start again")
        self.parts = name, change

    def __reduce__(self) -> Any:
        return CorpusChanged, self.parts


def local_facts(path: str, info: os.stat_result) -> FileFacts:
    """Return what the system tells of a local file."""
    if not stat.S_ISREG(info.st_mode):
        return FileFacts(can_repeat=False)
    return FileFacts(info.st_size, modified=info.st_mtime_ns, inode=info.st_ino, is_stream=bool(compression_of(path)))


def refuse_change(name: str, before: FileFacts, now: FileFacts) -> None:
    """Raise an error that tells what has changed, if anything has; what is unknown before or now is not compared."""
    if before.size is not None and now.size is not None and before.size != now.size:
        how = "shorter" if now.size < before.size else "longer"
        raise CorpusChanged(name, f"is {how} than it was: {now.size} bytes instead of {before.size}")
    if before.etag and now.etag:  # Servers that share the work may differ in their times, but not in this.
        if before.etag != now.etag:
            raise CorpusChanged(name, f"has changed: its ETag is {now.etag} instead of {before.etag}")
    elif before.modified is not None and now.modified is not None and before.modified != now.modified:
        raise CorpusChanged(name, f"was modified: {_time(now.modified)} instead of {_time(before.modified)}")
    if before.inode is not None and now.inode is not None and before.inode != now.inode:
        raise CorpusChanged(name, "was replaced by another file of the same size")


def _time(modified: int | str) -> str:
    if isinstance(modified, str):
        return modified
    return datetime.fromtimestamp(modified / 1e9, tz=UTC).isoformat(timespec="microseconds")
