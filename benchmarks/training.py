"""How fast training is, against what the machine allows and against peers, in one run.

    python benchmarks/training.py [CORPUS] [--vector-size 300] [--max-final-vocab 50000] [--tokens 5000000]
                                  [--only factorization stream]

factorization: dense passes against the three bare matrix products of the same shapes, a row of shards of one and of
the other by turns, so that both see the same neighbours.

stream: words per second of `solver="gibbs"`, gensim's SGNS (`corpus_file`, its fastest way), the original word2vec in C
and fastText without subwords, all with 5 negatives, window 5, sample 1e-4, on the first tokens of the corpus. Every
trainer runs for one epoch and for three, in processes of their own; the difference is what two epochs take, without
reading vocabularies and writing vectors. A peer that is not installed is skipped; `make bench-peers` installs them.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from children import ChildFailed, answer, ask_child
from inputs import corpus_parser, require, write_first_lines
from peers import installed, word2vec_program
from systems import NEGATIVE, SAMPLE, WINDOW, call, kept_words


def bare_products(fit) -> Callable[[], None]:
    """W V^T, D V and D^T W of a row of shards, and nothing else."""
    import torch

    rows = -(-fit.size // fit.n)
    w, v = torch.randn(rows, fit.vector_size), torch.randn(rows, fit.vector_size)
    d, to_w, to_v = torch.empty(rows, rows), torch.empty_like(w), torch.empty_like(v)

    def multiply() -> None:
        for _ in range(fit.n):
            torch.mm(w, v.T, out=d)
            torch.mm(d, v, out=to_w)
            torch.mm(d.T, w, out=to_v)

    return multiply


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def factorization(corpus: Path, vector_size: int, words: int) -> None:
    import torch

    from gensim_hilbert import PairCounts
    from gensim_hilbert.objectives import Hilbert
    from gensim_hilbert.training.factorization import Factorization

    counts = PairCounts.from_corpus(corpus, max_final_vocab=words, sample=SAMPLE)
    start = time.perf_counter()
    fit = Factorization(Hilbert().bind(counts), vector_size, background="dense")
    begun = time.perf_counter() - start
    fit.run(fit.n * fit.n)  # reads the shards into memory
    multiply = bare_products(fit)
    bare, trained = np.array([
        [(seconds(multiply), seconds(lambda: fit.run(fit.n))) for _ in range(fit.n)] for _ in range(3)
    ]).transpose(2, 0, 1)  # fmt: skip
    low, middle, high = np.quantile(trained / bare, [0.1, 0.5, 0.9])
    products, a_pass = bare.sum(axis=1).min(), trained.sum(axis=1).min()
    flops = 3 * 2 * fit.size**2 * fit.vector_size
    print(f"{fit.size:,} words, {vector_size} dimensions, {fit.n} x {fit.n} shards, {torch.get_num_threads()} threads")
    print(f"start by SVD {begun:.1f} s; a pass {a_pass:.1f} s; its matrix products alone {products:.1f} s "
          f"({flops / products / 1e9:.0f} GFLOP/s); ratio {a_pass / products:.2f} (wanted: 1.3); "
          f"by rows of shards {middle:.2f}, from {low:.2f} to {high:.2f} in four of five")  # fmt: skip
    print(f"peak memory {peak():.2f} GB\n")


# ---------------------------------------------------------------------------------------------------- from the stream


def gibbs(path: str, size: int, least: int, epochs: int, workers: int) -> None:
    from gensim_hilbert import HilbertMLE

    HilbertMLE(
        corpus_file=path, vector_size=size, min_count=least, window=WINDOW, sample=SAMPLE, workers=workers,
        solver="gibbs", negative=NEGATIVE, epochs=epochs,
    )  # fmt: skip


def sgns(path: str, size: int, least: int, epochs: int, workers: int) -> None:
    from gensim.models import Word2Vec

    Word2Vec(
        corpus_file=path, vector_size=size, min_count=least, window=WINDOW, sample=SAMPLE, workers=workers, sg=1,
        negative=NEGATIVE, epochs=epochs,
    )  # fmt: skip


def word2vec(path: str, size: int, least: int, epochs: int, workers: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        call(word2vec_program(), train=path, output=f"{folder}/vectors.bin", size=size, window=WINDOW, sample=SAMPLE,
             cbow=0, hs=0, negative=NEGATIVE, iter=epochs, threads=workers, min_count=least, binary=1,
             debug=0)  # fmt: skip


def fasttext(path: str, size: int, least: int, epochs: int, workers: int) -> None:
    import fasttext as peer

    peer.train_unsupervised(
        path, model="skipgram", dim=size, ws=WINDOW, neg=NEGATIVE, epoch=epochs, t=SAMPLE, thread=workers, verbose=0,
        minCount=least, maxn=0,
    )  # fmt: skip


OURS, OURS_ALONE = "HilbertMLE, gibbs, 2 workers", "HilbertMLE, gibbs, 1 worker"
GENSIM, WORD2VEC, FASTTEXT = (
    "gensim SGNS, 2 workers",
    "word2vec in C, 2 threads",
    "fastText without subwords, 2 threads",
)
TRAINERS = {
    OURS: (gibbs, 2),
    OURS_ALONE: (gibbs, 1),
    GENSIM: (sgns, 2),
    WORD2VEC: (word2vec, 2),
    FASTTEXT: (fasttext, 2),
}
RATIOS = {
    "gibbs against gensim": (OURS, GENSIM, 2),
    "gibbs against word2vec in C": (OURS, WORD2VEC, 1),
    "gibbs against fastText": (OURS, FASTTEXT, 1),
    "gibbs, 2 workers against 1": (OURS, OURS_ALONE, 1.8),
}


def stream(corpus: Path, size: int, words: int, tokens: int, repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/corpus.txt"
        kept = write_first_lines(corpus, path, tokens)
        least = int(kept_words(path, words).counts.min())
        print(f"{kept:,} tokens of {corpus.name}, words that occur {least} times or more, {size} dimensions; "
              f"fastest of {repeat}\n\n| | k words/s | peak GB |\n|---|---|---|")  # fmt: skip
        speeds: dict[str, float] = {}
        for name, (trainer, workers) in TRAINERS.items():
            if not installed(trainer.__name__):
                continue
            runs = []
            try:
                for _ in range(repeat):
                    one, _ = measure(name, path, size, least, 1, workers)
                    three, memory = measure(name, path, size, least, 3, workers)
                    runs.append(2 * kept / max(three - one, 1e-9))
            except ChildFailed as failure:
                print(failure, file=sys.stderr)
                continue
            speeds[name] = max(runs)
            print(f"| {name} | {speeds[name] / 1000:.0f} | {memory:.2f} |", flush=True)
        print("\n| ratio of speeds | | wanted |\n|---|---|---|")
        for name, (first, second, wanted) in RATIOS.items():
            if {first, second} <= speeds.keys():
                print(f"| {name} | {speeds[first] / speeds[second]:.2f} | {wanted} |")


def measure(name: str, *arguments: object) -> tuple[float, float]:
    """Seconds, and gigabytes at most, of a process that trains."""
    seconds, memory = ask_child(__file__, name, *arguments)
    return seconds, memory


def peak() -> float:
    """Of this process, or of the programs it has run."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1e6


def child(name: str, *arguments: object) -> tuple[float, float]:
    """Train in a process of its own; return the seconds, and the memory in gigabytes."""
    start = time.perf_counter()
    TRAINERS[name][0](*arguments)
    return time.perf_counter() - start, peak()


def main() -> None:
    parser = corpus_parser(__doc__, vector_size=300, max_final_vocab=50_000, tokens=5_000_000, repeat=1)
    parser.add_argument("--only", nargs="*", choices=["factorization", "stream"], default=["factorization", "stream"])
    options = parser.parse_args()
    if options.child:
        return answer(child, options.child)
    require(options.corpus)
    if "factorization" in options.only:
        factorization(options.corpus, options.vector_size, options.max_final_vocab)
    if "stream" in options.only:
        stream(options.corpus, options.vector_size, options.max_final_vocab, options.tokens, options.repeat)


if __name__ == "__main__":
    main()
