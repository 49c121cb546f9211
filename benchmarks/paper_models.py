"""The models that the reproduction of the paper is made of, whole: both sides and biases.

    python benchmarks/paper_models.py --keep DIR [CORPUS] [--only counts thinned hilbert ...]

Writes to the folder of `--keep` the pair counts of the text (`counts`), those that are left after frequent words have
been thinned out as for Hilbert-MLE and SGNS (`thinned`), and for each model `NAME.npz` with its words, vectors,
covectors and biases, and `NAME.npy` with the vectors that are scored. What is there already is not made again. The
settings are those of benchmarks/systems.py; `thorough` is `hilbert` with 32 passes. `sgns_mf` is the objective of SGNS,
fitted to counts. Our fit of GloVe's objective starts with biases of ln N_i - 1/2 ln N; for what biases learn by
themselves, `glove_adagrad` is trained as by GloVe's authors: their defaults (50 dimensions, x_max 100), from small
random numbers, in the 10 epochs of the paper's figure 2.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import adagrad_glove
import numpy as np
from children import answer, ask_child
from inputs import corpus_parser, require, write_lines
from systems import EPOCHS, NEGATIVE, SAMPLE, WINDOW

COUNTS = {"counts": 0.0, "thinned": SAMPLE}
GLOVE, GLOVE_EPOCHS = "glove(x_max=10)", 10


class Embedding(NamedTuple):
    """Both sides of a model in the order of its words; `scored` are the vectors that evaluations read."""

    words: list[str]
    vectors: np.ndarray
    covectors: np.ndarray
    scored: np.ndarray
    biases: tuple[np.ndarray, np.ndarray] | None = None

    def save(self, path: Path) -> None:
        """Write both files, the one that tells that all is there last."""
        from gensim_hilbert.export import export
        from gensim_hilbert.export.reading import keyed_vectors

        export(keyed_vectors(path.stem, self.words, self.scored), str(path.with_suffix(".npy")))
        zeros = np.zeros(len(self.words), dtype=np.float32)
        contexts, terms = self.biases or (zeros, zeros)
        part = path.with_name(f"{path.stem}.part.npz")
        np.savez(part, words=np.array(self.words), vectors=self.vectors, covectors=self.covectors, contexts=contexts,
                 terms=terms)  # fmt: skip
        part.replace(path)


def count(name: str, plain: str, keep: Path, words: int) -> None:
    from gensim_hilbert import PairCounts

    PairCounts.from_corpus(
        plain, directory=keep / name, max_final_vocab=words, window=WINDOW, sample=COUNTS[name], workers=2,
        progress=False,
    )  # fmt: skip


def hilbert(plain: str, keep: Path, size: int, words: int, seed: int) -> Embedding:
    from gensim_hilbert import HilbertMLE

    model = HilbertMLE(
        corpus_file=plain, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2
    )
    return Embedding(model.wv.index_to_key, model.wv.vectors, model.syn1neg, model.wv.vectors)


def thorough(plain: str, keep: Path, size: int, words: int, seed: int) -> Embedding:
    from gensim_hilbert import HilbertMLE, PairCounts

    model = HilbertMLE.from_counts(
        PairCounts.open(keep / "thinned"), passes=32, vector_size=size, seed=seed, workers=2, progress=False
    )
    return Embedding(model.wv.index_to_key, model.wv.vectors, model.syn1neg, model.wv.vectors)


def sgns(plain: str, keep: Path, size: int, words: int, seed: int) -> Embedding:
    from gensim.models import Word2Vec

    model = Word2Vec(
        corpus_file=plain, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2,
        sg=1, negative=NEGATIVE, epochs=EPOCHS,
    )  # fmt: skip
    return Embedding(model.wv.index_to_key, model.wv.vectors, model.syn1neg, model.wv.vectors)


def glove(plain: str, keep: Path, size: int, words: int, seed: int) -> Embedding:
    from gensim_hilbert import HilbertMLE, PairCounts
    from gensim_hilbert.training.gauge import summed

    model = HilbertMLE.from_counts(
        PairCounts.open(keep / "counts"), objective=GLOVE, vector_size=size, seed=seed, workers=2, progress=False
    )
    both = summed(model.syn1neg, model.wv.vectors)
    return Embedding(model.wv.index_to_key, model.wv.vectors, model.syn1neg, both, model.biases)


def sgns_mf(plain: str, keep: Path, size: int, words: int, seed: int) -> Embedding:
    from gensim_hilbert import HilbertMLE, PairCounts

    model = HilbertMLE.from_counts(
        PairCounts.open(keep / "thinned"), objective="sgns", vector_size=size, seed=seed, workers=2, progress=False
    )
    return Embedding(model.wv.index_to_key, model.wv.vectors, model.syn1neg, model.wv.vectors)


def glove_adagrad(plain: str, keep: Path, size: int, words: int, seed: int) -> Embedding:
    from gensim_hilbert import PairCounts

    counts = PairCounts.open(keep / "counts")
    table = counts.to_scipy().tocoo()
    w, v = adagrad_glove.train(*table.coords, table.data, len(counts), epochs=GLOVE_EPOCHS, seed=seed)
    both = w[:, :-1] + v[:, :-1]
    return Embedding(list(counts.vocabulary.words), v[:, :-1], w[:, :-1], both, (w[:, -1], v[:, -1]))


MODELS: dict[str, Callable[..., Embedding]] = {
    "hilbert": hilbert,
    "thorough": thorough,
    "sgns": sgns,
    "glove": glove,
    "sgns_mf": sgns_mf,
    "glove_adagrad": glove_adagrad,
}

PARTS = [*COUNTS, *MODELS]


def make(name: str, plain: str, keep: str, size: int, words: int, seed: int) -> None:
    """Make one of the parts, in a process of its own."""
    folder = Path(keep)
    if name in COUNTS:
        count(name, plain, folder, words)
    else:
        MODELS[name](plain, folder, size, words, seed).save(folder / f"{name}.npz")


def make_missing(options: argparse.Namespace) -> None:
    """Make what the folder does not have yet; models of GloVe's objective need the counts."""
    options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain = f"{folder}/corpus.txt"
        for name in options.only:
            path = options.keep / (name if name in COUNTS else f"{name}.npz")
            if path.exists():
                continue
            if not Path(plain).exists():
                write_lines(options.corpus, plain)
            start = time.perf_counter()
            ask_child(
                __file__, name, plain, str(options.keep), options.vector_size, options.max_final_vocab, options.seed
            )
            print(f"{name}: made in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


def main() -> None:
    parser = corpus_parser(__doc__, vector_size=300, max_final_vocab=50_000, seed=1)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--keep", type=Path, required="--child" not in sys.argv, help="folder for counts and models")
    options = parser.parse_args()
    if options.child:
        return answer(make, options.child)
    require(options.corpus)
    make_missing(options)


if __name__ == "__main__":
    main()
