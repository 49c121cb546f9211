"""Contrastive divergence: the samplers against the exact conditional, the updates against the gradient."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from gensim_hilbert._gibbs import SAMPLERS, Gibbs, alias_table
from gensim_hilbert.training.gibbs import log_partition

SIZE, DIMENSIONS = 8, 4


@pytest.fixture(scope="module")
def model():
    """Covectors, vectors, unigram and proposal of a few words, unlike each other."""
    random = np.random.default_rng(5)
    w, v = (random.normal(size=(SIZE, DIMENSIONS)).astype(np.float32) * 0.8 for _ in range(2))
    p = random.dirichlet(np.full(SIZE, 2.0))
    return w, v, p, p**0.5 / (p**0.5).sum()


def joint(w: np.ndarray, v: np.ndarray, p: np.ndarray) -> np.ndarray:
    """p^ of all pairs, normalised."""
    table = np.outer(p, p) * np.exp(w.astype(np.float64) @ v.T)
    return table / table.sum()


def draw_pairs(table: np.ndarray, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return np.divmod(np.random.default_rng(seed).choice(table.size, n, p=table.ravel()), len(table))


def p_value(contexts: np.ndarray, terms: np.ndarray, table: np.ndarray) -> float:
    observed = np.bincount(contexts.astype(int) * SIZE + terms, minlength=SIZE * SIZE)
    return float(chisquare(observed, table.ravel() * len(contexts)).pvalue)


@pytest.mark.parametrize("weights", [[1.0], [1, 1, 1], [0.001, 5, 1, 1e-9, 3], np.arange(1, 1000) ** -1.2])
def test_the_alias_table_draws_in_proportion(weights):
    limits, others = alias_table(np.asarray(weights, dtype=float))
    own = (limits.astype(float) + 1) / 2**32
    shares = own + np.bincount(others, weights=1 - own, minlength=len(own))
    np.testing.assert_allclose(shares / len(own), np.asarray(weights) / np.sum(weights), atol=1e-9)


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samplers_leave_the_model_invariant(model, sampler, steps):
    w, v, p, q = model
    kernel = Gibbs(w, v, p, q, sampler=sampler, candidates=3)
    table = joint(w, v, p)
    assert p_value(*kernel.run_chains(*draw_pairs(table, 200_000, 1), steps, 2), table) > 1e-3


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samplers_that_are_wrong_would_be_noticed(model, sampler):
    """Chains that start elsewhere are not there after one step, or with another unigram: the test above can fail."""
    w, v, p, q = model
    table = joint(w, v, p)
    kernel = Gibbs(w, v, p, q, sampler=sampler, candidates=3)
    assert p_value(*kernel.run_chains(*draw_pairs(np.outer(p, p), 200_000, 1), 1, 2), table) < 1e-6
    kernel = Gibbs(w, v, q, q, sampler=sampler, candidates=3)
    assert p_value(*kernel.run_chains(*draw_pairs(table, 200_000, 1), 1, 2), table) < 1e-6


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_long_chains_give_the_exact_gradient(model, sampler):
    w, v, p, q = model
    kernel = Gibbs(w, v, p, q, sampler=sampler, candidates=3)
    n = 80_000
    ends = kernel.run_chains(np.full(n, 2), np.full(n, 3), 60, 1)
    table = joint(w, v, p)
    assert p_value(*ends, table) > 1e-3
    seen = np.zeros((SIZE, SIZE))
    np.add.at(seen, ends, 1 / n)
    exact, estimated = table @ v, seen @ v  # the negative half of the gradient by covectors
    assert np.abs(estimated - exact).max() < 0.03 * np.abs(exact).max()


@pytest.mark.parametrize("prior", [None, [0.9, 0.4, 0.0]])
def test_updates_are_the_expected_gradient_over_candidates(prior):
    """Two words make one sentence; over all pools that may be drawn, against many seeds."""
    random = np.random.default_rng(1)
    size, d, rate, draws = 3, 2, 1e-3, 40_000
    w, v = (random.normal(size=(size, d)).astype(np.float32) * 0.7 for _ in range(2))
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    a, b = 0, 1
    ids = np.array([size, a, b, size], dtype=np.uint32)
    total_w, total_v = np.zeros((size, d)), np.zeros((size, d))
    for seed in range(draws):
        w_now, v_now = w.copy(), v.copy()
        Gibbs(w_now, v_now, p, q, candidates=1, window=1, shrink=False, prior=prior).train(ids, 1, 3, rate, seed)
        total_w += (w_now - w).astype(np.float64)
        total_v += (v_now - v).astype(np.float64)
    expected_w, expected_v = np.zeros((size, d)), np.zeros((size, d))
    for pool in product(range(size), repeat=8):
        chance = np.prod(q[list(pool)])
        for own, other, to_own, to_other in ((w, v, expected_w, expected_v), (v, w, expected_v, expected_w)):
            for centre, near in ((a, b), (b, a)):  # each of them, as context or as term: a half each
                words = [near, *pool]
                weight = np.exp(other[words].astype(np.float64) @ own[centre]) * (p / q)[words]
                share = -weight / weight.sum()
                share[0] += 1
                to_own[centre] += 0.5 * chance * share @ other[words]
                np.add.at(to_other, words, 0.5 * chance * share[:, None] * own[centre].astype(np.float64))
    for centre in (a, b) if prior else ():
        expected_w[centre] -= 0.5 * prior[centre] * w[centre]
        expected_v[centre] -= 0.5 * prior[centre] * v[centre]
    scale = np.abs(expected_v).max()
    np.testing.assert_allclose(total_w / draws / rate, expected_w, atol=0.03 * scale)
    np.testing.assert_allclose(total_v / draws / rate, expected_v, atol=0.03 * scale)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_same_seed_gives_the_same_result(model, sampler):
    w, v, p, q = model
    ids = np.full(2000, SIZE, dtype=np.uint32)
    ids[5:-5] = np.random.default_rng(1).integers(0, SIZE + 1, len(ids) - 10)
    results = []
    for seed in (1, 1, 2):
        w_now, v_now = w.copy(), v.copy()
        pairs, loss = Gibbs(w_now, v_now, p, q, sampler=sampler).train(ids, 5, len(ids) - 5, 0.01, seed)
        results.append((pairs, loss, w_now.tobytes(), v_now.tobytes()))
    assert results[0] == results[1]
    assert results[0] != results[2]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_word_without_neighbours_follows_the_prior(model, sampler):
    """On one side per visit if candidates are shared, else by half as much on both."""
    w, v, p, q = model
    prior, rate, visits = np.linspace(0, 4, SIZE, dtype=np.float32), 0.5, 60
    ids = np.full(SIZE * visits * 2 + 1, SIZE, dtype=np.uint32)
    ids[1::2] = np.tile(np.arange(SIZE), visits)
    w_now, v_now = w.copy(), v.copy()
    kernel = Gibbs(w_now, v_now, p, q, sampler=sampler, window=1, prior=prior)
    assert kernel.train(ids, 1, len(ids) - 1, rate, 1) == (0, 0)
    whole, half = np.log1p(rate * prior), np.log1p(rate / 2 * prior)
    logarithms = [-np.log(now / before).mean(axis=1) for now, before in ((w_now, w), (v_now, v))]
    if sampler == "candidates":
        np.testing.assert_allclose(sum(logarithms), visits * whole, rtol=1e-4, atol=1e-4)
    else:
        np.testing.assert_allclose(logarithms, [visits * half] * 2, rtol=1e-4, atol=1e-4)
    assert (logarithms[0][1:] > 0).all()
    assert (logarithms[1][1:] > 0).all()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_locked_vectors_stay(model, sampler):
    w, v, p, q = model
    lock = np.ones(SIZE, dtype=np.float32)
    lock[[1, 4]] = 0
    ids = np.full(500, SIZE, dtype=np.uint32)
    ids[5:-5] = np.random.default_rng(1).integers(0, SIZE, len(ids) - 10)
    w_now, v_now = w.copy(), v.copy()
    prior = np.ones(SIZE, dtype=np.float32)
    Gibbs(w_now, v_now, p, q, sampler=sampler, lock=lock, prior=prior).train(ids, 5, len(ids) - 5, 0.05, 1)
    moved = (v_now != v).any(axis=1)
    assert moved.tolist() == (lock > 0).tolist()
    assert (w_now != w).any(axis=1).all()


@pytest.mark.parametrize("rate", [0.025, 1.0, 100.0])
def test_vectors_stay_finite_at_any_rate(rate):
    random = np.random.default_rng(1)
    w, v = (random.normal(size=(SIZE, 20)).astype(np.float32) for _ in range(2))
    ids = np.full(3000, SIZE, dtype=np.uint32)
    ids[5:-5] = random.integers(0, 2, len(ids) - 10)  # the same two words over and over
    p = np.full(SIZE, 1 / SIZE)
    for epoch in range(5):
        _, loss = Gibbs(w, v, p, p).train(ids, 5, len(ids) - 5, rate, epoch)
        assert np.isfinite(loss)
    assert np.isfinite(w).all()
    assert np.isfinite(v).all()


def test_the_constant_makes_probabilities_add_up():
    random = np.random.default_rng(1)
    w, v = (random.normal(size=(3000, 10)).astype(np.float32) * 0.5 for _ in range(2))
    p = random.dirichlet(np.full(3000, 0.3))
    exact = np.log(p @ np.exp(w.astype(np.float64) @ v.T) @ p)
    assert log_partition(w, v, p) == pytest.approx(exact, abs=0.02)


def test_bad_arguments_are_refused(model):
    w, v, p, q = model
    with pytest.raises(ValueError, match="'magic'"):
        Gibbs(w, v, p, q, sampler="magic")
    with pytest.raises(ValueError, match="candidates must be from 1 to 1048576, got 0"):
        Gibbs(w, v, p, q, candidates=0)
    with pytest.raises(IndexError, match="on both sides"):
        Gibbs(w, v, p, q).train(np.zeros(20, dtype=np.uint32), 0, 20, 0.1, 1)
