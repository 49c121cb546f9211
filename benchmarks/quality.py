"""Vectors against peers: the paper's similarity sets and analogies, same text, window and size.

    python benchmarks/quality.py [CORPUS] [--vector-size 300] [--max-final-vocab 50000] [--seeds 3] [--only NAME ...]
                                 [--glove DIR] [--resume] [--results DIR] [--table]
    python benchmarks/quality.py --all [wiki-300 wiki-100 text8-300 text8-100] --resume

HilbertMLE with both solvers, with subwords, GloVe's objective and gensim's SGNS always; the original word2vec in C
and fastText where they are installed (`make bench-peers` installs both), GloVe where `--glove` names the folder of its
compiled programs. systems.py tells how each is called. All see the same words and window, and train with two threads.
Every model is trained and scored in a process of its own. ± is the standard deviation over seeds.

`--all` makes the tables of both texts and both sizes, or of those that are named; work is done in the order in which
they, and the systems of `--only`, are given. With `--resume` each finished run is kept in the folder of `--results` at
once, and runs that are there already are not made again: a command that was interrupted or killed goes on where it
stopped, and several commands can share the work. Runs that another version or other code has made are not counted.
`--table` prints the tables of what is there.

Below each table are differences between systems with two runs or more, with half of their 95% intervals. What is bold
is significant by Welch's test over runs, after Holm's correction over the columns of the line.

CPU time is that of all threads, without imports. Wall time is recorded by commands that run at the ordinary priority
only: those with a higher niceness wait for other work. It means something if the machine has nothing else to do.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from children import answer, scores_of_child, train_and_score
from inputs import DATA, TEXT8, WIKIPEDIA, corpus_parser, require, write_lines
from leads import leads_table
from peers import add_glove_option, installed
from runs import Run, RunLog, fingerprint, settings_of, version_of
from score_table import table
from systems import TRAINERS

RESULTS = Path(__file__).parent / "results"


class Cell(NamedTuple):
    """What one table is about: a text, and how many dimensions and words the vectors of it have."""

    text: Path
    vector_size: int
    words: int

    def __str__(self) -> str:
        return f"{self.text.name}, {self.words:,} words at most, {self.vector_size} dimensions"


CELLS = {
    f"{name}-{size}": Cell(DATA / "corpora" / text, size, words)
    for name, text, words in (("wiki", WIKIPEDIA, 50_000), ("text8", TEXT8, 15_000))
    for size in (300, 100)
}


def runs_of(cell: Cell, options: argparse.Namespace) -> list[Run]:
    """All runs of a table, in the order of the systems and seeds."""
    text = {"text": cell.text.name, "fingerprint": fingerprint(cell.text)}
    size = {"vector_size": cell.vector_size, "words": cell.words}
    found = []
    for name in options.only:
        how = {"version": version_of(name, options.glove), "settings": settings_of(name)}
        found += [Run(name, **how, **text, **size, seed=seed) for seed in range(1, options.seeds + 1)]
    return found


def make_runs(cells: list[Cell], options: argparse.Namespace, log: RunLog) -> None:
    """Train and score whatever is not in the log."""
    here = [name for name in options.only if (options.glove if name == "glove" else installed(name))]
    for text, group in groupby(cells, key=lambda cell: cell.text):
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder, "corpus.txt")
            for run in (run for cell in group for run in runs_of(cell, options) if run.system in here):
                with log.claimed(run) as is_ours:
                    if not is_ours:
                        continue
                    if not plain.exists():
                        write_lines(text, str(plain))
                    make_run(run, str(plain), options, log)


def make_run(run: Run, plain: str, options: argparse.Namespace, log: RunLog) -> None:
    """Train and score one system, and keep the result."""
    arguments: list[Any] = [run.system, plain, run.vector_size, run.words, run.seed]
    if run.system == "glove":
        arguments.append(str(options.glove))
    models = scores_of_child(__file__, *arguments)
    if settings_of(run.system) != run.settings:
        sys.exit("The code that trains has been changed while this command was running: start it again.")
    if models:
        log.add(run, models)


def print_table(cell: Cell, options: argparse.Namespace, log: RunLog) -> None:
    """Print what is finished; a system without a finished run has an empty line under its own name."""
    rows: dict[str, list[dict[str, float]]] = {}
    notes = {}
    for system, group in groupby(runs_of(cell, options), key=lambda run: run.system):
        runs, earlier = log.select(list(group))
        for name in dict.fromkeys(name for models in runs for name in models) or [system]:
            rows[name] = [models[name] for models in runs if name in models]
            if earlier:
                notes[name] = f"{earlier} of earlier settings"
    print(f"{cell}\n\n{table(rows, options.seeds, notes)}\n")
    if differences := leads_table(rows):
        print(f"{differences}\n")


def main() -> None:
    parser = corpus_parser(__doc__, vector_size=300, max_final_vocab=50_000, seeds=3)
    parser.add_argument("--only", nargs="*", choices=TRAINERS, default=list(TRAINERS), help="systems, in this order")
    parser.add_argument("--all", nargs="*", choices=CELLS, help="the tables of both texts and sizes, or these of them")
    parser.add_argument(
        "--resume", action="store_true", help="keep finished runs, and make only those that are missing"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for finished runs")
    parser.add_argument("--table", action="store_true", help="train nothing, and print the tables of finished runs")
    add_glove_option(parser)
    options = parser.parse_args()
    if options.child:
        return answer(partial(train_and_score, TRAINERS), options.child)
    one = Cell(options.corpus, options.vector_size, options.max_final_vocab)
    cells = [one] if options.all is None else [CELLS[name] for name in options.all or CELLS]
    require(DATA, *(cell.text for cell in cells))
    with tempfile.TemporaryDirectory() as folder:
        log = RunLog(options.results if options.resume or options.table else Path(folder))
        if not options.table:
            make_runs(cells, options, log)
        for cell in cells:
            print_table(cell, options, log)


if __name__ == "__main__":
    main()
