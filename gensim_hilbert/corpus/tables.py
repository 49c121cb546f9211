"""Corpora of tables: which files are tables, by their names, and in which parts they are read."""

from __future__ import annotations

import re
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from itertools import accumulate

from gensim_hilbert.corpus import blocks
from gensim_hilbert.corpus.arrow_files import ArrowReader
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.csv_files import CsvReader, TsvReader
from gensim_hilbert.corpus.identity import FileFacts
from gensim_hilbert.corpus.jsonl import JsonlReader, cut_lines
from gensim_hilbert.corpus.parquet import ParquetReader
from gensim_hilbert.corpus.rows import TableReader
from gensim_hilbert.corpus.sources import TextCorpus
from gensim_hilbert.corpus.web import TransportParams
from gensim_hilbert.corpus.wikipedia import WikipediaReader
from gensim_hilbert.locations import is_local, uncompressed_name

READERS: dict[str, type[TableReader]] = {
    r"\.parquet": ParquetReader,
    r"\.(arrow|feather)": ArrowReader,
    r"\.(jsonl|ndjson)": JsonlReader,
    r"\.csv": CsvReader,
    r"\.tsv": TsvReader,
    r"\.xml(-p\d+p\d+\S*)?": WikipediaReader,  # Large dumps come in parts, with the numbers of their pages.
}
Look = tuple[TableReader, list[int]] | None  # what `TableReader.look` has found
BLOCKS_PER_PART = 4  # A part of a file is as large as several blocks: opening it has its price.
LOOKED_UP_AT_ONCE = 16  # remote files


def reader_of(name: str) -> type[TableReader] | None:
    """Return the class that reads a table of this name, or None if the name is not that of a table."""
    plain = uncompressed_name(name)
    return next((reader for suffix, reader in READERS.items() if re.search(f"{suffix}$", plain)), None)


def are_tables(names: list[str], column: str | None) -> bool:
    """Tell whether files are tables; some that are and some that are not are refused."""
    others = [name for name in names if reader_of(name) is None]
    if column is None and len(others) == len(names):
        return False
    if not others:
        return True
    table = next((name for name in names if reader_of(name) is not None), None)
    if table is None:
        raise ValueError(
            f"column={column!r} is for tables (.parquet, .arrow, .feather, .jsonl, .csv, .tsv), but {others[0]} is none"
        )
    raise ValueError(
        f"{table} is a table, but {others[0]} is none; name the tables by a pattern such as '*{suffix_of(table)}', or "
        "count text and tables on their own"
    )


def suffix_of(name: str) -> str:
    """Return the end of a name that tells what the file is, with that of its compression."""
    end = re.search(r"\.[a-z]+(\.[a-z0-9]+)?$", name.rpartition("/")[2], re.IGNORECASE)
    return end.group() if end else ""


class TableCorpus(TextCorpus):
    """Files of tables, of which one column is read.

    A source is a part of a file that is read in order: some row groups of a Parquet file, some record batches of an
    Arrow file, or else the whole file. So the places of words grow from part to part, though nobody knows how much text
    a part holds before it is read.
    """

    def __init__(
        self,
        names: list[str],
        transport_params: TransportParams = None,
        known: dict[str, FileFacts] | None = None,
        column: str | None = None,
    ):
        super().__init__(names, transport_params, known)
        for name, facts in zip(names, self.facts, strict=True):
            if not facts.can_repeat:
                raise ValueError(f"{name} can be read only once, but a table is looked into first: save it to a file")
        self.parts = self._find_parts(column)
        if self.fingerprint is not None:
            columns = {part.name: part.reader.column for part in self.parts if part.reader}
            self.fingerprint = [[*file, columns.get(file[0])] for file in self.fingerprint]

    def _find_parts(self, column: str | None) -> list[Block]:
        """Look into the files, and return the blocks that they are read by."""
        wholes = [
            Block(0, 0, None, name, transport_params=self.transport_params, facts=facts, cost=facts.size or 0)
            for name, facts in zip(self.names, self.facts, strict=True)
        ]
        looks = self._look(wholes, column)
        least = BLOCKS_PER_PART * blocks.BLOCK_BYTES
        while True:
            parts = [part for whole, look in zip(wholes, looks, strict=True) for part in divide(whole, look, least)]
            if len(parts) <= blocks.MOST_SOURCES:
                return [replace(part, source=number) for number, part in enumerate(parts)]
            least *= 2

    def _look(self, wholes: list[Block], column: str | None) -> list[Look]:
        """Look into every file that has parts, and into the first of each other kind that has rows."""
        chosen: dict[type[TableReader], TableReader] = {}
        looks: list[Look] = [None] * len(wholes)
        later: list[int] = []
        for number, whole in enumerate(wholes):
            kind = reader_of(whole.name)
            assert kind is not None
            if kind not in chosen:
                looks[number] = kind.look(whole, column)
                if (look := looks[number]) is not None:
                    chosen[kind] = look[0]
                    column = column if kind is WikipediaReader else look[0].column
            elif kind in (ParquetReader, ArrowReader):
                later.append(number)
            else:
                looks[number] = chosen[kind], []

        def look_into(number: int) -> Look:
            kind = reader_of(wholes[number].name)
            assert kind is not None
            return kind.look(wholes[number], chosen[kind].column)

        threads = LOOKED_UP_AT_ONCE if any(not is_local(wholes[number].name) for number in later) else 1
        with ThreadPoolExecutor(threads) as pool:
            for number, look in zip(later, pool.map(look_into, later), strict=True):
                looks[number] = look
        return looks

    def by_rows(self) -> TableCorpus:
        """Return the same corpus with one line per row: none is skipped, and line ends in texts are blanks."""
        corpus = copy(self)
        corpus.parts = [
            part if part.reader is None else replace(part, reader=replace(part.reader, every_row=True))
            for part in self.parts
        ]
        return corpus

    @property
    def streams(self) -> int:
        """How many of its parts are read in order."""
        return sum(not is_cut(part) for part in self.parts)

    def blocks(self, *, streams: bool) -> Generator[Block]:
        """Yield all blocks in order."""
        for part in self.parts:
            part = replace(part, preparation=self.preparation)
            if is_cut(part):
                yield from cut_lines(part, part.facts.size or 0)
            elif streams:
                yield from part.read()
            else:
                yield part


def is_cut(part: Block) -> bool:
    """Tell whether a file is cut into ranges, which anybody can read."""
    return part.reader is not None and part.reader.has_lines and not part.facts.is_stream


def divide(whole: Block, look: Look, least: int) -> list[Block]:
    """Return the parts of a file: groups of rows that have `least` bytes together, or all that there is."""
    if look is None:
        return []
    reader, sizes = look
    whole = replace(whole, reader=reader, listed=reader.listed)
    if not sizes:
        return [whole]
    parts, first = [], 0
    places = [0, *accumulate(sizes)]
    total = max(1, places[-1])
    for stop in range(1, len(sizes) + 1):
        if places[stop] - places[first] >= least or stop == len(sizes):
            cost = whole.cost * places[stop] // total - whole.cost * places[first] // total
            parts.append(replace(whole, reader=reader.of_groups(first, stop), cost=cost))
            first = stop
    return parts
