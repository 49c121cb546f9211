"""Small models with subwords."""

from __future__ import annotations

from gensim_hilbert import HilbertMLE

SOLVERS = ("factorization", "gibbs")
OPTIONS = {"vector_size": 12, "min_count": 2, "epochs": 4, "workers": 1, "bucket": 30_000, "progress": False}
ODD_SENTENCES = [["</s>", "naïve", "日本語", "aaaaaaaa", "x"]] * 5


def train_subwords(sentences, solver: str, **options) -> HilbertMLE:
    return HilbertMLE(sentences, solver=solver, subwords=True, **{**OPTIONS, **options})
