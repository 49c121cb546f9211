"""From text to vectors against gensim: seconds and scores, and how both grow with the vocabulary.

    python benchmarks/speed.py [CORPUS] [--only corpus vocabularies] [--vector-size 300] [--max-final-vocab 50000]

corpus: seconds from a plain file to vectors, and their scores: HilbertMLE as it is, HilbertMLE with the passes and
samples of `--fast`, and gensim's SGNS with 5 epochs, two threads each, each in a process of its own, one after the
other. `--systems` chooses among them. Imports and scores are not timed.

vocabularies: CPU seconds of one thread with default arguments and 100 dimensions, for each of `--sizes`. Up to 42,000
words, the text is the first `--real-tokens` of the corpus. Beyond, it is `--tokens` synthetic ones, in lines of 20:
each word once and the rest drawn with chances in proportion to 1 / (rank + 2.7), in random order. Then wall seconds for
small texts in a process that has trained before.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from children import answer, ask_child
from inputs import DATA, corpus_parser, require, write_first_lines, write_lines
from scoring import scores
from systems import EPOCHS, NEGATIVE, SAMPLE, WINDOW


def say(words: str) -> None:
    """Tell on standard error what is being done."""
    print(words, file=sys.stderr, flush=True)


def job(function: Callable[..., Any], *arguments: object, **environment: str) -> Any:
    """Return what one of JOBS returns in a process of its own."""
    return ask_child(__file__, function.__name__, *arguments, **environment)


def spent(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return a result, and the wall and CPU seconds that it took, all threads and processes included."""
    cpu, start = sum(os.times()[:4]), time.perf_counter()
    result = work()
    return result, {"wall": time.perf_counter() - start, "cpu": sum(os.times()[:4]) - cpu}


def seconds(work: Callable[[], object]) -> float:
    """Return the wall time that a piece of work takes."""
    return spent(work)[1]["wall"]


def peak() -> float:
    """Return the largest memory of this process in gigabytes."""
    status = Path("/proc/self/status")  # `ru_maxrss` of a child includes its parent's memory on Linux.
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


# ---------------------------------------------------------------------------------------------------- corpus to vectors

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
    require(DATA / "eval")
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
    smallest = min(options.sizes, default=LARGEST_REAL + 1)
    real = write_first_lines(options.corpus, path, options.real_tokens) if smallest <= LARGEST_REAL else 0
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


JOBS = {work.__name__: work for work in (train_and_score, train_alone, small_texts)}


def main() -> None:
    parser = corpus_parser(
        __doc__, vector_size=300, max_final_vocab=50_000, tokens=5_000_000, real_tokens=4_000_000, repeat=1
    )
    sections = ["corpus", "vocabularies"]
    parser.add_argument("--only", nargs="*", choices=sections, default=sections, help="what to measure")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), help="corpus: what to train")
    fast: dict[str, Any] = {"nargs": 2, "type": int, "default": (4, 48), "metavar": ("PASSES", "SAMPLES")}
    parser.add_argument("--fast", **fast, help="corpus: setting of the fast HilbertMLE; default 4 48")
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES, help="vocabularies: numbers of words")
    options = parser.parse_args()
    if options.child:
        return answer(lambda name, *arguments: JOBS[name](*arguments), options.child)
    require(options.corpus)
    with tempfile.TemporaryDirectory() as folder:
        if "corpus" in options.only:
            corpus_to_vectors(options, f"{folder}/corpus.txt")
        if "vocabularies" in options.only:
            vocabularies(options, folder)


if __name__ == "__main__":
    main()
