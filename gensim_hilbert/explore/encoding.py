"""Answers as JSON: with null for what JSON does not have, and long arrays of numbers in the time of a copy."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np

DIGITS = 3  # of the numbers in arrays
LARGEST = 99_999  # times 10^-DIGITS: what fits into eight characters with a sign and a comma
NULL = LARGEST + 1


def as_json(value: Any) -> bytes:
    """Return a value as JSON, with null for infinity and NaN; an object can have arrays of numbers as its values."""
    if isinstance(value, dict) and any(isinstance(part, np.ndarray) for part in value.values()):
        parts = (
            as_json(str(key)) + b":" + (numbers_as_json(part) if isinstance(part, np.ndarray) else as_json(part))
            for key, part in value.items()
        )
        return b"{" + b",".join(parts) + b"}"
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(finite(value), allow_nan=False, separators=(",", ":"))
    return text.encode()


def finite(value: Any) -> Any:
    """Replace numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def rounded(values: np.ndarray) -> list[float | None]:
    """Return numbers with three digits, and None for those that JSON does not have."""
    return list(map(finite, np.round(values.astype(np.float64), DIGITS).tolist()))


def numbers_as_json(values: np.ndarray) -> bytes:
    """Return numbers with three digits as a JSON array, by a table of the text of each number that there can be."""
    known = np.isfinite(values)
    places = np.rint(np.where(known, values, 0) * 10.0**DIGITS)
    if not len(values) or np.abs(places).max() > LARGEST:
        return json.dumps(rounded(values), separators=(",", ":")).encode()
    text = number_texts()[np.where(known, places, NULL).astype(np.int64) + LARGEST].tobytes()
    return b"[" + text[:-1] + b"]"


@cache
def number_texts() -> np.ndarray:
    """Return all numbers with three digits as text of eight characters, with a comma behind each, and null."""
    texts = [f"{place / 10**DIGITS:.{DIGITS}f},".rjust(8) for place in range(-LARGEST, LARGEST + 1)]
    return np.array([*texts, "   null,"], dtype="S8")
