"""The models that the reproduction of the paper is made of, whole: both sides and biases.

    python benchmarks/paper_models.py --keep DIR [CORPUS] [--only counts hilbert sgns glove glove_from_zero]

Writes to the folder of `--keep` the pair counts of the text without any thinning (`counts/`), and for each model
`NAME.npz` with its words, vectors, covectors and biases, and `NAME.npy` with the vectors that are scored. What is there
already is not made again. The settings of all models are those of benchmarks/systems.py; `glove_from_zero` is GloVe's
objective again, but starts as GloVe's program does, from small random vectors and biases of zero, so that its biases
tell what is learnt rather than what our start has put there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from inputs import corpus_parser, require, write_lines
from systems import EPOCHS, NEGATIVE, SAMPLE, WINDOW

GLOVE = "glove(x_max=10)"


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


def count(plain: str, keep: Path, words: int) -> None:
    from gensim_hilbert import PairCounts

    PairCounts.from_corpus(
        plain, directory=keep / "counts", max_final_vocab=words, window=WINDOW, sample=0, workers=2, progress=False
    )


def hilbert(plain: str, keep: Path, size: int, words: int, seed: int) -> Embedding:
    from gensim_hilbert import HilbertMLE

    model = HilbertMLE(
        corpus_file=plain, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2
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


def glove_from_zero(plain: str, keep: Path, size: int, words: int, seed: int) -> Embedding:
    from gensim_hilbert import PairCounts
    from gensim_hilbert.objectives import named
    from gensim_hilbert.training.fit import Start
    from gensim_hilbert.training.from_counts import make_fit
    from gensim_hilbert.training.gauge import summed

    counts = PairCounts.open(keep / "counts")
    random = np.random.default_rng(seed)
    w, v = ((random.random((len(counts), size), dtype=np.float32) - 0.5) / size for _ in range(2))
    zeros = np.zeros(len(counts), dtype=np.float32)
    fit = make_fit(named(GLOVE).bind(counts), size, seed=seed, start=Start(w, v, (zeros, zeros)))
    fit.run(fit.steps)
    fitted = fit.result()
    both = summed(fitted.covectors, fitted.parameters)
    return Embedding(list(counts.vocabulary.words), fitted.parameters, fitted.covectors, both, fitted.biases)


MODELS: dict[str, Callable[..., Embedding]] = {
    "hilbert": hilbert,
    "sgns": sgns,
    "glove": glove,
    "glove_from_zero": glove_from_zero,
}


def make(name: str, plain: str, keep: str, size: int, words: int, seed: int) -> None:
    """Make one of the parts, in a process of its own."""
    folder = Path(keep)
    if name == "counts":
        count(plain, folder, words)
    else:
        MODELS[name](plain, folder, size, words, seed).save(folder / f"{name}.npz")


def make_missing(options: argparse.Namespace) -> None:
    """Make what the folder does not have yet; models of GloVe's objective need the counts."""
    options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain = f"{folder}/corpus.txt"
        for name in options.only:
            path = options.keep / ("counts" if name == "counts" else f"{name}.npz")
            if path.exists():
                continue
            if not Path(plain).exists():
                write_lines(options.corpus, plain)
            start = time.perf_counter()
            arguments = [name, plain, str(options.keep), options.vector_size, options.max_final_vocab, options.seed]
            subprocess.run([sys.executable, __file__, "--child", json.dumps(arguments)], check=True)
            print(f"{name}: made in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


def main() -> None:
    parser = corpus_parser(__doc__, vector_size=300, max_final_vocab=50_000, seed=1)
    parser.add_argument("--only", nargs="*", choices=["counts", *MODELS], default=["counts", *MODELS])
    parser.add_argument("--keep", type=Path, required="--child" not in sys.argv, help="folder for counts and models")
    options = parser.parse_args()
    if options.child:
        return make(*json.loads(options.child))
    require(options.corpus)
    make_missing(options)


if __name__ == "__main__":
    main()
