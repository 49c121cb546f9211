"""Text for tests, made on the spot and the same for the same seed."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np

WORDS = ["the", "of", "and", "cat", "sat", "on", "mat", "naïve", "日本語", "a-word-longer-than-fifteen-bytes", "x"]
WORDS += ["don't", "3.14", *(f"w{k}" for k in range(60))]


def some_text(lines: int = 300, seed: int = 1) -> str:
    """Lines of words that follow Zipf's law; some empty, some long, with blanks and words that are not ASCII."""
    source = random.Random(seed)
    shares = [1 / (k + 1) for k in range(len(WORDS))]
    rows = []
    for number in range(lines):
        length = 0 if number % 29 == 7 else 200 if number % 71 == 3 else source.randrange(1, 25)
        rows.append(source.choice([" ", "  ", "\t"]).join(source.choices(WORDS, shares, k=length)))
    return "\n".join(rows) + "\n"


TEXT = some_text().encode()


def halves() -> tuple[bytes, bytes]:
    """TEXT in two, cut at a line end."""
    cut = TEXT.index(b"\n", len(TEXT) // 2) + 1
    return TEXT[:cut], TEXT[cut:]


def pieces(number: int) -> list[bytes]:
    """TEXT in so many pieces, cut at line ends."""
    lines = TEXT.splitlines(keepends=True)
    return [b"".join(lines[k * len(lines) // number : (k + 1) * len(lines) // number]) for k in range(number)]


def write_gzip(path: Path, text: bytes) -> Path:
    path.write_bytes(gzip.compress(text))
    return path


def zipf_text(tokens: int, words: int, seed: int = 0, exponent: float = 1.0, line: int = 20) -> bytes:
    """About so many tokens over so many words, in lines of that many words on average."""
    source = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, words + 1) ** exponent
    ids = source.choice(words, size=tokens, p=weights / weights.sum())
    names = np.array([f"w{k}" for k in range(words)])
    parts = np.split(names[ids], np.sort(source.integers(0, tokens, size=tokens // line)))
    return "\n".join(" ".join(part) for part in parts).encode() + b"\n"
