"""Files that are read at any place, as Parquet and Arrow need it: local, on a server that has ranges, or copied."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar

from gensim_hilbert.corpus.blocks import Block, opened_unchanged
from gensim_hilbert.corpus.identity import CorpusChanged, refuse_change
from gensim_hilbert.corpus.opening import BUCKET_SCHEMES, WEB_SCHEMES, open_remote, open_stream
from gensim_hilbert.corpus.web import Patience, TemporaryFailure, facts_in, range_in, send, status_of
from gensim_hilbert.locations import compression_of, is_local, missing_package, scheme_of

Result = TypeVar("Result")
BUFFER_BYTES = 1 << 20  # asked of a server at once
COPIED_BYTES = 1 << 20


def has_ranges(block: Block) -> bool:
    """Tell whether a file can be read at any place where it is, without a copy."""
    if not block.facts.is_stream:
        return True
    if is_local(block.name) or compression_of(block.name) or block.facts.size is None:
        return False
    if scheme_of(block.name) in WEB_SCHEMES:
        with named_errors(block.name):
            return WebRanges(block).answers_ranges()
    return scheme_of(block.name) in BUCKET_SCHEMES


@contextmanager
def opened_seekable(block: Block) -> Iterator[BinaryIO]:
    """Open a file to be read at any place; if there is no other way, a copy of it in a temporary file."""
    if not block.facts.is_stream:
        with opened_unchanged(block) as file:
            yield file
    elif (block.reader is not None and block.reader.groups is not None) or has_ranges(block):
        remote = WebRanges(block) if scheme_of(block.name) in WEB_SCHEMES else BucketRanges(block)
        with io.BufferedReader(remote, BUFFER_BYTES) as buffered:
            yield buffered
    else:
        with tempfile.TemporaryFile(prefix="gensim_hilbert-") as copy:
            with (
                named_errors(block.name),
                open_stream(block.name, block.transport_params, block.facts) as stream,
            ):
                shutil.copyfileobj(stream, copy, COPIED_BYTES)
                stream.check_unchanged()
            copy.seek(0)
            yield copy


@contextmanager
def named_errors(name: str) -> Iterator[None]:
    """Give errors of clients, servers and decompressors a sentence that names the file."""
    try:
        yield
    except (CorpusChanged, MemoryError):
        raise
    except ImportError as error:
        raise missing_package(name, error) from error
    except Exception as error:  # Every decompressor and client raises its own.
        if name in str(error):
            raise
        raise OSError(f"{name} cannot be read: {error}") from error


class Ranges(io.RawIOBase):
    """A remote file that is read at any place; each read is a request for that part."""

    def __init__(self, block: Block):
        assert block.facts.size is not None
        self.block, self.uri, self.size = block, block.name, block.facts.size
        self.position = 0

    def readable(self) -> bool:
        """Return True: this file can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: this file can be read from any place on."""
        return True

    def tell(self) -> int:
        """Return the present place."""
        return self.position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to another place."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self.position, os.SEEK_END: self.size}[whence]
        self.position = max(0, base + offset)
        return self.position

    def readinto(self, buffer: Any) -> int:
        """Read as many bytes as fit into the buffer, fewer only at the end of the file."""
        wanted = min(len(buffer), self.size - self.position)
        if wanted <= 0:
            return 0
        with named_errors(self.uri):
            data = self.fetch(self.position, wanted)
            if len(data) != wanted:
                raise OSError(f"the answer ends at byte {self.position + len(data)} of {self.size}")
        buffer[:wanted] = data
        self.position += wanted
        return wanted

    def fetch(self, start: int, wanted: int) -> bytes:
        """Return so many bytes from a place on."""
        raise NotImplementedError


class BucketRanges(Ranges):
    """A file in a bucket, of which smart_open reads parts; S3 refuses to send another object than the one looked up."""

    def __init__(self, block: Block):
        super().__init__(block)
        self.remote = open_remote(self.uri, block.transport_params, block.facts)

    def fetch(self, start: int, wanted: int) -> bytes:
        """Return so many bytes from a place on."""
        data: bytes = self.remote.read_at(start, wanted)
        return data

    def close(self) -> None:
        """Close the connection."""
        self.remote.close()
        super().close()


class WebRanges(Ranges):
    """A file on a web server, asked for by `Range`; a request that fails in a way that may pass is repeated."""

    def answers_ranges(self) -> bool:
        """Tell whether the server sends a part of the file if it is asked for one."""

        def ask() -> bool:
            with send("GET", self.uri, self.block.transport_params, {"Range": "bytes=0-0"}) as response:
                if response.status_code not in (200, 206, 416):
                    raise OSError(status_of(response))
                return bool(response.status_code == 206)

        return self._repeated(ask)

    def fetch(self, start: int, wanted: int) -> bytes:
        """Return so many bytes from a place on."""

        def ask() -> bytes:
            headers = {"Range": f"bytes={start}-{start + wanted - 1}"}
            with send("GET", self.uri, self.block.transport_params, headers) as response:
                if response.status_code not in (200, 206, 416):
                    raise OSError(status_of(response))
                refuse_change(self.uri, self.block.facts, facts_in(response))
                if response.status_code != 206 or range_in(response)[0] != start:
                    raise OSError(f"the server answers {headers['Range']} by {status_of(response)}")
                return body_of(response, start, wanted)

        return self._repeated(ask)

    def _repeated(self, action: Callable[[], Result]) -> Result:
        return Patience(self.uri).repeat(action)


def body_of(response: Any, start: int, wanted: int) -> bytes:
    """Return the beginning of the body of a response: some servers send more than was asked for."""
    import urllib3

    try:
        data: bytes = response.raw.read(wanted, decode_content=False)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise TemporaryFailure(f"the connection failed at byte {start}: {error}") from error
    if len(data) < wanted:
        raise TemporaryFailure(f"the answer ends at byte {start + len(data)} of {start + wanted}")
    return data
