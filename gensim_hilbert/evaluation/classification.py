"""Text classification: a BiLSTM-max over frozen embeddings, as in the paper."""

from __future__ import annotations

import os
from pathlib import Path

from gensim.models import KeyedVectors

from gensim_hilbert.evaluation.data import Data
from gensim_hilbert.evaluation.examples import Split, read_texts, split
from gensim_hilbert.evaluation.extrinsic import ExtrinsicScore, Settings, prepare, score_jobs

FULL = Settings(batch=64)
QUICK = Settings(batch=16, epochs=4, train=2500, test=2000, length=80, scaled=True)
OWN_TEST = {"IMDB"}  # whose last file is the test set, as published; others are split at random


def classification(
    vectors: KeyedVectors,
    data: Data,
    *,
    quick: bool = False,
    seeds: int = 3,
    seed: int = 1,
    cache: str | os.PathLike[str] | None = None,
    workers: int = 1,
) -> list[ExtrinsicScore]:
    """Score vectors by how well texts can be classified through them.

    The paper's network: a BiLSTM of 128 over frozen unit vectors, the maximum over time, a ReLU layer of 512, dropout
    0.5, Adam at 0.001 in batches of 64; the rate is divided by ten after 3 epochs without a better score on validation
    data, and training ends after 15. IMDB has its published halves; AG News is split 70 to 30 by the seed of the
    paper's authors, and has 4 classes, as usual, where the paper has 8. A tenth of the training data validates.

    Parameters
    ----------
    vectors : KeyedVectors
        Words that are not among these share their mean.
    data : Data
        Whose `classification` sets to take; see `find_data`.
    quick : bool
        Learn from 2,500 texts only, cut to 80 words, in 4 epochs of batches of 16, and test on 2,000: a look for a
        CPU, whose scores are lower than those of the whole. Components are scaled to vary by 1, so that small vectors
        are not merely slow to learn from.
    seeds : int
        How many networks to train, with different seeds; the paper has 10.
    seed : int
        The first of them.
    cache : str or PathLike, optional
        A folder for scores that need not be computed again, by default in the user's cache. Interrupted, the same call
        goes on from the last finished network.
    workers : int
        So many networks at a time, in processes of their own.

    Returns
    -------
    list of ExtrinsicScore
        Accuracies, one for each set.
    """
    settings = QUICK if quick else FULL
    jobs = [
        prepare(name, vectors, read(name, paths), settings, tags=False) for name, paths in data.classification.items()
    ]
    return score_jobs(jobs, seeds, seed, cache, workers)


def read(name: str, paths: tuple[Path, ...]) -> Split:
    """Return the texts of a set, split into parts to train, validate and test."""
    parts = [read_texts(path) for path in paths]
    if name in OWN_TEST:
        return split([example for part in parts[:-1] for example in part], parts[-1])
    return split([example for part in parts for example in part])
