"""The bias of contrastive divergence: its expected update against the exact gradient, by exact sums over a small table.

    python benchmarks/contrastive.py [--words 100] [--vector-size 10] [--plot docs/contrastive.svg]

The table holds the pair counts of the most frequent words of gensim's 300 news texts. Vectors are fitted to it by exact
gradients. At some points on the way, the expected update of each estimator is computed: nothing is drawn, so that what
differs from the exact gradient is bias and not noise. With g the exact gradient by all parameters, and h the expected
update, the bias is |h - g| / |g|, and the cosine that of the angle between g and h.

The update of contrastive divergence is that of exact gradients with other negatives: pairs (i, j) are distributed not
as the model says, but as one Gibbs step leaves the pairs of the text, in which one word is drawn anew. With m
candidates from q that are weighted with the word of the pair by x = exp(psi) p / q, the expected weight of the word j
of the pair is E[x_j / (x_j + S)], where S is the sum over candidates. Since 1 / (x + S) is the integral of
exp(-t (x + S)) over t > 0, this is the integral of x_j exp(-t x_j) f(t)^m, with f(t) = sum_c q_c exp(-t x_c): one
integral per word, for any m.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

CANDIDATES = (1, 5, 40)
SHARES = (1.0, 0.75, 0.5, 0.25, 0.1, 0.03, 0.01)
RATE = 0.5
WIDTH, HEIGHT, GAP = 430, 280, 24


@dataclass(frozen=True)
class Table:
    """Probabilities of pairs, and those of either side."""

    pairs: np.ndarray

    @property
    def contexts(self) -> np.ndarray:
        return self.pairs.sum(axis=1)

    @property
    def terms(self) -> np.ndarray:
        return self.pairs.sum(axis=0)

    def transposed(self) -> Table:
        return Table(self.pairs.T)

    def model(self, psi: np.ndarray) -> np.ndarray:
        """Return the probabilities that psi stands for, made to add up to 1."""
        found = self.contexts[:, None] * self.terms * np.exp(psi)
        return np.asarray(found / found.sum())

    def loss(self, psi: np.ndarray) -> float:
        """Return the divergence of the model from the pairs of the text, in nats per pair."""
        seen = self.pairs > 0
        return float((self.pairs[seen] * np.log(self.pairs[seen] / self.model(psi)[seen])).sum())


Negatives = Callable[[Table, np.ndarray], np.ndarray]

# ---------------------------------------------------------------------------------------------------- negatives


def exact(table: Table, psi: np.ndarray) -> np.ndarray:
    """Return the model's own distribution of pairs."""
    return table.model(psi)


def after_steps(table: Table, psi: np.ndarray, steps: int) -> np.ndarray:
    """Return the distribution of pairs after Gibbs steps from the text; each draws one of the two words, by a coin."""
    model, pairs = table.model(psi), table.pairs
    rows, columns = model / model.sum(axis=1, keepdims=True), model / model.sum(axis=0)
    for _ in range(steps):
        pairs = 0.5 * (pairs.sum(axis=1, keepdims=True) * rows + pairs.sum(axis=0) * columns)
    return pairs


def with_candidates(table: Table, psi: np.ndarray, candidates: int, exponent: float = 0.75) -> np.ndarray:
    """Return the expected weights of pairs, where the word that is drawn anew is one of a few candidates."""
    terms = redrawn_terms(table, psi, candidates, exponent)
    contexts = redrawn_terms(table.transposed(), psi.T, candidates, exponent).T
    return np.asarray(0.5 * (terms + contexts))


def redrawn_terms(table: Table, psi: np.ndarray, candidates: int, exponent: float) -> np.ndarray:
    """Return the expected weights of pairs if contexts stay, row by row."""
    q = table.terms**exponent / (table.terms**exponent).sum()
    result = np.empty_like(psi)
    for i, row in enumerate(psi):
        x = np.exp(row - row.max()) * table.terms / q
        times, weights = quadrature(x)
        decay = np.exp(-times[:, None] * x)
        f = decay @ q
        seen = table.pairs[i]
        stays = x * ((weights * f**candidates) @ decay)  # E of the weight of the pair's own word, for each word
        # Candidate c gets m q_c x_c times the integral of exp(-t x_c) f^(m - 1) sum_j p_ij exp(-t x_j).
        from_pairs = decay @ seen
        to_candidates = candidates * q * x * ((weights * f ** (candidates - 1) * from_pairs) @ decay)
        result[i] = seen * stays + to_candidates
    return result


def quadrature(x: np.ndarray, points: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """Return places and weights for an integral over t > 0: the trapezoid rule in ln t, over all scales of x."""
    logs = np.linspace(math.log(1e-9 / x.max()), math.log(60 / x.min()), points)
    times = np.exp(logs)
    return times, times * (logs[1] - logs[0])


# ---------------------------------------------------------------------------------------------------- fits


def gradient(table: Table, w: np.ndarray, v: np.ndarray, negatives: np.ndarray) -> np.ndarray:
    """Return the gradient by covectors and vectors, as one array, given the distribution of negatives."""
    d = negatives - table.pairs
    return np.concatenate([d @ v, d.T @ w])


def fit(table: Table, size: int, steps: int, negatives: Negatives) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield covectors and vectors after each step, by Adam from short random vectors."""
    words = len(table.pairs)
    x = np.random.default_rng(1).normal(scale=0.3 / math.sqrt(size), size=(2 * words, size))
    first, second = np.zeros_like(x), np.zeros_like(x)
    for step in range(1, steps + 1):
        w, v = x[:words], x[words:]
        yield w, v
        g = gradient(table, w, v, negatives(table, w @ v.T))
        first, second = 0.9 * first + 0.1 * g, 0.99 * second + 0.01 * g**2
        rate = RATE / math.sqrt(size) * 0.5 * (1 + math.cos(math.pi * step / steps))
        x = x - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-12)


def estimators() -> dict[str, Negatives]:
    """Return the negatives of each estimator, by the name that the table shows."""
    found: dict[str, Negatives] = {
        f"1 step, {m} candidate{'s' if m > 1 else ''}": partial(with_candidates, candidates=m) for m in CANDIDATES
    }
    found["1 step, exact conditional"] = partial(after_steps, steps=1)
    found["3 steps, exact conditional"] = partial(after_steps, steps=3)
    return found


def news_table(words: int) -> Table:
    """Count the pairs of the most frequent words."""
    from gensim_hilbert import PairCounts

    with open(datapath("lee_background.cor"), encoding="utf-8") as file:
        news = [simple_preprocess(line) for line in file]
    counts = PairCounts.from_corpus(news, window=5, max_final_vocab=words, progress=False)
    table = counts.to_scipy().toarray().astype(float)
    return Table(table / table.sum())


def compared(g: np.ndarray, h: np.ndarray) -> tuple[float, float]:
    """Return the bias of h relative to g, and the cosine between both."""
    length = np.linalg.norm(g)
    return float(np.linalg.norm(h - g) / length), float((g * h).sum() / length / np.linalg.norm(h))


def along_the_fit(table: Table, size: int, steps: int) -> list[dict[str, Any]]:
    """Compare all estimators with the exact gradient at points on the way of the exact fit."""
    path = [(w.copy(), v.copy()) for w, v in fit(table, size, steps, exact)]
    losses = np.array([table.loss(w @ v.T) for w, v in path])
    start, end = losses[0], losses[-1]
    rows: list[dict[str, Any]] = []
    for share in SHARES:
        w, v = path[int(np.argmax(losses <= end + share * (start - end)))]
        psi = w @ v.T
        g = gradient(table, w, v, exact(table, psi))
        updates = {name: gradient(table, w, v, negatives(table, psi)) for name, negatives in estimators().items()}
        rows.append({"share": share, "found": {name: compared(g, h) for name, h in updates.items()}})
    return rows


def where_fits_end(table: Table, size: int, steps: int) -> dict[str, float]:
    """Return the loss at which a fit by each estimator's expected updates ends."""
    ends = {"vectors of zero": table.loss(np.zeros_like(table.pairs))}
    for name, negatives in {"exact gradients": exact, **estimators()}.items():
        *_, (w, v) = fit(table, size, steps, negatives)
        ends[name] = table.loss(w @ v.T)
    return ends


# ---------------------------------------------------------------------------------------------------- output


def draw(rows: list[dict[str, Any]], title: str) -> str:
    """Draw bias and cosine over how much of the way is left."""
    from gensim_hilbert.report.svg import Axes, Picture

    whole = Picture(2 * WIDTH + 3 * GAP, HEIGHT + 2 * GAP + 20, title)
    whole.text(GAP, GAP + 4, title, class_="strong")
    xs = [-math.log10(row["share"]) for row in rows]
    for column, label in enumerate(("relative bias", "cosine")):
        curves = {name: [row["found"][name][column] for row in rows] for name in estimators()}
        values = [value for curve in curves.values() for value in curve]
        high = 1.05 * max(values)
        axes = Axes(
            WIDTH, HEIGHT, label, (0.0, xs[-1] + 0.9), (0.0, high),
            "part of the loss still to be won: 10 to the power -x",
            f"{label} of the expected update and the exact gradient",
        )  # fmt: skip
        for name, curve in curves.items():
            axes.curve(xs, curve, "counted-line" if "candidate" in name else "axis")
            for x, value in zip(xs, curve, strict=True):
                axes.add("circle", cx=axes.at_x(x), cy=axes.at_y(value), r=2, class_="muted")
        at = 0.0
        for y, name in sorted((axes.at_y(curve[-1]), name) for name, curve in curves.items()):
            at = max(at + 13, y + 3)  # names are below each other
            words = name.removeprefix("1 step, ").replace("3 steps, exact conditional", "3 steps")
            axes.text(axes.at_x(xs[-1]) + 8, at, words, class_="muted", font_size=10)
        whole.add("g", "".join(axes.parts), transform=f"translate({GAP + column * (WIDTH + GAP)} {GAP + 20})")
    return whole.standalone()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--vector-size", type=int, default=10)
    parser.add_argument("--steps", type=int, default=300, help="steps of each fit")
    parser.add_argument("--plot", type=Path, help="SVG file to draw")
    options = parser.parse_args()
    table = news_table(options.words)
    rows = along_the_fit(table, options.vector_size, options.steps)
    names = list(estimators())
    print(f"| loss still to be won | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for row in rows:
        cells = [f"{bias:.3f}, {cosine:.4f}" for bias, cosine in row["found"].values()]
        print(f"| {row['share']:.0%} | {' | '.join(cells)} |")
    print("\nEach cell: relative bias, cosine.\n\n| fitted by | divergence at the end, nats per pair |\n|---|---|")
    for name, loss in where_fits_end(table, options.vector_size, options.steps).items():
        print(f"| {name} | {loss:.4f} |")
    if options.plot:
        title = f"Expected updates against exact gradients, {options.words} words, {options.vector_size} dimensions"
        options.plot.write_text(draw(rows, title) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
