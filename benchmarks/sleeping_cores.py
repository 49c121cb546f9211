"""Passes of factorization by many threads on few cores: compiled steps are replaced by sleep.

    python benchmarks/sleeping_cores.py COUNTS [--milliseconds 1] [--threads 1 8 16 32 64]

COUNTS is a folder of `gensim-hilbert count`. A thread that sleeps needs no core, and does not hold Python's lock,
just as one that computes a step. So 64 of them behave as on 64 cores, as long as everything else fits onto the cores
that there are: taking tasks, waiting for each other, Python's lock, and what the directing thread does between rows.
The ideal is the time of all sleeps divided by the number of threads. A system wakes sleepers late, by 0.05 ms or more,
which the line with one thread shows. Axes are not turned, because that is computed.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch

from gensim_hilbert import PairCounts
from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training.factorization import Factorization

COST = 1.0, 1.0, 1.0, 0.0, 0.0, 0.0  # of a step that has not been made


class SleepingSteps:
    """Steps on shards that take a while and do nothing."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    def step(self, *arguments: Any) -> tuple[float, ...]:
        """Sleep instead of making a step."""
        time.sleep(self.seconds)
        return COST


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", help="a folder of counts")
    parser.add_argument("--milliseconds", type=float, default=1.0, help="how long a step on a shard takes")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 8, 16, 32, 64], help="numbers of threads")
    options = parser.parse_args()
    fit: Any = Factorization(Hilbert().bind(PairCounts.open(options.counts)), 20, passes=1000, tolerance=0)
    shards, seconds = fit.n**2, options.milliseconds / 1000
    fit.run(shards)
    fit.step.steps, fit._turn = SleepingSteps(seconds), lambda team: None
    print("| threads | seconds | ideal | share of the ideal |\n|---|---|---|---|")
    for number in options.threads:
        torch.set_num_threads(number)
        times = []
        for _ in range(3):
            begun = time.perf_counter()
            fit.run(shards)
            times.append(time.perf_counter() - begun)
        ideal = shards * seconds / number
        print(f"| {number} | {min(times):.3f} | {ideal:.3f} | {ideal / min(times):.0%} |", flush=True)


if __name__ == "__main__":
    main()
