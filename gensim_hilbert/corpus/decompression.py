"""Decompression of what is read from a file, in which damage anywhere is an error."""

from __future__ import annotations

import bz2
import io
import lzma
from collections.abc import Callable
from typing import Any

from smart_open.compression import compression_wrapper

from gensim_hilbert.locations import compression_of, path_of

PIECE_BYTES = 1 << 17  # of a compressed file, read at once
DECOMPRESSORS: dict[str, Callable[[], Any]] = {".bz2": bz2.BZ2Decompressor, ".xz": lzma.LZMADecompressor}


def decompressed(raw: Any, uri: str) -> Any:
    """Wrap a file in the decompressor for the compression that smart_open would recognise by its name."""
    compression = compression_of(uri)
    if compression in DECOMPRESSORS:
        return MemberReader(raw, DECOMPRESSORS[compression])
    if compression == ".gz":
        try:
            from isal import igzip  # the same as gzip, and three times as fast
        except ImportError:
            pass
        else:
            return igzip.open(raw, "rb")
    return compression_wrapper(raw, "rb", filename=path_of(uri))


class MemberReader(io.RawIOBase):
    """Reads the compressed streams in a file, one after the other.

    The classes of Python's own modules take a damaged stream behind the first one for something that does not belong
    to the file, and end there without an error. Files of pbzip2 have one stream per MB.
    """

    def __init__(self, raw: Any, make_decompressor: Callable[[], Any]):
        self.raw, self.make_decompressor = raw, make_decompressor
        self.decompressor: Any = None  # None between two streams
        self.unread = b""

    def readable(self) -> bool:
        """Return True: this file can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes; 0 only where the file ends together with a stream."""
        data = b""
        while len(buffer) and not data:
            if self.decompressor is None or self.decompressor.needs_input:
                self.unread = self.unread or self.raw.read(PIECE_BYTES)
                if not self.unread and self.decompressor is None:
                    break
                if not self.unread:
                    raise EOFError("the compressed file ends before the end of its last stream")
            if self.decompressor is None:
                self.unread = self.unread.lstrip(b"\0")  # Streams may be padded.
                if not self.unread:
                    continue
                self.decompressor = self.make_decompressor()
            data = self.decompressor.decompress(self.unread, len(buffer))
            self.unread = b""
            if self.decompressor.eof:
                self.unread, self.decompressor = self.decompressor.unused_data, None
        buffer[: len(data)] = data
        return len(data)
