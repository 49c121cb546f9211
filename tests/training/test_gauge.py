"""The canonical gauge."""

import numpy as np
import pytest
import torch
from scipy.linalg import orthogonal_procrustes

from gensim_hilbert.training.fit import Anchor, Fitted
from gensim_hilbert.training.gauge import balancing, canonical, summed, turn_onto


def test_the_canonical_gauge_keeps_psi_and_is_unique():
    random = torch.Generator().manual_seed(0)
    w, v = torch.randn(50, 6, generator=random) * 3, torch.randn(50, 6, generator=random)
    mix = torch.randn(6, 6, generator=random)
    one, two = canonical(w, v, 0.5), canonical(w @ mix, v @ torch.linalg.inv(mix).T, 0.5)
    torch.testing.assert_close(one[0] @ one[1].T, w @ v.T, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(one[1], two[1], rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(one[0], two[0], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("gauge", [0.0, 0.2, 0.5, 1.0])
def test_both_sides_have_their_share_of_the_strength_of_each_axis(gauge):
    random = np.random.default_rng(0)
    left, right = (np.linalg.qr(random.normal(size=(50, 7)))[0] for _ in range(2))
    strength = np.array([40, 9, 5, 3, 2, 1, 0.5])
    w, v = canonical(*(torch.from_numpy(side).float() for side in (left * strength, right)), gauge)
    of_w = (1 - gauge) * strength + gauge * strength.mean()
    of_v = strength / of_w
    scale = np.sqrt(np.linalg.norm(of_w) / np.linalg.norm(of_v))
    np.testing.assert_allclose(w.T @ w, np.diag(of_w / scale) ** 2, atol=1e-4)
    np.testing.assert_allclose(v.T @ v, np.diag(of_v * scale) ** 2, atol=1e-4)
    np.testing.assert_allclose(w @ v.T, (left * strength) @ right.T, atol=1e-5)


@pytest.mark.parametrize("gauge", [0.0, 0.4, 1.0])
def test_axes_that_psi_does_not_have_are_zero_on_both_sides(gauge):
    random = torch.Generator().manual_seed(0)
    w, v = torch.randn(50, 6, generator=random), torch.randn(50, 6, generator=random)
    v[:, 4:] = v[:, :2]
    w[:, 5] = 0
    for side, expected in zip(canonical(w, v, gauge), (4, 4), strict=True):
        assert (side.abs().amax(dim=0) > 1e-4).sum() == expected
        assert not side[:, expected:].any()


def test_sums_have_the_gauge_of_the_vectors_and_agree_where_covectors_do():
    """If covectors are vectors with some axes mirrored, and in another gauge, sums are the vectors."""
    random = np.random.default_rng(0)
    axes = np.linalg.qr(random.normal(size=(50, 5)))[0]
    axes -= axes.mean(axis=0)
    axes, _ = np.linalg.qr(axes)
    v = np.float32(axes * [3, 2, 1.5, 1, 0.5])
    w = np.float32(axes * [9, -4, 2, -1.2, 0.7])
    np.testing.assert_allclose(summed(w, v), 2 * v, atol=1e-5)
    turn, _ = np.linalg.qr(random.normal(size=(5, 5)))
    np.testing.assert_allclose(summed(np.float32(w @ turn), np.float32(v @ turn)), 2 * v @ turn, atol=1e-5)


@pytest.mark.parametrize("gauge", [0.0, 0.3, 1.0])
def test_vectors_are_as_long_on_the_whole_as_covectors_however_many_words_there_are(gauge):
    random = torch.Generator().manual_seed(0)
    w, v = torch.randn(50, 6, generator=random) * 3, torch.randn(50, 6, generator=random)
    for times in (1, 8):
        left, right = canonical(w.repeat(times, 1), v.repeat(times, 1), gauge)
        torch.testing.assert_close(left.norm(), right.norm())
        torch.testing.assert_close(right[:50], canonical(w, v, gauge)[1], rtol=1e-3, atol=1e-3)


def test_vectors_of_zero_stay_zero():
    w, v = canonical(torch.zeros(4, 3), torch.zeros(4, 3), 0.3)
    assert not w.any()
    assert not v.any()


def test_a_result_is_turned_onto_vectors_of_some_words_and_keeps_psi():
    random = np.random.default_rng(0)
    w, v, old = (random.standard_normal((5000, 6)).astype(np.float32) for _ in range(3))
    rows = np.arange(1, 5000, 3)
    before = Fitted(w.copy(), v.copy(), psi_offset=0.5)
    turned = turn_onto(Anchor(rows, old[rows]), before, v)
    axes, _ = orthogonal_procrustes(v[rows], old[rows])
    np.testing.assert_allclose(turned.parameters, v @ axes, atol=1e-5)
    np.testing.assert_allclose(turned.covectors[:50] @ turned.parameters.T, w[:50] @ v.T, atol=1e-5)
    assert turned.psi_offset == 0.5
    np.testing.assert_array_equal(before.covectors, w)  # What a solver goes on from is left alone.
    np.testing.assert_array_equal(before.parameters, v)


def test_vectors_without_covectors_are_brought_to_a_usual_length():
    vectors = np.random.default_rng(0).standard_normal((500, 6))
    for scale in (1e-6, 1.0, 300.0):
        factors = balancing(np.zeros((500, 6)), scale * vectors)
        assert len(set(factors.tolist())) == 1  # cosines do not change
        assert 0.7 < np.sqrt(np.mean(np.sum((scale * vectors / factors) ** 2, axis=1))) < 1.5
    np.testing.assert_array_equal(balancing(np.zeros((5, 6)), np.zeros((5, 6))), np.ones(6))
