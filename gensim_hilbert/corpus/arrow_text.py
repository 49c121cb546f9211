"""Arrays of Arrow as text; pyarrow is imported only when there are some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gensim_hilbert.corpus.rows import PIECE_BYTES, TEXT, TOKENS, encode_lists


def import_pyarrow() -> Any:
    """Import pyarrow, or raise an error that tells what to install."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"Parquet and Arrow need pyarrow ({error}): pip install 'gensim-hilbert[parquet]'") from error
    return pyarrow


def columns_of(schema: Any) -> dict[str, str]:
    """Return what each column of a schema holds."""
    return {field.name: kind_of_type(field.type) for field in schema}


def kind_of_type(kind: Any) -> str:
    """Tell whether a type is text, lists of words or something else."""
    types = import_pyarrow().types
    if types.is_dictionary(kind):
        return TEXT if kind_of_type(kind.value_type) == TEXT else str(kind)
    if is_string(kind):
        return TEXT
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return TOKENS if kind_of_type(kind.value_type) == TEXT else str(kind)
    return str(kind)


def is_string(kind: Any) -> bool:
    """Tell whether a type is one of those for strings."""
    types = import_pyarrow().types
    is_view = getattr(types, "is_string_view", lambda kind: False)  # pyarrow has views since version 16
    return bool(types.is_string(kind) or types.is_large_string(kind) or is_view(kind))


def text_of_array(array: Any, listed: bool, every_row: bool = False) -> Iterator[bytes]:
    """Yield the text of an array, or its lists of words, in pieces of about PIECE_BYTES.

    With `every_row`, each row is one line, also one without a value, and line ends in it are blanks.
    """
    slices = -(-array.nbytes // PIECE_BYTES) or 1
    rows = -(-len(array) // slices) or 1
    for start in range(0, len(array), rows):
        part = array.slice(start, rows)
        yield joined_lists(part, every_row) if listed else joined_texts(part, every_row)


def joined_texts(array: Any, every_row: bool) -> bytes:
    """Return strings as lines. They may be malformed UTF-8, about which `errors` decides later."""
    pa = import_pyarrow()
    texts = array.cast(pa.large_string()).cast(pa.large_binary())
    if every_row:
        texts = pa.compute.replace_substring(texts.fill_null(b""), pattern=b"\n", replacement=b" ")
    texts = texts.drop_null()
    return joined(texts, b"\n") + b"\n" if len(texts) else b""


def joined_lists(array: Any, every_row: bool) -> bytes:
    """Return lists of strings as the scanner reads them."""
    pa = import_pyarrow()
    array.validate(full=True)  # Bytes that are not UTF-8 would pass for ends of words.
    lists = array.cast(pa.large_list(pa.large_binary())).drop_null()
    if lists.flatten().null_count or every_row:
        rows = (array if every_row else array.drop_null()).to_pylist()
        return encode_lists([word for word in row or [] if word is not None] for row in rows)
    lengths = pa.compute.list_value_length(lists)
    end, empty, nothing = (pa.scalar(value, pa.large_binary()) for value in (b"\xff\xfe", b"\xfe", b""))
    ends = pa.compute.if_else(pa.compute.greater(lengths, 0), end, empty)
    sentences = pa.compute.binary_join(lists, pa.scalar(b"\xff", pa.large_binary()))
    return joined(pa.compute.binary_join_element_wise(sentences, ends, nothing), b"")


def joined(values: Any, separator: bytes) -> bytes:
    """Return the values of an array without nulls one after the other, with a separator between them."""
    pa = import_pyarrow()
    offsets = pa.array([0, len(values)], pa.int64())
    lists = pa.LargeListArray.from_arrays(offsets, values)
    joint: bytes = pa.compute.binary_join(lists, pa.scalar(separator, pa.large_binary()))[0].as_py()
    return joint
