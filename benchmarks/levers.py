"""Which settings favour similarity, and which favour analogies: one setting at a time, from one set of counts each.

    python benchmarks/levers.py [CORPUS] [--vector-size 100] [--max-final-vocab 15000] [--seeds 1] [--rows FILE]
                                [--settings 'window=2' 'temperature=1' ...] [--gauges 0.1 0.3 0.5 0.7]

Each fit is scored at several gauges, which takes no further training. "verbs" is the mean of B143 and Y130. All
else is as in `benchmarks/quality.py`. Each fit adds rows to a file of JSON lines; fits that are there are not repeated.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from inputs import DATA, TEXT8, corpus_parser, require, write_lines
from rows import Row, keep_row, read_rows, same
from systems import SAMPLE, WINDOW

FILE = Path(__file__).parent / "rows" / "levers.jsonl"
COLUMNS = ("mean", "S999", "verbs", "MENd", "RARE", "Google")
SETTINGS = ("", "window=2", "temperature=1", "window=10", "sample=1e-3", "temperature=1.5", "shrink_windows=False")
OF_COUNTS = ("window", "sample", "shrink_windows")


def parsed(text: str) -> dict[str, Any]:
    """Return settings that are written as in a call."""
    call = ast.parse(f"settings({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}


def fitted(path: str, settings: dict[str, Any], options: Any, seed: int) -> Any:
    """Count with the settings that concern counts, and fit with the others."""
    from gensim_hilbert import HilbertMLE, PairCounts

    of_counts = {"window": WINDOW, "sample": SAMPLE, **{k: v for k, v in settings.items() if k in OF_COUNTS}}
    of_fit = {k: v for k, v in settings.items() if k not in OF_COUNTS}
    words = options.max_final_vocab
    counts = PairCounts.from_corpus(path, max_final_vocab=words, seed=seed, progress=False, workers=2, **of_counts)
    return HilbertMLE.from_counts(counts, vector_size=options.vector_size, seed=seed, workers=2, **of_fit)


def scores(names: list[str], vectors: np.ndarray) -> dict[str, float]:
    """Return the similarity sets, their mean, that of the verbs, and Google's analogies."""
    from gensim_hilbert.evaluation import Data, analogies, find_data, similarity
    from gensim_hilbert.export.reading import keyed_vectors

    keyed, data = keyed_vectors("trained", names, vectors), find_data(DATA)
    data = Data(similarity=data.similarity, analogy={"Google": data.analogy["Google"]})  # BATS would take most time
    found = {score.name: score.rho for score in similarity(keyed, data)}
    means = {"mean": float(np.mean(list(found.values()))), "verbs": (found["B143"] + found["Y130"]) / 2}
    return means | found | {score.name: score.accuracy for score in analogies(keyed, data)}


def run(options: Any) -> None:
    """Make the fits that are missing."""
    import torch

    from gensim_hilbert.training.gauge import canonical

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/corpus.txt"
        write_lines(options.corpus, path)
        for seed in range(1, options.seeds + 1):
            for text in options.settings:
                facts = {
                    "corpus": options.corpus.name,
                    "vector_size": options.vector_size,
                    "words": options.max_final_vocab,
                }
                key = {**facts, "settings": text, "seed": seed}
                if any(same(row, **key) for row in read_rows(options.rows)):
                    continue
                start = time.process_time()
                model = fitted(path, parsed(text), options, seed)
                cpu = time.process_time() - start
                sides = torch.from_numpy(model.syn1neg), torch.from_numpy(model.wv.vectors)
                for gauge in options.gauges:
                    vectors = canonical(*sides, gauge)[1].numpy()
                    row = {**key, "gauge": gauge, "cpu": cpu, **scores(model.wv.index_to_key, vectors)}
                    keep_row(options.rows, row, **key, gauge=gauge)
                    print(json.dumps(row), file=sys.stderr, flush=True)


def print_table(rows: list[Row]) -> None:
    """Print a line for each setting and gauge."""
    print(f"| settings | gauge | runs | CPU s | {' | '.join(COLUMNS)} |\n|---|---|---|---|{'---|' * len(COLUMNS)}")
    for settings, gauge in dict.fromkeys((row["settings"], row["gauge"]) for row in rows):
        runs = [row for row in rows if same(row, settings=settings, gauge=gauge)]
        values = np.array([[row[column] for column in COLUMNS] for row in runs])
        spread = [f" ± {x:.3f}" if len(runs) > 1 else "" for x in values.std(axis=0)]
        cells = [f"{mean:.3f}{x}" for mean, x in zip(values.mean(axis=0), spread, strict=True)]
        cpu = np.mean([row["cpu"] for row in runs])
        name = f"`{settings}`" if settings else "defaults"
        print(f"| {name} | {gauge:g} | {len(runs)} | {cpu:.0f} | {' | '.join(cells)} |")


def main() -> None:
    parser = corpus_parser(__doc__, TEXT8, vector_size=100, max_final_vocab=15_000, seeds=1)
    parser.add_argument("--settings", nargs="*", default=SETTINGS)
    parser.add_argument("--gauges", nargs="*", type=float, default=(0.1, 0.3, 0.5, 0.7))
    parser.add_argument("--rows", type=Path, default=FILE, help="file of JSON lines that runs are added to")
    options = parser.parse_args()
    require(options.corpus, DATA)
    run(options)
    name = options.corpus.name
    print_table([row for row in read_rows(options.rows) if same(row, corpus=name, vector_size=options.vector_size)])


if __name__ == "__main__":
    main()
