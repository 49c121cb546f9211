"""Steps are those of Adam."""

import pytest
import torch

from gensim_hilbert.training import factors


@pytest.mark.parametrize("fused", [True, False])
def test_steps_are_those_of_adam_and_locks_shorten_them(fused, device, monkeypatch):
    if not fused:
        monkeypatch.setattr(factors, "FUSED", ())
    random = torch.Generator().manual_seed(5)
    start, *gradients = torch.randn(8, 37, 11, generator=random, dtype=torch.float64)
    lock = torch.linspace(0, 1, 37)[:, None]
    free, locked = (start.float().to(device) for _ in range(2))
    moments, others = factors.Moments(free), factors.Moments(locked)
    m = v = torch.zeros_like(start)
    rows = start
    for t, gradient in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * gradient, 0.99 * v + 0.01 * gradient**2
        step = -0.3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.99**t)).sqrt() + 1e-8)
        before = locked.cpu().double()
        given = gradient.float().to(device)
        moments.step(free, given, 0.3, None)
        others.step(locked, given, 0.3, lock.to(device))
        rows = rows + step
        torch.testing.assert_close(free.cpu().double(), rows, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(locked.cpu().double(), before + lock * step, rtol=1e-5, atol=1e-5)
    assert torch.equal(locked[0].cpu(), start[0].float())
