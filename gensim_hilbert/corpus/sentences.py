"""Where sentences end: at the ends of lines only, or at punctuation as well.

With `sentence_ends="punctuation"`, a line end ends a sentence. So does one of the marks . ? ! … or several of them,
with any of ) ] " ' » ’ ” and of the East Asian closing marks U+300D, U+300F and U+FF09 behind them, if white space
follows. The East Asian marks U+3002, U+FF1F and U+FF01 need no white space behind them. A single full stop does not end
a sentence after one letter, as in "J. Smith" and "e.g.", nor after one of ABBREVIATIONS. Decimal numbers are left
alone, because no white space follows the full stop in them. Nothing else is looked at: "It is plan B. So what?" stays
one sentence, and "approx. 5" becomes two.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gensim_hilbert._sentences import SentenceSplitter
from gensim_hilbert.corpus.characters import plain_tables

SENTENCES = ("lines", "punctuation")
ABBREVIATIONS = (
    *("mr", "mrs", "ms", "dr", "prof", "st", "mt", "sr", "jr", "rev", "hon"),
    *("gen", "col", "lt", "capt", "sgt", "sen", "rep", "gov"),
    *("inc", "ltd", "corp", "co", "vs", "cf", "al", "vol", "fig", "pp"),
    *("jan", "feb", "aug", "sept", "oct", "nov", "dec"),
)
LOOKED_AT = 256  # last bytes of a line that tell whether a sentence has ended


def refuse_sentences(sentences: str) -> None:
    """Raise an error unless that is a way to find sentences."""
    if sentences not in SENTENCES:
        raise ValueError(f"sentence_ends must be one of {', '.join(SENTENCES)}, got {sentences!r}")


@cache
def splitter() -> SentenceSplitter:
    """Return what finds the ends of sentences by punctuation."""
    packed = [int.from_bytes(word.encode("ascii"), "big") for word in ABBREVIATIONS]
    pages, entries, _ = plain_tables()
    return SentenceSplitter(pages, entries, np.array(packed, dtype=np.uint64))


def breaks_in(text: bytes, sentences: str) -> np.ndarray:
    """Return the positions where sentences end within lines."""
    return splitter().breaks(text) if sentences == "punctuation" else np.zeros(0, dtype=np.int64)


def ends_sentence(line: bytes, sentences: str) -> bool:
    """Tell whether a line, behind which white space follows, ends in the end of a sentence."""
    if sentences == "lines":
        return False
    text = line[-LOOKED_AT:].decode("utf-8", "ignore").rstrip().encode() + b" "
    breaks = breaks_in(text, sentences)
    return len(breaks) > 0 and int(breaks[-1]) == len(text) - 1
