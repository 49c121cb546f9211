"""Counts of the pairs of nodes within a window of random walks: sampled, or as they are expected."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from gensim_hilbert.corpus.dispatch import default_workers
from gensim_hilbert.corpus.walks import Graph, WalkCorpus
from gensim_hilbert.counting import build
from gensim_hilbert.counting.plan import Resources
from gensim_hilbert.counting.settings import MOST_SCALE, CountSettings, Window, whole
from gensim_hilbert.vocabulary import Vocabulary
from gensim_hilbert.word_scan import NothingToCount

if TYPE_CHECKING:
    from gensim_hilbert.counting.pair_counts import PairCounts

EXACT_NODES = 2000  # Up to so many nodes, counts are exact unless asked otherwise.
ROWS = 256  # Nodes whose powers of the transition matrix are computed at a time.
FINEST = 1 << 20  # Expected counts are multiples of 1 / (FINEST * scale of the window), or of a larger fraction.
BYTES_PER_ENTRY = 80  # while a table of expected counts becomes a store


class FromGraph:
    """Makes counts of graphs."""

    @classmethod
    def from_graph(
        cls,
        adjacency: Any,
        *,
        nodes: Sequence[Any] | None = None,
        window: int | tuple[int, int] = 5,
        weights: str | Sequence[Any] = "dynamic",
        num_walks: int = 10,
        walk_length: int = 80,
        exact: bool | None = None,
        seed: int = 1,
        directory: str | os.PathLike[str] | None = None,
        workers: int | None = None,
        memory_gb: float = 2.0,
        overwrite: bool = False,
        progress: bool = True,
    ) -> PairCounts:
        """Count the pairs of nodes within a window of random walks on a graph, as DeepWalk does.

        `num_walks` walks start from each node. A step goes along an edge, drawn by the weights of the edges that leave
        the node, until `walk_length` nodes have been visited or there is no such edge. A walk is counted as a sentence.
        Exact counts are the expectation over all such walks: sums of powers of the matrix of transition probabilities.
        They have the total that so many walks have on average, and are rounded to small fractions of 1.

        Parameters
        ----------
        adjacency : sparse array
            Row i holds the weights of the edges from node i. An undirected graph has a symmetric matrix. Of a
            networkx graph, it is `networkx.to_scipy_sparse_array(graph)`.
        nodes : sequence, optional
            The words of the nodes. By default they are their numbers as strings, "0", "1", ..., because gensim reads
            `wv[7]` as a row number; so do the packages node2vec and pecanpy.
        window, weights
            As in `from_corpus`.
        num_walks, walk_length : int
            How many walks start from each node, and how many nodes each of them visits.
        exact : bool, optional
            Whether to count expected pairs instead of sampled ones. It takes memory in proportion to the pairs of nodes
            that a walk of `window` steps connects. By default, graphs of up to 2,000 nodes are counted exactly.
        seed : int
            Seed of sampled walks.
        directory, workers, memory_gb, overwrite, progress
            As in `from_corpus`.

        Examples
        --------
        >>> counts = PairCounts.from_graph(networkx.to_scipy_sparse_array(graph), nodes=list(graph), window=5)
        >>> model = HilbertMLE.from_counts(counts, vector_size=64)
        """
        kind = cast("type[PairCounts]", cls)
        graph, parsed = Graph.parse(adjacency), Window.parse(window, weights)
        for name, number, least in (("num_walks", num_walks, 1), ("walk_length", walk_length, 2), ("seed", seed, 0)):
            if whole(number) < least:
                raise ValueError(f"{name} must be a whole number of {least} or more, got {number!r}")
        words = [str(node) for node in range(len(graph))] if nodes is None else list(nodes)
        if len(words) != len(graph):
            raise ValueError(f"nodes must have one word for each of the {len(graph)} nodes, got {len(words)}")
        resources = Resources(default_workers(workers), memory_gb, None, progress)
        if exact or (exact is None and len(graph) <= EXACT_NODES):
            table, vocabulary, found = expected_counts(graph, words, parsed, num_walks, walk_length, memory_gb)
            triples = table.row.astype(np.int64), table.col.astype(np.int64), table.data.astype(np.uint64)
            return kind._made(
                directory,
                overwrite,
                lambda place: build.import_triples(*triples, found.scale, vocabulary, place, resources, found),
            )
        corpus = WalkCorpus(graph, words, num_walks, walk_length, seed)
        _, vocabulary = by_visits(words, corpus.visits(), len(graph) * num_walks)
        rules = {"min_count": 0, "max_vocab_size": None, "max_final_vocab": None, "trim_rule": None}
        request = build.CountRequest(corpus, CountSettings(parsed), rules, vocabulary, recount=False)
        return kind._made(directory, overwrite, lambda place: build.count_corpus(request, place, resources))


def by_visits(words: Sequence[Hashable], visits: np.ndarray, walks: int) -> tuple[np.ndarray, Vocabulary]:
    """Return the order of nodes by how often they are visited, and the vocabulary in this order."""
    order = np.argsort(-visits, kind="stable")
    counts = visits[order]
    ordered = cast("list[str]", [words[node] for node in order.tolist()])
    return order, Vocabulary(ordered, counts, tokens=int(counts.sum()), sentences=walks)


def expected_counts(
    graph: Graph, words: Sequence[Hashable], window: Window, num_walks: int, walk_length: int, memory_gb: float
) -> tuple[sparse.coo_array, Vocabulary, Window]:
    """Return expected counts times a scale, the nodes by expected visits, and the window with weights at that scale.

    A walk is at node i at its time t with the probability p_t(i), and d steps later at node j with p_t(i) (P^d)_ij.
    Hence the sum over t of p_t, up to the last time that has a successor at distance d, multiplies the rows of P^d.
    """
    size, transitions = len(graph), graph.transitions()
    at = np.full(size, float(num_walks))  # Expected walks at each node, at one time.
    visits = np.zeros((walk_length + 1, size))  # Sums over the first so many times.
    for time in range(walk_length):
        visits[time + 1] = visits[time] + at
        at = transitions.T @ at
    total = 2.0 * window.most * visits[-1].sum()
    factor = FINEST
    while factor > 1 and (total * factor >= 2.0**62 or window.scale * factor > MOST_SCALE):
        factor //= 2
    scaled = Window(
        tuple(factor * weight for weight in window.left),
        tuple(factor * weight for weight in window.right),
        factor * window.scale,
    )
    order, vocabulary = by_visits(words, np.rint(visits[-1]).astype(np.int64), num_walks * size)
    sides: tuple[list[sparse.csr_array], ...] = ([], [])
    entries = 0
    backwards = sparse.csr_array(transitions.T)
    for start in range(0, size, ROWS):
        rows = np.arange(start, min(start + ROWS, size))
        power = np.zeros((size, len(rows)))  # Columns are the rows of P^d.
        power[rows, np.arange(len(rows))] = 1.0
        sums = np.zeros((2, len(rows), size))
        for distance in range(1, min(scaled.reach, walk_length - 1) + 1):
            power = backwards @ power
            moves = power.T * visits[walk_length - distance, rows, None]
            for side, weight in enumerate((scaled.left, scaled.right)):
                if len(weight) >= distance and weight[distance - 1]:
                    sums[side] += weight[distance - 1] * moves
        for side in range(2):
            sides[side].append(sparse.csr_array(np.rint(sums[side]).astype(np.int64)))
            entries += sides[side][-1].nnz
        if entries * BYTES_PER_ENTRY > memory_gb * (1 << 30):
            raise MemoryError(
                f"exact counts of this graph take more than memory_gb={memory_gb}: {window.reach} steps connect "
                f"too many of its {size} nodes; use exact=False, or more memory"
            )
    # To the left of a term are contexts that a walk has visited before it.
    table = sparse.csr_array(sparse.vstack(sides[0]) + sparse.vstack(sides[1]).T)
    if not table.nnz:
        raise NothingToCount("no walk on this graph visits two nodes within the window")
    return sparse.coo_array(table[order][:, order]), vocabulary, scaled
