"""Memory and time of `PairCounts.from_graph` on a large graph, with sampled walks.

    python benchmarks/graphs.py [--nodes 1000000] [--edges 5000000] [--num-walks 1] [--walk-length 40]

The graph is made up: nodes belong to groups of a hundred, nine of ten edges stay within a group, and the others lead to
hubs. As a yardstick, the walks alone are made as well, without counting them.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from scipy import sparse

from gensim_hilbert import PairCounts
from gensim_hilbert.corpus.walks import Graph, WalkCorpus


def made_up_graph(nodes: int, edges: int) -> sparse.csr_array:
    """Return a symmetric adjacency matrix."""
    random = np.random.default_rng(1)
    first = random.integers(nodes, size=edges)
    near = np.minimum(first // 100 * 100 + random.integers(100, size=edges), nodes - 1)
    hub = (nodes * random.random(edges) ** 2).astype(np.int64)
    second = np.where(random.random(edges) < 0.9, near, hub)
    table = sparse.csr_array((np.ones(edges, dtype=np.float32), (first, second)), shape=(nodes, nodes))
    return sparse.csr_array(table + table.T)


def peak_megabytes() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("nodes", 1_000_000), ("edges", 5_000_000), ("num-walks", 1), ("walk-length", 40)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    adjacency = made_up_graph(options.nodes, options.edges)
    before, start = peak_megabytes(), time.process_time()
    sizes = {"num_walks": options.num_walks, "walk_length": options.walk_length}
    counts = PairCounts.from_graph(adjacency, **sizes, exact=False, workers=1, memory_gb=1, progress=False)
    counted = time.process_time() - start
    steps = counts.vocabulary.tokens
    start = time.process_time()
    names = [str(node) for node in range(options.nodes)]
    WalkCorpus(Graph.parse(adjacency), names, **sizes, seed=1).visits()
    walked = time.process_time() - start
    print(f"{options.nodes:,} nodes, {adjacency.nnz:,} edges in both directions, {steps:,} nodes visited\n")
    print("| | CPU s | ns per node visited | peak MB |\n|---|---|---|---|")
    print(f"| the graph | | | {before:.0f} |")
    print(f"| counting, `memory_gb=1` | {counted:.1f} | {1e9 * counted / steps:.0f} | {peak_megabytes():.0f} |")
    print(f"| walking alone | {walked:.1f} | {1e9 * walked / steps:.0f} | |")


if __name__ == "__main__":
    main()
