"""Rows of results in a file of JSON lines, so that a study which was interrupted goes on where it stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gensim_hilbert.files import write_whole

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """Return all rows that were written; a line that was cut off by an interruption is left out."""
    rows: list[Row] = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("\n"):
                rows.append(json.loads(line))
    return rows


def write_rows(path: Path, rows: list[Row]) -> None:
    """Write all rows anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join(f"{json.dumps(row)}\n" for row in rows).encode())


def append_row(path: Path, row: Row) -> None:
    """Add a row at the end, on a line of its own."""
    write_rows(path, [*read_rows(path), row])


def same(row: Row, **key: Any) -> bool:
    """Tell whether a row has these values."""
    return all(row.get(name) == value for name, value in key.items())
