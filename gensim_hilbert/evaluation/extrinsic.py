"""Embeddings at work: networks that read texts through them, trained with several seeds."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from scipy.stats import ttest_ind_from_stats

from gensim_hilbert.evaluation.cache import cache_folder, read_score, write_score
from gensim_hilbert.evaluation.examples import Example, Rows, Split
from gensim_hilbert.evaluation.significance import Difference
from gensim_hilbert.evaluation.words import Words
from gensim_hilbert.progress import Progress

logger = logging.getLogger(__name__)

PROCEDURE = 3  # to be raised when the same settings would give other scores


@dataclass(frozen=True)
class Settings:
    """How long a network is trained, and on how many examples.

    Training ends after `stop` epochs without a better score on validation data, or after `epochs`; the best network is
    the one that is tested. `train` and `test` are numbers of examples and `length` one of words, for a quick look.
    `scaled` has components vary by 1 on average: what is read by some hundreds of batches only must not be small.
    With `bfloat16`, embeddings, hidden states and factors of products have 8 significant bits, which takes less time on
    processors that have instructions for it; parameters, and their updates, stay in float32.
    """

    batch: int
    epochs: int = 250
    stop: int = 15
    train: int | None = None
    test: int | None = None
    length: int | None = None
    scaled: bool = False
    bfloat16: bool = False


@dataclass(frozen=True)
class Items:
    """Examples as numbers: rows of the matrix of embeddings, and one label for all of them or one per row."""

    rows: list[np.ndarray]
    labels: list[np.ndarray]


@dataclass(frozen=True)
class ExtrinsicScore:
    """Scores of a network on the test part of a set, one for each seed.

    `metric` is "accuracy" or "micro-F without O"; `known` is the share of tokens that have a vector of their own;
    `examples` are numbers of examples to train, to validate and to test.
    """

    name: str
    metric: str
    mean: float
    sd: float
    runs: tuple[float, ...]
    known: float
    examples: tuple[int, int, int]


@dataclass(frozen=True)
class Job:
    """Everything that a score depends on, except for the seed."""

    name: str
    tags: bool  # one label for each word
    matrix: np.ndarray
    parts: tuple[Items, Items, Items]
    classes: int
    outside: int | None
    settings: Settings
    known: float

    def key(self, seed: int) -> str:
        """Return a name for the result, which is the same only for the same vectors, data, settings and seed."""
        about = [PROCEDURE, self.tags, self.classes, self.outside, asdict(self.settings), seed, self.matrix.shape]
        digest = hashlib.sha256(json.dumps(about).encode())
        digest.update(self.matrix.tobytes())
        for items in self.parts:
            for arrays in (items.rows, items.labels):
                digest.update(np.array([len(array) for array in arrays]).tobytes())
                digest.update(np.concatenate(arrays).tobytes())
        return digest.hexdigest()


def cut(data: Split, settings: Settings) -> Split:
    """Return as many examples of each part as the settings allow."""
    tenth = None if settings.train is None else max(1, settings.train // 9)
    parts = (data.train[: settings.train], data.valid[:tenth], data.test[: settings.test])
    return Split(*([Example(words[: settings.length], labels) for words, labels in part] for part in parts))


def prepare(
    name: str, vectors: KeyedVectors, data: Split, settings: Settings, *, tags: bool, outside: str | None = None
) -> Job:
    """Turn words into rows and labels into numbers. As in the paper, only classifiers read vectors of length 1."""
    rows = Rows(Words(vectors), unit=not tags)
    shorter = cut(data, settings)
    parts = [shorter.train, shorter.valid, shorter.test]
    labels = sorted({label for part in parts for example in part for label in example.labels})
    numbers = {label: number for number, label in enumerate(labels)}
    items = [
        Items(
            [np.array([rows(word) for word in example.words], dtype=np.int64) for example in part],
            [np.array([numbers[label] for label in example.labels], dtype=np.int64) for example in part],
        )
        for part in parts
    ]
    matrix = rows.matrix()
    if settings.scaled:
        matrix /= np.sqrt(np.square(matrix).mean()) or 1
    known = 1 - rows.unknown / rows.tokens
    nothing = None if outside is None else numbers.get(outside)
    return Job(name, tags, matrix, (items[0], items[1], items[2]), len(numbers), nothing, settings, known)


def micro_f(gold: np.ndarray, guessed: np.ndarray, outside: int | str | None) -> float:
    """Return the accuracy; or, where a label says that there is nothing, the F-score of all others together."""
    right = gold == guessed
    if outside is None:
        return float(right.mean())
    found, there = (guessed != outside).sum(), (gold != outside).sum()
    return float(2 * (right & (gold != outside)).sum() / max(found + there, 1))


def run(job: Job, seed: int) -> float:
    """Train and test one network."""
    from gensim_hilbert.evaluation.networks import fit  # and torch with it

    return fit(job, seed)


def score_jobs(
    jobs: Sequence[Job], count: int, seed: int, cache: str | os.PathLike[str] | None, workers: int
) -> list[ExtrinsicScore]:
    """Return the scores of all jobs with so many seeds; those that the cache holds are not computed again."""
    if count < 1:
        raise ValueError(f"seeds must be a positive number of runs, got {count!r}")
    seeds = range(seed, seed + count)
    folder = Path(cache) if cache is not None else cache_folder()
    keys = {(place, seed): folder / f"{job.key(seed)}.json" for place, job in enumerate(jobs) for seed in seeds}
    scores = {which: read_score(path) for which, path in keys.items() if path.exists()}
    wanted = [which for which in keys if which not in scores]
    logger.info("%d of %d runs are in %s", len(scores), len(keys), folder)
    with Progress("networks", len(wanted), unit=" trained") as progress:
        for (place, seed), score in runs(jobs, wanted, workers):
            logger.info("%s, seed %d: %.4f", jobs[place].name, seed, score)
            about = {"set": jobs[place].name, "seed": seed, "settings": asdict(jobs[place].settings)}
            write_score(keys[place, seed], score, **about)
            scores[place, seed] = score
            progress.update(1)
    return [summarize(job, [scores[place, seed] for seed in seeds]) for place, job in enumerate(jobs)]


def runs(
    jobs: Sequence[Job], wanted: Sequence[tuple[int, int]], workers: int
) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield each job and seed with its score, as soon as it is there: a long run does not hold back shorter ones."""
    if workers < 2:
        yield from (((place, seed), run(jobs[place], seed)) for place, seed in wanted)
        return
    # Two networks with one core each are faster than one network with two cores.
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=on_one_core) as pool:
        try:
            futures = {pool.submit(run, jobs[place], seed): (place, seed) for place, seed in wanted}
            yield from ((futures[done], done.result()) for done in as_completed(futures))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def on_one_core() -> None:
    """Have the networks of this process use one thread."""
    import torch

    torch.set_num_threads(1)


def summarize(job: Job, scores: list[float]) -> ExtrinsicScore:
    """Return the mean and the standard deviation over seeds."""
    sd = float(np.std(scores, ddof=1)) if len(scores) > 1 else float("nan")
    metric = "accuracy" if job.outside is None else "micro-F without O"
    train, valid, test = (len(items.rows) for items in job.parts)
    mean = float(np.mean(scores))
    return ExtrinsicScore(job.name, metric, mean, sd, tuple(scores), job.known, (train, valid, test))


def compare_extrinsic(first: ExtrinsicScore, second: ExtrinsicScore) -> Difference | None:
    """Tell whether two embeddings differ by more than seeds do: Welch's test; nothing can be told from one seed."""
    if min(len(first.runs), len(second.runs)) < 2:
        return None
    value = first.mean - second.mean
    test = ttest_ind_from_stats(
        first.mean, first.sd, len(first.runs), second.mean, second.sd, len(second.runs), equal_var=False
    )
    spread = 2 * float(np.hypot(first.sd / len(first.runs) ** 0.5, second.sd / len(second.runs) ** 0.5))
    p = float(test.pvalue) if np.isfinite(test.pvalue) else float(value == 0)
    return Difference(value, value - spread, value + spread, p, len(first.runs) + len(second.runs))
