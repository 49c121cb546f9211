"""Factorization by shards, against mathematics."""

import numpy as np
import pytest
from tables import clustered_table, drawn_from_a_model, random_table, store

from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.fit import Start

BACKGROUNDS = pytest.mark.parametrize("background", ["dense", "sampled"])


@pytest.fixture(scope="module")
def table():
    return random_table(40)


@BACKGROUNDS
def test_a_known_low_rank_model_is_found_again(background, device):
    table, truth = drawn_from_a_model(150, 4, 30_000_000)
    options = {"n": 2, "passes": 150, "background": background, "columns": 32, "device": device}
    fit = Factorization(Hilbert().bind(store(table)), 6, **options)
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    assert np.corrcoef((covectors @ vectors.T).ravel(), truth.ravel())[0, 1] > 0.99


@BACKGROUNDS
def test_same_seed_same_bits_other_seed_same_vectors_up_to_noise(background, device):
    counts = store(clustered_table())

    def vectors(seed: int) -> np.ndarray:
        options = {"n": 2, "passes": 200, "background": background, "columns": 20, "device": device}
        fit = Factorization(Hilbert().bind(counts), 3, seed=seed, **options)
        fit.run(fit.steps)
        return fit.result().parameters

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


@BACKGROUNDS
@pytest.mark.parametrize("given", [False, True])
def test_after_a_divergence_training_is_as_if_the_rate_had_been_lower(table, background, given, caplog, device):
    random = np.random.default_rng(2)
    start = Start(*(random.normal(size=(40, 5)).astype(np.float32) * 0.3 for _ in range(2))) if given else None
    options = {"n": 2, "passes": 20, "background": background, "columns": 10, "start": start, "device": device}
    fit = Factorization(Hilbert().bind(store(table)), 5, rate=200.0, **options)
    fit.run(7)
    fit.run(fit.steps)
    assert any("diverged in pass" in message for message in caplog.messages)
    assert fit.scale < 1
    assert fit.evaluate().unitarity == pytest.approx(1, abs=0.5)
    lower = Factorization(Hilbert().bind(store(table)), 5, rate=200.0 * fit.scale, **options)
    lower.run(fit.steps)
    assert (lower.scale, lower.history, lower.report) == (1, fit.history, fit.report)
    for ours, expected in zip(fit.result()[:2], lower.result()[:2], strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_what_diverges_at_any_rate_is_told(table, monkeypatch):
    fit = Factorization(Hilbert().bind(store(table)), 5, passes=4)
    monkeypatch.setattr(fit, "_is_beyond", lambda cost, shards: True)
    with pytest.raises(ArithmeticError, match="diverges at any rate"):
        fit.run(fit.steps)


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


def test_training_stops_when_it_has_converged_however_it_is_cut(device):
    counts = store(clustered_table())

    def fitted(tolerance: float, piece: int | None = None) -> Factorization:
        # With this seed the loss is flat long before a stretch is looked at, whatever a processor rounds differently.
        fit = Factorization(Hilbert().bind(counts), 5, n=2, passes=400, tolerance=tolerance, device=device, seed=2)
        for _ in range(0, fit.steps, piece or fit.steps):
            fit.run(piece or fit.steps)
        assert fit.steps_done == fit.schedule.end
        return fit

    whole, early = fitted(0), fitted(1e-3)
    assert whole.steps_done == whole.steps
    assert early.steps_done < 0.8 * early.steps
    assert early.evaluate().loss == pytest.approx(whole.evaluate().loss, abs=1e-5)
    pieces = fitted(1e-3, piece=3)
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


def test_progress_is_told_after_each_row_of_shards_and_at_the_end(table):
    fit = Factorization(Hilbert().bind(store(table)), 5, n=2, passes=3)
    seen = []
    for steps in (3, 3, 1, 5):
        fit.run(steps, lambda report: seen.append(report.passes))
    assert seen == [0.5, 0.75, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0]


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
