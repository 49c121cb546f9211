"""Random walks on a graph as a corpus: a walk is a sentence, and the nodes that it visits are its words."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Hashable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from gensim_hilbert._walks import walk_on
from gensim_hilbert.corpus import blocks
from gensim_hilbert.corpus.any_tokens import KnownWords
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.sources import Corpus

STEPS_PER_BLOCK = 1 << 17  # Nodes that the walks of a block visit; a block is then about as large as one of text.


@dataclass(frozen=True)
class Graph:
    """A directed graph with weights, as the walks read it. An undirected one has each edge in both directions.

    Attributes
    ----------
    adjacency : sparse array
        Row i has the weights of the edges from node i, none of which is 0.
    """

    adjacency: sparse.csr_array

    @classmethod
    def parse(cls, adjacency: Any) -> Graph:
        """Read a matrix: whatever scipy makes a CSR array of."""
        try:
            table = sparse.csr_array(adjacency, dtype=np.float64, copy=True)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"adjacency must be a square sparse array or matrix, got {type(adjacency).__name__}: {error}"
            ) from error
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise ValueError(f"adjacency must be square, one row and one column per node, got the shape {table.shape}")
        wrong = table.data[~(np.isfinite(table.data) & (table.data >= 0))]
        if len(wrong):
            raise ValueError(f"the weights of edges must be finite and not negative, got {wrong[0]}")
        table.sum_duplicates()
        table.eliminate_zeros()
        if not table.nnz:
            raise ValueError("the graph has no edges, so that no walk leads anywhere")
        return cls(table)

    def __len__(self) -> int:
        return int(self.adjacency.shape[0])

    def transitions(self) -> sparse.csr_array:
        """Return the matrix of the probabilities by which a walk goes from a row to a column; a dead end has none."""
        sums = np.asarray(self.adjacency.sum(axis=1)).ravel()
        rates = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
        return sparse.csr_array(sparse.diags_array(rates) @ self.adjacency)


class Walker:
    """Takes the steps of many walks: to a neighbour drawn by the weights of edges."""

    def __init__(self, graph: Graph):
        table = graph.adjacency
        self.starts, self.neighbours = table.indptr.astype(np.int64), table.indices.astype(np.int32)
        # With equal weights any neighbour is as good as another.
        self.sums = np.concatenate([[0.0], np.cumsum(table.data)]) if np.ptp(table.data) else np.empty(0)

    def walks(self, nodes: np.ndarray, length: int, draws: np.random.Generator) -> np.ndarray:
        """Return walks from these nodes, one row each, with -1 behind a dead end."""
        walks = np.empty((len(nodes), length), dtype=np.int64)
        walks[:, 0] = nodes
        walk_on(self.starts, self.neighbours, self.sums, draws.random((len(nodes), length - 1)), walks)
        return walks


class WalkCorpus(Corpus):
    """Walks that start from every node in turn, as DeepWalk has them. They are the same each time they are read.

    Parameters
    ----------
    graph : Graph
        Where to walk.
    nodes : sequence
        The words of the nodes.
    num_walks : int
        How many walks start from each node.
    walk_length : int
        How many nodes a walk visits, unless it comes to a dead end.
    seed : int
        Seed of the draws.
    """

    def __init__(self, graph: Graph, nodes: Sequence[Hashable], num_walks: int, walk_length: int, seed: int):
        self.graph, self.walker, self.nodes = graph, Walker(graph), nodes
        self.num_walks, self.walk_length, self.seed = num_walks, walk_length, seed
        self.words: KnownWords | None = None
        self.names = [f"<{num_walks} walks from each of {len(graph)} nodes>"]
        digest = hashlib.sha256()
        for part in (graph.adjacency.indptr, graph.adjacency.indices, graph.adjacency.data):
            digest.update(np.ascontiguousarray(part).data)
        digest.update(repr(list(nodes)).encode("utf-8", "surrogatepass"))
        self.fingerprint = ["walks", digest.hexdigest(), num_walks, walk_length, seed]

    def over(self, words: KnownWords) -> WalkCorpus:
        """Return the same corpus, read for the words of a vocabulary: nodes can be any keys."""
        corpus = copy(self)
        corpus.words = words
        return corpus

    def walks(self) -> Iterator[np.ndarray]:
        """Yield all walks, some at a time: one row per walk, with -1 behind the end of those that stop early."""
        per_block = max(1, STEPS_PER_BLOCK // self.walk_length)
        size = len(self.graph)
        for number, first in enumerate(range(0, size * self.num_walks, per_block)):
            draws = np.random.Generator(np.random.Philox(key=[self.seed, number]))
            nodes = np.arange(first, min(first + per_block, size * self.num_walks)) % size
            yield self.walker.walks(nodes, self.walk_length, draws)

    def visits(self) -> np.ndarray:
        """Return how often each node is visited by all walks."""
        visits = np.zeros(len(self.graph) + 1, dtype=np.int64)
        for walks in self.walks():
            visits += np.bincount(walks.ravel() + 1, minlength=len(visits))
        return visits[1:]

    def blocks(self, *, streams: bool) -> Generator[Block]:
        """Yield all blocks in order; they are always made here."""
        assert self.words is not None
        words = [self.words.encoded[node] for node in self.nodes]
        words += [b"\xfe", b""]  # The end of a walk, and what is behind it.
        end = len(self.nodes)
        start = 0
        for walks in self.walks():
            walks[walks < 0] = end + 1
            lists = np.pad(walks, ((0, 0), (0, 1)), constant_values=end)
            data = b"".join(map(words.__getitem__, lists.ravel().tolist()))
            assert len(data) < 1 << blocks.SOURCE_SHIFT
            yield Block(
                source=0,
                start=start,
                stop=start + len(data),
                name=self.names[0],
                data=data,
                listed=True,
                cost=len(data),
            )
            start += len(data)
