"""Scores that need not be computed again: a small file each, whose name tells what the score depends on."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """Where a program may keep what it can compute again."""
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "gensim-hilbert" / "evaluation"


def read_score(path: Path) -> float:
    """A score that was kept."""
    try:
        return float(json.loads(path.read_text(encoding="utf-8"))["score"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}): remove it, and the score will be computed again") from None


def write_score(path: Path, score: float, **about: Any) -> None:
    """Keep a score, and for people what it is about; under another name until it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps({"score": score, **about}), encoding="utf-8")
    os.replace(part, path)
