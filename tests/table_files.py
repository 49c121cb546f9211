"""The same rows in files of every kind of table."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Rows = list[str | None]


def table_of_rows(rows: Rows, kind: pa.DataType | None = None) -> pa.Table:
    """A table with a column of text between two others."""
    numbers = list(range(len(rows)))
    return pa.table({"id": numbers, "text": pa.array(rows, kind or pa.string()), "score": [0.5] * len(rows)})


def write_parquet(path: Path, rows: Rows, kind: pa.DataType | None = None, rows_per_group: int = 40) -> Path:
    pq.write_table(table_of_rows(rows, kind), path, row_group_size=rows_per_group)
    return path


def write_arrow(path: Path, rows: Rows, kind: pa.DataType | None = None, compression: str | None = None) -> Path:
    table = table_of_rows(rows, kind)
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=50)
    return path


def write_arrow_stream(path: Path, rows: Rows) -> Path:
    """As Hugging Face's datasets keeps its files."""
    table = table_of_rows(rows)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=50)
    return path


def jsonl(rows: Rows, ascii_only: bool = True) -> bytes:
    objects = ({"id": k, "text": row, "tags": [k]} for k, row in enumerate(rows))
    return "".join(json.dumps(one, ensure_ascii=ascii_only) + "\n" for one in objects).encode()


def write_jsonl(path: Path, rows: Rows) -> Path:
    path.write_bytes(jsonl(rows))
    return path


def write_jsonl_gz(path: Path, rows: Rows) -> Path:
    path.write_bytes(gzip.compress(jsonl(rows, ascii_only=False)))
    return path


def write_csv(path: Path, rows: Rows, delimiter: str = ",") -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["id", "text", "note"])
        writer.writerows((k, row, 'he said "no"') for k, row in enumerate(rows))
    return path


def write_tsv(path: Path, rows: Rows) -> Path:
    return write_csv(path, rows, "\t")


WRITERS: dict[str, Callable[[Path, Rows], Path]] = {
    "table.parquet": write_parquet,
    "table.arrow": write_arrow,
    "table.feather": lambda path, rows: write_arrow(path, rows, compression="zstd"),
    "stream.arrow": write_arrow_stream,
    "table.jsonl": write_jsonl,
    "table.ndjson": write_jsonl,
    "table.jsonl.gz": write_jsonl_gz,
    "table.csv": write_csv,
    "table.csv.gz": lambda path, rows: gzipped(path, write_csv, rows),
    "table.tsv": write_tsv,
}


def gzipped(path: Path, write: Callable[[Path, Rows], Path], rows: Rows) -> Path:
    path.write_bytes(gzip.compress(write(path.with_suffix(""), rows).read_bytes()))
    path.with_suffix("").unlink()
    return path


def rows_of(text: bytes) -> Rows:
    """The lines of a text as rows, with rows that have no value among them."""
    lines: Rows = list(text.decode().removesuffix("\n").split("\n"))
    return [row for k, line in enumerate(lines) for row in ([None, line] if k % 11 == 0 else [line])]
