"""The kernels of factorization, against what memory and the cache allow.

    python benchmarks/kernels.py [CORPUS] [--vector-size 300] [--max-final-vocab 50000]

Nanoseconds per pair that occurs; the share of each part in a pass; one thread against two; seconds per sweep of the
start; and what visits of shards take, dense and sampled, against the prices that `background="auto"` looks at. With two
threads, CPU time is about twice the wall time; where it is not, the machine was busy and the figures mean nothing.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from counting import bandwidth
from inputs import corpus_parser, require, write_first_lines
from speed import say, seconds, spent
from systems import SAMPLE

WORDS = (64, 256, 512, 1_024, 2_048, 4_096, 16_000, 42_000)
PRICES = ("DENSE", "SAMPLED", "COMPILED")


def kernel(options: argparse.Namespace, path: str) -> None:
    import torch

    from gensim_hilbert import PairCounts

    say(f"kernel: counting {options.corpus.name}")
    counts = PairCounts.from_corpus(options.corpus, max_final_vocab=options.max_final_vocab, sample=SAMPLE)
    cores = torch.get_num_threads()
    for size in (options.vector_size, 100):
        torch.set_num_threads(cores)
        fit, sweeps = started(counts, size)
        print(f"{fit.size:,} words, {size} dimensions, {fit.n} x {fit.n} shards of {fit.shards.rows} rows\n")
        times = ", ".join(f"{sweep:.2f}" for sweep in sweeps)
        print(f"Sweeps of the start, {cores} threads, the first of which reads the counts: {times} s (wanted: 2)\n")
        torch.set_num_threads(1)
        time_kernels(fit, options.shards)
        time_parts(fit)
        compare_threads(fit)
    torch.set_num_threads(1)
    write_first_lines(options.corpus, path, options.real_tokens)
    compare_prices(path)


def started(counts, size: int):
    """Return a fit with many passes, all with samples of average size, and the seconds of each sweep of its start."""
    from gensim_hilbert.objectives import Hilbert
    from gensim_hilbert.training.factorization import Factorization
    from gensim_hilbert.training.spectral import SWEEPS

    say(f"kernel: start, {size} dimensions")
    ends = [time.perf_counter()]

    def mark(done: int, total: int) -> None:
        if done * SWEEPS % total == 0:
            ends.append(time.perf_counter())

    fit = Factorization(Hilbert().bind(counts), size, passes=100, tolerance=0, on_start=mark, background="sampled")
    keep_sample_size(fit)
    return fit, np.diff(ends)


def keep_sample_size(fit) -> None:
    """Let all passes of a fit draw as many columns as they do on average; otherwise the number grows."""
    begin = fit.gradients.begin_pass
    fit.gradients.begin_pass = lambda done: begin(0.5)


def read_speed() -> float:
    """Return the bytes per second that one core reads from its second cache: the product of two vectors of 192 kB."""
    import torch

    x, y = torch.ones(48 << 10), torch.ones(48 << 10)
    best = min(seconds(lambda: [torch.dot(x, y) for _ in range(1000)]) for _ in range(5))
    return 1000 * 2 * 4 * len(x) / best


def time_kernels(fit, number: int) -> None:
    from gensim_hilbert._pairs import add_products, pair_products, transpose

    d, rows = fit.vector_size, fit.shards.rows
    say(f"kernel: {number} shards, {d} dimensions")
    order = [fit.shards.latin()[k] for k in np.random.default_rng(0).permutation(fit.n**2)[:number]]
    to_w, to_v = (np.zeros((rows, d), dtype=np.float32) for _ in range(2))

    def calls(key: tuple[int, int]) -> dict[str, Callable[[], None]]:
        """Return the kernels as a step calls them, one after the other."""
        shard = fit.shards[key]
        w, v, here = fit.w[shard.i].numpy(), fit.v[shard.j].numpy(), shard.pairs
        psi, turned = (np.zeros(len(here), dtype=np.float32) for _ in range(2))
        by_column = np.empty(rows + 1, dtype=np.int32), np.empty(len(here), dtype=np.int32)
        return {
            "pair_products": partial(pair_products, w, v, d, here.starts, here.columns, psi),
            "add_products, rows": partial(add_products, psi, v, d, here.starts, here.columns, to_w),
            "transpose": partial(transpose, here.starts, here.columns, psi, *by_column, turned),
            "add_products, columns": partial(add_products, turned, w, d, *by_column, to_v),
        }

    rounds = [Counter[str]() for _ in range(3)]
    for times in rounds:
        for key in order:
            for name, run in calls(key).items():
                times[name] += seconds(run)
    times = {name: min(times[name] for times in rounds) for name in rounds[0]}
    pairs = sum(len(fit.shards[key].pairs) for key in order)
    own = 4 * d * rows * len(order) / pairs  # Bytes of the row itself, which all of its pairs share.
    moved = dict(zip(times, (4 * d + 8 + own, 4 * d + 8 + 2 * own, 20, 4 * d + 8 + 2 * own), strict=True))
    times["all"], moved["all"] = sum(times.values()), sum(moved.values())
    copies, reads = bandwidth(), read_speed()
    print(f"{pairs:,} pairs of {len(order)} shards, fastest of 3; one core copies {copies / 1e9:.1f} GB/s in memory "
          f"and reads {reads / 1e9:.1f} GB/s in its second cache\n\n"
          "| d | kernel | ns per pair | bytes per pair | ns at the speed of memory | ns at that of the cache |\n"
          "|---|---|---|---|---|---|")  # fmt: skip
    for name, total in times.items():
        bare = [f"{moved[name] / speed * 1e9:.1f}" for speed in (copies, reads)]
        print(f"| {d} | {name} | {total / pairs * 1e9:.1f} | {moved[name]:.0f} | {' | '.join(bare)} |")
    print(flush=True)


def time_parts(fit) -> None:
    """Print the share of each part in one pass of one thread, by wrappers around the functions that make it up."""
    from gensim_hilbert.training.factorization import Factorization
    from gensim_hilbert.training.factors import Factor

    say("kernel: two passes of one thread")
    parts: dict[str, list[tuple[type, str]]] = {
        "pairs that occur": [(type(fit.gradients), "_add_known")],
        "sample": [(type(fit.gradients), "_sample")],
        "draws": [(type(fit.gradients), "draw_columns"), (type(fit.gradients), "draw_rows")],
        "Adam's steps": [(Factor, "step")],
        "turning to principal axes": [(Factorization, "_turn")],
    }
    times = Counter(dict.fromkeys(parts, 0.0))

    def wrapped(part: str, function: Callable[..., Any], *arguments: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments)
        times[part] += time.perf_counter() - start
        return result

    fit.run(fit.n**2)  # The first pass does not turn axes.
    with ExitStack() as stack:
        for part, places in parts.items():
            for owner, name in places:
                function = getattr(owner, name)
                timed = lambda *arguments, part=part, function=function: wrapped(part, function, *arguments)  # noqa: E731
                stack.enter_context(patch.object(owner, name, timed))
        whole = seconds(lambda: fit.run(fit.n**2))
    times["all else"] = whole - sum(times.values())
    print(f"A pass of one thread takes {whole:.2f} s, {whole / fit.n**2 * 1e3:.2f} ms per shard\n\n"
          "| d | part of a pass | ms per shard | share |\n|---|---|---|---|")  # fmt: skip
    for part, total in times.items():
        print(f"| {fit.vector_size} | {part} | {total / fit.n**2 * 1e3:.3f} | {total / whole:.0%} |")
    print(flush=True)


def compare_threads(fit) -> None:
    """Print the speed of two threads against one, over an eighth of a pass of either by turns, in two passes each."""
    import torch

    say("kernel: two passes of one thread and two of two threads, by turns")
    times: dict[int, list[dict[str, float]]] = {1: [], 2: []}
    steps = max(1, fit.n // 8) * fit.n
    for turn in range(16):
        for number in (1, 2) if (turn + turn // 4) % 2 else (2, 1):  # Axes are turned once a pass: by either in turn.
            torch.set_num_threads(number)
            times[number].append(spent(lambda: fit.run(steps))[1])
    one, two = ([run["wall"] for run in times[number]] for number in (1, 2))
    low, middle, high = np.quantile(np.divide(one, two), [0.1, 0.5, 0.9])
    cpu, both = (sum(run["cpu"] for run in times[number]) for number in (1, 2))
    print(f"Two threads are {sum(one) / sum(two):.2f} times as fast as one (wanted: 1.8): {sum(one):.1f} and "
          f"{sum(two):.1f} s, CPU time {cpu:.1f} and {both:.1f} s; by eighths of a pass {middle:.2f}, from {low:.2f} "
          f"to {high:.2f} in four of five\n", flush=True)  # fmt: skip


def compare_prices(path: str) -> None:
    """Print what a visit of a shard takes, without Adam's steps, and what `costs.py` says that it takes."""
    import torch

    from gensim_hilbert import PairCounts
    from gensim_hilbert.objectives import Hilbert
    from gensim_hilbert.training import costs
    from gensim_hilbert.training.exponential import ExponentialGradients
    from gensim_hilbert.training.factorization import COLUMNS
    from gensim_hilbert.training.gradients import DenseGradients, SampledGradients
    from gensim_hilbert.training.kernels import KERNELS
    from gensim_hilbert.training.schedule import shards_per_side
    from gensim_hilbert.training.shards import Shards

    print("One thread, ms per visit, fastest of 15; behind each what `training/costs.py` says\n")
    print("| d | words | rows | pairs that occur | dense | sampled, in torch | sampled, compiled | `auto` |")
    print("|---|---|---|---|---|---|---|---|")
    for words, size in product(WORDS, (50, 100, 300)):
        say(f"prices: {words:,} words, {size} dimensions")
        counts = PairCounts.from_corpus(path, min_count=1, max_final_vocab=words, sample=SAMPLE, progress=False)
        objective, n = Hilbert().bind(counts), shards_per_side(len(counts), counts.manifest["classes"])
        shards, kernel = Shards(objective, n, torch.device("cpu"), memory_gb=2), KERNELS["product"](size, "float32")
        shard, rows = shards[0, n // 2], shards.rows
        w, v = (0.05 * torch.randn(rows, size) for _ in range(2))
        sampled = [kind(objective, kernel, shards, COLUMNS, 1) for kind in (SampledGradients, ExponentialGradients)]
        cells = [rows**2, *[rows * min(COLUMNS, rows)] * 2]
        columns = []
        ways = zip((DenseGradients(objective, kernel, shards), *sampled), PRICES, cells, strict=True)
        for gradients, name, number in ways:
            took = min(seconds(partial(gradients, shard, w, v, 0)) for _ in range(15))
            said = getattr(costs, name).of(number, len(shard.pairs), size)
            columns.append(f"{took * 1e3:.3f}, {said / 1e6:.3f}")
        is_dense = costs.prefers_dense(costs.COMPILED, costs.DENSE, rows, COLUMNS, len(shard.pairs), size)
        facts = f"{size} | {len(counts):,} | {rows} | {len(shard.pairs):,} | {' | '.join(columns)}"
        print(f"| {facts} | {'dense' if is_dense else 'sampled'} |", flush=True)
    print()


def main() -> None:
    parser = corpus_parser(__doc__, vector_size=300, max_final_vocab=50_000, real_tokens=4_000_000, shards=512)
    options = parser.parse_args()
    require(options.corpus)
    with tempfile.TemporaryDirectory() as folder:
        kernel(options, f"{folder}/beginning.txt")


if __name__ == "__main__":
    main()
