"""Words and numbers as they may stand on a page, whatever they are."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from html import escape

LONGEST = 40  # characters of a word that are shown
# They turn the direction of all the text that follows.
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def safe(text: object) -> str:
    """For the text and the attributes of HTML and SVG; U+FFFD stands for what neither may hold."""
    return escape("".join("\ufffd" if unfit(character) else character for character in str(text)))


def unfit(character: str) -> bool:
    """Control characters, halves of surrogate pairs, no characters at all, and what turns the direction of text."""
    return (
        unicodedata.category(character) in ("Cc", "Cs") or (ord(character) & 0xFFFE) == 0xFFFE or character in TURNING
    )


def cut(word: object) -> str:
    """A word, or the beginning of a very long one."""
    text = str(word)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def in_html(word: object) -> str:
    """A word of the vocabulary, which may be written from right to left."""
    return f"<bdi>{safe(cut(word))}</bdi>"


def number(value: float, digits: int = 2) -> str:
    """With a true minus, and commas between thousands."""
    if not math.isfinite(value):
        return "–"
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if not float(text.replace(",", "")) else text.replace("-", "\u2212")


def setting(value: object) -> str:
    """The value of a parameter, as one would write it in Python, without quotation marks."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else f"{value}"


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], label: str) -> str:
    """Rows of cells that are HTML already; all but the first of a row are numbers. It scrolls within itself."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heading)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>' for first, *rest in rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{safe(label)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
