"""How time and memory grow with the vocabulary, at an equal number of pairs per word.

    python benchmarks/growth.py [TEXT ...] [--words 25000 50000 100000 200000 400000] [--vector-size 100]
                                [--tokens 3000000] [--plot growth.svg] [--million] [--million-passes 1]

All sizes are of one corpus. It begins with the same number of tokens of each text, `--tokens` in all, of which the
25,000 most frequent words (`--base`) are kept. For k times as many words, each sentence is written k times, and all
words of its r-th copy get the index r: word#r. Each word thus has k forms, each of which occurs as often as the word
does in the text, has as many different partners and the same counts with them. Tokens, words and pairs all grow by the
factor k. The copies of a sentence come in an order that is drawn by the number of the sentence: otherwise forms with
the same index would fall into the same shards, since equally frequent words are numbered in the order of the text.
Words are kept from `min_count=1` on. Frequent words are thinned out, `sample` being divided by k because each form is k
times as rare: its draws are the only reason why the pairs per word, which the table shows, are not exactly equal.

Each size is counted and trained in a process of its own, whose peak memory is shown. The first pass is not timed; of
the others the fastest counts. All passes draw samples of average size. `--million` adds 1,000,000 words with 200
dimensions and `memory_gb=2`, trained by `HilbertMLE` from the file to vectors.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from children import answer, ask_child
from inputs import DATA, TEXT8, WIKIPEDIA, require, write_lines
from kernels import keep_sample_size
from speed import peak, say
from systems import SAMPLE

TEXTS = (WIKIPEDIA, TEXT8)
WORDS = (25_000, 50_000, 100_000, 200_000, 400_000)
REFERENCE, WANTED = 50_000, 1.2
WIDTH, HEIGHT, GAP = 430, 300, 24


# ---------------------------------------------------------------------------------------------------- the corpus


def write_base(texts: list[Path], words: int, tokens: int, folder: Path) -> Path:
    """Write the beginnings of all texts, reduced to the most frequent words."""
    lines: list[list[str]] = []
    for text in texts:
        plain, kept = folder / "plain.txt", 0
        write_lines(text, str(plain))
        with open(plain, encoding="utf-8") as file:
            for line in file:
                lines.append(line.split())
                kept += len(lines[-1])
                if kept >= tokens / len(texts):
                    break
        plain.unlink()
    found = Counter(word for line in lines for word in line)
    if len(found) < words:
        sys.exit(f"The texts begin with only {len(found):,} different words: raise --tokens or lower --base.")
    names = {word for word, _ in found.most_common(words)}
    base = folder / "base.txt"
    with open(base, "w", encoding="utf-8") as file:
        file.writelines(" ".join([word for word in line if word in names]) + "\n" for line in lines)
    return base


def write_copies(base: Path, copies: int, target: Path) -> None:
    """Write the corpus with so many times as many words."""
    with open(base, encoding="utf-8") as file:
        words = {word for line in file for word in line.split()}
    forms = [{word: f"{word}#{copy}" for word in words} for copy in range(copies)]
    with open(base, encoding="utf-8") as file, open(target, "w", encoding="utf-8") as out:
        for number, line in enumerate(file):
            for copy in Random(number).sample(range(copies), copies):
                out.write(" ".join([forms[copy][word] for word in line.split()]) + "\n")


# ---------------------------------------------------------------------------------------------------- one size


def grown(base: str, copies: int, vector_size: int, passes: int, memory_gb: float, folder: str) -> dict[str, float]:
    """Write the corpus, count it and fit it for some passes."""
    from gensim_hilbert import PairCounts
    from gensim_hilbert.objectives import Hilbert
    from gensim_hilbert.training.factorization import Factorization

    path = Path(folder, "corpus.txt")
    write_copies(Path(base), copies, path)
    ends = [time.perf_counter()]
    directory = Path(folder, "counts")
    rules: dict[str, Any] = {"min_count": 1, "sample": SAMPLE / copies, "memory_gb": memory_gb, "progress": False}
    counts = PairCounts.from_corpus(path, directory=directory, **rules)
    path.unlink()
    ends.append(time.perf_counter())
    say(f"{len(counts):,} words: counted in {ends[1] - ends[0]:.1f} s")
    options: dict[str, Any] = {"passes": passes, "tolerance": 0, "memory_gb": memory_gb, "background": "sampled"}
    fit = Factorization(Hilbert().bind(counts), vector_size, device="cpu", **options)
    keep_sample_size(fit)
    ends.append(time.perf_counter())
    say(f"{len(counts):,} words: started in {ends[2] - ends[1]:.1f} s")
    times = []
    for number in range(passes):
        start = time.perf_counter()
        fit.run(fit.n**2)
        times.append(time.perf_counter() - start)
        say(f"{len(counts):,} words: pass {number + 1} of {passes} took {times[-1]:.1f} s")
    start = time.perf_counter()
    fit.release_moments()
    fit.result()
    return {
        "words": len(counts),
        "pairs": 2 * counts.manifest["entries"],
        "in memory": fit.shards.cache is not None,
        "n": fit.n,
        "rate": fit.scale,
        "counting": ends[1] - ends[0],
        "start": ends[2] - ends[1],
        "pass": min(times[1:] or times),
        "result": time.perf_counter() - start,
        "peak": peak(),
    }


def model(base: str, copies: int, vector_size: int, passes: int, memory_gb: float, folder: str) -> dict[str, float]:
    """Write the corpus and train a model, from the file to vectors; with 0 passes, as many as by default."""
    from gensim_hilbert import HilbertMLE

    path = Path(folder, "corpus.txt")
    write_copies(Path(base), copies, path)
    say("the corpus is written, the model is being trained")
    start = time.perf_counter()
    trained = HilbertMLE(
        corpus_file=str(path), vector_size=vector_size, min_count=1, sample=SAMPLE / copies, workers=-1,
        passes=passes or None, memory_gb=memory_gb,
    )  # fmt: skip
    return {"words": len(trained.wv), "whole": time.perf_counter() - start, "peak": peak()}


JOBS = {"grown": grown, "model": model}


def job(name: str, *arguments: object) -> dict[str, Any]:
    """Return what a job returns in a process of its own, with a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        row: dict[str, Any] = ask_child(__file__, name, *arguments, folder)
    return row


# ---------------------------------------------------------------------------------------------------- results


def print_table(rows: list[dict[str, Any]]) -> None:
    reference = next((row for row in rows if row["words"] >= REFERENCE), rows[0])
    print("| words | pairs per word | shards | counting s | start s | a pass s | µs per word and pass | "
          f"against {reference['words']:,} words | result s | peak GB |\n|{'---|' * 10}")  # fmt: skip
    for row in rows:
        each, usual = (one["pass"] / one["words"] for one in (row, reference))
        pairs = f"{row['pairs'] / row['words']:.0f}" + ("" if row["in memory"] else ", read from disk")
        times = (
            f"{row['counting']:.1f} | {row['start']:.1f} | {row['pass']:.2f} | {each * 1e6:.1f} | {each / usual:.2f}"
        )
        shards = f"{row['n']} x {row['n']}"
        print(f"| {row['words']:,} | {pairs} | {shards} | {times} | {row['result']:.1f} | {row['peak']:.2f} |")
    print(f"\nWanted: at most {WANTED} from {REFERENCE:,} words on.\n", flush=True)
    for row in rows:
        if row["rate"] < 1:
            print(f"With {row['words']:,} words training diverged and started again, at {row['rate']:g} of the rate.\n")


def draw(rows: list[dict[str, Any]], title: str) -> str:
    """Draw seconds per pass and peak memory over the number of words, beside a growth in proportion to it."""
    from gensim_hilbert.report.svg import Axes, Picture

    words = [row["words"] for row in rows]
    reference = next((row for row in rows if row["words"] >= REFERENCE), rows[0])
    whole = Picture(2 * WIDTH + 3 * GAP, HEIGHT + 2 * GAP + 20, title)
    whole.text(GAP, GAP + 4, title, class_="strong")
    for column, (key, label) in enumerate({"pass": "seconds per pass", "peak": "peak memory, GB"}.items()):
        values = [row[key] for row in rows]
        slope = reference[key] / reference["words"]
        highest = max(*values, slope * words[-1] if key == "pass" else 0.0)
        axes = Axes(WIDTH, HEIGHT, label, (0.0, words[-1] * 1.03), (0.0, highest * 1.05), "words", label)
        if key == "pass":
            axes.curve([0, words[-1]], [0, slope * words[-1]], "rule")
            axes.text(axes.at_x(words[-1]), axes.bottom - 8, "dashed: in proportion", anchor="end", class_="muted")
        axes.curve(words, values, "counted-line")
        for x, y in zip(words, values, strict=True):
            axes.add("circle", cx=axes.at_x(x), cy=axes.at_y(y), r=3.5, class_="counted")
        place = f"translate({GAP + column * (WIDTH + GAP)} {GAP + 20})"
        whole.add("g", "".join(axes.parts), transform=place)
    return whole.standalone()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", type=Path, default=[DATA / "corpora" / name for name in TEXTS])
    parser.add_argument("--words", nargs="*", type=int, default=WORDS, help="sizes of the vocabulary")
    parser.add_argument("--base", type=int, default=25_000, help="words of the text; sizes are multiples of this")
    parser.add_argument("--tokens", type=int, default=3_000_000, help="tokens of the text")
    parser.add_argument("--vector-size", type=int, default=100)
    parser.add_argument("--passes", type=int, default=3, help="passes of each size, the first of which is not timed")
    parser.add_argument("--memory-gb", type=float, default=4.0, help="memory for counts")
    parser.add_argument("--plot", type=Path, help="SVG file to draw")
    parser.add_argument("--million", action="store_true", help="also 1,000,000 words with 200 dimensions")
    parser.add_argument("--million-passes", type=int, default=1, help="passes for these; 0 for as many as by default")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return answer(lambda name, *arguments: JOBS[name](*arguments), options.child)
    require(*options.texts)
    if any(words % options.base for words in options.words):
        sys.exit(f"--words must be multiples of --base, which is {options.base:,}")
    with tempfile.TemporaryDirectory() as folder:
        say("writing the text that all sizes are made of")
        base = write_base(options.texts, options.base, options.tokens, Path(folder))
        rows = []
        for words in sorted(options.words):
            say(f"{words:,} words: writing the corpus")
            arguments = options.vector_size, options.passes, options.memory_gb
            rows.append(job("grown", str(base), words // options.base, *arguments))
            say(json.dumps(rows[-1]))
        names = ", ".join(text.name for text in options.texts)
        if rows:
            print(f"{options.tokens:,} tokens of {names}; {options.vector_size} dimensions, window 5\n")
            print_table(rows)
        if rows and options.plot:
            title = f"Time and memory by vocabulary, {options.vector_size} dimensions, equal pairs per word"
            options.plot.write_text(draw(rows, title) + "\n", encoding="utf-8")
        if options.million:
            say("1,000,000 words: writing the corpus")
            row = job("model", str(base), 1_000_000 // options.base, 200, options.million_passes, 2.0)
            passes = options.million_passes or "all"
            print(f"{row['words']:,} words, 200 dimensions, `memory_gb=2`, passes: {passes}. From the file to vectors "
                  f"{row['whole']:.0f} s, peak {row['peak']:.1f} GB (wanted: at most 24).")  # fmt: skip


if __name__ == "__main__":
    main()
