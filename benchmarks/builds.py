"""Compare two builds of the package: the ratio of their CPU times, measured in alternation.

    python benchmarks/builds.py [CORPUS] --builds FIRST SECOND [--repeat 9] [--tokens 4000000] [--only NAME ...]

FIRST and SECOND are folders that each hold a compiled `gensim_hilbert`, for example two clones compiled with different
flags. Every measurement is a process of its own with one worker and one thread, which does its task once untimed, so
that imports do not count, and then again and again for two seconds. A ratio above 1 means that SECOND is slower. The
column "first / first" compares FIRST with itself and shows the noise of the machine.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from children import answer, ask_child, cpu_seconds
from inputs import TEXT8, corpus_parser, require, write_first_lines
from systems import SAMPLE, WINDOW

LEAST = 2.0  # seconds of CPU time for which a process repeats its task


def vocabulary(path: str) -> Callable[[], object]:
    from gensim_hilbert import Vocabulary

    return lambda: Vocabulary.from_corpus(path, workers=1, progress=False)


def token_lists(path: str) -> Callable[[], object]:
    """Count words of short lists, the task with the most calls from Python into compiled code per token."""
    from gensim_hilbert import Vocabulary

    tokens = Path(path).read_text(encoding="utf-8").split()
    texts = [tokens[start : start + 10] for start in range(0, len(tokens), 10)]
    return lambda: Vocabulary.from_corpus(texts, workers=1, progress=False)


def pairs(path: str) -> Callable[[], object]:
    from gensim_hilbert import PairCounts

    def count() -> None:
        with tempfile.TemporaryDirectory() as folder:
            PairCounts.from_corpus(path, directory=f"{folder}/counts", window=WINDOW, workers=1, progress=False)

    return count


def gibbs(path: str) -> Callable[[], object]:
    from gensim_hilbert import HilbertMLE

    model = HilbertMLE(solver="gibbs", vector_size=100, window=WINDOW, sample=SAMPLE, workers=1, progress=False)
    model.build_vocab(corpus_file=path)
    return lambda: model.train(corpus_file=path, total_words=model.corpus_total_words, epochs=1)


TASKS = {"vocabulary": vocabulary, "vocabulary of token lists": token_lists, "pairs": pairs, "gibbs": gibbs}


def child(name: str, path: str) -> float:
    """Return the CPU time of a task, in a process of its own."""
    work = TASKS[name](path)
    work()
    start, runs = cpu_seconds(), 0
    while cpu_seconds() - start < LEAST:
        work()
        runs += 1
    return (cpu_seconds() - start) / runs


def measure(build: Path, name: str, path: str) -> float:
    """CPU time of one task, run by one of the builds in a process of its own."""
    return ask_child(__file__, name, path, PYTHONPATH=str(build), OMP_NUM_THREADS="1")


def compiled_package(text: str) -> Path:
    folder = Path(text).resolve()
    if not any(folder.glob("gensim_hilbert/_tokens.*[!i]")):
        raise argparse.ArgumentTypeError(f"{folder} holds no compiled gensim_hilbert")
    return folder


def main() -> None:
    parser = corpus_parser(__doc__, TEXT8, repeat=9, tokens=4_000_000)
    parser.add_argument("--builds", type=compiled_package, nargs=2, metavar=("FIRST", "SECOND"))
    parser.add_argument("--only", nargs="*", choices=TASKS, default=list(TASKS))
    options = parser.parse_args()
    if options.child:
        return answer(child, options.child)
    if options.builds is None:
        parser.error("--builds must name two folders")
    require(options.corpus)
    first, second = options.builds
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/corpus.txt"
        tokens = write_first_lines(options.corpus, path, options.tokens)
        print(f"{tokens:,} tokens of {options.corpus.name}, median of {options.repeat} rounds\n")
        print("| task | first, CPU s | first / first | second / first | quartiles |\n|---|---|---|---|---|")
        for name in options.only:
            rounds = [[measure(build, name, path) for build in (first, second, first)] for _ in range(options.repeat)]
            one, two, again = np.transpose(rounds)
            ratios = two / np.sqrt(one * again)
            low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
            noise = np.median(again / one)
            print(
                f"| {name} | {np.median(one):.2f} | {noise:.3f} | {middle:.3f} | {low:.3f} to {high:.3f} |", flush=True
            )


if __name__ == "__main__":
    main()
