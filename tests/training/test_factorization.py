"""Factorisation by shards, against mathematics."""

import numpy as np
import pytest
from tables import clustered_table, drawn_from_a_model, random_table, store

from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training.factorization import Factorization, shards_a_side
from gensim_hilbert.training.fit import Start


@pytest.fixture(scope="module")
def table():
    return random_table(40)


def test_a_known_low_rank_model_is_found_again(device):
    table, truth = drawn_from_a_model(150, 4, 30_000_000)
    fit = Factorization(Hilbert().bind(store(table)), 6, passes=300, device=device)
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    assert np.corrcoef((covectors @ vectors.T).ravel(), truth.ravel())[0, 1] > 0.99


def test_same_seed_same_bits_other_seed_same_vectors_up_to_noise(table, device):
    def vectors(seed: int) -> np.ndarray:
        fit = Factorization(Hilbert().bind(store(table)), 5, seed=seed, device=device)
        fit.run(fit.steps)
        return fit.result()[1]

    first = vectors(1)
    np.testing.assert_array_equal(first, vectors(1))
    other = vectors(2)
    assert not np.array_equal(first, other)
    assert np.corrcoef(first.ravel(), other.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("gauge", [0.0, 1.0])
def test_a_fit_from_vectors_starts_where_they_came_from_whatever_their_gauge(table, gauge, device):
    options = {"l2": table.sum() / 10_000, "device": device}
    first = Factorization(Hilbert().bind(store(table)), 5, gauge=gauge, **options)
    first.run(first.steps)
    covectors, vectors = first.result()[:2]
    again = Factorization(Hilbert().bind(store(table)), 5, start=Start(covectors, vectors), **options)
    assert again.evaluate().loss == pytest.approx(first.evaluate().loss, rel=5e-4)
    for ours, expected in zip(again.result()[:2], (covectors, vectors), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_divergence_is_stepped_back_from(table, caplog, device):
    fit = Factorization(Hilbert().bind(store(table)), 5, rate=200.0, passes=40, device=device)
    fit.run(fit.steps)
    assert any("diverged" in message for message in caplog.messages)
    covectors, vectors = fit.result()[:2]
    assert np.isfinite(covectors).all()
    assert np.isfinite(vectors).all()
    assert fit.evaluate().unitarity == pytest.approx(1, abs=0.5)


def test_unseen_words_and_more_dimensions_than_words(device):
    table = np.zeros((4, 4), dtype=int)
    table[0, 1] = table[1, 0] = 5
    table[0, 2] = table[2, 0] = 3
    fit = Factorization(Hilbert().bind(store(table)), 10, device=device)
    fit.run(fit.steps)
    vectors = fit.result().parameters
    assert vectors.shape == (4, 10)
    assert np.isfinite(vectors).all()
    assert np.abs(vectors[3]).max() < 1e-12


def test_shards_are_of_a_size_that_suits_the_device():
    for size in (10, 1024, 1025, 10_000, 50_000):
        n = shards_a_side(size, 64)
        assert size <= 1024 * n
        assert n == 1 or size > 512 * n
    assert shards_a_side(400_000, 64) == 64  # the store has no more
    gb = 1 << 30
    # More where one would not fit into a GPU's memory, but none smaller than on a CPU.
    for size in (1025, 10_000, 50_000, 100_000, 400_000):
        assert shards_a_side(size, 64, 10 * gb) == shards_a_side(size, 64)
    assert shards_a_side(2_000_000, 64, 10 * gb) == 128
    assert shards_a_side(400_000, 64, gb // 10) == 256
    assert shards_a_side(100_000, 64, -1) == 128


def test_training_stops_when_it_has_converged_however_it_is_cut(device):
    counts = store(clustered_table())

    def fitted(tolerance: float, piece: int | None = None) -> Factorization:
        fit = Factorization(Hilbert().bind(counts), 5, n=2, passes=400, tolerance=tolerance, device=device)
        for _ in range(0, fit.steps, piece or fit.steps):
            fit.run(piece or fit.steps)
        assert fit.steps_done == fit.end
        return fit

    whole, early = fitted(0), fitted(1e-4)
    assert whole.steps_done == whole.steps
    assert early.steps_done < 0.8 * early.steps
    assert early.evaluate().loss == pytest.approx(whole.evaluate().loss, abs=1e-5)
    pieces = fitted(1e-4, piece=3)
    assert pieces.steps_done == early.steps_done
    np.testing.assert_array_equal(pieces.result()[1], early.result()[1])
    assert pieces.run(10) == pieces.report == early.report


def test_reports_tell_the_loss_of_the_pass(table):
    fit = Factorization(Hilbert().bind(store(table)), 5, n=2, rate=1e-9)  # nothing moves
    seen = []
    report = fit.run(4, seen.append)
    exact = fit.evaluate()
    assert [r.passes for r in seen] == [0.5, 1.0]
    assert seen[-1] == report
    assert report.loss == pytest.approx(exact.loss, rel=1e-5)
    assert report.unitarity == pytest.approx(exact.unitarity, rel=1e-5)
    assert report.gradient > 0


def test_bad_arguments():
    counts = store(random_table(5))
    with pytest.raises(ValueError, match=r"0\.5"):
        Hilbert(0.5)
    for threshold in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match=f"threshold.*{threshold}"):
            Hilbert(2.0, threshold)
    with pytest.raises(ValueError, match="'half'"):
        Factorization(Hilbert().bind(counts), 2, precision="half")
    with pytest.raises(ValueError, match="cuda:99"):
        Factorization(Hilbert().bind(counts), 2, device="cuda:99")
