"""Training starts from a spectral solution."""

import numpy as np
import pytest
import torch
from tables import clustered_table, pmi_of, random_table, store

from gensim_hilbert.objectives import SGNS, GloVe, Hilbert, Objective
from gensim_hilbert.training import spectral
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.shards import Shards
from gensim_hilbert.training.spectral import LONGEST, SWEEPS, spectral_start
from gensim_hilbert.training.team import Team


def start_of(bound: Objective, d: int, n: int, progress=None) -> tuple[np.ndarray, np.ndarray]:
    shards = Shards(bound, n, torch.device("cpu"), memory_gb=1)
    with Team(shards) as team:
        sides = spectral_start(team, d, 1, progress)
    return tuple(shards.restored(side) for side in sides)


def phi_of(bound: Objective, table: np.ndarray) -> np.ndarray:
    """PMI, for GloVe too, once biases are taken off; but SGNS has noise for chance."""
    if not isinstance(bound, SGNS):
        return pmi_of(table)
    with np.errstate(divide="ignore"):
        return np.log(table / (table.sum(axis=0) * bound.noise[:, None] * bound.negative))


def weighted_target(bound: Objective, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the start approximates, and the roots of its weights."""
    root = np.sqrt(np.outer(*bound.weights))
    return root * np.maximum(phi_of(bound, table), bound.psi_offset), root


@pytest.mark.parametrize("objective", [Hilbert(), Hilbert(temperature=2), SGNS(negative=3), GloVe(x_max=4)], ids=repr)
@pytest.mark.parametrize("n", [1, 3])
def test_training_starts_from_the_best_factors_of_a_weighted_table(objective, n, monkeypatch):
    monkeypatch.setattr(spectral, "LONGEST", 1e9)
    table = np.random.default_rng(3).poisson(0.7, size=(22, 22)) + np.eye(22, dtype=int)
    bound = objective.bind(store(table))
    target, root = weighted_target(bound, table)
    left, strength, right = np.linalg.svd(target)
    w, v = start_of(bound, 6, n)
    np.testing.assert_allclose(w @ v.T, (left[:, :6] * strength[:6]) @ right[:6] / root, atol=1e-3)
    for side, weight in ((w, bound.weights[0]), (v, bound.weights[1])):
        np.testing.assert_allclose(
            np.linalg.norm(side * np.sqrt(weight)[:, None], axis=0), np.sqrt(strength[:6]), rtol=1e-3
        )


def test_of_many_words_the_start_is_nearly_the_best(monkeypatch):
    monkeypatch.setattr(spectral, "LONGEST", 1e9)
    table = clustered_table(200)
    bound = Hilbert().bind(store(table))
    target, root = weighted_target(bound, table)
    best = np.sqrt((np.linalg.svd(target, compute_uv=False)[8:] ** 2).sum())
    w, v = start_of(bound, 8, 4)
    assert np.linalg.norm(target - root * (w @ v.T)) < 1.01 * best


def test_rows_are_short_and_words_without_pairs_and_axes_without_words_are_zero():
    table = random_table(12, least=1)
    table[7] = table[:, 7] = 0
    table[2, 3] = 100_000
    w, v = start_of(Hilbert().bind(store(table)), 20, 2)
    for side in (w, v):
        assert side.shape == (12, 20)
        assert np.isfinite(side).all()
        assert np.linalg.norm(side, axis=1).max() == pytest.approx(LONGEST, rel=1e-3)
        assert not side[7].any()
        assert not side[:, 12:].any()


def test_axes_that_the_bounded_table_lacks_can_be_learnt():
    """Noise is smoothed, so that phi is below its bound in whole rows."""
    table = random_table(12, least=1)
    bound = SGNS().bind(store(table))
    strength = np.linalg.svd(weighted_target(bound, table)[0], compute_uv=False)
    lacking = int((strength < 1e-6 * strength[0]).sum())
    assert lacking > 3
    w, v = start_of(bound, 12, 2)
    assert not v[:, -lacking:].any(), "psi is not changed"
    assert 0.005 < np.abs(w[:, -lacking:]).max() < 0.05
    fit = Factorization(bound, 12, l2=0, passes=2000, final_rate=1e-4)
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    np.testing.assert_allclose(covectors @ vectors.T, phi_of(bound, table), atol=1e-3)


def test_progress_is_told_after_each_row_of_shards():
    seen = []
    start_of(Hilbert().bind(store(random_table(20, least=1))), 4, 5, lambda done, total: seen.append((done, total)))
    assert seen == [(k, SWEEPS * 5) for k in range(1, SWEEPS * 5 + 1)]
