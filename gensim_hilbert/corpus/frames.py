"""Tables in memory: objects of pandas, polars, pyarrow and Hugging Face's datasets, none of which is imported for it.

A row that is a str is a text, and a row that is a list is a list of words. Rows without a value are skipped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from itertools import islice
from typing import Any

from gensim_hilbert.corpus.arrow_text import columns_of, text_of_array
from gensim_hilbert.corpus.blocks import Block, cut_stream
from gensim_hilbert.corpus.rows import (
    TEXT,
    TOKENS,
    RowStream,
    TableError,
    choose_column,
    columns_of_rows,
    encode_texts,
    kind_of,
)
from gensim_hilbert.corpus.sources import Corpus, TokenCorpus

ROWS_AT_ONCE = 1000


class Frame(ABC):
    """A table in memory, or one column of it."""

    def __init__(self, data: Any):
        self.data = data
        self.name = f"<{package_of(type(data))} {type(data).__name__}>"

    @abstractmethod
    def columns(self) -> dict[str, str] | None:
        """Return what each column holds; None if there is only one, which has no name."""

    @abstractmethod
    def chunks(self, column: str | None) -> Iterator[Any]:
        """Yield the rows of a column in order: arrays of Arrow, or lists without nulls."""

    def rows(self, column: str | None) -> Iterator[Any]:
        """Yield the rows that have a value."""
        for chunk in self.chunks(column):
            values = chunk if isinstance(chunk, list) else chunk.to_pylist()
            yield from (value for value in values if value is not None)

    def all_rows(self) -> Iterator[Any]:
        """Yield all rows of a column that is alone, None for those without a value."""
        yield from self.data


class TextList(Frame):
    """A list of texts."""

    def __init__(self, data: list[str]):
        self.data, self.name = data, "<list>"

    def columns(self) -> dict[str, str] | None:
        """Return None, as a list is one column."""
        return None

    def chunks(self, column: str | None) -> Iterator[Any]:
        """Yield the whole list."""
        yield self.data


class PandasFrame(Frame):
    """A Series or a DataFrame of pandas."""

    def columns(self) -> dict[str, str] | None:
        """Return what the first row that has a value holds."""
        if self.data.ndim == 1:
            return None
        return {name: first_kind(self.rows(name)) for name in self.data.columns}

    def chunks(self, column: str | None) -> Iterator[Any]:
        """Yield lists."""
        series = self.data if column is None else self.data[column]
        for start in range(0, len(series), ROWS_AT_ONCE):
            yield series.iloc[start : start + ROWS_AT_ONCE].dropna().tolist()

    def all_rows(self) -> Iterator[Any]:
        """Yield None for each of the ways in which pandas says that there is no value."""
        for value, is_missing in zip(self.data, self.data.isna(), strict=True):
            yield None if is_missing else value


class PolarsFrame(Frame):
    """A Series or a DataFrame of polars."""

    def columns(self) -> dict[str, str] | None:
        """Return what the first row that has a value holds."""
        if not hasattr(self.data, "columns"):
            return None
        return {name: first_kind(self.rows(name)) for name in self.data.columns}

    def chunks(self, column: str | None) -> Iterator[Any]:
        """Yield lists."""
        series = self.data if column is None else self.data.get_column(column)
        for start in range(0, len(series), ROWS_AT_ONCE):
            yield series.slice(start, ROWS_AT_ONCE).drop_nulls().to_list()


class ArrowFrame(Frame):
    """An Array, ChunkedArray, RecordBatch, Table or Dataset of pyarrow."""

    def columns(self) -> dict[str, str] | None:
        """Return what the schema tells."""
        return columns_of(self.data.schema) if hasattr(self.data, "schema") else None

    def chunks(self, column: str | None) -> Iterator[Any]:
        """Yield arrays."""
        if column is None:
            arrays = getattr(self.data, "chunks", None)
            yield from [self.data] if arrays is None else arrays
        elif hasattr(self.data, "column"):
            yield from ArrowFrame(self.data.column(column)).chunks(None)
        else:
            for batch in self.data.to_batches(columns=[column]):
                yield batch.column(column)

    def all_rows(self) -> Iterator[Any]:
        """Yield objects of Python."""
        for array in self.chunks(None):
            yield from array.to_pylist()


class HuggingFaceFrame(Frame):
    """A Dataset, an IterableDataset, or a column of one of them."""

    def columns(self) -> dict[str, str] | None:
        """Return what the features tell, or else the first examples."""
        if "Column" in type(self.data).__name__:
            return None
        if self.data.features is not None:
            return {name: kind_of_feature(feature) for name, feature in self.data.features.items()}
        return columns_of_rows(self.data, None)

    def chunks(self, column: str | None) -> Iterator[Any]:
        """Yield arrays of a Dataset, and lists of what streams."""
        if column is None:
            rows = iter(self.data)
            while chunk := list(islice(rows, ROWS_AT_ONCE)):
                yield [value for value in chunk if value is not None]
        elif hasattr(self.data, "select") and hasattr(self.data, "__len__"):
            for table in self.data.select_columns([column]).with_format("arrow").iter(ROWS_AT_ONCE):
                yield from table.column(column).chunks
        else:
            for batch in self.data.iter(ROWS_AT_ONCE):
                if column not in batch:
                    raise TableError(f"{self.name} has no column {column!r} in some of its rows")
                yield [value for value in batch[column] if value is not None]


def first_kind(rows: Iterator[Any]) -> str:
    """Tell what the first of some rows holds."""
    first = next(rows, None)
    return "nothing" if first is None else kind_of(first)


def kind_of_feature(feature: Any) -> str:
    """Tell what a feature of Hugging Face's datasets holds."""
    dtype = getattr(feature, "dtype", "")
    if dtype in ("string", "large_string"):
        return TEXT
    inner = getattr(feature, "feature", None)  # of lists, under any of the names that they have had
    return TOKENS if getattr(inner, "dtype", "") in ("string", "large_string") else dtype or type(feature).__name__


FRAMES: dict[tuple[str, str], type[Frame]] = {
    **{("pandas", name): PandasFrame for name in ("Series", "DataFrame")},
    **{("polars", name): PolarsFrame for name in ("Series", "DataFrame")},
    **{("pyarrow", name): ArrowFrame for name in ("Array", "ChunkedArray", "RecordBatch", "Table", "Dataset")},
    **{("datasets", n): HuggingFaceFrame for n in ("Dataset", "IterableDataset", "Column", "IterableColumn")},
}
WAYS_OUT = {
    ("polars", "LazyFrame"): "call its collect()",
    ("pyarrow", "RecordBatchReader"): "it can be read only once, so pass its read_all()",
    ("pyarrow", "Scanner"): "call its to_table()",
    ("datasets", "DatasetDict"): "choose one of its splits, such as dataset['train']",
    ("datasets", "IterableDatasetDict"): "choose one of its splits, such as dataset['train']",
}


def package_of(kind: type) -> str:
    """Return the name of the package that a class is from."""
    return kind.__module__.partition(".")[0]


def frame_of(data: Any) -> Frame | None:
    """Return an object as a table, or None if it is none; recognised by the names of its class and its bases."""
    for kind in type(data).__mro__:
        name = package_of(kind), kind.__name__
        if name in FRAMES:
            return FRAMES[name](data)
        if name in WAYS_OUT:
            raise TypeError(f"a {type(data).__name__} of {name[0]} is not read as a corpus; {WAYS_OUT[name]}")
    return None


def frame_corpus(frame: Frame, column: str | None) -> Corpus:
    """Return the corpus of one column of a table in memory."""
    columns = frame.columns()
    if columns is None and column is not None:
        raise TableError(f"{frame.name} is one column already: leave out column= ({column!r})")
    if columns is not None:
        column, _ = choose_column(frame.name, columns, column)
    first = next(frame.rows(column), None)
    corpus = FrameCorpus(frame, column) if first is None or isinstance(first, str) else TokenCorpus(Rows(frame, column))
    corpus.names = [frame.name]
    return corpus


class Rows:
    """Rows that are lists of words; words without a value are skipped."""

    def __init__(self, frame: Frame, column: str | None):
        self.frame, self.column = frame, column

    def __iter__(self) -> Iterator[Any]:
        for row in self.frame.rows(self.column):
            yield [word for word in row if word is not None] if isinstance(row, list) else row


class FrameCorpus(Corpus):
    """Rows that are texts."""

    def __init__(self, frame: Frame, column: str | None):
        self.frame, self.column = frame, column
        self.names = [frame.name]

    def blocks(self, *, streams: bool) -> Generator[Block]:
        """Yield all blocks in order; they are always made here."""
        whole = Block(source=0, start=0, stop=None, name=self.names[0], preparation=self.preparation)
        yield from cut_stream(RowStream(self._pieces()), whole)

    def _pieces(self) -> Iterator[bytes]:
        for chunk in self.frame.chunks(self.column):
            if isinstance(chunk, list):
                yield encode_texts(self._checked(chunk))
            else:
                yield from text_of_array(chunk, listed=False)

    def _checked(self, rows: list[Any]) -> list[str]:
        for row in rows:
            if not isinstance(row, str):
                raise TableError(f"{self.names[0]} holds {row!r:.80}, a {type(row).__name__}, among rows of text")
        return rows
