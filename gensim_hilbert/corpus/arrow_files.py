"""Arrow's IPC files (.arrow, .feather), whose record batches are read on their own, and its streams, read in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from typing import Any, BinaryIO, Self

from gensim_hilbert.corpus.arrow_text import columns_of, import_pyarrow, text_of_array
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.rows import PartlyRead, RowStream, TableReader, choose_column, table_damage
from gensim_hilbert.corpus.seekable import has_ranges, opened_seekable

MAGIC = b"ARROW1"  # of files; streams, such as those of Hugging Face's datasets, have none


class ArrowReader(TableReader):
    """Reads a column of an Arrow file."""

    what = "an Arrow file"

    @classmethod
    def look(cls, whole: Block, column: str | None) -> tuple[Self, list[int]] | None:
        """Choose a column by the schema; the groups are the record batches of a file, taken to be of one size."""
        with opened_arrow(whole, None) as (_, opened, batches):
            reader = cls(*choose_column(whole.name, columns_of(opened.schema), column))
        size = (whole.facts.size or 0) // (batches or 1)
        return reader, [size] * (batches or 0) if has_ranges(whole) else []

    @contextmanager
    def open(self, block: Block) -> Iterator[RowStream]:
        """Open the file to read some of its record batches."""
        with opened_arrow(block, self.column) as (file, opened, batches):
            choose_column(block.name, columns_of(opened.schema), self.column)
            numbers = range(*(self.groups or (0, batches or 0)))
            progress = PartlyRead(block.cost, len(numbers) if batches else block.facts.size or 0)

            def pieces() -> Iterator[bytes]:
                with table_damage(block.name, self.what):
                    for batch in opened if batches is None else map(opened.get_batch, numbers):
                        yield from text_of_array(checked(batch.column(self.column)), self.listed, self.every_row)
                        progress.done = progress.done + 1 if batches else file.tell()
                progress.done = progress.rows  # A stream has an end mark besides.

            yield RowStream(pieces(), progress.bytes_read)


@contextmanager
def opened_arrow(block: Block, column: str | None) -> Iterator[tuple[BinaryIO, Any, int | None]]:
    """Open a file with pyarrow, to read one column.

    Yields the file, pyarrow's reader, and how many batches there are, or None if they come in a stream.
    """
    pyarrow = import_pyarrow()
    with opened_seekable(block) as file, table_damage(block.name, ArrowReader.what):
        is_file = file.read(len(MAGIC)) == MAGIC
        file.seek(0)
        open_reader = pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream
        if is_file and not block.facts.is_stream:  # Mapped, columns that are not wanted cost nothing.
            mapped = mmap(file.fileno(), 0, access=ACCESS_READ)
            with open_reader(pyarrow.py_buffer(mapped)) as opened:
                yield file, opened, opened.num_record_batches
            return
        number = -1 if column is None else open_reader(file).schema.get_field_index(column)
        file.seek(0)
        only = {"options": pyarrow.ipc.IpcReadOptions(included_fields=[number])} if number >= 0 else {}
        with open_reader(file, **only) as opened:
            yield file, opened, opened.num_record_batches if is_file else None


def checked(array: Any) -> Any:
    """Return an array whose places in memory are known to be right: the file may have been written by anybody.

    Whether text is UTF-8 is left to those who read it.
    """
    pyarrow = import_pyarrow()
    plain = {pyarrow.string(): pyarrow.binary(), pyarrow.large_string(): pyarrow.large_binary()}
    (array.view(plain[array.type]) if array.type in plain else array).validate(full=True)
    return array
