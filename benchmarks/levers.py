"""Which settings favour similarity, and which favour analogies: one setting at a time, from one set of counts each.

    python benchmarks/levers.py [CORPUS] [--vector-size 100] [--max-final-vocab 15000] [--seeds 1] [--rows FILE]
                                [--settings 'window=2' 'temperature=1' ...] [--gauges 0.2 0.35 0.5]

Each fit is scored at several gauges, which takes no further training: vectors alone, and sums with covectors. "verbs"
is the mean of B143 and Y130. All else is as in `benchmarks/quality.py`. Each fit adds rows to a file of JSON lines;
fits that are there are not repeated.
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
from rows import Row, keep_row, read_rows, same, to_make
from score_table import mean_and_spread
from scoring import measured, scores
from systems import SAMPLE, WINDOW

FILE = Path(__file__).parent / "rows" / "levers.jsonl"
VECTORS = ("v", "v+w")
COLUMNS = ("mean", "S999", "verbs", "MENd", "RARE", "Google")
SETTINGS = ("", "window=2", "temperature=1", "window=10", "sample=1e-3", "temperature=1.5", "shrink_windows=False")
OF_COUNTS = ("window", "sample", "shrink_windows")  # as HilbertMLE calls them


def parsed(text: str) -> dict[str, Any]:
    """Return settings that are written as in a call."""
    call = ast.parse(f"settings({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}


def fitted(path: str, settings: dict[str, Any], options: Any, seed: int) -> Any:
    """Count with the settings that concern counts, and fit with the others."""
    from gensim_hilbert import HilbertMLE, PairCounts
    from gensim_hilbert.model_text import weights_of

    window, sample = settings.get("window", WINDOW), settings.get("sample", SAMPLE)
    weights = weights_of(settings.get("shrink_windows", True))
    of_fit = {name: value for name, value in settings.items() if name not in OF_COUNTS}
    counts = PairCounts.from_corpus(
        path, max_final_vocab=options.max_final_vocab, window=window, sample=sample, weights=weights, seed=seed,
        workers=2, progress=False,
    )  # fmt: skip
    return HilbertMLE.from_counts(counts, vector_size=options.vector_size, seed=seed, workers=2, **of_fit)


def facts_of(options: Any) -> Row:
    """Return what all rows of a table have in common."""
    return {
        "corpus": options.corpus.name,
        "vector_size": options.vector_size,
        "words": options.max_final_vocab,
    }


def run(options: Any) -> None:
    """Make the fits that are missing."""
    import torch

    from gensim_hilbert.training.gauge import canonical, summed

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/corpus.txt"
        for seed in range(1, options.seeds + 1):
            for text in options.settings:
                key = {**facts_of(options), "settings": text, "seed": seed}
                wanted = [{**key, "gauge": gauge, "vectors": kind} for gauge in options.gauges for kind in VECTORS]
                keys = to_make(wanted, read_rows(options.rows))
                if not keys:
                    continue
                if not Path(path).exists():
                    write_lines(options.corpus, path)
                start = time.process_time()
                model = fitted(path, parsed(text), options, seed)
                cpu = time.process_time() - start
                sides = torch.from_numpy(model.syn1neg), torch.from_numpy(model.wv.vectors)
                for one in keys:
                    w, v = (side.numpy() for side in canonical(*sides, one["gauge"]))
                    vectors = summed(w, v) if one["vectors"] == "v+w" else v
                    # BATS would take most of the time.
                    row = {**one, "cpu": cpu, **scores(model.wv.index_to_key, vectors, only_analogies=["Google"])}
                    keep_row(options.rows, row, **one)
                    print(json.dumps(row), file=sys.stderr, flush=True)


def print_table(rows: list[Row]) -> None:
    """Print a line for each setting, gauge and kind of vectors."""
    head = ("settings", "gauge", "vectors", "runs", "CPU s", *COLUMNS)
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for settings, gauge, kind in dict.fromkeys((row["settings"], row["gauge"], row["vectors"]) for row in rows):
        runs = [row for row in rows if same(row, settings=settings, gauge=gauge, vectors=kind)]
        cells = [mean_and_spread([measured(row, column) for row in runs]) for column in COLUMNS]
        cpu = np.mean([row["cpu"] for row in runs])
        name = f"`{settings}`" if settings else "defaults"
        print(f"| {name} | {gauge:g} | {kind} | {len(runs)} | {cpu:.0f} | {' | '.join(cells)} |")


def main() -> None:
    parser = corpus_parser(__doc__, TEXT8, vector_size=100, max_final_vocab=15_000, seeds=1)
    parser.add_argument("--settings", nargs="*", default=SETTINGS)
    parser.add_argument("--gauges", nargs="*", type=float, default=(0.2, 0.35, 0.5))
    parser.add_argument("--rows", type=Path, default=FILE, help="file of JSON lines that runs are added to")
    options = parser.parse_args()
    require(options.corpus, DATA)
    run(options)
    print_table([row for row in read_rows(options.rows) if same(row, **facts_of(options))])


if __name__ == "__main__":
    main()
