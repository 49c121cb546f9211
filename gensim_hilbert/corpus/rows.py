"""Rows of tables as text: what every reader of tables does, and the stream of lines that it makes of a table.

A row's text is text: a line end inside it separates sentences, and so does the end of the row. Rows without a value are
skipped. Rows that are lists of words are written as the scanner reads token lists; see cython_ext/scanner.pxd.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Self

from gensim_hilbert.corpus.token_lists import encode_words
from gensim_hilbert.untrusted import damage_named, one_line

if TYPE_CHECKING:
    from gensim_hilbert.corpus.blocks import Block

PIECE_BYTES = 1 << 20  # of a table, turned into text at once
TEXT, TOKENS = "text", "lists of words"  # what a column holds that can be read
ROWS_LOOKED_AT = 1000  # where no schema tells which columns there are
MOST_NAMED = 12  # columns in an error message


class TableError(ValueError):
    """Raised for a table that cannot be read as it is asked for; the same call would fail again."""

    def __reduce__(self) -> Any:
        return type(self), self.args


@dataclass(frozen=True)
class TableReader(ABC):
    """Reads one column of a file. Blocks carry it to those who read them, so that it can be pickled."""

    column: str
    listed: bool = False  # The rows are lists of words and not text.
    groups: tuple[int, int] | None = None  # the first of the groups of rows to read, and the one after the last
    every_row: bool = False  # Each row is one line, also one without a value, and line ends in it are blanks.

    what: ClassVar[str]  # the name of such a file in a sentence
    has_lines: ClassVar[bool] = False  # Any stretch of lines can be read by `text_of`, if the file is plain and local.

    @classmethod
    @abstractmethod
    def look(cls, whole: Block, column: str | None) -> tuple[Self, list[int]] | None:
        """Look into a file; return a reader, and the size of each group of rows that can be read on its own.

        There are no groups in a file that must be read in order. None is returned for a file without rows, which does
        not tell its columns.
        """

    @abstractmethod
    def open(self, block: Block) -> AbstractContextManager[RowStream]:
        """Open a file to read the text of its rows in order."""

    def text_of(self, data: bytes, block: Block) -> bytes:
        """Return the text of rows in a stretch of the file."""
        raise NotImplementedError(f"{self.what} has no stretches that can be read on their own")

    def of_groups(self, first: int, stop: int) -> Self:
        """Return a reader of some of the groups of rows."""
        return replace(self, groups=(first, stop))


class RowStream:
    """The text of rows, read like a file."""

    def __init__(
        self,
        pieces: Iterator[bytes],
        bytes_read: Callable[[], int] | None = None,
        check_unchanged: Callable[[], None] = lambda: None,
    ):
        self.pieces = pieces
        self.bytes_read = bytes_read  # of the file
        self.check_unchanged = check_unchanged
        self.piece, self.position = b"", 0

    def read(self, wanted: int) -> bytes:
        """Return some bytes, at most as many as wanted; none only at the end."""
        while self.position == len(self.piece):
            piece = next(self.pieces, None)
            if piece is None:
                return b""
            self.piece, self.position = piece, 0
        data = self.piece[self.position : self.position + wanted]
        self.position += len(data)
        return data


class PartlyRead:
    """How much of a part of a file has been read, told by its rows."""

    def __init__(self, stored_bytes: int, rows: int):
        self.stored_bytes, self.rows, self.done = stored_bytes, max(1, rows), 0

    def bytes_read(self) -> int:
        """Return the share of the stored bytes that the rows which are done make up."""
        return self.stored_bytes * min(self.done, self.rows) // self.rows


@contextmanager
def table_damage(name: str, description: str) -> Iterator[None]:
    """Turn whatever a library raises for a damaged file into one sentence that names it."""
    try:
        with damage_named(name, description):
            yield
    except TableError:
        raise
    except ValueError as error:
        raise TableError(str(error)) from error
    except MemoryError as error:
        if type(error) is MemoryError:
            raise
        # A damaged file may ask for any amount.
        raise TableError(f"{name} takes more memory than there is, or is damaged: {one_line(error)}") from error


# ---------------------------------------------------------------------------------------------------- columns


def choose_column(name: str, columns: dict[str, str], wanted: str | None) -> tuple[str, bool]:
    """Return the column of text to read, and whether its rows are lists of words.

    `columns` has for each column what it holds: TEXT, TOKENS, or the name of a type that is neither.
    """
    if wanted is not None:
        if wanted not in columns:
            raise TableError(f"{name} has no column {wanted!r}; it has {listing(columns)}")
        if columns[wanted] not in (TEXT, TOKENS):
            raise TableError(
                f"the column {wanted!r} of {name} holds {columns[wanted]} and not text; choose another of "
                f"{listing(columns)}"
            )
        return wanted, columns[wanted] == TOKENS
    for kind in (TEXT, TOKENS):
        fitting = [column for column, held in columns.items() if held == kind]
        if len(fitting) == 1:
            return fitting[0], kind == TOKENS
        if fitting:
            raise TableError(
                f"{name} has {len(fitting)} columns of {kind}: choose one of {listing(fitting)} by column= "
                "(gensim-hilbert --column)"
            )
    raise TableError(f"{name} has no column of text, only {listing(columns)}")


def columns_of_rows(rows: Iterable[dict[str, Any]], wanted: str | None) -> dict[str, str]:
    """Return what each column holds in the first row that has a value for it; what is wanted may have texts later."""
    kinds: dict[str, str | None] = {}
    for row in islice(rows, ROWS_LOOKED_AT):
        for key, value in row.items():
            if kinds.get(key) is None:
                kinds[key] = None if value is None else kind_of(value)
    return {key: kind or (TEXT if key == wanted else "nothing") for key, kind in kinds.items()}


def listing(names: Iterable[str]) -> str:
    """Return names for an error message."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - MOST_NAMED} more" if len(quoted) > MOST_NAMED else ""
    return ", ".join(quoted[:MOST_NAMED]) + more or "no columns at all"


# ---------------------------------------------------------------------------------------------------- rows of Python


def encode_texts(rows: list[str]) -> bytes:
    """Return texts as lines.

    Malformed UTF-8 that was decoded by "surrogateescape" comes out as it was, so that `errors` decides about it.
    """
    if not rows:
        return b""
    text = "\n".join(rows) + "\n"
    for errors in ("strict", "surrogateescape"):
        try:
            return text.encode("utf-8", errors)
        except UnicodeEncodeError:
            continue
    return b"".join(
        one.encode("utf-8", "surrogateescape" if "\udc80" <= one <= "\udcff" else "surrogatepass") for one in text
    )


def without_line_ends(rows: list[str]) -> list[str]:
    """Return texts with blanks in the place of line ends."""
    return [row.replace("\n", " ") for row in rows]


def encode_lists(rows: Iterable[Sequence[str]]) -> bytes:
    """Return lists of words as the scanner reads them."""
    return b"".join(encode_words(row) + b"\xfe" for row in rows)


def kind_of(value: Any) -> str:
    """Tell what a row of Python's own types holds."""
    if isinstance(value, str):
        return TEXT
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return TOKENS
    return type(value).__name__
