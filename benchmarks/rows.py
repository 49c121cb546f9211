"""Rows of results in a file of JSON lines, so that a study which was interrupted goes on where it stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from gensim_hilbert.files import remove, write_whole
from gensim_hilbert.locks import locked, turn_of

Row = dict[str, Any]


def read_rows(path: Path, parse: Callable[[str], Row] = json.loads) -> list[Row]:
    """Return all rows of a file, or none if it does not exist; exit with one sentence if a line is damaged."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else (), start=1):
        try:
            rows.append(dict(parse(line)))
        except (ValueError, KeyError, TypeError) as error:
            sys.exit(f"Line {number} of {path} is damaged ({error!r}): remove it, and the run is made again.")
    return rows


def keep_row(path: Path, row: Row, **key: Any) -> None:
    """Add a row in place of those with the same key; the file is whole at any time, and several commands may add."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with turn_of(str(path)):
        others = [other for other in read_rows(path) if not same(other, **key)]
        write_whole(path, "".join(f"{json.dumps(one)}\n" for one in (*others, row)).encode())


@contextmanager
def claimed(place: Path, what: str) -> Iterator[bool]:
    """Keep other commands from a run that has this folder for its lock; False if another command is at it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(place))
        except RuntimeError:
            print(f"{what} is being run by another command", file=sys.stderr, flush=True)
            yield False
            return
        try:
            yield True
        finally:
            remove(place)


def same(row: Row, **key: Any) -> bool:
    """Tell whether a row has these values."""
    return all(row.get(name) == value for name, value in key.items())


def to_make(keys: Iterable[Row], rows: list[Row], again: Iterable[str] = ()) -> list[Row]:
    """Return the keys of which there is no row, and those of systems that are to be run again."""
    again = set(again)
    return [key for key in keys if key.get("system") in again or not any(same(row, **key) for row in rows)]
