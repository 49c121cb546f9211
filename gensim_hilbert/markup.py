"""Words and numbers as HTML that is safe whatever they are, and the small tables by which notebooks show objects."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

SHOWN_CHARACTERS = 40  # of a long word
# They change the direction of all the text that follows.
DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def safe(text: object) -> str:
    """Escape text for HTML and SVG; U+FFFD replaces characters that these may not hold."""
    return escape("".join("\ufffd" if unfit(character) else character for character in str(text)))


def unfit(character: str) -> bool:
    """Whether it is a control character, half of a surrogate pair, no character at all, or a direction mark."""
    return (
        unicodedata.category(character) in ("Cc", "Cs")
        or (ord(character) & 0xFFFE) == 0xFFFE
        or character in DIRECTION_MARKS
    )


def cut(word: object) -> str:
    """Return a word, or the beginning of a very long one."""
    text = str(word)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def in_html(word: object) -> str:
    """Return a word of the vocabulary as HTML; it may be written from right to left."""
    return f"<bdi>{safe(cut(word))}</bdi>"


def number(value: float, digits: int = 2) -> str:
    """Return a number as text, with a true minus sign and commas between thousands."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if not float(text.replace(",", "")) else text.replace("-", "\u2212")


def notebook_table(caption: str, rows: Iterable[Sequence[object]], heading: Sequence[str] = ()) -> str:
    """Return a small table for notebooks. Numbers are set to the right; everything else is escaped."""
    head = "".join(f'<th scope="col" style="text-align:left">{safe(cell)}</th>' for cell in heading)
    body = "".join("<tr>" + "".join(map(notebook_cell, row)) + "</tr>" for row in rows)
    return (
        f'<table><caption style="text-align:left;font-weight:bold">{safe(caption)}</caption>'
        f"{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"
    )


def notebook_cell(value: object) -> str:
    """Return one cell of such a table: whole numbers with commas between thousands, others with three digits."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'<td style="text-align:right">{number(value, 0 if isinstance(value, int) else 3)}</td>'
    return f'<td style="text-align:left"><bdi>{safe(value)}</bdi></td>'
