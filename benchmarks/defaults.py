"""Defaults against defaults: `HilbertMLE(sentences)`, `Word2Vec(sentences)` and `Word2Vec(sentences, sg=1)`.

    python benchmarks/defaults.py [--only INPUT ...] [--seeds 3] [--rows FILE] [--again SYSTEM ...]
                                  [--settings "sample=0, temperature=1" ...]

No setting is touched but the seed; `--settings` runs HilbertMLE with others instead, and prints a table of these. The
inputs, and what is scored of each, are in `small_inputs.py`. Each run is made in a process of its own and adds a row to
a file of JSON lines. Runs that are in the file already are not made again, unless `--again` names their system; with
`--only` and nothing after it none is made, and the table is printed. ± is the standard deviation over seeds, and CPU
seconds are those of training, of all threads together. "against each" says whether HilbertMLE is ahead (+) of Word2Vec,
and of Word2Vec with sg=1, or behind (-), by more than twice the standard error of the difference over seeds; otherwise
it has =.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from children import answer, ask_child
from levers import parsed
from rows import Row, keep_row, read_rows, same, to_make
from score_table import mean_and_spread
from small_inputs import INPUTS

FILE = Path(__file__).parent / "rows" / "defaults.jsonl"
OURS, PEERS = "HilbertMLE", ("Word2Vec", "Word2Vec, sg=1")
SYSTEMS = (OURS, *PEERS)


def child(name: str, system: str, seed: int, folder: str) -> Row:
    """Train and score, in a process of its own."""
    from gensim.models import Word2Vec
    from gensim.models.word2vec import LineSentence

    from gensim_hilbert import HilbertMLE

    sentences = LineSentence(str(Path(folder, "corpus.txt")))
    start = time.process_time()
    if system == OURS:
        model = HilbertMLE(sentences, seed=seed)
    elif system not in SYSTEMS:
        model = HilbertMLE(sentences, seed=seed, **parsed(system))
    else:
        model = Word2Vec(sentences, seed=seed, sg=int(system.endswith("sg=1")))
    seconds = time.process_time() - start
    facts = {"words": len(model.wv), "tokens": model.corpus_total_words, "cpu": seconds}
    return {**facts, "scores": INPUTS[name].score(model.wv, Path(folder))}


def run(options: argparse.Namespace) -> None:
    """Make the runs that are missing."""
    rows = read_rows(options.rows)
    systems, seeds = options.settings or SYSTEMS, range(1, options.seeds + 1)
    for name in options.only:
        keys = [{"input": name, "seed": seed, "system": system} for seed in seeds for system in systems]
        missing = to_make(keys, rows, options.again)
        if not missing:
            continue
        with tempfile.TemporaryDirectory() as folder:
            if not INPUTS[name].write(Path(folder)):
                print(f"{name} is skipped: its source is not on this machine.", file=sys.stderr, flush=True)
                continue
            for key in missing:
                row = {**key, **ask_child(__file__, name, key["system"], key["seed"], folder)}
                keep_row(options.rows, row, **key)
                print(json.dumps(row), file=sys.stderr, flush=True)


def verdict(ours: list[float], theirs: list[float]) -> str:
    """Return + or - if means differ by more than twice the error of their difference, = if not, ? for a single run."""
    difference = np.mean(ours) - np.mean(theirs)
    if min(len(ours), len(theirs)) < 2:
        return "?"
    error = math.sqrt(sum(np.var(side, ddof=1) / len(side) for side in (ours, theirs)))
    return "=" if abs(difference) <= 2 * error else "+" if difference > 0 else "-"


def print_table(rows: list[Row]) -> None:
    """Print a line for each input and score."""
    print(f"| input | tokens | words | score | {' | '.join(SYSTEMS)} | against each | CPU s |\n|{'---|' * 9}")
    for name, one in INPUTS.items():
        runs = {system: [row for row in rows if same(row, input=name, system=system)] for system in SYSTEMS}
        if not all(runs.values()):
            continue
        first = runs[OURS][0]
        for score in first["scores"]:
            values = {system: [row["scores"][score] for row in found] for system, found in runs.items()}
            cells = " | ".join(map(mean_and_spread, values.values()))
            against = " ".join(verdict(values[OURS], values[peer]) for peer in PEERS)
            cpu = ", ".join(f"{np.mean([row['cpu'] for row in found]):.1f}" for found in runs.values())
            size = f"{first['tokens']:,} | {first['words']:,}"
            print(f"| {one.about} | {size} | {score} | {cells} | {against} | {cpu} |")


def print_settings(rows: list[Row], settings: list[str], names: list[str]) -> None:
    """Print a line for each input and score, with a column for the defaults and for each of the settings."""
    print(
        f"| input | score | defaults | {' | '.join(f'`{one}`' for one in settings)} |\n|{'---|' * (3 + len(settings))}"
    )
    for name in names:
        runs = [[row for row in rows if same(row, input=name, system=system)] for system in (OURS, *settings)]
        for score in runs[0][0]["scores"] if all(runs) else ():
            means = [np.mean([row["scores"][score] for row in found]) for found in runs]
            print(f"| {INPUTS[name].about} | {score} | {' | '.join(f'{mean:.3f}' for mean in means)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=INPUTS, default=list(INPUTS), help="inputs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=Path, default=FILE, help="file of JSON lines that runs are added to")
    parser.add_argument("--again", nargs="*", choices=SYSTEMS, default=[], help="systems whose rows are made anew")
    parser.add_argument("--settings", nargs="*", default=[], help="settings of HilbertMLE to run instead of systems")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return answer(child, options.child)
    run(options)
    if options.settings:
        print_settings(read_rows(options.rows), options.settings, options.only)
    else:
        print_table(read_rows(options.rows))


if __name__ == "__main__":
    main()
