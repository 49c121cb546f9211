"""Blocks: stretches of a source, cut between two words, that can be read in any order by anybody.

A block of a plain local file is only a range, read by whoever counts it. Compressed and remote files have to be read in
order, and so do token lists. A table has a reader, which makes text of its rows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

from gensim_hilbert.corpus.identity import NOTHING_KNOWN, CorpusChanged, FileFacts, local_facts, refuse_change
from gensim_hilbert.corpus.opening import open_stream
from gensim_hilbert.corpus.rows import TableError, TableReader

if TYPE_CHECKING:
    from gensim_hilbert.corpus.preparation import Preparation

BLOCK_BYTES = 1 << 20
# The place of a token in the corpus is one number: there is room for 16 TB per source, and for a million sources.
SOURCE_SHIFT = 44
MOST_SOURCES = 1 << (64 - SOURCE_SHIFT)
_BLANK = re.compile(rb"[ \t\r\v\f]")


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes `start` to `stop` of a source, uncompressed; `data` is None if they are still to be read."""

    source: int
    start: int
    stop: int | None  # None for a whole source that must be read in order
    name: str  # a path, a URI, or a description
    data: bytes | None = None
    inside: bool = False  # It starts in the middle of a sentence: some word of that came before.
    open: bool = False  # It ends in the middle of a sentence.
    listed: bool = False  # It holds token lists and not text; see cython_ext/scanner.pxd.
    cost: int = 0  # bytes that are read from a disk or a network for it
    transport_params: dict[str, Any] | None = None
    facts: FileFacts = NOTHING_KNOWN  # what its file was at the first look
    number: int = 0  # of its place among the blocks of a stream
    is_last: bool = False  # It is the last block of a stream; it may be empty.
    unwanted: frozenset[int] = frozenset()  # starts of blocks of this stream that need not be yielded
    reader: TableReader | None = None  # of the table that the source is, or is a part of
    preparation: Preparation | None = None  # what whoever reads it does with its text before words are counted

    @property
    def place(self) -> int:
        """The place of its first byte in the corpus."""
        return (self.source << SOURCE_SHIFT) + self.start

    def has_begun(self, line: bytes) -> bool:
        """Tell whether the last sentence of the beginning of a line, which is not blank, goes on behind it."""
        return self.preparation is None or not self.preparation.ends_sentence(line)

    def read(self) -> Iterator[Block]:
        """Yield the same stretch as blocks that hold their data."""
        if self.data is not None:
            yield self
        elif self.stop is None:
            with self._open() as stream:
                for block in cut_stream(stream, self):
                    if block.is_last:
                        stream.check_unchanged()
                    if block.start not in self.unwanted:
                        yield block
        else:
            with opened_unchanged(self) as file:
                file.seek(self.start)
                data = file.read(self.stop - self.start)
            yield replace(self, data=self.reader.text_of(data, self) if self.reader else data)

    def _open(self) -> Any:
        """Open a source that must be read in order."""
        if self.reader is not None:
            return self.reader.open(self)
        return open_stream(self.name, self.transport_params, self.facts)


# ---------------------------------------------------------------------------------------------------- streams


def cut_stream(stream: Any, whole: Block) -> Iterator[Block]:
    """Yield blocks of about BLOCK_BYTES, cut after the last line end, or failing that after the last blank."""
    line_end, blanks = (b"\xfe", (b"\xff",)) if whole.listed else (b"\n", (b" ", b"\t", b"\r", b"\v", b"\f"))
    bytes_read = getattr(stream, "bytes_read", None)
    rest, start, inside, seen, number = b"", 0, False, 0, 0
    while True:
        try:
            chunk = read_fully(stream, max(BLOCK_BYTES, len(rest)))  # doubling, so that a huge word costs linear time
        except (CorpusChanged, MemoryError, UnicodeError, TableError):
            raise
        except Exception as error:  # Every decompressor and client raises its own: zlib.error, LZMAError, ClientError.
            if whole.reader is not None and isinstance(error, OSError) and whole.name in str(error):
                raise
            raise OSError(f"{whole.name} cannot be read past byte {start + len(rest)} of its text: {error}") from error
        data = rest + chunk if rest else chunk
        cut = len(data)
        if chunk:
            cut = data.rfind(line_end) + 1 or 1 + max(data.rfind(blank) for blank in blanks)
        if cut or not chunk:
            now = bytes_read() if bytes_read else seen + cut
            is_open = bool(chunk) and data[cut - 1] != line_end[0]
            begun = is_open and whole.listed  # Lists are cut after words only.
            if is_open and not whole.listed:
                line = data[:cut].rpartition(line_end)
                begun = whole.has_begun(line[2]) if has_words(line[2]) else inside and not line[1]
            yield replace(
                whole,
                start=start,
                stop=start + cut,
                data=data[:cut],
                inside=inside,
                open=is_open,
                cost=now - seen,
                number=number,
                is_last=not chunk,
                unwanted=frozenset(),
            )
            seen, start, inside, number = now, start + cut, begun, number + 1
        if not chunk:
            return
        rest = data[cut:]


def read_fully(stream: Any, wanted: int) -> bytes:
    """Read so many bytes, fewer only at the end: cuts must not depend on how a stream deals out its data."""
    parts = []
    while wanted > 0 and (part := stream.read(wanted)):
        parts.append(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part)
        wanted -= len(part)
    return b"".join(parts)


# ---------------------------------------------------------------------------------------------------- plain files


def cut_file(whole: Block, size: int) -> Iterator[Block]:
    """Yield ranges of a plain local file, cut at the first line end or blank past every BLOCK_BYTES."""
    start, inside = 0, False
    with opened_unchanged(whole) as file:
        while start < size:
            stop, is_open = next_cut(file, start + BLOCK_BYTES, size)
            yield replace(whole, start=start, stop=stop, inside=inside, open=is_open, cost=stop - start)
            start, inside = stop, is_open and has_begun(file, stop, whole)


@contextmanager
def opened_unchanged(block: Block) -> Iterator[BinaryIO]:
    """Open a plain local file that must be what it was at the first look, now and after it has been read."""
    with open(block.name, "rb") as file:

        def check() -> None:
            refuse_change(block.name, block.facts, local_facts(block.name, os.fstat(file.fileno())))

        check()
        yield file
        check()


def next_cut(file: BinaryIO, position: int, size: int) -> tuple[int, bool]:
    """Return the first place at or after `position` where one can cut, and whether that is inside a line."""
    while position < size:
        file.seek(position)
        window = file.read(1 << 12)  # Most lines end there: this is done for one thread at a time.
        if not window:
            break
        newline = window.find(b"\n")
        if newline < 0:
            window += file.read((1 << 16) - len(window))
            newline = window.find(b"\n")
        if newline >= 0:
            return position + newline + 1, False
        blank = _BLANK.search(window)
        if blank:
            return min(position + blank.end(), size), position + blank.end() < size
        position += len(window)
    return size, False


def has_begun(file: BinaryIO, position: int, whole: Block) -> bool:
    """Tell whether a sentence has begun, and not ended, between the start of the line and `position`."""
    while position > 0:
        start = max(0, position - 4096)
        file.seek(start)
        _, newline, line = file.read(position - start).rpartition(b"\n")
        if has_words(line):
            if not newline:  # What ends a sentence may depend on the word before the last mark.
                file.seek(max(0, start - 64))
                line = file.read(position - file.tell()).rpartition(b"\n")[2]
            return whole.has_begun(line)
        if newline:
            return False
        position = start
    return False


def has_words(line: bytes) -> bool:
    """Tell whether there is anything but white space, of which Unicode has more than ASCII."""
    return bool(line.decode("utf-8", "ignore").strip())
