"""Blocks: stretches of a source, cut between two words, that can be read in any order by anybody.

A block of a plain local file is only a range, read by whoever counts it. Compressed and remote files have to be read in
order, and so do token lists. A table has a reader, which makes text of its rows.

Text is cut behind the first line end in the 64 kB that follow each megabyte. If these hold none, it is cut behind the
first blank in them, and if they hold neither, in the next 64 kB. The same holds for plain files and for streams, so
that functions and phrases, which see a long line in pieces, see the same ones in both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from gensim_hilbert.corpus.identity import NOTHING_KNOWN, CorpusChanged, FileFacts, local_facts, refuse_change
from gensim_hilbert.corpus.opening import open_stream
from gensim_hilbert.corpus.rows import TableError, TableReader

if TYPE_CHECKING:
    from gensim_hilbert.corpus.preparation import Preparation

BLOCK_BYTES = 1 << 20
# The place of a token in the corpus is one number: there is room for 16 TB per source, and for a million sources.
SOURCE_SHIFT = 44
MOST_SOURCES = 1 << (64 - SOURCE_SHIFT)


class CutMarks(NamedTuple):
    """Bytes behind which text can be cut."""

    line_end: bytes
    blank: re.Pattern[bytes]

    def cut_in(self, data: bytes, start: int, stop: int) -> int:
        """Return the place behind the first line end of a window of `data`, or else its first blank; 0 without any."""
        line_end = data.find(self.line_end, start, stop)
        if line_end >= 0:
            return line_end + 1
        blank = self.blank.search(data, start, stop)
        return blank.end() if blank else 0


LINES = CutMarks(b"\n", re.compile(rb"[ \t\r\v\f]"))
LISTS = CutMarks(b"\xfe", re.compile(rb"\xff"))  # See cython_ext/scanner.pxd.


def window_bytes() -> int:
    """Return how far behind each BLOCK_BYTES a line end is looked for before a line is cut at a blank."""
    return max(16, BLOCK_BYTES // 16)


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
    """Yield blocks of about BLOCK_BYTES, cut at the same places as a plain file with the same text."""
    marks = LISTS if whole.listed else LINES
    bytes_read = getattr(stream, "bytes_read", None)
    data, start, inside, seen, number, is_complete = b"", 0, False, 0, 0, False
    position = BLOCK_BYTES  # in `data`: there is no place to cut between BLOCK_BYTES and here
    while True:
        wanted = position + window_bytes() - len(data)
        if wanted > 0 and not is_complete:
            wanted = max(wanted, BLOCK_BYTES, len(data))  # doubling, so that a huge word costs linear time
            try:
                chunk = read_fully(stream, wanted)
            except (CorpusChanged, MemoryError, UnicodeError, TableError):
                raise
            except Exception as error:  # Every decompressor and client has its own: zlib.error, LZMAError, ClientError.
                if whole.reader is not None and isinstance(error, OSError) and whole.name in str(error):
                    raise
                place = start + len(data)
                raise OSError(f"{whole.name} cannot be read past byte {place} of its text: {error}") from error
            data, is_complete = data + chunk if data else chunk, len(chunk) < wanted
        cut = marks.cut_in(data, position, position + window_bytes())
        is_last = is_complete and not cut and position >= len(data)
        if is_last:
            cut = len(data)
        elif not cut:
            position += window_bytes()
            continue
        now = bytes_read() if bytes_read else seen + cut
        is_open = not is_last and data[cut - 1] != marks.line_end[0]
        begun = is_open and whole.listed  # Lists are cut after words only.
        if is_open and not whole.listed:
            line = data[:cut].rpartition(marks.line_end)
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
            is_last=is_last,
            unwanted=frozenset(),
        )
        if is_last:
            return
        seen, start, inside, number = now, start + cut, begun, number + 1
        data, position = data[cut:], BLOCK_BYTES


def read_fully(stream: Any, wanted: int) -> bytes:
    """Read so many bytes, fewer only at the end: cuts must not depend on how a stream deals out its data."""
    parts = []
    while wanted > 0 and (part := stream.read(wanted)):
        parts.append(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part)
        wanted -= len(part)
    return b"".join(parts)


# ---------------------------------------------------------------------------------------------------- plain files


def cut_file(whole: Block, size: int) -> Iterator[Block]:
    """Yield ranges of a plain local file of about BLOCK_BYTES."""
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
        window = file.read(min(1 << 12, window_bytes()))  # Most lines end there: this is done for one thread at a time.
        if not window:
            break
        if LINES.line_end not in window:
            window += file.read(window_bytes() - len(window))
        cut = LINES.cut_in(window, 0, len(window))
        if cut:
            return position + cut, position + cut < size and window[cut - 1] != LINES.line_end[0]
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
