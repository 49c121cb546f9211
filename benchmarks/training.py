"""A pass of factorisation against the three bare matrix products of the same shapes, in one run.

python benchmarks/training.py [CORPUS] [--vector-size 300] [--max-final-vocab 50000]
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import torch
from scores import DATA

from gensim_hilbert import PairCounts
from gensim_hilbert.objectives.hilbert import Hilbert
from gensim_hilbert.training.factorization import Factorization


def bare_products(fit: Factorization) -> float:
    """Seconds for W V^T, D V and D^T W of every shard, and nothing else."""
    rows = -(-fit.size // fit.n)
    w, v = torch.randn(rows, fit.vector_size), torch.randn(rows, fit.vector_size)
    d, to_w, to_v = torch.empty(rows, rows), torch.empty_like(w), torch.empty_like(v)
    start = time.perf_counter()
    for _ in range(fit.n * fit.n):
        torch.mm(w, v.T, out=d)
        torch.mm(d, v, out=to_w)
        torch.mm(d.T, w, out=to_v)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", nargs="?", type=Path, default=DATA / "corpora" / "wiki2019_25m.txt.gz")
    parser.add_argument("--vector-size", type=int, default=300)
    parser.add_argument("--max-final-vocab", type=int, default=50_000)
    options = parser.parse_args()
    counts = PairCounts.from_corpus(options.corpus, max_final_vocab=options.max_final_vocab, sample=1e-4)
    start = time.perf_counter()
    fit = Factorization(Hilbert(counts), options.vector_size)
    begun = time.perf_counter() - start
    fit.run(fit.n * fit.n)  # reads the shards into memory
    passes, bare = [], []
    for _ in range(3):
        bare.append(bare_products(fit))
        start = time.perf_counter()
        fit.run(fit.n * fit.n)
        passes.append(time.perf_counter() - start)
    flops = 3 * 2 * fit.size**2 * fit.vector_size
    print(
        f"{fit.size:,} words, {fit.vector_size} dimensions, {fit.n} x {fit.n} shards, {torch.get_num_threads()} threads"
    )
    print(f"start by SVD {begun:.1f} s; a pass {min(passes):.1f} s; its matrix products alone {min(bare):.1f} s "
          f"({flops / min(bare) / 1e9:.0f} GFLOP/s); ratio {min(passes) / min(bare):.2f} (wanted: 1.3)")  # fmt: skip
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
