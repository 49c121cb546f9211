"""The canonical gauge."""

import torch

from gensim_hilbert.training.gauge import canonical


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
    torch.testing.assert_close(flat[1].T @ flat[1], torch.diag(strength**0.5), rtol=1e-3, atol=1e-3)
