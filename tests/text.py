"""Text for tests, made on the spot: Zipf's law, sentences of uneven length, the same for the same seed."""

from __future__ import annotations

import numpy as np


def zipf_text(tokens: int, words: int, seed: int = 0, exponent: float = 1.0, line: int = 20) -> bytes:
    """About so many tokens over so many words, in lines of that many words on average."""
    random = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, words + 1) ** exponent
    ids = random.choice(words, size=tokens, p=weights / weights.sum())
    names = np.array([f"w{k}" for k in range(words)])
    parts = np.split(names[ids], np.sort(random.integers(0, tokens, size=tokens // line)))
    return "\n".join(" ".join(part) for part in parts).encode() + b"\n"
