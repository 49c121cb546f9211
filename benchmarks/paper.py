"""All tables of the paper, for embeddings of a corpus of yours, beside the paper's own figures.

    python benchmarks/paper.py [CORPUS] [--quick] [--only hilbert gibbs sgns our_glove glove] [--glove DIR] [--keep DIR]
                               [--vectors NAME=PATH ...] [--tasks ...] [--sets ...] [--scaled] [--seeds 3]
                               [--workers 2] [--cache DIR] [--output FILE]

Trains Hilbert-MLE with both solvers, gensim's SGNS, GloVe by our objective, and GloVe by its own program where
`--glove` names the folder of it, all as benchmarks/quality.py does; `--only` chooses. Vectors are kept in the folder of
`--keep`, and found there next time, if the text, the size and the code that trains are the same. `--vectors` scores
files that are there already, trained by whatever; with `--only` and nothing after it, only those. Networks have
`--quick` presets for CPUs; what they have scored is cached in the folder of `--cache`, so that a command that was
interrupted or killed goes on where it stopped. `--sets` names those to classify and tag, by default all of them:
networks of full size for IMDB alone take hours. The paper has taggers read vectors as they are; with `--scaled` all
vectors are first brought to components of root mean square 1, because the length of vectors is a matter of convention
(`gauge`), and short ones are slow to learn from. Seconds of each part go to standard error.

The paper's vectors were trained on 5.4 billion tokens of news and Wikipedia; no corpus at hand is as large, so compare
rows with one another, and the paper's with one another, before you compare across.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from children import ChildFailed, answer, ask_child
from inputs import DATA, corpus_parser, require, write_lines
from peers import add_glove_option, installed
from runs import Run, fingerprint, settings_of, version_of
from systems import TRAINERS

from gensim_hilbert.evaluation import analogies, classification, find_data, most_frequent_tag, similarity, tagging
from gensim_hilbert.evaluation.summary import analogy_table, extrinsic_table, similarity_table
from gensim_hilbert.evaluation.tables import MARKDOWN, Score, Table, as_markdown
from gensim_hilbert.export import export, load_vectors
from gensim_hilbert.export.reading import keyed_vectors

TASKS = ("similarity", "analogy", "classification", "tagging")
NETWORK_SETS = ["IMDB", "AGNews", "SemCor", "WSJ", "Brown"]
SETS = ("B143", "MENd", "MENt", "RMT", "RARE", "SE17", "S999", "WS-R", "WS-S", "Y130")
# The paper's tables; rows ending in MF, matrix factorizations of the authors' own, are comments in its source.
INTRINSIC = {
    "SGNS": (0.453, 0.753, 0.763, 0.680, 0.515, 0.656, 0.364, 0.589, 0.760, 0.514, 0.763, 0.312),
    "SGNS-MF": (0.453, 0.730, 0.754, 0.650, 0.559, 0.684, 0.438, 0.565, 0.751, 0.498, 0.775, 0.354),
    "GloVe": (0.347, 0.760, 0.771, 0.663, 0.509, 0.662, 0.391, 0.602, 0.727, 0.541, 0.739, 0.310),
    "GloVe-MF": (0.379, 0.764, 0.768, 0.664, 0.526, 0.671, 0.419, 0.626, 0.755, 0.574, 0.745, 0.324),
    "Hilbert-MLE": (0.397, 0.751, 0.761, 0.684, 0.579, 0.680, 0.462, 0.593, 0.765, 0.514, 0.705, 0.343),
}
CLASSIFICATION = {
    "SGNS": {"IMDB": (0.910, 0.001), "AGNews": (0.812, 0.003)},
    "SGNS-MF": {"IMDB": (0.912, 0.002), "AGNews": (0.813, 0.003)},
    "GloVe": {"IMDB": (0.905, 0.001), "AGNews": (0.807, 0.003)},
    "GloVe-MF": {"IMDB": (0.904, 0.001), "AGNews": (0.806, 0.002)},
    "Hilbert-MLE": {"IMDB": (0.911, 0.002), "AGNews": (0.812, 0.003)},
}
TAGGING = {
    "most frequent tag": {"SemCor": (0.6126,), "WSJ": (0.8905,), "Brown": (0.9349,)},
    "SGNS": {"SemCor": (0.6638, 0.0014), "WSJ": (0.9615, 0.0004), "Brown": (0.9762, 0.0002)},
    "SGNS-MF": {"SemCor": (0.6696, 0.0027), "WSJ": (0.9621, 0.0005), "Brown": (0.9771, 0.0002)},
    "GloVe": {"SemCor": (0.6550, 0.0033), "WSJ": (0.9609, 0.0004), "Brown": (0.9750, 0.0003)},
    "GloVe-MF": {"SemCor": (0.6655, 0.0026), "WSJ": (0.9613, 0.0003), "Brown": (0.9759, 0.0003)},
    "Hilbert-MLE": {"SemCor": (0.6663, 0.0028), "WSJ": (0.9617, 0.0004), "Brown": (0.9767, 0.0002)},
}
PAPER: dict[str, dict[str, dict[str, Score]]] = {
    "similarity": {
        name: {"mean": Score(float(np.mean(row[:10])))} | dict(zip(SETS, map(Score, row), strict=False))
        for name, row in INTRINSIC.items()
    },
    "analogy": {name: {"Google": Score(row[10]), "BATS": Score(row[11])} for name, row in INTRINSIC.items()},
    "classification": {n: {c: Score(*cell) for c, cell in row.items()} for n, row in CLASSIFICATION.items()},
    "tagging": {n: {c: Score(*cell) for c, cell in row.items()} for n, row in TAGGING.items()},
}
DEFAULTS = ["hilbert", "gibbs", "sgns", "our_glove"]
CAVEATS = """The paper's vectors saw 5.4 billion tokens (Gigaword 3 and Wikipedia 2018, 50,000 words); its bold figures
are the best of its rows, and rows ending in MF were left out of its print. Its AG News has 8 classes and 96,000
texts, ours 4 and those at hand; its WSJ is the whole, tested on sections 22-24, ours the free sample, split 70 to 30;
its SE17 lost words to a split at blanks, and its Y130 has rounded scores."""


def child(path: str, name: str, *arguments: object) -> None:
    """Train, and keep the first of what a trainer returns: vectors, where it returns sums as well."""
    words, models, _ = TRAINERS[name](*arguments)
    export(keyed_vectors(name, words, next(iter(models.values()))), path)


def run_of(name: str, options: argparse.Namespace) -> Run:
    """What the vectors of a system depend on."""
    text = {"text": options.corpus.name, "fingerprint": fingerprint(options.corpus)}
    size = {"vector_size": options.vector_size, "words": options.max_final_vocab}
    return Run(name, version_of(name, options.glove), settings_of(name), **text, **size, seed=1)


def trained(options: argparse.Namespace, keep: Path) -> dict[str, Path]:
    """Files of vectors by name, trained where they are not there yet."""
    keep.mkdir(parents=True, exist_ok=True)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        plain = f"{folder}/corpus.txt"
        for name in options.only:
            if not installed(name):
                continue
            path = keep / f"{name}-{run_of(name, options).key}.npy"
            if not path.exists():
                if not Path(plain).exists():
                    write_lines(options.corpus, plain)
                arguments = [str(path), name, plain, options.vector_size, options.max_final_vocab, 1]
                if name == "glove":
                    arguments.append(str(options.glove))
                start = time.perf_counter()
                try:
                    ask_child(__file__, *arguments)
                except ChildFailed as failure:
                    print(failure, file=sys.stderr)
                    continue
                tell(f"{name}: trained", start)
            found[name] = path
    return found


def tell(what: str, start: float) -> None:
    print(f"{what} in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


def beside(table: Table, theirs: dict[str, dict[str, Score]]) -> str:
    """Our rows, then the paper's."""
    body, _, notes = as_markdown(table).partition("\n\n")
    rows = Table("", table.columns, {f"paper: {name}": row for name, row in theirs.items()}, digits=table.digits)
    lines = [f"| {' | '.join(row)} |" for row in rows.grid(MARKDOWN)[1:]]
    return "\n".join([body, *lines]) + f"\n\n{notes}"


def tables(files: dict[str, Path], options: argparse.Namespace) -> list[str]:
    data = find_data(DATA)
    data = replace(
        data,
        classification={name: files for name, files in data.classification.items() if name in options.sets},
        tagging={name: files for name, files in data.tagging.items() if name in options.sets},
    )
    networks = {"quick": options.quick, "seeds": options.seeds, "workers": options.workers, "cache": options.cache}
    functions = {
        "similarity": similarity,
        "analogy": analogies,
        "classification": lambda vectors, sets: classification(vectors, sets, **networks),
        "tagging": lambda vectors, sets: tagging(vectors, sets, **networks),
    }
    scores: dict[str, dict[str, list]] = {task: {} for task in options.tasks}
    baseline: dict[str, float] = {}
    for name, path in files.items():
        vectors = load_vectors(path)
        if options.scaled:
            vectors.vectors /= np.sqrt(np.square(vectors.vectors).mean())
        for task in options.tasks:
            start = time.perf_counter()
            scores[task][name] = functions[task](vectors, data)
            tell(f"{name}: {task}", start)
        if "tagging" in options.tasks and not baseline:
            baseline = most_frequent_tag(data, vectors, quick=options.quick)
    made = {
        "similarity": similarity_table,
        "analogy": analogy_table,
        "classification": lambda found: extrinsic_table("Classification", found),
        "tagging": lambda found: extrinsic_table("Tagging", found, baseline),
    }
    return [beside(made[task](scores[task]), PAPER[task]) for task in options.tasks]


def main() -> None:
    parser = corpus_parser(__doc__, vector_size=300, max_final_vocab=50_000, seeds=3, workers=2)
    parser.add_argument("--only", nargs="*", choices=TRAINERS, default=DEFAULTS)
    add_glove_option(parser)
    parser.add_argument("--keep", type=Path, help="folder for trained vectors")
    parser.add_argument(
        "--vectors", nargs="*", default=[], metavar="NAME=PATH", help="files of vectors to score as well"
    )
    parser.add_argument("--tasks", nargs="*", choices=TASKS, default=list(TASKS))
    parser.add_argument("--sets", nargs="*", choices=NETWORK_SETS, default=NETWORK_SETS, help="sets for networks")
    parser.add_argument("--quick", action="store_true", help="networks by their presets for CPUs")
    parser.add_argument("--scaled", action="store_true", help="bring all vectors to the same scale first")
    parser.add_argument("--cache", type=Path, help="folder for scores of networks")
    parser.add_argument("--output", type=Path, help="a Markdown file, besides standard output")
    options = parser.parse_args()
    if options.child:
        return answer(child, options.child)
    require(DATA, *([options.corpus] if options.only else []))
    if options.glove and options.only == DEFAULTS:
        options.only = [*DEFAULTS, "glove"]
    if "glove" in options.only and not options.glove:
        sys.exit("--glove must name the folder of GloVe's compiled programs")
    given = {name: Path(path) for name, _, path in (entry.partition("=") for entry in options.vectors)}
    with tempfile.TemporaryDirectory() as folder:
        files = trained(options, options.keep or Path(folder)) | given
        if not files:
            sys.exit("there are no vectors to score: give --vectors NAME=PATH, or --only with a name")
        how = ("quick presets" if options.quick else "full setting") + (", vectors scaled" if options.scaled else "")
        head = f"{options.corpus.name if options.only else 'given vectors'}; networks: {how}, {options.seeds} seeds"
        text = "\n\n".join([head, *tables(files, options), CAVEATS])
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
