"""Prints results: for people, or with --json for machines."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import click

as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def show(facts: Any, text: str, as_json: bool) -> None:
    """Print facts as JSON, or the text."""
    click.echo(json.dumps(finite(facts), ensure_ascii=False, default=plain) if as_json else text)


def how_many(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular for 1 and in the plural otherwise."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def finite(value: Any) -> Any:
    """Replace infinity and NaN, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain(value: Any) -> Any:
    """Return a number of numpy as Python's, and anything else that JSON does not have as a str."""
    return value.item() if hasattr(value, "item") else str(value)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Set rows in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
