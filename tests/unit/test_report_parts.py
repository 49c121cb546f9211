"""The parts of a report on their own: a fair sample, words on a plane, axes, numbers."""

import numpy as np
import pytest
from text import zipf_text

from gensim_hilbert import HilbertMLE
from gensim_hilbert.model_text import corpus_of
from gensim_hilbert.report.layout import embed, place
from gensim_hilbert.report.pairs import agreement, bands, sample_pairs
from gensim_hilbert.report.svg import Axes, Picture, tick_labels, ticks
from gensim_hilbert.report.text import number
from gensim_hilbert.report.words import typical, unit_rows


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "zipf.txt"
    path.write_bytes(zipf_text(60_000, 3_000))
    model = HilbertMLE(vector_size=4, min_count=1, workers=1, sample=0)
    model.build_vocab(corpus_file=path)
    model.thins_on_average = False
    model._count(corpus_of(None, path), model._vocabulary())
    random = np.random.default_rng(1)
    model.syn1neg, model.wv.vectors = random.normal(size=(2, len(model.wv), 4)).astype(np.float32)
    return model


def test_a_sample_has_what_the_table_has(model):
    assert model.counts.manifest["classes"] > 1, "the store must have several shards"
    table = model.counts.to_scipy()
    pairs = sample_pairs(model, wanted=20_000)
    assert len(set(zip(pairs.contexts.tolist(), pairs.terms.tolist(), strict=True))) == len(pairs)
    assert np.array_equal(table[pairs.contexts, pairs.terms], pairs.counts)
    for k in range(0, len(pairs), 997):
        words = [model.wv.index_to_key[row] for row in (pairs.contexts[k], pairs.terms[k])]
        assert pairs.pmi[k] == pytest.approx(model.counts.pmi(*words))
        assert pairs.psi[k] == pytest.approx(model.pmi(*words), abs=1e-5)


@pytest.mark.parametrize("wanted", [2_000, 20_000])
def test_a_sample_is_fair(model, wanted):
    whole, part = sample_pairs(model, wanted=10**9), sample_pairs(model, wanted=wanted)
    table = model.counts.to_scipy()
    assert len(whole) == table.nnz
    assert whole.sample == f"all {table.nnz:,} pairs of words that occur"
    assert len(part) == pytest.approx(wanted, rel=0.5)
    assert f"{len(part):,} of them" in part.sample
    assert float(part.sample.split("1 in ")[1].split(":")[0]) == pytest.approx(table.nnz / len(part), rel=0.2)
    error = whole.pmi.std() / np.sqrt(len(part))
    assert part.pmi.mean() == pytest.approx(whole.pmi.mean(), abs=5 * error)
    for rows in (part.contexts, part.terms):
        # Frequent words, which are few, have their share of pairs too.
        share = np.mean(rows < 64)
        expected = np.mean(whole.contexts < 64)
        assert share == pytest.approx(expected, rel=0.15)


def test_agreement_and_bands():
    pmi = np.array([0.0, 1.0, 2.0, 3.0])
    found = agreement(pmi, 2 * pmi + 1)
    assert (found.pairs, found.correlation, found.bias) == (4, pytest.approx(1), 2.5)
    assert np.isnan(agreement(pmi, np.ones(4)).correlation)
    masks = dict(bands(np.array([0.5, 1, 9.99, 10, 100, 99_999])))
    assert list(masks) == ["under 1", "1 – 10", "10 – 100", "100 – 1,000", "10,000 – 100,000"]
    assert [int(mask.sum()) for mask in masks.values()] == [1, 2, 1, 1, 1]


@pytest.fixture(scope="module")
def groups():
    """Six groups of thirty directions."""
    random = np.random.default_rng(0)
    middles = np.linalg.qr(random.normal(size=(20, 6)))[0].T
    return unit_rows(np.repeat(middles, 30, axis=0) + 0.1 * random.normal(size=(180, 20)))


def test_words_that_stand_for_groups(groups):
    assert [row // 30 for row in typical(groups, 6)] == list(range(6))
    assert typical(groups[:2], 6) == [0, 1]


def test_groups_stay_together_on_the_plane(groups):
    places = embed(groups)
    distance = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(len(places), np.inf))
    nearest = distance.argsort(axis=1)[:, :10]
    assert np.mean(nearest // 30 == np.arange(180)[:, None] // 30) > 0.97
    assert np.array_equal(embed(groups), places)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_words_on_the_plane(n):
    assert np.isfinite(embed(unit_rows(np.random.default_rng(1).normal(size=(n, 4))))).all()
    assert np.isfinite(embed(np.ones((n, 4)) / 2)).all(), "all alike"


def test_labels_find_room():
    random = np.random.default_rng(3)
    sizes = np.column_stack([random.uniform(20, 90, 200), random.uniform(10, 20, 200)])
    middles, found = place(random.normal(size=(200, 2)), sizes, 900, 700)
    assert found.mean() > 0.95
    low, high = (middles - sizes / 2)[found], (middles + sizes / 2)[found]
    assert (low >= -1e-9).all()
    assert (high <= [900 + 1e-9, 700 + 1e-9]).all()
    into = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    covers = (into > 1e-9).all(axis=2)
    assert covers.sum() == found.sum(), "each covers itself and no other"
    assert place(np.zeros((5, 2)), np.full((5, 2), 80.0), 100, 100)[1].tolist() == [True] + [False] * 4


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3.2, 7.9), (0.69, 0.71), (1, 16), (0, 581_520), (-1e-3, 1e-3), (1e9, 3e9), (5, 5)]
)
def test_ticks_are_round_and_within(low, high):
    for most in (3, 6, 7):
        marks = ticks(low, high, most)
        assert 1 <= len(marks) <= most
        assert all(low - 1e-9 <= mark <= high + 1e-9 for mark in marks)
        assert len(set(tick_labels(marks))) == len(marks)
        if len(marks) > 2:
            assert np.diff(marks) == pytest.approx(marks[1] - marks[0])


def test_tick_labels():
    assert tick_labels([-0.5, 0, 0.5]) == ["\u22120.5", "0.0", "0.5"]
    assert tick_labels([0, 5000, 10_000]) == ["0", "5k", "10k"]


def test_numbers():
    assert number(-0.001) == "0.00"
    assert number(-1234.5, 1) == "\u22121,234.5"
    assert number(float("nan")) == "–"


def test_data_are_where_the_axes_say():
    axes = Axes(400, 300, "title", (0, 10), (-1, 1), "x", "y")
    assert (axes.at_x(0), axes.at_x(10)) == (axes.left, axes.right)
    assert (axes.at_y(-1), axes.at_y(1)) == (axes.bottom, axes.top)
    axes.heat(np.arange(3), np.arange(3), np.array([[0, 1], [0, 9]]), "counted")
    assert str(axes).count("fill-opacity") == 2, "two shades, and nothing for empty cells"


def test_pictures_escape_what_they_are_given():
    picture = Picture(10, 10, '"<&')
    picture.text(0, 0, "<script>")
    assert 'aria-label="&quot;&lt;&amp;"' in str(picture)
    assert "&lt;script&gt;" in str(picture)
    assert "prefers-color-scheme: dark" in picture.standalone()
