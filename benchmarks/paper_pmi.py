"""What the paper says about PMI: its figure 2, and how near each model's products come to PMI.

    python benchmarks/paper_pmi.py --keep DIR [CORPUS] [--plot docs/reproduction.svg]

The folder is that of benchmarks/paper_models.py. Prints the distribution of PMI over the pairs that occur, also for the
first eighth, quarter and half of the text; GloVe's biases against ln N_i - 1/2 ln N, the part of ln N_ij that belongs
to one word, also for GloVe trained on the most frequent words alone; and for each model the correlation of w_i.v_j with
PMI, over all pairs that occur and over those with a count of at least 10 or 100. PMI is taken from the counts that a
model has learnt from: Hilbert-MLE and SGNS have frequent words thinned out, GloVe has not.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import adagrad_glove
import numpy as np
from inputs import corpus_parser, require, write_first_lines
from paper_models import COUNTS, GLOVE_EPOCHS
from systems import WINDOW

from gensim_hilbert import PairCounts

MODELS = {
    "hilbert": "HilbertMLE",
    "sgns": "gensim SGNS",
    "sgns_mf": "SGNS, our objective",
    "glove": "GloVe, our objective",
    "glove_adagrad": "GloVe by AdaGrad, defaults",
}
LEARNT_FROM = {name: "counts" if "glove" in name else "thinned" for name in MODELS}
FREQUENT = (500, 1000, 2000, 5000)
LEAST = {"all": 0, "N ≥ 10": 10, "N ≥ 100": 100}
PARTS = (8, 4, 2)
PAIRS_AT_A_TIME = 1 << 16
WIDTH, HEIGHT, GAP, DOTS, DRAWN = 400, 250, 24, 700, 2000


class Occurring(NamedTuple):
    """The pairs that occur: their rows, columns and counts, and their PMI."""

    contexts: np.ndarray
    terms: np.ndarray
    counts: np.ndarray
    pmi: np.ndarray


class Fit(NamedTuple):
    """A line through points: correlation, slope, mean difference and root mean square difference of y and x."""

    r: float
    slope: float
    shift: float
    error: float


def occurring(store: PairCounts) -> Occurring:
    table = store.to_scipy().tocoo()
    rows, columns = table.coords
    marginals, total = store.marginals, store.total
    pmi = np.log(table.data) + np.log(total) - np.log(marginals.contexts[rows]) - np.log(marginals.terms[columns])
    return Occurring(rows, columns, table.data, pmi)


def compared(x: np.ndarray, y: np.ndarray) -> Fit:
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    covariance = np.cov(x, y)
    r = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    difference = y - x
    return Fit(r, covariance[0, 1] / covariance[0, 0], difference.mean(), np.sqrt(np.square(difference).mean()))


def products(model: dict[str, np.ndarray], pairs: Occurring) -> np.ndarray:
    """Return w_i.v_j for each pair."""
    found = np.empty(len(pairs.pmi), dtype=np.float32)
    for start in range(0, len(found), PAIRS_AT_A_TIME):
        some = slice(start, start + PAIRS_AT_A_TIME)
        w, v = model["covectors"][pairs.contexts[some]], model["vectors"][pairs.terms[some]]
        found[some] = np.einsum("kd,kd->k", w, v)
    return found


def quantiles(values: np.ndarray, weights: np.ndarray, levels: tuple[float, ...]) -> list[float]:
    order = np.argsort(values)
    places = np.searchsorted(np.cumsum(weights[order]) / weights.sum(), levels)
    return [float(values[order[place]]) for place in places]


def print_distribution(pairs: Occurring, tokens: int) -> None:
    print(f"| PMI of pairs that occur | pairs | mean | sd | 5% | median | 95% | above 0 |\n|{'---|' * 8}")
    for name, least in LEAST.items():
        chosen = pairs.counts >= least
        print_row(f"{tokens:,} tokens, {name}", pairs.pmi[chosen], np.ones(chosen.sum()))
    print_row(f"{tokens:,} tokens, each pair N times", pairs.pmi, pairs.counts)


def print_parts(corpus: Path, store: PairCounts) -> None:
    """Print the same for beginnings of the text, with the words of the whole."""
    whole = int(store.manifest["tokens"])
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            plain = f"{folder}/{part}.txt"
            tokens = write_first_lines(corpus, plain, whole // part)
            counts = PairCounts.from_corpus(plain, vocabulary=store.vocabulary, window=WINDOW, progress=False)
            found = occurring(counts)
            print_row(f"{tokens:,} tokens, all", found.pmi, np.ones(len(found.pmi)))


def print_row(name: str, pmi: np.ndarray, weights: np.ndarray) -> None:
    mean = np.average(pmi, weights=weights)
    sd = np.sqrt(np.average((pmi - mean) ** 2, weights=weights))
    low, middle, high = quantiles(pmi, weights, (0.05, 0.5, 0.95))
    above = np.average(pmi > 0, weights=weights)
    print(f"| {name} | {len(pmi):,} | {mean:.2f} | {sd:.2f} | {low:.2f} | {middle:.2f} | {high:.2f} | {above:.0%} |")


def log_shares(marginals: np.ndarray) -> np.ndarray:
    """Return ln N_i - 1/2 ln N."""
    found: np.ndarray = np.log(marginals) - 0.5 * np.log(marginals.sum())
    return found


class Biases(NamedTuple):
    """Biases of terms, what they are to be near to, and the count of the rarest word."""

    wanted: np.ndarray
    learnt: np.ndarray
    rarest: int


def of_frequent_words(store: PairCounts, words: int) -> Biases:
    """Train GloVe by AdaGrad on the pairs of the most frequent words, and return its biases."""
    table = store.to_scipy()[:words, :words].tocoo()
    rows = adagrad_glove.train(*table.coords, table.data, words, epochs=GLOVE_EPOCHS)
    marginals = np.bincount(table.coords[1], table.data, words)
    return Biases(log_shares(marginals), rows.v[:, -1], int(store.vocabulary.counts[words - 1]))


def print_biases(found: dict[str, Biases]) -> None:
    heading = "| biases against ln N_i - 1/2 ln N | rarest word | r | slope | mean difference | RMS difference |"
    print(f"\n{heading}\n|{'---|' * 6}")
    for name, biases in found.items():
        fit = compared(biases.wanted, biases.learnt)
        numbers = f"{fit.r:.3f} | {fit.slope:.2f} | {fit.shift:+.2f} | {fit.error:.2f}"
        print(f"| {name} | {biases.rarest} | {numbers} |")


def print_products(models: dict[str, dict[str, np.ndarray]], pairs: dict[str, Occurring]) -> None:
    heads = [f"{name}: r | slope | mean difference" for name in LEAST]
    print(f"\n| w.v against PMI | {' | '.join(heads)} |\n|---|{'---|---|---|' * len(LEAST)}")
    for name, model in models.items():
        there = pairs[LEARNT_FROM[name]]
        found = products(model, there)
        chosen = [there.counts >= least for least in LEAST.values()]
        fits = [compared(there.pmi[some], found[some]) for some in chosen]
        cells = " | ".join(f"{fit.r:.3f} | {fit.slope:.2f} | {fit.shift:+.2f}" for fit in fits)
        print(f"| {MODELS[name]} | {cells} |")


def draw(pairs: Occurring, tokens: int, shown: dict[str, Biases]) -> str:
    """Draw the paper's figure 2: a histogram of PMI, and GloVe's biases against the words' shares of ln N_ij."""
    from gensim_hilbert.report.svg import Axes, Picture, short

    millions = f"{len(pairs.pmi) / 1e6:.0f} million pairs that occur in {tokens / 1e6:.0f} million tokens"
    title = f"PMI of the {millions}, and GloVe's biases"
    whole = Picture(2 * WIDTH + 3 * GAP, HEIGHT + 2 * GAP + 20, title)
    whole.text(GAP, GAP + 4, title, class_="strong")
    low, high = np.floor(np.quantile(pairs.pmi, 0.0005)), np.ceil(np.quantile(pairs.pmi, 0.9995))
    heights, edges = np.histogram(pairs.pmi, bins=np.arange(low, high + 0.125, 0.25))
    shares = 100 * heights / len(pairs.pmi)
    a = Axes(WIDTH, HEIGHT, "PMI", (low, high), (0.0, 1.08 * shares.max()), "PMI", "A: % of pairs, by steps of 0.25")
    corners = [(edges[0], 0.0)]
    for left, right, share in zip(edges[:-1], edges[1:], shares, strict=True):
        corners += [(left, share), (right, share)]
    corners.append((edges[-1], 0.0))
    path = "L".join(f"{short(a.at_x(x))} {short(a.at_y(y))}" for x, y in corners)
    a.add("path", d=f"M{path}Z", class_="counted-area")
    mean = pairs.pmi.mean()
    a.line(a.at_x(mean), a.top, a.at_x(mean), a.bottom, "rule")
    a.text(a.at_x(mean) + 5, a.top + 8, f"mean {mean:.2f}", class_="muted")
    values = [value for biases in shown.values() for value in (*biases.wanted, *biases.learnt)]
    ends = (float(np.floor(min(values))), float(np.ceil(max(values))))
    b = Axes(WIDTH, HEIGHT, "biases", ends, ends, "ln N_i - 1/2 ln N", "B: biases of words, learnt by GloVe trained on")
    b.curve(ends, ends, "rule")
    for row, (style, (name, biases)) in enumerate(zip(("counted", "fitted"), shown.items(), strict=True)):
        some = np.linspace(0, len(biases.wanted) - 1, DOTS).astype(int)
        for across, up in zip(b.at_x(biases.wanted[some]), b.at_y(biases.learnt[some]), strict=True):
            b.add("circle", cx=across, cy=up, r=1.3, class_=style)
        b.add("circle", cx=b.left + 12, cy=b.top + 10 + 16 * row, r=4, class_=style)
        b.text(b.left + 22, b.top + 14 + 16 * row, name, class_="muted")
    for column, axes in enumerate((a, b)):
        whole.add("g", "".join(axes.parts), transform=f"translate({GAP + column * (WIDTH + GAP)} {GAP + 20})")
    return whole.standalone()


def read_counts(keep: Path) -> dict[str, PairCounts]:
    """Open both counts, or exit with one sentence if there are none."""
    missing = [name for name in COUNTS if not (keep / name).exists()]
    if missing:
        sys.exit(f"{keep} lacks {' and '.join(missing)}: run benchmarks/paper_models.py with this folder first.")
    return {name: PairCounts.open(keep / name) for name in COUNTS}


def read_models(keep: Path, stores: dict[str, PairCounts]) -> dict[str, dict[str, np.ndarray]]:
    """Read the models that are there, or exit with one sentence if one has other words than its counts."""
    found = {}
    for name, counts in LEARNT_FROM.items():
        file = keep / f"{name}.npz"
        if not file.exists():
            continue
        found[name] = dict(np.load(file))
        if found[name]["words"].tolist() != stores[counts].vocabulary.words:
            sys.exit(f"{file} has other words than {keep / counts}: remove it, and run benchmarks/paper_models.py.")
    return found


def main() -> None:
    parser = corpus_parser(__doc__)
    parser.add_argument("--keep", type=Path, required=True, help="folder of benchmarks/paper_models.py")
    parser.add_argument("--plot", type=Path, help="SVG file to draw")
    options = parser.parse_args()
    require(options.corpus)
    stores = read_counts(options.keep)
    models = read_models(options.keep, stores)
    if options.plot and "glove_adagrad" not in models:
        sys.exit(f"--plot needs glove_adagrad.npz in {options.keep}: run benchmarks/paper_models.py.")
    if options.plot and len(stores["counts"]) <= min(FREQUENT):
        sys.exit(f"--plot needs counts of more than {min(FREQUENT)} words, got {len(stores['counts'])}: use more text.")
    pairs = {name: occurring(store) for name, store in stores.items()}
    print_distribution(pairs["counts"], stores["counts"].manifest["tokens"])
    print_parts(options.corpus, stores["counts"])
    wanted, rarest = log_shares(stores["counts"].marginals.terms), int(stores["counts"].vocabulary.counts[-1])
    found = {
        f"{MODELS[name]}: all words": Biases(wanted, models[name]["terms"], rarest)
        for name in ("glove", "glove_adagrad")
        if name in models
    }
    alone = {words: of_frequent_words(stores["counts"], words) for words in FREQUENT if words < len(stores["counts"])}
    print_biases(found | {f"{MODELS['glove_adagrad']}: {n:,} words alone": biases for n, biases in alone.items()})
    print_products(models, pairs)
    if options.plot:
        shown = {"all words": found[f"{MODELS['glove_adagrad']}: all words"]}
        drawn = max(words for words in alone if words <= DRAWN)
        shown[f"the {drawn:,} most frequent words alone"] = alone[drawn]
        text = draw(pairs["counts"], int(stores["counts"].manifest["tokens"]), shown)
        options.plot.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
