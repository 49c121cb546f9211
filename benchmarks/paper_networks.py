"""The paper's classifiers and taggers at full size, over the models of benchmarks/paper_models.py, with several seeds.

    python benchmarks/paper_networks.py --keep DIR [--models hilbert sgns glove] [--sets WSJ AGNews SemCor Brown IMDB]
                                        [--seeds 3] [--float32] [--rows FILE] [--table]

DIR is the folder of `paper_models.py`. Each network is trained by one thread and adds a row to a file of JSON lines.
Networks that are there already are not trained again, also if the models have been made anew since then: name another
file by `--rows` where that matters. Several commands can share the work: one per core is best. `--table` trains nothing
and prints what is there, with the differences of each pair of models, half of their 95% intervals, and Welch's test,
corrected by Holm's method over the pairs and sets of the table. All vectors are brought to components of root mean
square 1 first, since their length is a matter of convention; classifiers read unit vectors, as in the paper. Numbers
are in bfloat16 unless `--float32` asks for the paper's precision: the rows of both are kept apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np
from inputs import DATA, require
from leads import lead
from networks import NAMES, SETS
from rows import Row, claimed, keep_row, read_rows, same
from score_table import mean_and_spread

from gensim_hilbert.evaluation import find_data
from gensim_hilbert.evaluation.extrinsic import Job, on_one_core, prepare, run
from gensim_hilbert.evaluation.significance import holm
from gensim_hilbert.export import load_vectors

FILE = Path(__file__).parent / "rows" / "networks.jsonl"
LABELS = {"hilbert": "HilbertMLE", "sgns": "gensim SGNS", "glove": "GloVe, our objective",
          "sgns_mf": "SGNS, our objective"}  # fmt: skip


@lru_cache(maxsize=len(LABELS))  # the models of one set
def job_of(folder: Path, model: str, name: str, bfloat16: bool) -> Job:
    """A set, read through the vectors of a model."""
    data = find_data(DATA)
    task = "tagging" if name in data.tagging else "classification"
    module = SETS[task]
    vectors = load_vectors(folder / f"{model}.npy")
    vectors.vectors /= np.sqrt(np.square(vectors.vectors).mean())
    outside = getattr(module, "OUTSIDE", {}).get(name)
    parts = module.read(name, getattr(data, task)[name])
    settings = replace(module.FULL, bfloat16=bfloat16)
    return prepare(name, vectors, parts, settings, tags=task == "tagging", outside=outside)


def train(options: argparse.Namespace) -> None:
    """Train the networks that are missing, those of one seed together."""
    on_one_core()
    keys = [
        {"set": name, "seed": seed, "model": model, "bfloat16": not options.float32}
        for name in options.sets
        for seed in range(1, options.seeds + 1)
        for model in options.models
    ]
    for key in keys:
        name = "-".join(map(str, key.values()))
        with claimed(options.rows.parent / ".running" / name, name) as is_ours:
            if not is_ours or any(same(row, **key) for row in read_rows(options.rows)):
                continue
            job = job_of(options.keep, key["model"], key["set"], key["bfloat16"])
            start = time.process_time()
            row = {**key, "score": run(job, key["seed"]), "cpu": time.process_time() - start, "known": job.known}
            keep_row(options.rows, row, **key)
            print(json.dumps(row), file=sys.stderr, flush=True)


def print_tables(rows: list[Row], options: argparse.Namespace) -> None:
    """Print scores, and the differences of models by set."""
    rows = [row for row in rows if row["bfloat16"] != options.float32]
    names = [name for name in options.sets if any(same(row, set=name) for row in rows)]
    found = {
        (model, name): [row["score"] for row in rows if same(row, model=model, set=name)]
        for model in options.models
        for name in names
    }
    print(f"| | {' | '.join(names)} |\n|{'---|' * (1 + len(names))}")
    for model in options.models:
        cells = [
            f"{mean_and_spread(runs, 4)} ({len(runs)})" if runs else "" for runs in (found[model, n] for n in names)
        ]
        print(f"| {LABELS[model]} | {' | '.join(cells)} |".replace("0.", "."))
    pairs = [
        (name, *two) for name in names for two in combinations(options.models, 2)
        if min(len(found[model, name]) for model in two) > 1
    ]  # fmt: skip
    leads = [lead(found[a, name], found[b, name]) for name, a, b in pairs]
    print("\n| set | | difference | p | Holm's p |\n|---|---|---|---|---|")
    for (name, a, b), one, corrected in zip(pairs, leads, holm([one.p for one in leads]), strict=True):
        difference = f"{one.value:+.4f} ± {one.half:.4f}"
        print(f"| {name} | {LABELS[a]} − {LABELS[b]} | {difference} | {one.p:.3f} | {corrected:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="the folder of paper_models.py")
    parser.add_argument("--models", nargs="*", choices=LABELS, default=["hilbert", "sgns", "glove"])
    parser.add_argument("--sets", nargs="*", choices=NAMES, default=["WSJ", "AGNews", "SemCor", "Brown", "IMDB"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--float32", action="store_true", help="single precision")
    parser.add_argument("--rows", type=Path, default=FILE, help="file of JSON lines that networks are added to")
    parser.add_argument("--table", action="store_true", help="train nothing, and print the tables")
    options = parser.parse_args()
    if not options.table:
        if options.keep is None:
            sys.exit("--keep must name the folder of paper_models.py, whose vectors are read")
        require(DATA, *(options.keep / f"{model}.npy" for model in options.models))
        train(options)
    print_tables(read_rows(options.rows), options)


if __name__ == "__main__":
    main()
