"""Words and numbers in a form that is safe on a page, whatever they are."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
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


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], label: str) -> str:
    """Return a table that scrolls within itself. Cells are HTML; all but the first of each row are numbers."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heading)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>' for first, *rest in rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{safe(label)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
