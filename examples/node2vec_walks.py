"""Vectors of the nodes of a graph, from the walks of the packages node2vec and pecanpy: only the class is another.

    pip install node2vec pecanpy     # pecanpy needs numpy 1
    python examples/node2vec_walks.py [EDGES]

EDGES is a file with one edge per line, two names of nodes separated by a tab. Without it, the graph is Zachary's karate
club. `PairCounts.from_graph` needs none of these packages; its walks are those for p = q = 1.
"""

import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import networkx

from gensim_hilbert import HilbertMLE, PairCounts

OPTIONS = {"vector_size": 8, "window": 5, "min_count": 0, "sg": 1, "workers": 1, "seed": 1}


def with_node2vec(graph):
    """Train on the walks of node2vec, where `Node2Vec(...).fit(...)` would train `gensim.models.Word2Vec`."""
    from node2vec import Node2Vec

    walks = Node2Vec(graph, num_walks=10, walk_length=40, p=1, q=0.5, quiet=True, seed=1).walks
    return HilbertMLE(walks, **OPTIONS)


def with_pecanpy(graph):
    """Train on the walks of pecanpy, where `graph.embed(...)` would train `gensim.models.Word2Vec`."""
    from pecanpy import pecanpy

    edges = pecanpy.SparseOTF(p=1, q=0.5, workers=1, random_state=1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.edg"
        file.write_text("".join(f"{a}\t{b}\n" for a, b in graph.edges), encoding="utf-8")
        edges.read_edg(str(file), weighted=False, directed=False)
    return HilbertMLE(edges.simulate_walks(num_walks=10, walk_length=40), **OPTIONS)


def without_packages(graph):
    """Train on the pairs that walks are expected to have."""
    adjacency = networkx.to_scipy_sparse_array(graph, weight=None)
    counts = PairCounts.from_graph(adjacency, nodes=[str(node) for node in graph], window=5, walk_length=40)
    return HilbertMLE.from_counts(counts, vector_size=8, workers=1)


given = sys.argv[1:]
graph = networkx.read_edgelist(given[0], delimiter="\t") if given else networkx.karate_club_graph()
first = max(graph, key=graph.degree)
ways = {"node2vec": with_node2vec, "pecanpy": with_pecanpy, "from_graph": without_packages}
for name, train in ways.items():
    if name == "from_graph" or find_spec(name):
        near = train(graph).wv.most_similar(str(first), topn=5)
        print(f"{name:12} like {first}: " + ", ".join(f"{node} {cosine:.2f}" for node, cosine in near))
    else:
        print(f"{name:12} is not installed: pip install {name}")
