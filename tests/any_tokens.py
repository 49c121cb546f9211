"""Tokens of all types, in texts that hypothesis invents, and words as they can be compared: 1 is not True here."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st


class Colour(enum.Enum):
    RED = 1
    GREEN = "green"


class Fruit(enum.StrEnum):
    APPLE = "apple"
    PEAR = "pear"


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 7


class Edge(NamedTuple):
    start: int
    end: int


class CaseInsensitive(str):
    """Text that is equal in upper and lower case."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CaseInsensitive) and self.lower() == other.lower()

    def __hash__(self) -> int:
        return hash(("case", self.lower()))


NAN = float("nan")
# Those that files without pickle hold. Many are equal to others: whatever is one key of a dict is one word.
PLAIN: list[Any] = [
    *("a", "b", "apple", "1", "None", "two words", "", "\ud800", "é\n"),
    *(0, 1, 2, 7, -5, 10**30, True, False, 1.0, 0.5, -0.0, 1e300, float("inf"), -float("inf"), None),
    *(b"", b"a", b"\xff\xfe", (), (1, 2), (1.0, 2), ("a",), (("a", (None, b"\x00")), 0.5)),
    *(np.int64(2), np.int32(-5), np.uint8(200), np.float32(0.1), np.float64(0.5), np.float16(np.inf), np.bool_(True)),
    *(np.str_("a"), np.str_("b c"), np.bytes_(b"a"), (np.int64(2), 1)),
]
OTHERS: list[Any] = [
    *(frozenset({1, 2}), frozenset(), Colour.RED, Colour.GREEN, Fruit.APPLE, Fruit.PEAR, Level.LOW, Level.HIGH),
    *(Edge(1, 2), CaseInsensitive("Paris"), CaseInsensitive("paris"), "Paris", NAN, 1 + 2j, object(), object, len),
]

plain_tokens = st.sampled_from(PLAIN)
tokens = st.sampled_from(PLAIN + OTHERS)


def sentences(of: st.SearchStrategy[Any], **sizes: int) -> st.SearchStrategy[list[list[Any]]]:
    """Texts, of which the first sentences may have only str."""
    words = st.lists(st.lists(st.sampled_from(["a", "b", "apple", "Paris"]), max_size=6), max_size=3)
    others = st.lists(st.lists(of, max_size=8), **{"min_size": 1, "max_size": 12, **sizes})
    return st.tuples(words, others).map(lambda parts: parts[0] + parts[1])


def exactly(keys: Any) -> list[tuple[type, str]]:
    """What distinguishes keys that are equal."""
    return [(type(key), repr(key)) for key in keys]
