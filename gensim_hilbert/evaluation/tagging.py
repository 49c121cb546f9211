"""Sequence labelling: a BiLSTM over frozen embeddings, as in the paper, and what the most frequent tag achieves."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from gensim_hilbert.evaluation.data import Data
from gensim_hilbert.evaluation.examples import Split, is_punctuation, read_sentences, split
from gensim_hilbert.evaluation.extrinsic import ExtrinsicScore, Settings, cut, micro_f, prepare, score_jobs
from gensim_hilbert.evaluation.words import Words

FULL = Settings(batch=16)
QUICK = Settings(batch=16, epochs=5, train=3000, test=2000, scaled=True)
COLUMNS = {"WSJ": 1}  # Penn tags; others have universal tags, or supersenses, in the column after those
OUTSIDE = {"SemCor": "O"}


def tagging(
    vectors: KeyedVectors,
    data: Data,
    *,
    quick: bool = False,
    seeds: int = 3,
    seed: int = 1,
    cache: str | os.PathLike[str] | None = None,
    workers: int = 1,
) -> list[ExtrinsicScore]:
    """Score vectors by how well words can be tagged through them.

    The paper's network: two layers of BiLSTM of 128 over frozen vectors, dropout 0.5 between them, Adam at 0.001 in
    batches of 16, with the schedule of `classification`. Sentences are split 70 to 30 by the seed of the paper's
    authors, and a tenth of the first validates. The paper tests on other sections of the whole WSJ, which is not free.
    Vectors are read as they are, as in the paper; to compare models, bring them to one scale first, because networks
    learn less from short vectors.

    Parameters
    ----------
    vectors : KeyedVectors
        Words that are not among these share their mean, and punctuation that is not has random vectors.
    data : Data
        Whose `tagging` sets to take; see `find_data`.
    quick : bool
        Learn from 3,000 sentences only, in 5 epochs, and test on 2,000, with vectors scaled as in `classification`: a
        look for a CPU, whose scores are lower than those of the whole.
    seeds, seed, cache, workers
        As in `classification`.

    Returns
    -------
    list of ExtrinsicScore
        Accuracies; for SemCor the micro-averaged F-score of all labels but O.
    """
    settings = QUICK if quick else FULL
    jobs = [
        prepare(name, vectors, read(name, paths), settings, tags=True, outside=OUTSIDE.get(name))
        for name, paths in data.tagging.items()
    ]
    return score_jobs(jobs, seeds, seed, cache, workers)


def most_frequent_tag(data: Data, vectors: KeyedVectors | None = None, *, quick: bool = False) -> dict[str, float]:
    """Return the scores of those who give each word the tag that it mostly has in the training part.

    Words that do not occur there have the most frequent tag of all.

    Parameters
    ----------
    data : Data
        Whose `tagging` sets to take.
    vectors : KeyedVectors, optional
        Take all words that are not among these for one word, as networks do, and as the paper's authors seem to have
        done for their 50,000 words; punctuation stands for itself.
    quick : bool
        Learn from as few sentences as `tagging` then does.
    """
    words = None if vectors is None else Words(vectors)
    settings = QUICK if quick else FULL
    return {
        name: baseline(read(name, paths), settings, OUTSIDE.get(name), words) for name, paths in data.tagging.items()
    }


def baseline(data: Split, settings: Settings, outside: str | None, words: Words | None) -> float:
    """Return the score of the most frequent tags on one set; validation data are counted with the training data."""

    def seen(word: str) -> str:
        return word if words is None or is_punctuation(word) or words.find(word) is not None else ""

    data = cut(data, settings)
    tags: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for example in data.train + data.valid:
        for word, tag in zip(*example, strict=True):
            tags[seen(word)][tag] += 1
    usual = sum(tags.values(), Counter()).most_common(1)[0][0]
    best = {word: counts.most_common(1)[0][0] for word, counts in tags.items()}
    gold = [tag for example in data.test for tag in example.labels]
    guessed = [best.get(seen(word), usual) for example in data.test for word in example.words]
    return micro_f(np.array(gold), np.array(guessed), outside)


def read(name: str, paths: tuple[Path, ...]) -> Split:
    """Return the sentences of a set, split into parts to train, validate and test."""
    column = COLUMNS.get(name, 2)
    return split([example for path in paths for example in read_sentences(path, column)])
