"""Keys of a vocabulary as JSON, and back: most are words, but any hashable object can be a key, as in gensim.

A str, int, float, bool or None is written as JSON has it, and a tuple as a list. What JSON does not have is an object
with one tag: `{"bytes": "00ff"}`, `{"float": "inf"}`, `{"numpy.int64": 5}`. Nothing that a file names is imported or
called, and objects of other types (frozensets, members of enumerations, instances of classes) have no such form.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gensim_hilbert.untrusted import parse_json

MOST_BITS = 8192  # of a whole number: Python refuses to read numbers with very many digits
MOST_NESTED = 16  # tuples within tuples
INFINITE = {"inf": math.inf, "-inf": -math.inf}
WHOLE = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
REAL = (np.float16, np.float32, np.float64)
WHOLE_TAGS = {f"numpy.{kind.__name__}": kind for kind in WHOLE}
REAL_TAGS = {"float": float, **{f"numpy.{kind.__name__}": kind for kind in REAL}}
BYTES_TAGS: dict[str, Any] = {"bytes": bytes, "numpy.bytes": np.bytes_}
OBJECT = "object"  # the tag of a key that is not written; its value is the name of its type


class UnwrittenKey:
    """Stands for a key that a file without pickle cannot hold."""

    def __init__(self, kind: str):
        self.kind = kind


class UnwritableKey(TypeError):
    """Raised for a key that a file without pickle cannot hold."""

    def __init__(self, key: Any):
        super().__init__(
            f"the key {shown(key)}, of type {type(key).__name__}, cannot be written to a file without pickle, which "
            "holds str, int, float, bool, None, bytes, tuples of these, and numbers of numpy: use such keys, or "
            "gensim's `save`; counts can hold any keys in memory, if directory= is left out"
        )


def shown(key: Any, most: int = 60) -> str:
    """Return a key for an error message; very long ones are cut off."""
    text = repr(key)
    return text if len(text) <= most else f"{text[:most]}..."


def same_key(one: Any, other: Any) -> bool:
    """Tell whether two objects are one key of a dict. Their `==` alone may raise, as that of numpy's numbers does."""
    return other in {one}


def same_keys(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Tell whether two lists have the same keys in the same order."""
    return len(some) == len(others) and all(map(same_key, some, others))


# ---------------------------------------------------------------------------------------------------- to JSON


class _NoForm(Exception):  # It never leaves this module.
    """Raised for a part of a key that JSON cannot hold."""


def key_to_json(key: Any) -> Any:
    """Return a key as a value of JSON, or raise an UnwritableKey."""
    try:
        return _to_json(key, 0)
    except _NoForm:
        raise UnwritableKey(key) from None


def _to_json(key: Any, depth: int) -> Any:
    kind = type(key)
    if kind is str or kind is bool or key is None:
        return key
    if kind is int and key.bit_length() <= MOST_BITS:
        return key
    if kind is float and math.isfinite(key):
        return key
    if kind is tuple and depth < MOST_NESTED:
        return [_to_json(part, depth + 1) for part in key]
    if kind in TAGS and key == key:  # NaN is not equal to itself, so that nobody could look it up.
        tag, convert = TAGS[kind]
        return {tag: convert(key)}
    raise _NoForm


def _real_to_json(number: Any) -> float | str:
    return float(number) if math.isfinite(number) else str(float(number))


TAGS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    **{kind: (tag, int) for tag, kind in WHOLE_TAGS.items()},
    **{kind: (tag, _real_to_json) for tag, kind in REAL_TAGS.items()},
    **{kind: (tag, bytes.hex) for tag, kind in BYTES_TAGS.items()},
    np.bool_: ("numpy.bool", bool),
    np.str_: ("numpy.str", str),
}


# ---------------------------------------------------------------------------------------------------- from JSON


def key_from_json(value: Any, depth: int = 0) -> Any:
    """Return the key that a value of JSON stands for, or raise a ValueError if it stands for none."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list) and depth < MOST_NESTED:
        return tuple([key_from_json(part, depth + 1) for part in value])
    if isinstance(value, dict) and len(value) == 1:
        [(tag, content)] = value.items()
        if (key := _tagged(tag, content)) is not None:
            return key
    raise ValueError(f"{shown(value)} is not a key of a vocabulary")


def _tagged(tag: str, content: Any) -> Any:
    """Return the key with this tag and content, or None if there is none."""
    if tag in WHOLE_TAGS and type(content) is int:
        limits = np.iinfo(WHOLE_TAGS[tag])
        return WHOLE_TAGS[tag](content) if limits.min <= content <= limits.max else None
    if tag in REAL_TAGS:
        number = INFINITE.get(content) if isinstance(content, str) else content
        if type(number) is not float or (tag == "float" and math.isfinite(number)):
            return None
        with np.errstate(over="ignore"):
            key = REAL_TAGS[tag](number)
        return key if float(key) == number else None
    if tag in BYTES_TAGS and isinstance(content, str):
        found = bytes.fromhex(content)
        return BYTES_TAGS[tag](found) if found.hex() == content else None
    if tag == "numpy.bool" and isinstance(content, bool):
        return np.bool_(content)
    return np.str_(content) if tag == "numpy.str" and isinstance(content, str) else None


# ---------------------------------------------------------------------------------------------------- lists of keys


def pack_keys(keys: Sequence[Any], encode: Callable[[str], bytes]) -> tuple[list[bytes], np.ndarray | None]:
    """Return keys as bytes: a str as `encode` has it, others as JSON; and, if there are others, 1 for each of those."""
    are_json = np.array([type(key) is not str for key in keys], dtype=np.uint8)
    packed = [encode(key) if type(key) is str else json.dumps(key_to_json(key)).encode() for key in keys]
    return packed, are_json if are_json.any() else None


def unpack_keys(packed: Iterable[bytes], are_json: np.ndarray | None, decode: Callable[[bytes], str]) -> list[Any]:
    """Return the keys that `pack_keys` has packed, or raise a ValueError."""
    if are_json is None:
        return [decode(data) for data in packed]
    return [
        key_from_json(parse_json(data)) if flag else decode(data)
        for data, flag in zip(packed, are_json.tolist(), strict=True)
    ]


def strings_of(keys: Sequence[Any]) -> list[str]:
    """Return the `str` of each key, or raise a ValueError if two of them are alike."""
    strings = [str(key) for key in keys]
    if len(set(strings)) != len(strings):
        first: dict[str, Any] = {}
        for key, text in zip(keys, strings, strict=True):
            if first.setdefault(text, key) is not key:
                raise ValueError(
                    f"the keys {shown(first[text])} and {shown(key)} are both written {shown(text)}: rename one of them"
                )
    return strings
