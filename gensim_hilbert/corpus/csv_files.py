"""CSV and TSV with a header. A quoted field may hold line ends, so that these files are read in order."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.opening import open_stream
from gensim_hilbert.corpus.rows import (
    PIECE_BYTES,
    TEXT,
    RowStream,
    TableError,
    TableReader,
    choose_column,
    encode_texts,
    without_line_ends,
)
from gensim_hilbert.corpus.seekable import named_errors

LONGEST_FIELD = (1 << 31) - 1  # characters; Python's own limit of 131,072 is shorter than many a text


class CsvReader(TableReader):
    """Reads a column of a CSV file by Python's csv module, which refuses what is not quoted properly."""

    what = "a CSV file"
    delimiter: ClassVar[str] = ","

    @classmethod
    def look(cls, whole: Block, column: str | None) -> tuple[Self, list[int]] | None:
        """Choose a column by the header."""
        with named_errors(whole.name), open_stream(whole.name, whole.transport_params, whole.facts) as stream:
            header = next(cls.records(stream, whole.name), None)
        if header is None:
            return None
        return cls(*choose_column(whole.name, dict.fromkeys(header, TEXT), column)), []

    @contextmanager
    def open(self, block: Block) -> Iterator[RowStream]:
        """Open the file."""
        with open_stream(block.name, block.transport_params, block.facts) as stream:
            yield RowStream(self.pieces(stream, block.name), stream.bytes_read, stream.check_unchanged)

    def pieces(self, stream: Any, name: str) -> Iterator[bytes]:
        """Yield the text of the column in pieces of about PIECE_BYTES."""
        records = self.records(stream, name)
        header = next(records, [])
        if not header:
            return
        choose_column(name, dict.fromkeys(header, TEXT), self.column)
        number = header.index(self.column)
        texts: list[str] = []
        size = 0
        for row in records:
            if len(row) > len(header):
                raise TableError(
                    f"{name} has a row of {len(row)} fields under a header of {len(header)}, the one that begins with "
                    f"{row[0]!r:.80}; quote fields that hold {self.delimiter!r}"
                )
            if number < len(row) or self.every_row:
                texts.append(row[number] if number < len(row) else "")
                size += len(texts[-1]) + 1
            if size >= PIECE_BYTES:
                yield self.encoded(texts)
                texts, size = [], 0
        yield self.encoded(texts)

    def encoded(self, texts: list[str]) -> bytes:
        """Return texts as lines."""
        return encode_texts(without_line_ends(texts) if self.every_row else texts)

    @classmethod
    def records(cls, stream: Any, name: str) -> Iterator[list[str]]:
        """Yield the records of a stream as lists of fields."""
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
        reader = csv.reader(lines_of(stream), delimiter=cls.delimiter, strict=True)
        try:
            yield from (row for row in reader if row)
        except csv.Error as error:
            raise TableError(f"{name} is not {cls.what}, or damaged: line {reader.line_num}: {error}") from error


class TsvReader(CsvReader):
    """Reads a column of a file whose fields are separated by tabs."""

    what = "a TSV file"
    delimiter = "\t"


def lines_of(stream: Any) -> Iterator[str]:
    """Yield the lines of a stream with their ends; malformed UTF-8 is decoded so that `encode_texts` gives it back."""
    decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
    rest, is_first = "", True
    while True:
        chunk = stream.read(PIECE_BYTES)
        text = decode(chunk, final=not chunk)
        if is_first and text:
            text, is_first = text.removeprefix("\ufeff"), False
        *lines, rest = (rest + text).split("\n") if "\n" in text or not chunk else [rest + text]
        yield from (line + "\n" for line in lines)
        if not chunk:
            break
    if rest:
        yield rest
