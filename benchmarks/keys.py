"""Counting tokens of other types than str, against gensim's `scan_vocab` and against the same text as str.

    python benchmarks/keys.py [CORPUS] [--tokens 4000000] [--repeat 7] [--length 20]

The words of a text become int, numpy's integers, tuples, bytes, or a mixture, in lists of `--length` tokens. All times
are CPU times of one process with one worker, measured in alternation; a ratio above 1 means that gensim takes longer.
The last column is the time of counting pairs, over that of counting the pairs of the same text as str.
"""

from __future__ import annotations

import gzip
import logging
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import Word2Vec
from inputs import TEXT8, corpus_parser, require

from gensim_hilbert import HilbertMLE, PairCounts, Vocabulary

KINDS: dict[str, Callable[[int, str], Any]] = {
    "str": lambda number, word: word,
    "int": lambda number, word: number,
    "numpy.int64": lambda number, word: np.int64(number),
    "tuple": lambda number, word: (word, number),
    "bytes": lambda number, word: word.encode(),
    "mixed": lambda number, word: (number, word, (word, number), word.encode())[number % 4],
}


def read_words(path: Path, most: int) -> list[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return file.read(16 * most).split()[:most]


def in_lists(tokens: list[Any], length: int) -> list[list[Any]]:
    rest = iter(tokens)
    return list(iter(lambda: list(islice(rest, length)), []))


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def scan(kind: type[Word2Vec], texts: list[list[Any]]) -> None:
    kind(min_count=5, workers=1).scan_vocab(corpus_iterable=texts, workers=1)


def time_of_pairs(texts: list[list[Any]], repeat: int) -> float:
    vocabulary = Vocabulary.from_corpus(texts, workers=1, progress=False)
    count = partial(PairCounts.from_corpus, vocabulary=vocabulary, recount=False, workers=1, progress=False)
    return float(np.median([seconds(partial(count, texts)) for _ in range(repeat)]))


def main() -> None:
    parser = corpus_parser(__doc__, TEXT8, tokens=4_000_000, repeat=7, length=20)
    options = parser.parse_args()
    require(options.corpus)
    logging.disable()
    words = read_words(options.corpus, options.tokens)
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    print(
        f"{len(words):,} tokens of {options.corpus.name}, {len(numbers):,} words, median of {options.repeat} rounds\n"
    )
    print("| tokens | gensim's scan, ns per token | ours | gensim / ours | quartiles | pairs, over str |")
    print("|---|---|---|---|---|---|")
    of_str = 0.0
    for name, make in KINDS.items():
        # One object per occurrence, as tokens are in most programs.
        texts = in_lists([make(numbers[word], word) for word in words], options.length)
        tasks = [partial(scan, kind, texts) for kind in (Word2Vec, HilbertMLE)]
        rounds = [[seconds(task) for task in tasks] for _ in range(options.repeat)]
        gensims, ours = np.array(rounds).T / len(words) * 1e9
        low, middle, high = np.quantile(gensims / ours, [0.25, 0.5, 0.75])
        pairs = time_of_pairs(texts, max(1, options.repeat // 2))
        of_str = of_str or pairs
        print(
            f"| {name} | {np.median(gensims):.0f} | {np.median(ours):.0f} | {middle:.2f} | {low:.2f} to {high:.2f} | "
            f"{pairs / of_str:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
