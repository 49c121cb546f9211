"""Packages that train Word2Vec on random walks: ours finds the communities of the karate club at least as well."""

import numpy as np
import pytest
from gensim.models import Word2Vec

from gensim_hilbert import HilbertMLE

networkx = pytest.importorskip("networkx")
cluster = pytest.importorskip("sklearn.cluster")
metrics = pytest.importorskip("sklearn.metrics")
pytestmark = pytest.mark.slow
SEEDS = range(1, 6)
# Names that numpy 2 has removed, and which PecanPy's package for types looks up.
REMOVED_FROM_NUMPY = {
    **dict.fromkeys(("bytes0", "string_"), np.bytes_),
    **dict.fromkeys(("complex_", "cfloat", "singlecomplex"), np.complex128),
    **dict.fromkeys(("clongfloat", "longcomplex"), np.clongdouble),
    **dict.fromkeys(("str0", "unicode_"), np.str_),
    **{"bool8": np.bool_, "float_": np.float64, "int0": np.intp, "longfloat": np.longdouble, "object0": np.object_},
    **{"uint0": np.uintp, "void0": np.void},
}


@pytest.fixture(scope="module")
def club():
    return networkx.karate_club_graph()


def agreement(club, vectors):
    """How well two clusters of vectors agree with the two sides on which members of the club were, at most 1."""
    sides = [club.nodes[node]["club"] for node in club]
    found = cluster.KMeans(2, n_init=10, random_state=1).fit_predict(np.asarray(vectors))
    return metrics.adjusted_rand_score(sides, found)


def assert_at_least_as_good(score):
    """Compare mean scores, which a function of class and seed returns."""
    gensims, ours = (np.mean([score(kind, seed) for seed in SEEDS]) for kind in (Word2Vec, HilbertMLE))
    assert ours >= gensims, (ours, gensims)
    assert ours > 0.6


def test_node2vec(club, monkeypatch):
    node2vec = pytest.importorskip("node2vec")

    def score(kind, seed):
        monkeypatch.setattr("gensim.models.Word2Vec", kind)
        walks = node2vec.Node2Vec(club, dimensions=16, walk_length=20, num_walks=20, seed=seed, quiet=True)
        model = walks.fit(window=5, min_count=1, seed=seed)
        assert type(model) is kind
        return agreement(club, [model.wv[str(node)] for node in club])

    assert_at_least_as_good(score)


def test_pecanpy(club, monkeypatch, tmp_path):
    for name, kind in REMOVED_FROM_NUMPY.items():
        monkeypatch.setattr(np, name, kind, raising=False)
    pecanpy = pytest.importorskip("pecanpy.pecanpy")
    path = tmp_path / "karate.edg"
    networkx.write_edgelist(club, path, delimiter="\t", data=False)

    def score(kind, seed):
        monkeypatch.setattr(pecanpy, "Word2Vec", kind)
        graph = pecanpy.SparseOTF(p=1, q=1, workers=1, random_state=seed)
        graph.read_edg(str(path), weighted=False, directed=False)
        vectors = graph.embed(dim=16, num_walks=20, walk_length=20, window_size=5)
        return agreement(club, [vectors[graph.nodes.index(str(node))] for node in club])

    assert_at_least_as_good(score)


@pytest.mark.parametrize("name", ["DeepWalk", "Node2Vec", "Walklets"])
def test_karateclub(club, name, monkeypatch):
    karateclub = pytest.importorskip("karateclub")
    make = getattr(karateclub, name)
    module = f"karateclub.node_embedding.neighbourhood.{name.lower()}.Word2Vec"

    def score(kind, seed):
        monkeypatch.setattr(module, kind)
        model = make(walk_number=20, walk_length=20, dimensions=16, seed=seed)
        model.fit(networkx.Graph(club.edges))
        return agreement(club, model.get_embedding())

    assert_at_least_as_good(score)


def test_numbers_can_be_nodes(club):
    rng = np.random.default_rng(1)
    walks = []
    for node in list(club) * 30:
        walk = [node]
        while len(walk) < 20:
            walk.append(int(rng.choice(list(club[walk[-1]]))))
        walks.append(walk)
    model = HilbertMLE(walks, vector_size=16, min_count=1, seed=1)
    assert agreement(club, model.wv[list(club)]) > 0.6
    assert isinstance(model.wv.most_similar(positive=[33])[0][0], int)
