"""Pairs of nodes within a window of walks: exact ones against all walks one by one, sampled ones against those."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from gensim.models import Word2Vec
from scipy import sparse

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.corpus import walks
from gensim_hilbert.counting.settings import Window

# Zachary's karate club, which split into two; the second list has those who stayed with the instructor.
KARATE = """
0-1 0-2 0-3 0-4 0-5 0-6 0-7 0-8 0-10 0-11 0-12 0-13 0-17 0-19 0-21 0-31 1-2 1-3 1-7 1-13 1-17 1-19 1-21 1-30 2-3 2-7
2-8 2-9 2-13 2-27 2-28 2-32 3-7 3-12 3-13 4-6 4-10 5-6 5-10 5-16 6-16 8-30 8-32 8-33 9-33 13-33 14-32 14-33 15-32 15-33
18-32 18-33 19-33 20-32 20-33 22-32 22-33 23-25 23-27 23-29 23-32 23-33 24-25 24-27 24-31 25-31 26-29 26-33 27-33 28-31
28-33 29-32 29-33 30-32 30-33 31-32 31-33 32-33
"""
INSTRUCTOR = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21}


def karate():
    edges = np.array([edge.split("-") for edge in KARATE.split()]).astype(int)
    table = sparse.coo_array((np.ones(len(edges)), edges.T), shape=(34, 34))
    return table + table.T


GRAPHS = {
    "weighted": [[0, 1, 2, 0], [1, 0, 0, 3], [2, 0, 1, 0], [0, 3, 0, 0]],
    "directed": [[0, 1, 1, 0], [0, 0, 3, 1], [1, 0, 0, 0], [0, 0, 0, 0]],  # the last node is a dead end
    "isolated": [[0, 1, 0, 0], [1, 0, 5, 0], [0, 5, 0, 0], [0, 0, 0, 0]],
}


def all_walks(table, length):
    """(probability, walk) for each walk, from each node alike."""
    sums = [sum(row) for row in table]
    found = [(Fraction(1, len(table)), (start,)) for start in range(len(table))]
    for _ in range(length - 1):
        longer = []
        for probability, walk in found:
            if not sums[walk[-1]]:
                longer.append((probability, walk))
            for node, weight in enumerate(table[walk[-1]]):
                if weight:
                    longer.append((probability * Fraction(weight, sums[walk[-1]]), (*walk, node)))
        found = longer
    return found


def brute_force(table, length, window, num_walks):
    """Expected counts by going through every walk and every pair in it."""
    expected = np.zeros((len(table),) * 2)
    for probability, walk in all_walks(table, length):
        for term, context in itertools.permutations(range(len(walk)), 2):
            weights = window.left if context < term else window.right
            if abs(term - context) <= len(weights):
                weight = Fraction(weights[abs(term - context) - 1], window.scale)
                expected[walk[context], walk[term]] += probability * weight * num_walks * len(table)
    return expected


def in_order(counts, nodes):
    """The table with rows and columns in the order of the nodes, not of their counts."""
    rows = [counts.vocabulary.index[node] for node in nodes]
    return counts.to_scipy().toarray()[np.ix_(rows, rows)]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("window", "weights"), [(3, "dynamic"), ((2, 1), "flat"), ((0, 3), "harmonic")])
def test_exact_counts_are_those_of_all_walks(name, window, weights):
    table, nodes = GRAPHS[name], ["a", "b", "c", "d"]
    counts = PairCounts.from_graph(
        np.array(table), nodes=nodes, window=window, weights=weights, num_walks=7, walk_length=5
    )
    parsed = Window.parse(window, weights)
    expected = brute_force(table, 5, parsed, 7)
    np.testing.assert_allclose(in_order(counts, nodes), expected, atol=1.01 / counts.scale)
    assert counts.total == pytest.approx(expected.sum(), abs=16 / counts.scale)
    assert counts.window.reach == parsed.reach
    assert [Fraction(weight, counts.scale) for weight in counts.window.left] == [
        Fraction(weight, parsed.scale) for weight in parsed.left
    ]
    visits = np.zeros(4)
    for probability, walk in all_walks(table, 5):
        np.add.at(visits, list(walk), float(probability * 28))
    found = [counts.vocabulary.counts[counts.vocabulary.index[node]] for node in nodes]
    np.testing.assert_allclose(found, visits, atol=0.51)
    assert counts.vocabulary.sentences == 28
    counts.verify()


@pytest.mark.parametrize("name", [*GRAPHS, "karate"])
def test_sampled_walks_have_the_expected_pairs(name):
    table = karate() if name == "karate" else np.array(GRAPHS[name])
    options = {"window": 3, "num_walks": 3000 if name != "karate" else 600, "walk_length": 20}
    exact = PairCounts.from_graph(table, exact=True, **options)
    sampled = PairCounts.from_graph(table, exact=False, workers=1, **options)
    nodes = [str(node) for node in range(table.shape[0])]
    expected, found = in_order(exact, nodes), in_order(sampled, nodes)
    assert sampled.total == pytest.approx(exact.total, rel=0.01)
    assert not found[expected == 0].any()
    often = expected > 1000
    assert often.any()
    # Pairs of one walk are not independent; their number varies a few times as much as that of independent ones.
    assert np.abs((found - expected)[often] / np.sqrt(expected[often])).max() < 15
    assert sampled.vocabulary.tokens == sampled.vocabulary.counts.sum()
    assert sampled.window == Window.parse(3)


def test_long_walks_forget_where_they_started():
    """Long walks on an undirected graph have DeepWalk's closed form (Qiu et al., 2018): powers times degrees."""
    table = karate().toarray()
    counts = PairCounts.from_graph(table, window=3, weights="flat", walk_length=4000)
    degrees = table.sum(axis=1)
    step = table / degrees[:, None]
    powers = sum(np.linalg.matrix_power(step, distance) for distance in (1, 2, 3))
    closed = degrees[:, None] * powers / degrees.sum() / 3
    found = in_order(counts, [str(node) for node in range(34)]) / counts.total
    assert counts.symmetric
    np.testing.assert_allclose(found, closed, rtol=5e-3, atol=1e-9)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("equal", [True, False])
def test_every_draw_takes_the_edge_whose_share_it_falls_into(name, equal):
    table = np.array(GRAPHS[name], dtype=float) > 0 if equal else np.array(GRAPHS[name], dtype=float)
    walker = walks.Walker(walks.Graph.parse(table))
    found = walker.walks(np.arange(200) % 4, 9, np.random.default_rng(3))
    draws = np.random.default_rng(3).random((200, 8))
    for walk, numbers in zip(found.tolist(), draws, strict=True):
        for node, draw, following in zip(walk, numbers, walk[1:], strict=False):
            edges = np.cumsum(table[node] / max(1, table[node].sum())) if node >= 0 else np.zeros(4)
            expected = int(np.searchsorted(edges, draw, side="right")) if edges.any() else -1
            assert following == expected


def test_sampled_counts_are_those_of_the_walks_as_text(monkeypatch):
    monkeypatch.setattr(walks, "STEPS_PER_BLOCK", 300)
    names = [f"node {k}" for k in range(34)]
    corpus = walks.WalkCorpus(walks.Graph.parse(karate()), names, 4, 30, 5)
    text = [[names[node] for node in walk] for block in corpus.walks() for walk in block]
    assert len(text) == 4 * 34
    edges = karate().toarray()
    assert all(edges[int(a[5:]), int(b[5:])] for walk in text for a, b in itertools.pairwise(walk))
    options = {"nodes": names, "num_walks": 4, "walk_length": 30, "exact": False, "seed": 5}
    counts = PairCounts.from_graph(karate(), **options, workers=2)
    listed = PairCounts.from_corpus(text, min_count=1, vocabulary=counts.vocabulary)
    assert counts.fingerprint == listed.fingerprint == PairCounts.from_graph(karate(), **options).fingerprint
    assert counts.fingerprint != PairCounts.from_graph(karate(), **{**options, "seed": 6}).fingerprint


@pytest.mark.parametrize("exact", [True, False])
def test_the_two_halves_of_the_karate_club_are_found(exact):
    counts = PairCounts.from_graph(karate(), exact=exact, workers=1)
    model = HilbertMLE.from_counts(counts, vector_size=4, workers=1)
    assert isinstance(model, Word2Vec)
    vectors = model.wv[[str(node) for node in range(34)]]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centres = vectors[[0, 33]]  # the instructor and the president
    nearer = (vectors @ centres.T).argmax(axis=1)
    agreement = [(node in INSTRUCTOR) == (side == 0) for node, side in enumerate(nearer)]
    assert sum(agreement) >= 32


def test_a_store_of_a_graph_is_kept_and_found_again(tmp_path, caplog):
    options = {"exact": False, "workers": 1, "directory": tmp_path / "counts", "num_walks": 2}
    first = PairCounts.from_graph(karate(), **options)
    with caplog.at_level("INFO"):
        assert PairCounts.from_graph(karate(), **options).fingerprint == first.fingerprint
    assert "holds these counts already" in caplog.text
    exact = PairCounts.from_graph(karate(), directory=tmp_path / "exact")
    assert PairCounts.open(tmp_path / "exact").fingerprint == exact.fingerprint


def test_symmetric_counts_of_a_one_sided_window_can_be_opened_again():
    ring = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), 1, axis=1)
    counts = PairCounts.from_graph(ring, window=(2, 0))
    np.testing.assert_array_equal(counts.to_scipy().toarray(), counts.to_scipy().toarray().T)
    PairCounts.open(counts.directory).verify()


@pytest.mark.parametrize(
    ("adjacency", "options", "error", "why"),
    [
        (np.ones((2, 3)), {}, ValueError, r"must be square, .* got the shape \(2, 3\)"),
        (np.array([[0, -1], [1, 0]]), {}, ValueError, "finite and not negative, got -1"),
        (np.array([[0, np.nan], [1, 0]]), {}, ValueError, "finite and not negative, got nan"),
        (np.zeros((3, 3)), {}, ValueError, "no edges"),
        ("graph", {}, TypeError, "must be a square sparse array or matrix, got str"),
        (np.ones((2, 2)), {"nodes": ["a"]}, ValueError, "one word for each of the 2 nodes, got 1"),
        (np.ones((2, 2)), {"nodes": ["a", "a"]}, ValueError, "'a' is in the vocabulary twice"),
        (np.ones((2, 2)), {"num_walks": 0}, ValueError, "num_walks must be a whole number of 1 or more, got 0"),
        (np.ones((2, 2)), {"walk_length": 1}, ValueError, "walk_length must be a whole number of 2 or more, got 1"),
        (np.ones((2, 2)), {"window": 0}, ValueError, "window"),
        (np.ones((99, 99)), {"memory_gb": 1e-4}, MemoryError, "use exact=False"),
    ],
)
def test_wrong_graphs_and_settings_are_refused(adjacency, options, error, why):
    with pytest.raises(error, match=why):
        PairCounts.from_graph(adjacency, **options)


def test_the_matrix_of_the_caller_is_left_alone():
    table = sparse.csr_array(np.array(GRAPHS["weighted"], dtype=float))
    table.data[0] = 0
    before = table.copy()
    PairCounts.from_graph(table)
    assert table.nnz == before.nnz
    np.testing.assert_array_equal(table.data, before.data)
