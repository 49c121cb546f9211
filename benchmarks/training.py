"""How fast training is, against what the machine allows and against peers, in one run.

    python benchmarks/training.py [CORPUS] [--vector-size 300] [--max-final-vocab 50000] [--tokens 5000000]
                                  [--only factorization stream corpus vocabularies kernel]

factorization: dense passes against the three bare matrix products of the same shapes, a row of shards of one and of
the other by turns, so that both see the same neighbours.

stream: words a second of `solver="gibbs"`, gensim's SGNS (`corpus_file`, its fastest way), the original word2vec in C
(`pip install word2vec`) and fastText without subwords (`pip install fasttext`), all with 5 negatives, window 5, sample
1e-4, on the first tokens of the corpus. Every trainer runs for one epoch and for three, in processes of their own; the
difference is what two epochs take, without reading vocabularies and writing vectors.

corpus: seconds from a plain file to vectors, and their scores: HilbertMLE as it is, HilbertMLE with the passes and
samples of `--fast`, and gensim's SGNS with 5 epochs, two threads each, each in a process of its own, one after the
other. `--systems` chooses among them. Imports and scores are not timed.

vocabularies: CPU seconds of one thread with default arguments and 100 dimensions, for each of `--sizes`. Up to 42,000
words, the text is the first `--real-tokens` of the corpus. Beyond, it is `--tokens` synthetic ones, in lines of 20:
each word once and the rest drawn with chances in proportion to 1 / (rank + 2.7), in random order. Then wall seconds for
small texts in a process that has trained before.

kernel: nanoseconds per pair that occurs, against what memory and the cache allow; share of each part in a pass; one
thread against two; seconds per sweep of the start; and dense against sampled passes for small vocabularies. With two
threads, CPU time is about twice the wall time; where it is not, the machine was busy and the figures mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from counting import bandwidth
from inputs import DATA
from quality import EPOCHS, NEGATIVE, SAMPLE, WINDOW, call, kept_words, scores, write_lines


def bare_products(fit) -> Callable[[], None]:
    """W V^T, D V and D^T W of a row of shards, and nothing else."""
    import torch

    rows = -(-fit.size // fit.n)
    w, v = torch.randn(rows, fit.vector_size), torch.randn(rows, fit.vector_size)
    d, to_w, to_v = torch.empty(rows, rows), torch.empty_like(w), torch.empty_like(v)

    def multiply() -> None:
        for _ in range(fit.n):
            torch.mm(w, v.T, out=d)
            torch.mm(d, v, out=to_w)
            torch.mm(d.T, w, out=to_v)

    return multiply


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def factorization(corpus: Path, vector_size: int, words: int) -> None:
    import torch

    from gensim_hilbert import PairCounts
    from gensim_hilbert.objectives import Hilbert
    from gensim_hilbert.training.factorization import Factorization

    counts = PairCounts.from_corpus(corpus, max_final_vocab=words, sample=SAMPLE)
    start = time.perf_counter()
    fit = Factorization(Hilbert().bind(counts), vector_size, background="dense")
    begun = time.perf_counter() - start
    fit.run(fit.n * fit.n)  # reads the shards into memory
    multiply = bare_products(fit)
    bare, trained = np.array([
        [(seconds(multiply), seconds(lambda: fit.run(fit.n))) for _ in range(fit.n)] for _ in range(3)
    ]).transpose(2, 0, 1)  # fmt: skip
    low, middle, high = np.quantile(trained / bare, [0.1, 0.5, 0.9])
    products, a_pass = bare.sum(axis=1).min(), trained.sum(axis=1).min()
    flops = 3 * 2 * fit.size**2 * fit.vector_size
    print(f"{fit.size:,} words, {vector_size} dimensions, {fit.n} x {fit.n} shards, {torch.get_num_threads()} threads")
    print(f"start by SVD {begun:.1f} s; a pass {a_pass:.1f} s; its matrix products alone {products:.1f} s "
          f"({flops / products / 1e9:.0f} GFLOP/s); ratio {a_pass / products:.2f} (wanted: 1.3); "
          f"by rows of shards {middle:.2f}, from {low:.2f} to {high:.2f} in four of five")  # fmt: skip
    print(f"peak memory {peak():.2f} GB\n")


# ---------------------------------------------------------------------------------------------------- from the stream


def gibbs(path: str, size: int, least: int, epochs: int, workers: int) -> None:
    from gensim_hilbert import HilbertMLE

    HilbertMLE(
        corpus_file=path, vector_size=size, min_count=least, window=WINDOW, sample=SAMPLE, workers=workers,
        solver="gibbs", negative=NEGATIVE, epochs=epochs,
    )  # fmt: skip


def sgns(path: str, size: int, least: int, epochs: int, workers: int) -> None:
    from gensim.models import Word2Vec

    Word2Vec(
        corpus_file=path, vector_size=size, min_count=least, window=WINDOW, sample=SAMPLE, workers=workers, sg=1,
        negative=NEGATIVE, epochs=epochs,
    )  # fmt: skip


def word2vec(path: str, size: int, least: int, epochs: int, workers: int) -> None:
    program = shutil.which("word2vec", path=Path(sys.executable).parent) or shutil.which("word2vec")
    with tempfile.TemporaryDirectory() as folder:
        call(program, train=path, output=f"{folder}/vectors.bin", size=size, window=WINDOW, sample=SAMPLE, cbow=0, hs=0,
             negative=NEGATIVE, iter=epochs, threads=workers, min_count=least, binary=1, debug=0)  # fmt: skip


def fasttext(path: str, size: int, least: int, epochs: int, workers: int) -> None:
    import fasttext as peer

    peer.train_unsupervised(
        path, model="skipgram", dim=size, ws=WINDOW, neg=NEGATIVE, epoch=epochs, t=SAMPLE, thread=workers, verbose=0,
        minCount=least, maxn=0,
    )  # fmt: skip


TRAINERS = {
    "HilbertMLE, gibbs, 2 workers": (gibbs, 2),
    "HilbertMLE, gibbs, 1 worker": (gibbs, 1),
    "gensim SGNS, 2 workers": (sgns, 2),
    "word2vec in C, 2 threads": (word2vec, 2),
    "fastText without subwords, 2 threads": (fasttext, 2),
}


def stream(corpus: Path, size: int, words: int, tokens: int, repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plain, path = f"{folder}/all.txt", f"{folder}/corpus.txt"
        write_lines(corpus, plain)
        kept = 0
        with open(plain, "rb") as source, open(path, "wb") as target:
            for line in source:
                kept += len(line.split())
                target.write(line)
                if kept >= tokens:
                    break
        least = int(kept_words(path, words).counts.min())
        print(f"{kept:,} tokens of {corpus.name}, words that occur {least} times or more, {size} dimensions; "
              f"fastest of {repeat}\n\n| | k words/s | peak GB |\n|---|---|---|")  # fmt: skip
        speeds = {}
        for name, (_, workers) in TRAINERS.items():
            runs = []
            for _ in range(repeat):
                one, _ = measure(name, path, size, least, 1, workers)
                three, memory = measure(name, path, size, least, 3, workers)
                runs.append(2 * kept / max(three - one, 1e-9))
            speeds[name] = max(runs)
            print(f"| {name} | {speeds[name] / 1000:.0f} | {memory:.2f} |", flush=True)
        ours, single, gensims, original, facebooks = speeds.values()
        print(f"\nAgainst gensim {ours / gensims:.1f} (wanted: 2), word2vec in C {ours / original:.1f} (wanted: 1),")
        print(f"fastText {ours / facebooks:.1f} (wanted: 1); 2 workers against 1 {ours / single:.2f} (wanted: 1.8)")


# ---------------------------------------------------------------------------------------------------- corpus to vectors


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the sections corpus, vocabularies and kernel."""
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), help="corpus: what to train")
    fast = {"nargs": 2, "type": int, "default": (4, 48), "metavar": ("PASSES", "SAMPLES")}
    parser.add_argument("--fast", **fast, help="corpus: setting of the fast HilbertMLE; default 4 48")
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES, help="vocabularies: numbers of words")
    parser.add_argument("--real-tokens", type=int, default=4_000_000, help="vocabularies, kernel: tokens of the corpus")
    parser.add_argument("--shards", type=int, default=512, help="kernel: on how many shards to time the kernels")


def run_sections(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if "corpus" in options.only:
            corpus_to_vectors(options, f"{folder}/corpus.txt")
        if "vocabularies" in options.only:
            vocabularies(options, folder)
        if "kernel" in options.only:
            kernel(options, f"{folder}/beginning.txt")


def say(words: str) -> None:
    """Tell on standard error what is being done."""
    print(words, file=sys.stderr, flush=True)


def job(function: Callable[..., Any], *arguments: object, **environment: str) -> Any:
    """Return what one of JOBS returns in a process of its own."""
    command = [sys.executable, __file__, "--child", json.dumps([function.__name__, *arguments])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=os.environ | environment)
    if done.returncode:
        sys.exit(f"{function.__name__} failed with the arguments {arguments}; the reason is above.")
    return json.loads(done.stdout.splitlines()[-1])


def spent(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return a result, and the wall and CPU seconds that it took, all threads and processes included."""
    cpu, start = sum(os.times()[:4]), time.perf_counter()
    result = work()
    return result, {"wall": time.perf_counter() - start, "cpu": sum(os.times()[:4]) - cpu}


SYSTEMS = {"default": "HilbertMLE", "fast": "HilbertMLE, {} passes, {} samples", "sgns": "gensim SGNS, 5 epochs"}
MEASURES = ("mean", "S999", "RARE", "Google", "BATS")


def train_and_score(system: str, path: str, size: int, words: int, seed: int, fast: tuple[int, int]) -> dict[str, Any]:
    rules = {"corpus_file": path, "vector_size": size, "max_final_vocab": words, "window": WINDOW, "sample": SAMPLE}
    if system == "sgns":
        from gensim.models import Word2Vec

        train = partial(Word2Vec, sg=1, negative=NEGATIVE, epochs=EPOCHS)
    else:
        import torch  # noqa: F401  # its import is not what is measured

        from gensim_hilbert import HilbertMLE

        train = HilbertMLE if system == "default" else partial(HilbertMLE, passes=fast[0], background_samples=fast[1])
    model, times = spent(partial(train, **rules, workers=2, seed=seed))
    return times | {"peak": peak(), "words": len(model.wv)} | scores(model.wv.index_to_key, model.wv.vectors)


def corpus_to_vectors(options: argparse.Namespace, path: str) -> None:
    if not (DATA / "eval").exists():
        sys.exit(f"{DATA / 'eval'} is not there; set GENSIM_HILBERT_DATA to the folder of the data sets")
    write_lines(options.corpus, path)
    rows: dict[str, list[dict[str, float]]] = {system: [] for system in options.systems}
    for seed in range(1, options.repeat + 1):
        for system, runs in rows.items():
            say(f"corpus: training and scoring {system}, seed {seed}")
            arguments = system, path, options.vector_size, options.max_final_vocab, seed, options.fast
            runs.append(job(train_and_score, *arguments))
            say(json.dumps(runs[-1]))
    words = next(iter(rows.values()))[0]["words"]
    print(f"{options.corpus.name}, {words:,} words, {options.vector_size} dimensions, 2 threads; fastest of "
          f"{options.repeat}, mean scores\n")  # fmt: skip
    print(f"| | s | CPU s | peak GB | SGNS takes times as long | {' | '.join(MEASURES)} |\n|{'---|' * 10}")
    best = {key: [min(run[part] for run in runs) for part in ("wall", "cpu", "peak")] for key, runs in rows.items()}
    for system, (wall, cpu, memory) in best.items():
        ratio = f"{best['sgns'][0] / wall:.1f}" if "sgns" in best else ""
        cells = [f"{np.mean([run[measure] for run in rows[system]]):.3f}" for measure in MEASURES]
        name = SYSTEMS[system].format(*options.fast)
        print(f"| {name} | {wall:.1f} | {cpu:.1f} | {memory:.2f} | {ratio} | {' | '.join(cells)} |")
    print("\nWanted: at least 6 with defaults and 10 with the fast setting.\n", flush=True)


# ---------------------------------------------------------------------------------------------------- vocabularies

SIZES = (5_000, 20_000, 42_000, 100_000, 200_000, 500_000)
LARGEST_REAL = 42_000  # About all words that occur four times in 4 million tokens of Wikipedia.


def write_beginning(corpus: Path, path: str, tokens: int) -> int:
    """Write the first lines of a corpus, up to the one with this token; return how many tokens they have."""
    write_lines(corpus, f"{path}.all")
    kept = 0
    with open(f"{path}.all", "rb") as source, open(path, "wb") as target:
        for line in source:
            kept += len(line.split())
            target.write(line)
            if kept >= tokens:
                break
    Path(f"{path}.all").unlink()
    return kept


def write_zipf(path: str, words: int, tokens: int) -> None:
    """Write lines of 20 tokens that are independent of each other; the number of words is the seed."""
    random = np.random.default_rng(words)
    ends = np.cumsum(1 / (np.arange(words) + 2.7))
    drawn = np.searchsorted(ends, random.random(max(0, tokens - words)) * ends[-1], side="right")
    order = random.permutation(np.concatenate([np.arange(words), drawn]))
    with open(path, "w", encoding="ascii") as file:
        for start in range(0, len(order), 20):
            file.write(" ".join([f"w{k}" for k in order[start : start + 20].tolist()]) + "\n")


def train_alone(system: str, path: str, words: int) -> list[float]:
    """Return CPU seconds of one thread, and the number of words."""
    if system == "gensim":
        from gensim.models import Word2Vec as Model
    else:
        import torch

        from gensim_hilbert import HilbertMLE as Model

        torch.set_num_threads(1)
    options = {"solver": "gibbs"} if system == "gibbs" else {}
    model, times = spent(partial(Model, corpus_file=path, min_count=1, max_final_vocab=words, workers=1, **options))
    return [times["cpu"], len(model.wv)]


def vocabularies(options: argparse.Namespace, folder: str) -> None:
    print("CPU seconds of one thread, 100 dimensions, default arguments but for the vocabulary\n")
    print(
        "| V | tokens | gensim default | HilbertMLE default | gibbs | HilbertMLE / gensim |\n|---|---|---|---|---|---|"
    )
    path = f"{folder}/beginning.txt"
    real = write_beginning(options.corpus, path, options.real_tokens) if min(options.sizes) <= LARGEST_REAL else 0
    for size in sorted(options.sizes):
        if size > LARGEST_REAL:
            path = f"{folder}/zipf.txt"
            write_zipf(path, size, options.tokens)
        found = []
        for system in ("gensim", "factorization", "gibbs"):
            say(f"vocabularies: {size:,} words, {system}")
            found.append(job(train_alone, system, path, size, OMP_NUM_THREADS="1"))
        (gensim, words), (ours, _), (gibbs, _) = found
        tokens = f"{options.tokens:,} synthetic" if size > LARGEST_REAL else f"{real:,}"
        print(f"| {words:,} | {tokens} | {gensim:.1f} | {ours:.1f} | {gibbs:.1f} | {ours / gensim:.2f} |", flush=True)
    print("\nWanted: at most 2, and at most 1 from 20,000 to 100,000 words.\n")
    print("Wall seconds, default arguments, fastest of 3 in a process that has trained before\n")
    print("| text | words | gensim | HilbertMLE | allowed: twice gensim's and 0.3 s |\n|---|---|---|---|---|")
    say("vocabularies: small texts")
    for name, words, gensim, ours in job(small_texts):
        print(f"| {name} | {words:,} | {gensim:.3f} | {ours:.3f} | {2 * gensim + 0.3:.3f} |", flush=True)
    print()


def small_texts() -> list[tuple[str, int, float, float]]:
    from gensim.models import Word2Vec
    from gensim.test.utils import common_texts, datapath
    from gensim.utils import simple_preprocess

    from gensim_hilbert import HilbertMLE

    with open(datapath("lee_background.cor"), encoding="utf-8") as file:
        lines = file.readlines()
    lee, at_blanks = [simple_preprocess(line) for line in lines], [line.split() for line in lines]
    texts = [("`common_texts`, `min_count=1`", common_texts, 1), ("100 Lee texts", lee[:100], 5)]
    texts += [("300 Lee texts", lee, 5), ("300 Lee texts, `min_count=1`", lee, 1)]
    texts += [("300 Lee texts split at blanks, `min_count=1`", at_blanks, 1)]
    rows = []
    HilbertMLE(common_texts, min_count=1)  # Imports torch.
    for name, text, least in texts:
        words = len(Word2Vec(text, min_count=least, epochs=1).wv)
        trainers = [partial(model, text, min_count=least) for model in (Word2Vec, HilbertMLE)]
        runs = [[seconds(train) for train in trainers] for _ in range(3)]
        rows.append((name, words, *np.min(runs, axis=0).tolist()))
    return rows


# ---------------------------------------------------------------------------------------------------- kernels

CROSSOVER = (64, 128, 256, 512, 1024, 2048, 4096)


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
    write_beginning(options.corpus, path, options.real_tokens)
    for size in (options.vector_size, 100):
        compare_backgrounds(path, size)


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
    from gensim_hilbert.training.kernels import Product
    from gensim_hilbert.training.pairs import HostPairs

    say("kernel: two passes of one thread")
    parts: dict[str, list[tuple[type, str]]] = {
        "pairs that occur: products and gradients": [(HostPairs, "products"), (HostPairs, "add_gradients")],
        "pairs that occur: taken out of the sample": [(HostPairs, "hide_in_columns"), (HostPairs, "hide_in_rows")],
        "products of the sample": [(Product, "psi"), (Product, "slopes")],
        "exponentials": [(type(fit.objective), f"differentiate_{kind}_") for kind in ("pairs", "background")],
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


def compare_backgrounds(path: str, size: int) -> None:
    """Print the time of dense and of sampled passes for small vocabularies, one thread, fastest of 5 by turns."""
    from gensim_hilbert import PairCounts
    from gensim_hilbert.objectives import Hilbert
    from gensim_hilbert.training.factorization import COLUMNS, DENSE_WORDS, Factorization

    print(f"One thread, {COLUMNS} columns sampled on average; `DENSE_WORDS` is {DENSE_WORDS}\n")
    print("| d | words | shards | dense, ms per pass | sampled | sampled / dense |\n|---|---|---|---|---|---|")
    for words in CROSSOVER:
        say(f"kernel: dense and sampled passes, {words} words, {size} dimensions")
        objective = Hilbert().bind(PairCounts.from_corpus(path, min_count=1, max_final_vocab=words, sample=SAMPLE))
        make = partial(Factorization, objective, size, passes=10_000, tolerance=0)
        fits = [make(background=background) for background in ("dense", "sampled")]
        keep_sample_size(fits[1])
        n = fits[0].n
        passes = max(1, 64 // n)
        runs = [[seconds(partial(fit.run, passes * n * n)) / passes * 1e3 for fit in fits] for _ in range(6)]
        dense, sampled = np.min(runs[1:], axis=0)
        cells = f"{n} x {n} | {dense:.2f} | {sampled:.2f} | {sampled / dense:.2f}"
        print(f"| {size} | {len(objective.counts):,} | {cells} |", flush=True)
    print()


JOBS = {work.__name__: work for work in (train_and_score, train_alone, small_texts)}


# ---------------------------------------------------------------------------------------------------- running them


def measure(name: str, *arguments: object) -> tuple[float, float]:
    """Seconds, and gigabytes at most, of a process that trains."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", json.dumps([name, *arguments])], stdout=subprocess.PIPE, check=True
    )
    seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return seconds, memory


def peak() -> float:
    """Return the gigabytes that this process, or a program that it has run, has held at most."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status = Path("/proc/self/status")
    if status.exists():  # Linux: ru_maxrss includes what the parent held when it started this process.
        own = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1e6


def child(name: str, *arguments: object) -> None:
    if name in JOBS:
        print(json.dumps(JOBS[name](*arguments)))
        return
    start = time.perf_counter()
    TRAINERS[name][0](*arguments)
    print(json.dumps([time.perf_counter() - start, peak()]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", type=Path, default=DATA / "corpora" / "wiki2019_25m.txt.gz")
    parser.add_argument("--vector-size", type=int, default=300)
    parser.add_argument("--max-final-vocab", type=int, default=50_000)
    parser.add_argument("--tokens", type=int, default=5_000_000)
    parser.add_argument("--repeat", type=int, default=1)
    sections = ["factorization", "stream", "corpus", "vocabularies", "kernel"]
    parser.add_argument("--only", nargs="*", choices=sections, default=sections[:2], help="what to measure")
    add_options(parser)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(*json.loads(options.child))
    if not options.corpus.exists():
        sys.exit(f"{options.corpus} is not there; name a corpus, or set GENSIM_HILBERT_DATA")
    if "factorization" in options.only:
        factorization(options.corpus, options.vector_size, options.max_final_vocab)
    if "stream" in options.only:
        stream(options.corpus, options.vector_size, options.max_final_vocab, options.tokens, options.repeat)
    run_sections(options)


if __name__ == "__main__":
    main()
