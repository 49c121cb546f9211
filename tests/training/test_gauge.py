"""The canonical gauge."""

import numpy as np
import pytest
import torch
from scipy.linalg import orthogonal_procrustes

from gensim_hilbert.training.fit import Anchor, Fitted
from gensim_hilbert.training.gauge import balancing, canonical, turn_onto


def test_the_canonical_gauge_keeps_psi_and_is_unique():
    random = torch.Generator().manual_seed(0)
    w, v = torch.randn(50, 6, generator=random) * 3, torch.randn(50, 6, generator=random)
    mix = torch.randn(6, 6, generator=random)
    one, two = canonical(w, v, 0.5), canonical(w @ mix, v @ torch.linalg.inv(mix).T, 0.5)
    torch.testing.assert_close(one[0] @ one[1].T, w @ v.T, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(one[1], two[1], rtol=1e-3, atol=1e-3)
    moments = one[0].T @ one[0]
    torch.testing.assert_close(moments, one[1].T @ one[1], rtol=1e-3, atol=1e-3)
    assert torch.all(torch.diff(torch.diag(moments)) <= 0)
    torch.testing.assert_close(moments, torch.diag(torch.diag(moments)), rtol=1e-3, atol=1e-3)
    flat = canonical(w, v, 0.25)
    torch.testing.assert_close(flat[0] @ flat[1].T, w @ v.T, rtol=1e-4, atol=1e-4)
    strength = torch.diag(moments)
    scale = (strength**1.5).sum().sqrt() / (strength**0.5).sum().sqrt()
    torch.testing.assert_close(flat[1].T @ flat[1], torch.diag(scale * strength**0.5), rtol=1e-3, atol=1e-3)


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
