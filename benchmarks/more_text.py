"""How the lead over gensim's SGNS changes with the amount of text.

    python benchmarks/more_text.py [--tokens 5000000 12000000 25000000 50000000] [--vector-size 100] [--seeds 2]
                                   [--rows FILE] [--again SYSTEM ...] [--plot docs/more_text.svg]

The first 25 million tokens are of Wikipedia (wiki2019_25m). What follows is an older Wikipedia (text8_prefix), film
reviews (IMDB), news (AG News) and the Brown corpus. Both have the settings of `benchmarks/quality.py`: 50,000 words,
window 5, sample 1e-4, and SGNS has 5 negatives and 5 epochs. Each run adds a row to a file of JSON lines. Runs that are
in the file already are not made again, unless `--again` names their system; with `--tokens` and nothing after
it none is made, and the table is printed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import smart_open
from children import answer, ask_child
from inputs import DATA, TEXT8, WIKIPEDIA, require, write_lines
from rows import Row, keep_row, read_rows, same, to_make
from score_table import mean_and_spread, spread
from scoring import measured, scores
from systems import hilbert, sgns

SYSTEMS = {"HilbertMLE": hilbert, "gensim SGNS": sgns}
TOKENS = (5_000_000, 12_000_000, 25_000_000, 50_000_000)
WORDS = 50_000
MEASURES = {
    "mean": "mean of ten sets",
    "S999": "SimLex-999",
    "verbs": "verbs: mean of B143, Y130",
    "Google": "Google analogies",
    "BATS": "BATS analogies",
}
FILE = Path(__file__).parent / "rows" / "more_text.jsonl"
WIDTH, HEIGHT, GAP = 250, 210, 22


def texts(folder: Path) -> Iterator[Path]:
    """Write each text as a plain file, in their order."""
    for name in (WIKIPEDIA, TEXT8):
        write_lines(DATA / "corpora" / name, str(folder / "plain.txt"))
        yield folder / "plain.txt"
    extrinsic = DATA / "extrinsic"
    for name in ("imdb_train", "imdb_test", "agnews_train_subset", "agnews_test"):
        with smart_open.open(extrinsic / f"{name}.tsv.gz", encoding="utf-8") as source:
            lines = (line.rsplit("\t", 1)[-1].replace("<br />", " ").lower() for line in source)
            (folder / "plain.txt").write_text("".join(" ".join(re.findall(r"\w+", line)) + "\n" for line in lines))
        yield folder / "plain.txt"
    with gzip.open(extrinsic / "brown.txt.gz", "rt", encoding="utf-8") as source:
        words = (line.split("\t")[0].lower() if line.strip() else "\n" for line in source)
        (folder / "plain.txt").write_text(" ".join(words))
    yield folder / "plain.txt"


def write_text(tokens: int, target: Path) -> int:
    """Write so many tokens, to the end of a line; return how many there are."""
    written = 0
    with tempfile.TemporaryDirectory() as folder, open(target, "wb") as file:
        for path in texts(Path(folder)):
            with open(path, "rb") as source:
                for line in source:
                    file.write(line)
                    written += len(line.split())
                    if written >= tokens:
                        return written
    return written


def child(system: str, path: str, vector_size: int, seed: int) -> Row:
    """Train and score, in a process of its own."""
    start = time.process_time()
    names, models, *_ = SYSTEMS[system](path, vector_size, WORDS, seed)
    seconds = time.process_time() - start
    return {"cpu": seconds, **scores(names, models[system])}


def run(options: argparse.Namespace) -> None:
    """Make the runs that are missing, short ones first."""
    rows = read_rows(options.rows)
    for tokens in sorted(options.tokens):
        keys = [
            {"tokens": tokens, "vector_size": options.vector_size, "system": system, "seed": seed}
            for seed in range(1, options.seeds + 1)
            for system in SYSTEMS
        ]
        missing = to_make(keys, rows, options.again)
        if not missing:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "corpus.txt")
            found = write_text(tokens, path)
            for key in missing:
                scored = ask_child(__file__, key["system"], str(path), options.vector_size, key["seed"])
                row = {**key, "found": found, **scored}
                keep_row(options.rows, row, **key)
                print(json.dumps(row), file=sys.stderr, flush=True)


def curves(rows: list[Row], measure: str) -> dict[str, list[tuple[int, float, float]]]:
    """Return for each system the tokens of each size, the mean over seeds and the standard deviation."""
    found: dict[str, list[tuple[int, float, float]]] = {system: [] for system in SYSTEMS}
    for system, points in found.items():
        for tokens in sorted({row["tokens"] for row in rows}):
            values = [measured(row, measure) for row in rows if same(row, system=system, tokens=tokens)]
            if values:
                points.append((tokens, float(np.mean(values)), spread(values)))
    return found


def print_table(rows: list[Row]) -> None:
    """Print a line for each amount of text and system, and one for the lead."""
    columns = ["mean", "S999", "B143", "Y130", "RARE", "Google", "BATS"]
    print(f"| tokens | | runs | CPU s | {' | '.join(columns)} |\n|---|---|---|---|{'---|' * len(columns)}")
    for tokens in sorted({row["tokens"] for row in rows}):
        means: dict[str, np.ndarray] = {}
        for system in SYSTEMS:
            runs = [row for row in rows if same(row, tokens=tokens, system=system)]
            if runs:
                values = np.array([[row[column] for column in columns] for row in runs])
                means[system] = values.mean(axis=0)
                cells = [mean_and_spread(column) for column in values.T]
                cpu = np.mean([row["cpu"] for row in runs])
                print(f"| {tokens / 1e6:g} M | {system} | {len(runs)} | {cpu:.0f} | {' | '.join(cells)} |")
        if len(means) == len(SYSTEMS):
            ours, theirs = (means[system] for system in SYSTEMS)
            print(f"| {tokens / 1e6:g} M | lead | | | {' | '.join(f'{x:+.3f}' for x in ours - theirs)} |")


def draw(rows: list[Row], title: str) -> str:
    """Draw each measure over the amount of text, on a logarithmic scale."""
    from gensim_hilbert.report.svg import Axes, Picture

    whole = Picture(len(MEASURES) * (WIDTH + GAP) + GAP, HEIGHT + 3 * GAP + 20, title)
    whole.text(GAP, GAP + 4, title, class_="strong")
    styles = {"HilbertMLE": ("counted-line", "counted"), "gensim SGNS": ("axis", "muted")}
    for column, (measure, label) in enumerate(MEASURES.items()):
        found = curves(rows, measure)
        values = [value for points in found.values() for _, value, _ in points]
        tokens = sorted({row["tokens"] for row in rows})
        room = 0.1 * (max(values) - min(values))
        axes = Axes(
            WIDTH, HEIGHT, label, (np.log2(tokens[0] / 1e6) - 0.2, np.log2(tokens[-1] / 1e6) + 0.2),
            (min(values) - room, max(values) + room), "log2 of millions of tokens", label,
        )  # fmt: skip
        for system, points in found.items():
            line, dot = styles[system]
            places = [np.log2(count / 1e6) for count, _, _ in points]
            axes.curve(places, [value for _, value, _ in points], line)
            for x, (_, value, deviation) in zip(places, points, strict=True):
                axes.line(axes.at_x(x), axes.at_y(value - deviation), axes.at_x(x), axes.at_y(value + deviation), line)
                axes.add("circle", cx=axes.at_x(x), cy=axes.at_y(value), r=3.5, class_=dot)
        whole.add("g", "".join(axes.parts), transform=f"translate({GAP + column * (WIDTH + GAP)} {GAP + 20})")
    note = "coloured: HilbertMLE; grey: gensim SGNS; upright lines: standard deviation over runs"
    whole.text(whole.width - GAP, whole.height - 12, note, anchor="end", class_="muted", font_size=10)
    return whole.standalone()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", nargs="*", type=int, default=TOKENS, help="amounts of text")
    parser.add_argument("--vector-size", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=Path, default=FILE, help="file of JSON lines that runs are added to")
    parser.add_argument("--again", nargs="*", choices=SYSTEMS, default=[], help="systems whose rows are made anew")
    parser.add_argument("--plot", type=Path, help="SVG file to draw")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return answer(child, options.child)
    if options.tokens:
        require(DATA / "corpora" / WIKIPEDIA, DATA)
        run(options)
    rows: list[Any] = [row for row in read_rows(options.rows) if row["vector_size"] == options.vector_size]
    if not rows:
        sys.exit(f"{options.rows} holds no rows of {options.vector_size} dimensions: name --tokens to make some.")
    print_table(rows)
    if options.plot:
        title = f"Scores by the amount of text, {options.vector_size} dimensions"
        options.plot.write_text(draw(rows, title) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
