"""Training again: a loop over the same texts beside gensim, and whether a fit could go on from vectors of less text.

    python benchmarks/repeats.py [CORPUS] [--tokens 4000000] [--vector-size 100] [--seeds 3] [--only loop | going-on]

"loop" runs the loop of many scripts, ten calls of `train` with one epoch each on 100 texts, with both classes, and
compares CPU times. "going-on" fits a part A of a text, and then A + B, from the vectors of A with a share of the work
(the last steps of the schedule) instead of from the beginning. What HilbertMLE does is the row "from the beginning".
Overlap is the share of ten neighbours in common with the first such fit; between seeds it shows what noise does.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import smart_open
import torch
from gensim.models import KeyedVectors, Word2Vec
from gensim.test.utils import datapath
from inputs import DATA, TEXT8, corpus_parser, require

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.evaluation import find_data, similarity
from gensim_hilbert.objectives import named
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.schedule import Schedule

TEXTS, CALLS = 100, 10
SENTENCE, MIN_COUNT, SAMPLE = 1000, 10, 1e-4


def loop(size: int) -> None:
    """Print the CPU times of the loop with both classes."""
    with open(datapath("lee_background.cor")) as file:
        texts = [line.split() for line in file][:TEXTS]
    seconds = {}
    for kind in (HilbertMLE, Word2Vec):
        model = kind(vector_size=size, min_count=2, workers=1)
        model.build_vocab(texts)
        started = time.process_time()
        for _ in range(CALLS):
            model.train(texts, total_examples=len(texts), epochs=1)
            model.alpha -= 0.002
        seconds[kind.__name__] = time.process_time() - started
    print(f"\n{CALLS} calls on {TEXTS} texts\n\n| | CPU s |\n|---|---|")
    for name, value in seconds.items():
        print(f"| {name} | {value:.2f} |")
    print(f"| HilbertMLE against Word2Vec | {seconds['HilbertMLE'] / seconds['Word2Vec']:.1f} times as long |")


class LastSteps(Schedule):
    """The end of a schedule, of which all steps before are left out."""

    skipped = 0

    def rate_at(self, step: int) -> float:
        """Return the rate that the whole schedule has there."""
        done = (step + self.skipped) / (self.steps + self.skipped)
        return self.rate * (self.final_rate + (1 - self.final_rate) * 0.5 * (1 + math.cos(math.pi * done)))


class GoingOn(Factorization):
    """A fit that starts from the vectors of another, and takes a share of the steps that a whole one has."""

    def __init__(self, *args: Any, earlier: Any = None, share: float = 1.0, **options: Any):
        self.earlier, self.share = earlier, share
        super().__init__(*args, **options)

    def _start(self) -> tuple[torch.Tensor, torch.Tensor]:
        if self.earlier is None:
            return super()._start()
        whole = self.schedule
        passes = max(1, math.ceil(self.share * whole.passes))
        self.schedule = LastSteps(whole.rate, whole.final_rate, passes, whole.steps_per_pass, tolerance=0)
        self.schedule.skipped = (whole.passes - passes) * whole.steps_per_pass
        sides = [torch.from_numpy(side) for side in (self.earlier.covectors, self.earlier.parameters)]
        turns = self.kernel.axes(*sides, 0.5)  # both sides of the same strength
        w, v = ((side.double() @ turn.double()).float().numpy() for side, turn in zip(sides, turns, strict=True))
        return self.shards.arranged(w), self.shards.arranged(v)


def fit(counts: PairCounts, size: int, seed: int, **options: Any) -> tuple[Any, float]:
    """Return what was learnt, and the CPU time."""
    started = time.process_time()
    objective = named("hilbert", temperature=1.25, threshold=0.0).bind(counts)
    solver = GoingOn(objective, size, seed=seed, device="cpu", **options)
    solver.run(solver.steps)
    return solver.result(), time.process_time() - started


def neighbours(vectors: np.ndarray) -> list[set[int]]:
    """The ten nearest of 500 words, frequent and rare ones."""
    unit = np.nan_to_num(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))
    words = np.linspace(min(50, len(unit) - 1), len(unit) - 1, 500).astype(int)
    return [set(np.argsort(-(unit @ unit[word]))[1:11].tolist()) for word in words]


def going_on(tokens: list[str], size: int, seeds: int) -> None:
    """Print scores, overlaps and CPU times of fits from the beginning and of fits that go on."""
    sentences = [tokens[k : k + SENTENCE] for k in range(0, len(tokens), SENTENCE)]
    whole = PairCounts.from_corpus(sentences, min_count=MIN_COUNT, sample=SAMPLE, progress=False)
    words, data, first = whole.vocabulary, find_data(DATA), []

    def part(start: float, stop: float) -> PairCounts:
        some = sentences[round(start * len(sentences)) : round(stop * len(sentences))]
        return PairCounts.from_corpus(some, vocabulary=words, sample=SAMPLE, progress=False)

    def show(name: str, results: list[tuple[Any, float]]) -> None:
        rhos, overlaps = [], []
        for learnt, _ in results:
            vectors = KeyedVectors(size)
            vectors.add_vectors(words.words, learnt.parameters)
            rhos.append(np.nanmean([score.rho for score in similarity(vectors, data)]))
            near = neighbours(learnt.parameters)
            if first:
                overlaps.append(np.mean([len(a & b) / 10 for a, b in zip(near, first[0], strict=True)]))
            else:
                first.append(near)
        seconds = np.mean([cpu for _, cpu in results])
        listed = [" ".join(f"{value:.3f}" for value in values) for values in (rhos, overlaps)]
        print(f"| {name} | {listed[0]} | {listed[1]} | {seconds:.1f} |", flush=True)

    numbers = range(1, seeds + 1)
    print(f"\n{len(tokens):,} tokens, {len(words):,} words, {size} dimensions; one figure per seed\n")
    print("| | mean of similarity sets | overlap | CPU s of the last fit |\n|---|---|---|---|")
    show("from the beginning", [fit(whole, size, seed) for seed in numbers])
    for new in (0.5, 0.1):
        old = part(0, 1 - new)
        both = PairCounts.merge([old, part(1 - new, 1)])
        earlier = {seed: fit(old, size, seed)[0] for seed in numbers}
        for share in sorted({new, 0.5, min(1.0, 2 * new)}):
            name = f"{new:.0%} new, {share:.0%} of the work"
            show(name, [fit(both, size, seed, earlier=earlier[seed], share=share) for seed in numbers])
    for least in (0.0, 0.25):
        results = []
        for seed in numbers:
            total = part(0, 0.1)
            learnt = fit(total, size, seed)
            for k in range(1, 10):
                total = PairCounts.merge([total, part(k / 10, (k + 1) / 10)])
                learnt = fit(total, size, seed, earlier=learnt[0], share=max(least, 1 / (k + 1)))
            results.append(learnt)
        show(f"ten tenths, work in proportion to what is new, at least {least:.0%}", results)


def main() -> None:
    parser = corpus_parser(__doc__, TEXT8, tokens=4_000_000, vector_size=100, seeds=3)
    parser.add_argument("--only", choices=("loop", "going-on"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.only != "going-on":
        loop(arguments.vector_size)
    if arguments.only != "loop":
        require(arguments.corpus)
        with smart_open.open(arguments.corpus) as file:
            tokens = file.read(8 * arguments.tokens).split()[: arguments.tokens]
        going_on(tokens, arguments.vector_size, arguments.seeds)


if __name__ == "__main__":
    main()
