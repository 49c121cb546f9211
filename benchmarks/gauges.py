"""Both sides of a model in other gauges: how much of a score is due to the gauge, and how much to the fit.

    python benchmarks/gauges.py --keep DIR [--models hilbert thorough sgns] [--gauges 0.2 0.35 0.5] [--wordnet DIR]

DIR is the folder of paper_models.py. The products of vectors and covectors, which are what a model has learnt, are the
same in all gauges; vectors are first scored as they were trained, then in each gauge. "verbs" is the mean of B143 and
Y130. With `--wordnet`, the folder of WordNet's files, the last two columns are the shares of questions about synonyms
that are answered (synonyms.py), both the mean over verbs, nouns and adjectives.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from inputs import DATA, require
from paper_models import MODELS
from scoring import measured, scores
from synonyms import KINDS, Question, all_questions, answered

from gensim_hilbert import PairCounts
from gensim_hilbert.report.words import unit_rows
from gensim_hilbert.training.gauge import canonical

COLUMNS = ("mean", "S999", "verbs", "MENd", "RARE", "Google")


def in_gauges(vectors: np.ndarray, covectors: np.ndarray, gauges: list[float]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield vectors as they were trained, and in each gauge."""
    yield "as trained", vectors
    for gauge in gauges:
        yield f"{gauge:g}", canonical(torch.from_numpy(covectors), torch.from_numpy(vectors), gauge)[1].numpy()


def synonym_scores(asked: dict[str, dict[str, list[Question]]], vectors: np.ndarray) -> list[float]:
    """Return the share of answers for each kind of question, the mean over parts of speech."""
    unit = unit_rows(vectors)
    return [float(np.mean([answered(found[kind], unit).mean() for found in asked.values()])) for kind in KINDS]


def in_order_of(place_of: dict[str, int], words: list[str], path: Path) -> np.ndarray:
    """Return the rows of a model in the order of the counts."""
    if len(words) != len(place_of) or not place_of.keys() >= set(words):
        sys.exit(f"{path} has other words than the counts: make both anew, by paper_models.py into an empty folder.")
    return np.argsort([place_of[word] for word in words])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, help="the folder of paper_models.py")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=["hilbert", "thorough", "sgns"])
    parser.add_argument("--gauges", nargs="*", type=float, default=[0.2, 0.35, 0.5])
    parser.add_argument("--wordnet", type=Path, help="folder of WordNet's files")
    options = parser.parse_args()
    files = [options.keep / f"{name}.npz" for name in options.models]
    require(DATA, options.keep / "counts", *files)
    counts = PairCounts.open(options.keep / "counts")
    place_of = counts.vocabulary.index
    asked = all_questions(options.wordnet, counts) if options.wordnet else {}
    head = ("model", "gauge", *COLUMNS, *(f"synonyms, {kind}" for kind in KINDS if asked))
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for path in files:
        model = np.load(path)
        words = [str(word) for word in model["words"]]
        order = in_order_of(place_of, words, path)
        for gauge, vectors in in_gauges(model["vectors"], model["covectors"], options.gauges):
            row = scores(words, vectors, only_analogies=["Google"])
            found = [measured(row, column) for column in COLUMNS]
            found += synonym_scores(asked, vectors[order]) if asked else []
            cells = " | ".join(f"{value:.3f}".replace("0.", ".") for value in found)
            print(f"| {path.stem} | {gauge} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
