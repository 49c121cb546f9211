"""JSON Lines: one object per line. A plain local file is cut into ranges between two lines, like text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, BinaryIO, Self

from gensim_hilbert.corpus import blocks
from gensim_hilbert.corpus.blocks import Block, opened_unchanged
from gensim_hilbert.corpus.opening import open_stream
from gensim_hilbert.corpus.rows import (
    PIECE_BYTES,
    RowStream,
    TableError,
    TableReader,
    choose_column,
    columns_of_rows,
    encode_lists,
    encode_texts,
    without_line_ends,
)
from gensim_hilbert.corpus.seekable import named_errors
from gensim_hilbert.untrusted import parse_json

BYTE_ORDER_MARK = "\ufeff"


class JsonlReader(TableReader):
    """Reads a key of the objects in a file of JSON Lines."""

    what = "a file of JSON lines"
    has_lines = True

    @classmethod
    def look(cls, whole: Block, column: str | None) -> tuple[Self, list[int]] | None:
        """Choose a key of the first objects."""
        with named_errors(whole.name), open_stream(whole.name, whole.transport_params, whole.facts) as stream:
            first_lines = next(whole_lines(stream), b"")
        rows = (row for _, row in objects_in(first_lines, 0, whole.name))
        columns = columns_of_rows(rows, column)
        if not columns:
            return None
        return cls(*choose_column(whole.name, columns, column)), []

    @contextmanager
    def open(self, block: Block) -> Iterator[RowStream]:
        """Open a file that is compressed or remote."""
        with open_stream(block.name, block.transport_params, block.facts) as stream:

            def pieces() -> Iterator[bytes]:
                start = 0
                for lines in whole_lines(stream):
                    yield self._encoded(lines, start, block.name)
                    start += len(lines)

            yield RowStream(pieces(), stream.bytes_read, stream.check_unchanged)

    def text_of(self, data: bytes, block: Block) -> bytes:
        """Return the text of some lines, which is never longer than these."""
        return self._encoded(data, block.start, block.name)

    def _encoded(self, data: bytes, start: int, name: str) -> bytes:
        if self.listed:
            refuse_malformed(data, start, name)
        rows: list[Any] = []
        column, is_row = self.column, is_words if self.listed else is_text
        for place, row in objects_in(data, start, name):
            value = row.get(column)
            if value is None:
                if self.every_row:
                    rows.append([] if self.listed else "")
                continue
            if not is_row(value):
                wanted = "a list of words" if self.listed else "text"
                raise TableError(
                    f"{name}: the line at byte {place()} holds {value!r:.80} as {column!r}, which is not {wanted}"
                )
            rows.append(value)
        if self.listed:
            return encode_lists(rows)
        return encode_texts(without_line_ends(rows) if self.every_row else rows)


def is_text(value: Any) -> bool:
    """Tell whether a value is a text."""
    return isinstance(value, str)


def is_words(value: Any) -> bool:
    """Tell whether a value is a list of words."""
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def refuse_malformed(data: bytes, start: int, name: str) -> None:
    """Raise an error for malformed UTF-8, which `errors` cannot mend in lists of words."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnicodeError(f"{name}: invalid UTF-8 at byte {start + error.start}; mend the file") from None


def objects_in(data: bytes, start: int, name: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the objects in lines, each with a function that tells the place of its line in the file.

    Malformed UTF-8 is decoded so that `encode_texts` gives it back.
    """
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    if start == 0:
        lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
    for number, line in enumerate(lines):
        if not line or line.isspace():
            continue

        def place(number: int = number) -> int:
            return start + sum(len(line.encode("utf-8", "surrogateescape")) + 1 for line in lines[:number])

        try:
            row = parse_json(line)
        except ValueError as error:
            raise TableError(f"{name}: the line at byte {place()} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise TableError(f"{name}: the line at byte {place()} is {line!r:.80} and not a JSON object")
        yield place, row


def whole_lines(stream: Any) -> Iterator[bytes]:
    """Yield a stream in pieces that end at line ends."""
    rest = b""
    while chunk := blocks.read_fully(stream, max(PIECE_BYTES, len(rest))):
        data = rest + chunk
        cut = data.rfind(b"\n") + 1
        if cut:
            yield data[:cut]
        rest = data[cut:]
    if rest:
        yield rest


def cut_lines(whole: Block, size: int) -> Iterator[Block]:
    """Yield ranges of a plain local file, cut at the first line end past every BLOCK_BYTES."""
    start = 0
    with opened_unchanged(whole) as file:
        while start < size:
            stop = next_line(file, start + blocks.BLOCK_BYTES, size)
            yield replace(whole, start=start, stop=stop, cost=stop - start)
            start = stop


def next_line(file: BinaryIO, position: int, size: int) -> int:
    """Return where the first line starts after `position`, or the end of the file."""
    file.seek(position)
    while position < size and (window := file.read(1 << 16)):
        newline = window.find(b"\n")
        if newline >= 0:
            return position + newline + 1
        position += len(window)
    return size
