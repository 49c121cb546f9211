"""Models with subwords, trained for a short time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from gensim_hilbert import HilbertMLE
from gensim_hilbert.training import factorization

SOLVERS = ("factorization", "gibbs")
OPTIONS = {"vector_size": 12, "min_count": 2, "epochs": 4, "workers": 1, "bucket": 30_000, "progress": False}
ODD_SENTENCES = [["</s>", "naïve", "日本語", "aaaaaaaa", "x"]] * 5


@contextlib.contextmanager
def less_training() -> Iterator[None]:
    """Fewer updates: enough to see that a model learns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factorization, "UPDATES", 48)
        patch.setattr(factorization, "LEAST_PASSES", 3)
        yield


def train_subwords(sentences, solver: str, **options) -> HilbertMLE:
    return HilbertMLE(sentences, solver=solver, subwords=True, **{**OPTIONS, **options})
