"""Tables of what each character of Unicode is and becomes, for the kernels that cut text into words and sentences.

They are made from Python's own `unicodedata` when they are first needed, so that they agree with `str.lower`,
`str.casefold` and `unicodedata.category` of the Python that runs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np

# As in cython_ext/characters.pxd.
LETTER, DIGIT, MARK, BLANK, OTHER = 1, 2, 4, 8, 0
SEVERAL = 0x80
CODE_SHIFT = 8

# Planes 4 to 13 are unassigned, 15 and 16 are for private use: they have no letters.
ASSIGNED = (range(0x40000), range(0xE0000, 0xE0200))
KINDS = {"L": LETTER, "M": MARK, "N": LETTER, "Nd": DIGIT}  # by general category, or by its first letter
JOIN_CONTROLS = "\u200c\u200d"  # inside of words of Persian and of Indian scripts
CAPITAL_SIGMA = (
    "Σ"  # It becomes ς at the end of a word and σ elsewhere: the only letter that depends on its neighbours.
)
CASES: dict[str, Callable[[str], str]] = {"fold": str.casefold, "lower": str.lower, "keep": str}


class Tables(NamedTuple):
    """Tables by which `WordScanner` finds words and changes their case."""

    pages: np.ndarray
    entries: np.ndarray
    several: np.ndarray


@cache
def kinds() -> np.ndarray:
    """Return the kind of each character: letters, digits and marks are parts of words."""
    found = np.full(0x110000, OTHER, dtype=np.uint32)
    for codes in ASSIGNED:
        categories = map(unicodedata.category, map(chr, codes))
        found[codes.start : codes.stop] = [KINDS.get(name) or KINDS.get(name[0], OTHER) for name in categories]
    found[list(map(ord, JOIN_CONTROLS))] = MARK
    found[blanks()] = BLANK
    return found


@cache
def blanks() -> list[int]:
    """Return the characters that are white space to `str.split`."""
    return [code for code in range(0x10000) if chr(code).isspace()]


@cache
def word_tables(case: str, numbers: str, marks: bool, underscores: bool) -> Tables:
    """Return tables by which runs of letters and digits are words."""
    kind = kinds().copy()
    if numbers == "drop":
        kind[kind == DIGIT] = OTHER
    if not marks:
        kind[kind == MARK] = OTHER
    if underscores:
        kind[ord("_")] = LETTER
    entries = kind.copy()
    several: list[int] = []
    if case != "keep":
        change = CASES[case]
        for code in ASSIGNED[0]:
            becomes = change(chr(code))
            if len(becomes) > 1:
                entries[code] = SEVERAL | len(several) << CODE_SHIFT
                several += [len(becomes), *(int(kind[ord(c)]) | ord(c) << CODE_SHIFT for c in becomes)]
            elif ord(becomes) != code:
                entries[code] = kind[ord(becomes)] | ord(becomes) << CODE_SHIFT
    return paged(entries, several)


@cache
def white_space_tables() -> Tables:
    """Return tables by which words are what stands between white space."""
    kind = np.full(0x110000, LETTER, dtype=np.uint32)
    kind[blanks()] = BLANK
    return paged(kind, [])


@cache
def rewritten_tables(nfkc: bool, sigma: bool) -> Tables:
    """Return tables of the characters without which text stays as it is in NFKC, and with `sigma` in lower case.

    Text is in NFKC if each of its characters is, and if none of them can be put in another order, or be composed with
    the one before it.
    """
    entries = np.zeros(0x110000, dtype=np.uint32)
    if sigma:
        entries[ord(CAPITAL_SIGMA)] = 1
    if nfkc:
        entries[0x1161:0x1176] = entries[0x11A8:0x11C3] = (
            1  # Vowels and last consonants of Hangul are composed by rule.
        )
        for code in chain.from_iterable(ASSIGNED):
            one = chr(code)
            if unicodedata.combining(one) or not unicodedata.is_normalized("NFKC", one):
                entries[code] = 1
            parts = unicodedata.decomposition(one).split()
            if len(parts) == 2 and not parts[0].startswith("<"):
                entries[int(parts[1], 16)] = 1
    return paged(entries, [])


@cache
def plain_tables() -> Tables:
    """Return tables in which each character stays what it is."""
    return paged(kinds(), [])


def paged(entries: np.ndarray, several: list[int]) -> Tables:
    """Return tables as kernels take them: pages that are alike, such as those of Chinese characters, are kept once."""
    different: dict[bytes, int] = {}
    pages = [different.setdefault(page.tobytes(), len(different)) for page in entries.reshape(-1, 256)]
    kept = np.frombuffer(b"".join(different), dtype=np.uint32)
    return Tables(np.array(pages, dtype=np.uint16), kept, np.array(several or [0], dtype=np.uint32))
