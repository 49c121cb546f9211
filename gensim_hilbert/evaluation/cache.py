"""Scores that need not be computed again: one small file per score, whose name tells what the score depends on."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from gensim_hilbert.files import read_json, to_json, write_whole


def cache_folder() -> Path:
    """Return the folder in which a program may keep what it can compute again."""
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "gensim-hilbert" / "evaluation"


def read_score(path: Path) -> float:
    """Return a score that was kept."""
    try:
        return float(read_json(path)["score"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}): remove it, and the score will be computed again") from None


def write_score(path: Path, score: float, **about: Any) -> None:
    """Keep a score, and for people what it is about."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, to_json({"score": score, **about}).encode())
