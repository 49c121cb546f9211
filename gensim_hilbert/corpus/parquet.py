"""Parquet: groups of rows are read on their own, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from gensim_hilbert.corpus.arrow_text import columns_of, import_pyarrow, text_of_array
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.rows import PIECE_BYTES, PartlyRead, RowStream, TableReader, choose_column, table_damage
from gensim_hilbert.corpus.seekable import has_ranges, opened_seekable

MOST_ROWS = 1 << 16  # read at once


class ParquetReader(TableReader):
    """Reads a column of a Parquet file."""

    what = "a Parquet file"

    @classmethod
    def look(cls, whole: Block, column: str | None) -> tuple[Self, list[int]] | None:
        """Choose a column by the schema; the groups are the file's row groups."""
        with opened_parquet(whole) as file:
            reader = cls(*choose_column(whole.name, columns_of(file.schema_arrow), column))
            sizes = [reader.size_of(file, group) for group in range(file.num_row_groups)]
        return reader, sizes if has_ranges(whole) else []

    @contextmanager
    def open(self, block: Block) -> Iterator[RowStream]:
        """Open the file to read some of its row groups."""
        with opened_parquet(block) as file:
            groups = range(*(self.groups or (0, file.num_row_groups)))
            choose_column(block.name, columns_of(file.schema_arrow), self.column)
            rows = sum(file.metadata.row_group(group).num_rows for group in groups)
            progress = PartlyRead(block.cost, rows)

            def pieces() -> Iterator[bytes]:
                with table_damage(block.name, self.what):
                    for group in groups:
                        yield from self.text_of_group(file, group, progress)

            yield RowStream(pieces(), progress.bytes_read)

    def text_of_group(self, file: Any, group: int, progress: PartlyRead) -> Iterator[bytes]:
        """Yield the text of a row group, of which only a small part is in memory at once."""
        rows = file.metadata.row_group(group).num_rows
        at_once = rows * PIECE_BYTES // max(1, self.size_of(file, group))
        batches = file.iter_batches(
            batch_size=max(1, min(MOST_ROWS, at_once)), row_groups=[group], columns=[self.column], use_threads=False
        )
        for batch in batches:
            progress.done += batch.num_rows
            yield from text_of_array(batch.column(self.column), self.listed, self.every_row)

    def size_of(self, file: Any, group: int) -> int:
        """Return how many bytes the column has in a row group, uncompressed, as the file tells."""
        facts = file.metadata.row_group(group)
        parts = [facts.column(k) for k in range(facts.num_columns)]
        mine = [part for part in parts if f"{part.path_in_schema}.".startswith(f"{self.column}.")]  # or its lists
        return max(0, sum(int(part.total_uncompressed_size) for part in mine))


@contextmanager
def opened_parquet(block: Block) -> Iterator[Any]:
    """Open a file with pyarrow, which reads columns in small steps."""
    pyarrow = import_pyarrow()
    with (
        opened_seekable(block) as file,
        table_damage(block.name, ParquetReader.what),
        pyarrow.parquet.ParquetFile(file, buffer_size=PIECE_BYTES, pre_buffer=False) as opened,
    ):
        yield opened
