"""Vocabulary and pair counts: time and memory against numpy, gensim and GloVe, all in one run.

    python benchmarks/counting.py CORPUS [--glove DIR] [--grow] [--repeat 3]

Every contender runs in a process of its own, from a file on disk to its result on disk or in memory; imports are not
timed. Each is run `--repeat` times in turn, and the fastest of its runs counts. Peak memory is the process's, as the
kernel saw it. `--glove` names the folder of GloVe's compiled programs; `--grow` adds runs on 10 to 100 million tokens.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from children import answer, ask_child
from inputs import corpus_parser, require
from peers import add_glove_option
from systems import call

WORDS, WINDOW = 50_000, 5


# ---------------------------------------------------------------------------------------------------- contenders


def ours(path: str, workers: int, memory_gb: float = 2.0) -> dict[str, float]:
    import gensim.models  # noqa: F401  # its import is not what is measured

    from gensim_hilbert import PairCounts, Vocabulary

    rules = {"max_final_vocab": WORDS, "workers": workers, "progress": False}
    start = time.perf_counter()
    vocabulary = Vocabulary.from_corpus(path, **rules)
    words = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        counts = PairCounts.from_corpus(path, window=WINDOW, memory_gb=memory_gb, directory=f"{folder}/counts", **rules)
        whole = time.perf_counter() - start
        facts = counts.manifest
    return {
        "words": words,
        "whole": whole,
        "pairs": whole - words,
        "tokens": vocabulary.tokens,
        "entries": facts["entries"],
    }


def gensim_vocabulary(path: str) -> dict[str, float]:
    from gensim.models import Word2Vec
    from gensim.models.word2vec import LineSentence

    model = Word2Vec(vector_size=1, max_final_vocab=WORDS)
    start = time.perf_counter()
    model.scan_vocab(LineSentence(path))
    model.prepare_vocab()
    return {"words": time.perf_counter() - start}


def numpy_counts(path: str) -> dict[str, float]:
    """A dict for the words, np.unique on packed keys for the pairs; symmetric pairs are counted once, as we do."""
    opener = gzip.open if path.endswith(".gz") else open
    start = time.perf_counter()
    with opener(path, "rb") as file:
        sentences = [line.split() for line in file]
    found = Counter(word for sentence in sentences for word in sentence)
    ids = {word: k for k, (word, count) in enumerate(found.most_common(WORDS)) if count >= 5}
    words = time.perf_counter() - start
    encoded = []
    for sentence in sentences:
        encoded.extend([ids[word] for word in sentence if word in ids])
        encoded.append(-1)
    tokens = np.array(encoded, dtype=np.int64)
    del sentences, encoded
    pairs_start = time.perf_counter()
    line = np.cumsum(tokens < 0)
    parts = []
    for begin in range(0, len(tokens), 1 << 22):
        piece = tokens[max(0, begin - WINDOW) : begin + (1 << 22)]
        lines = line[max(0, begin - WINDOW) : begin + (1 << 22)]
        fresh = min(begin, WINDOW)
        keys, weights = [], []
        for d in range(1, WINDOW + 1):
            left, right = piece[fresh - d if fresh else 0 : -d], piece[fresh if fresh else d :]
            same = lines[fresh - d if fresh else 0 : -d] == lines[fresh if fresh else d :]
            good = same & (left >= 0) & (right >= 0)
            low, high = np.minimum(left[good], right[good]), np.maximum(left[good], right[good])
            key, count = np.unique(low << 32 | high, return_counts=True)
            keys.append(key)
            weights.append(count * (WINDOW - d + 1))
        parts.append(add_up(np.concatenate(keys), np.concatenate(weights)))
    table = add_up(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    end = time.perf_counter()
    return {"words": words, "pairs": end - pairs_start, "whole": end - start, "entries": len(table[0])}


def add_up(keys: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], weights[order]
    starts = np.flatnonzero(np.r_[True, np.diff(keys) > 0])
    return keys[starts], np.add.reduceat(weights, starts)


def glove(path: str, folder: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch:
        text, vocabulary, records = f"{scratch}/text", f"{scratch}/vocab.txt", f"{scratch}/records.bin"
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as source, open(text, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        start = time.perf_counter()
        call(f"{folder}/vocab_count", text, vocabulary, min_count=5, max_vocab=WORDS, verbose=0)
        words = time.perf_counter() - start
        call(f"{folder}/cooccur", text, records, vocab_file=vocabulary, window_size=WINDOW, memory=4.0, verbose=0,
             overflow_file=f"{scratch}/overflow")  # fmt: skip
        return {"words": words, "whole": time.perf_counter() - start}


# ---------------------------------------------------------------------------------------------------- running them


def child(name: str, *arguments: object) -> dict[str, float]:
    """Run a contender in a process of its own; add its peak memory, or that of its own children."""
    import resource

    result = globals()[name](*arguments)
    usage = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return result | {"peak": max(usage) * 1024}


def bandwidth() -> float:
    """Bytes a second that one core copies, reads and writes counted."""
    source, target = np.ones(1 << 27, dtype=np.uint8), np.empty(1 << 27, dtype=np.uint8)
    best = min(timed(lambda: np.copyto(target, source)) for _ in range(5))
    return 2 * len(source) / best


def timed(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def grown(path: Path, tokens: int, folder: Path) -> Path:
    """A corpus of that many tokens: a prefix, or copies in which words change places with others about as frequent.

    Plain copies would bring no new pairs; these bring about as many as new text does.
    """
    target = folder / f"{tokens}.txt"
    random = np.random.default_rng(0)
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        lines = file.read().split(b"\n")
    found = [word for word, _ in Counter(word for line in lines for word in line.split()).most_common()]
    written = 0
    with open(target, "wb") as file:
        names = {word: word for word in found}
        while written < tokens:
            for line in lines:
                words = line.split()
                file.write(b" ".join([names[word] for word in words]) + b"\n")
                written += len(words)
                if written >= tokens:
                    break
            octaves = np.log2(np.arange(1, len(found) + 1)).astype(int)
            order = np.lexsort((random.random(len(found)), octaves))
            names = {word: found[k] for word, k in zip(found, order.tolist(), strict=True)}
    return target


def main() -> None:
    parser = corpus_parser(__doc__, repeat=3)
    add_glove_option(parser)
    parser.add_argument("--grow", action="store_true", help="also 10 and 100 million tokens")
    options = parser.parse_args()
    if options.child:
        return answer(child, options.child)
    require(options.corpus)
    with tempfile.TemporaryDirectory() as folder:
        compare(options, Path(folder))
        if options.grow:
            grow(options, Path(folder))


def compare(options: argparse.Namespace, folder: Path) -> None:
    given, plain = str(options.corpus), str(folder / "plain.txt")
    with (gzip.open if given.endswith(".gz") else open)(given, "rb") as source, open(plain, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    calls = {
        "gensim_hilbert, 1 worker": ("ours", plain, 1),
        "gensim_hilbert, 2 workers": ("ours", plain, 2),
        f"gensim_hilbert, 2 workers, {options.corpus.suffix}": ("ours", given, 2),
        "numpy": ("numpy_counts", plain),
        "gensim build_vocab": ("gensim_vocabulary", plain),
    }
    if options.glove:
        calls["GloVe"] = ("glove", plain, str(options.glove))
    best: dict[str, dict[str, float]] = {}
    for _ in range(options.repeat):
        for name, contender in calls.items():
            result = ask_child(__file__, *contender)
            old = best.get(name, {})
            best[name] = {key: min(value, old.get(key, value)) for key, value in result.items()}
    one, two = best["gensim_hilbert, 1 worker"], best["gensim_hilbert, 2 workers"]
    tokens = one["tokens"]
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; "
        f"{options.corpus.name}, {tokens:,.0f} tokens; fastest of {options.repeat}\n"
    )
    print("| | vocabulary s | pairs s | whole s | M tokens/s | peak MB |\n|---|---|---|---|---|---|")
    for name, row in best.items():
        cells = [f"{row[key]:.2f}" if key in row else "" for key in ("words", "pairs", "whole")]
        rate = f"{tokens / row['whole'] / 1e6:.1f}" if "whole" in row else f"{tokens / row['words'] / 1e6:.1f}"
        print(f"| {name} | {' | '.join(cells)} | {rate} | {row['peak'] / 1e6:.0f} |")
    ratios = {
        "pairs, one core, against numpy's (wanted: 2.5)": best["numpy"]["pairs"] / one["pairs"],
        "whole run, 2 workers, against numpy's (wanted: 10)": best["numpy"]["whole"] / two["whole"],
        "vocabulary, 2 workers, against gensim's (wanted: 10)": best["gensim build_vocab"]["words"] / two["words"],
        "whole run, 2 workers against 1 (wanted: 1.8)": one["whole"] / two["whole"],
    }
    if options.glove:
        ratios["whole run, 2 workers, against GloVe's (wanted: 8)"] = best["GloVe"]["whole"] / two["whole"]
    print("\n| ratio | |\n|---|---|")
    for name, ratio in ratios.items():
        print(f"| {name} | {ratio:.1f} |")
    speed = bandwidth()
    moved = tokens * (6 + 4 + 4 + 4 + 64 + 64) + one["entries"] * 4 * 8
    print(
        f"\nOne core copies {speed / 1e9:.1f} GB/s. Counting pairs moves about {moved / 1e9:.1f} GB (text, ids, "
        f"positions, a window of two cache lines a token, entries four times): {moved / speed:.2f} s at that speed, "
        f"{moved / speed / one['pairs']:.0%} of the time measured."
    )


def grow(options: argparse.Namespace, folder: Path) -> None:
    print("\n| tokens | entries | s, 2 workers | ns a token | peak MB |\n|---|---|---|---|---|")
    for tokens in (10_000_000, 25_000_000, 50_000_000, 100_000_000):
        path = grown(options.corpus, tokens, folder)
        runs = [ask_child(__file__, "ours", str(path), 2) for _ in range(options.repeat)]
        row = min(runs, key=lambda run: run["whole"])
        print(
            f"| {row['tokens']:,.0f} | {row['entries']:,} | {row['whole']:.2f} | "
            f"{row['whole'] / row['tokens'] * 1e9:.0f} | {row['peak'] / 1e6:.0f} |",
            flush=True,
        )
        path.unlink()


if __name__ == "__main__":
    main()
