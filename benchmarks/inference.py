"""How near are inferred vectors to trained ones: known words from their own rows of the counts, and how fast.

    python benchmarks/inference.py [CORPUS] [--vector-size 100] [--passes 0] [--words 200]

A model is trained on CORPUS. Words of three frequencies then get vectors by `infer_vector`, from their contexts in the
counts that the model was trained on, once as they are and once with a model that does not have its counts any more.
With `--passes`, the model is trained for longer, which brings it nearer to the minimum.
"""

from __future__ import annotations

import copy
import time

import numpy as np
from inputs import TEXT8, corpus_parser, require

from gensim_hilbert import HilbertMLE


def cosines(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the cosine of each row with the same row of another matrix."""
    return np.einsum("ij,ij->i", x, y) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)


def main() -> None:
    parser = corpus_parser(__doc__, corpus=TEXT8, vector_size=100, passes=0, words=200)
    options = parser.parse_args()
    require(options.corpus)
    model = HilbertMLE(
        corpus_file=str(options.corpus), vector_size=options.vector_size, passes=options.passes or None, workers=-1
    )
    without_counts = copy.copy(model)  # which leaves the counts out
    size, random = len(model.wv), np.random.default_rng(1)
    table = model.fitted_counts.to_scipy().T.tocsr()
    passes = model.training_history[-1]["passes"]
    print(f"{size:,} words, {options.vector_size} dimensions, {passes:g} passes\n")
    print("| words | occurrences | median cosine | lowest tenth | without counts | CPU ms per word |")
    print("|---|---|---|---|---|---|")
    for name, first, last in (("frequent", 0, 1000), ("middle", 1000, size // 2), ("rare", size // 2, size)):
        rows = np.sort(random.choice(np.arange(first, last), min(options.words, last - first), replace=False))
        start = time.process_time()
        inferred = model.infer_vector(table[rows], thinned=True)
        spent = 1000 * (time.process_time() - start) / len(rows)
        near = cosines(inferred, model.wv.vectors[rows])
        lost = cosines(without_counts.infer_vector(table[rows], thinned=True), model.wv.vectors[rows])
        counts = [model.wv.get_vecattr(model.wv.index_to_key[row], "count") for row in (rows[0], rows[-1])]
        figures = [f"{np.median(near):.3f}", f"{np.quantile(near, 0.1):.3f}", f"{np.median(lost):.3f}", f"{spent:.0f}"]
        print(f"| {name} | {counts[0]:,} to {counts[1]:,} | " + " | ".join(figures) + " |")


if __name__ == "__main__":
    main()
