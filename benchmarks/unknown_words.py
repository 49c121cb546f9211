"""What n-grams tell of words that were held out, and what the mean vector adds to it.

    python benchmarks/unknown_words.py [CORPUS] [--vector-size 100] [--max-final-vocab 15000]
                                       [--held-out 2000] [--seed 1] [--means 1.5 2 3]

Vectors of all words are trained once. Then words are drawn from the rarer two thirds and held out: the regression on
n-grams sees the others only, and guesses their vectors. N-grams are as the regression finds them, or say the mean
vector as many times as `--means` tells (`SubwordVectors.share_mean`). "cosine", "median rank" and "same neighbours"
compare guesses with trained vectors: their cosine, the rank of the right word among all by that cosine, and the share
of the ten nearest known words that both have. "nearest" is the mean cosine of a guess with the ten known words that are
nearest to the trained vector, and "any word" that with all known words; the row "if known" has these cosines for words
that are not held out. "RARE" is Spearman's correlation on Rare Words, of all pairs and of those of which one or both
words are unknown; no word is held out there.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from inputs import DATA, TEXT8, corpus_parser, require, write_lines
from scipy.stats import spearmanr
from scoring import RARE_WORDS
from systems import SAMPLE, WINDOW

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.report.words import unit_rows
from gensim_hilbert.training.spelling import Spelling
from gensim_hilbert.vectors.subwords import SubwordVectors

NEAREST = 10
MIN_N, MAX_N, BUCKETS = 3, 6, 2_000_000  # gensim's defaults
OF_GUESSES = ("cosine", "median rank", "same neighbours", "nearest", "any word")
COLUMNS = (*OF_GUESSES, "RARE, all", "one unknown", "both unknown")


class Words(NamedTuple):
    """Trained words, their vectors, and their weights in the loss."""

    names: list[str]
    vectors: np.ndarray
    weights: np.ndarray

    def only(self, rows: np.ndarray) -> Words:
        """Some of the words."""
        return Words([self.names[row] for row in rows], self.vectors[rows], self.weights[rows])


def trained(path: str, options: Any) -> Words:
    """Count a plain text and fit its words, without n-grams."""
    counts = PairCounts.from_corpus(
        path, max_final_vocab=options.max_final_vocab, window=WINDOW, sample=SAMPLE, seed=options.seed, workers=2,
        progress=False,
    )  # fmt: skip
    model = HilbertMLE.from_counts(
        counts, vector_size=options.vector_size, seed=options.seed, workers=2, progress=False
    )
    bound = Hilbert(temperature=model.temperature).bind(counts)
    return Words(model.wv.index_to_key, model.wv.vectors, bound.weights[1])


def spelt(words: Words, means: float | None) -> SubwordVectors:
    """Vectors with n-grams, as factorization makes them of trained ones."""
    found = SubwordVectors(words.vectors.shape[1], MIN_N, MAX_N, BUCKETS)
    found.index_to_key = words.names
    found.key_to_index = {name: row for row, name in enumerate(words.names)}
    found.vectors_vocab = found.vectors = words.vectors
    found.vectors_ngrams = np.zeros((BUCKETS, words.vectors.shape[1]), dtype=np.float32)
    found.recalc_char_ngram_buckets()
    found.parameters = Spelling(found.composition, words.weights).split(words.vectors)
    if means is not None:
        found.share_mean(means)
    return found


def of_held_out(words: Words, held: np.ndarray, means: float | None) -> list[float]:
    """The columns `OF_GUESSES`."""
    rest = np.setdiff1d(np.arange(len(words.names)), held)
    vectors = spelt(words.only(rest), means)
    guessed = unit_rows(np.array([vectors[words.names[row]] for row in held]))
    of_all = unit_rows(words.vectors)
    right = np.einsum("kd,kd->k", guessed, of_all[held])
    ranks = (guessed @ of_all.T > right[:, None]).sum(axis=1)
    truly, seemingly = (nearest(side, of_all[rest]) for side in (of_all[held], guessed))
    shared = [len(set(a) & set(b)) / NEAREST for a, b in zip(truly, seemingly, strict=True)]
    cosines = guessed @ unit_rows(vectors.vectors).T
    near = np.take_along_axis(cosines, truly, axis=1)
    return [float(np.mean(right)), float(np.median(ranks)), float(np.mean(shared)), near.mean(), cosines.mean()]


def if_known(words: Words, held: np.ndarray) -> tuple[float, float]:
    """The cosines that words would have with others if they were not held out."""
    rest = np.setdiff1d(np.arange(len(words.names)), held)
    of_all, together = unit_rows(words.vectors), unit_rows(spelt(words, None).vectors)
    cosines = together[held] @ together[rest].T
    return np.take_along_axis(cosines, nearest(of_all[held], of_all[rest]), axis=1).mean(), cosines.mean()


def nearest(vectors: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The rows of the nearest others."""
    return np.argpartition(-(vectors @ others.T), NEAREST, axis=1)[:, :NEAREST]


def of_rare_words(words: Words, means: float | None) -> list[float]:
    """The columns of Rare Words."""
    vectors = spelt(words, means)
    rows = [line.split("\t") for line in RARE_WORDS.read_text(encoding="utf-8").splitlines()]
    left, right = (unit_rows(np.array([vectors[row[side]] for row in rows])) for side in (0, 1))
    cosines, scores = np.einsum("kd,kd->k", left, right), np.array([float(row[2]) for row in rows])
    unknown = np.array([sum(word not in vectors.key_to_index for word in row[:2]) for row in rows])
    kinds = (unknown >= 0, unknown == 1, unknown == 2)
    return [float(spearmanr(cosines[kind], scores[kind]).statistic) for kind in kinds]


def print_row(label: str, values: Sequence[float]) -> None:
    """Print a line of the table."""
    named = zip(COLUMNS, values, strict=True)
    cells = [f"{value:.0f}" if name == "median rank" else f"{value:.3f}" for name, value in named]
    print(f"| {label} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = corpus_parser(__doc__, TEXT8, vector_size=100, max_final_vocab=15_000, held_out=2_000, seed=1)
    parser.add_argument("--means", nargs="*", type=float, default=[1.5, 2, 3])
    options = parser.parse_args()
    require(options.corpus, DATA)
    with tempfile.TemporaryDirectory() as folder:
        write_lines(options.corpus, f"{folder}/corpus.txt")
        words = trained(f"{folder}/corpus.txt", options)
    size = len(words.names)
    rarer = np.arange(size // 3, size)
    if options.held_out > len(rarer):
        sys.exit(f"--held-out must be at most {len(rarer):,}, the rarer two thirds of all words: {options.held_out:,}")
    held = np.sort(np.random.default_rng(options.seed).choice(rarer, options.held_out, replace=False))
    print(f"| the mean, times | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}")
    for means in (None, *options.means):
        print_row(
            "as regressed" if means is None else f"{means:g}",
            of_held_out(words, held, means) + of_rare_words(words, means),
        )
    near, of_any = if_known(words, held)
    print(f"| if known | | | | {near:.3f} | {of_any:.3f} | | | |")


if __name__ == "__main__":
    main()
