"""One side of a factorisation: Adam's steps, turned axes, checkpoints."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import adam_row

from gensim_hilbert._pairs import adam_step
from gensim_hilbert.training.factors import BETAS, Factor


def random_arrays(seed: int, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.normal(size=shape).astype(np.float32) for shape in shapes]


@given(
    rows=st.integers(0, 5),
    d=st.sampled_from([1, 5, 7, 8, 9, 16, 19, 24]),
    extra=st.integers(0, 3),
    locked=st.booleans(),
    prior=st.sampled_from([0.0, 0.7]),
    step=st.sampled_from([1, 2, 17, 4000]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_step_of_adam(rows, d, extra, locked, prior, step, seed):
    x, gradient, first, second, priors, locks = random_arrays(seed, *[(rows, d + extra)] * 4, (rows,), (rows,))
    second, priors, locks = second**2, prior * np.abs(priors), np.abs(locks).clip(0, 1) * (np.arange(rows) % 3 > 0)
    locks = locks.astype(np.float32)
    lock = locks if locked else None
    parts = zip(x, gradient, first, second, priors.astype(float), strict=True)
    expected = [adam_row(*row, d, BETAS, 0.3, step, locks[i] if locked else 1) for i, row in enumerate(parts)]
    before = x.copy()
    loss, squares = adam_step(x, gradient, first, second, priors, d, *BETAS, 0.3, step, lock)
    assert loss == pytest.approx((priors[:, None].astype(float) * before[:, :d] ** 2).sum(), rel=1e-4, abs=1e-6)
    assert squares == pytest.approx(sum(row[3] for row in expected), rel=1e-4)
    for found, place in ((x, 0), (first, 1), (second, 2)):
        wanted = np.array([row[place] for row in expected]).reshape(found.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4 if step == 1 else 1e-5)
    if locked:
        np.testing.assert_array_equal(x[locks == 0], before[locks == 0])


def make_factor(locked: bool = False) -> Factor:
    rows, priors, locks = (torch.from_numpy(part) for part in random_arrays(3, (2, 7, 11), (2, 7), (2, 7)))
    return Factor("w", rows, priors.abs(), 10, locks.abs().clamp(max=1) if locked else None)


@pytest.mark.parametrize("locked", [False, True])
def test_all_blocks_at_once_move_as_one_after_the_other(locked, device):
    one_by_one, at_once = make_factor(locked), make_factor(locked)
    for part in ("rows", "first", "second", "priors", "locks"):
        if getattr(at_once, part) is not None:
            setattr(at_once, part, getattr(at_once, part).to(device))
    for seed in range(5):
        (gradient,) = random_arrays(seed, (2, 7, 11))
        sums = [one_by_one.step(k, torch.from_numpy(gradient[k]), 0.3, seed) for k in range(2)]
        together = at_once.step_all(torch.from_numpy(gradient.copy()).to(device), 0.3, seed)
        assert [float(total) for total in together] == pytest.approx(np.sum(sums, axis=0), rel=1e-4)
        torch.testing.assert_close(at_once.rows.cpu(), one_by_one.rows, rtol=1e-4, atol=1e-5)
    assert at_once.prior() == pytest.approx(one_by_one.prior(), rel=1e-5)


def test_turned_axes_keep_products_and_lengths_of_moments():
    factor, (other,) = make_factor(), random_arrays(4, (7, 11))
    factor.step(0, torch.from_numpy(other), 0.1, 0)
    rows, first, second = factor.rows.clone(), factor.first.clone(), factor.second.clone()
    axes = torch.linalg.qr(torch.from_numpy(random_arrays(5, (11, 11))[0]))[0]
    factor.turn(axes, map)
    torch.testing.assert_close(factor.rows[0] @ factor.rows[1].T, rows[0] @ rows[1].T, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(factor.first[0] @ axes.T, first[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(factor.second.sum(dim=-1), second.sum(dim=-1), rtol=1e-4, atol=1e-6)
    assert (factor.second >= 0).all()


def test_a_checkpoint_holds_all_that_moves():
    factor, again = make_factor(), make_factor()
    for seed in range(3):
        factor.step(seed % 2, torch.from_numpy(random_arrays(seed, (7, 11))[0]), 0.1, seed // 2)
    kept = dict(factor.arrays())
    again.restore(kept.__getitem__)
    for side in (factor, again):
        side.step(1, torch.from_numpy(random_arrays(9, (7, 11))[0]), 0.1, 1)
    assert torch.equal(factor.rows, again.rows)
    factor.release_moments()
    assert factor.first.numel() == factor.second.numel() == 0
    assert torch.equal(factor.rows, again.rows)
