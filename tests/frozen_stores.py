"""The stores that are kept in tests/formats/v1, one for each shape that the format has.

Nothing has been released yet: when the format changes, `PYTHONPATH=. python tests/frozen_stores.py` writes them anew.
After the first release they must open for ever: leave them, and raise the schema.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from reference import sentences_of

from gensim_hilbert import PairCounts
from gensim_hilbert.counting import build, plan, store

FOLDER = Path(__file__).parent / "formats" / "v1"


class Kept(NamedTuple):
    """How a store was counted; classes are fewer for small vocabularies, unless they are set."""

    left: int
    right: int
    weights: object
    classes: int


STORES = {
    "symmetric": Kept(5, 5, "harmonic", classes=1),
    "two_classes": Kept(3, 3, "dynamic", classes=2),
    "asymmetric": Kept(2, 1, ([300, 1], [70000]), classes=2),
}


def sentences() -> list[list[str]]:
    return sentences_of((FOLDER / "text.txt").read_bytes())


def write(name: str, directory: Path) -> None:
    kept = STORES[name]
    with pytest.MonkeyPatch.context() as patch:
        for module in (build, plan, store):
            patch.setattr(module, "classes_for", lambda _: kept.classes)
        PairCounts.from_corpus(
            sentences(), window=(kept.left, kept.right), weights=kept.weights, min_count=1, directory=directory
        )


if __name__ == "__main__":
    for name in STORES:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        write(name, FOLDER / name)
