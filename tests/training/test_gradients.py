"""Sampled gradients against exact ones: unbiased, with an honest standard error, and the same optimum."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gensim_hilbert import PairCounts
from gensim_hilbert.objectives import named
from gensim_hilbert.training.background import Drawn
from gensim_hilbert.training.exponential import ExponentialGradients
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.gradients import DenseGradients, SampledGradients
from gensim_hilbert.training.kernels import KERNELS
from gensim_hilbert.training.shards import Shards

SIZE, N, COLUMNS, DRAWS = 6, 2, 12, 600
WITH_BACKGROUND = ("hilbert", "sgns", "swivel")


@pytest.fixture(scope="module")
def counts(news, tmp_path_factory):
    return PairCounts.from_corpus(news[:60], directory=tmp_path_factory.mktemp("counts") / "counts", min_count=4)


def shards_and_rows(counts, objective):
    bound = named(objective).bind(counts)
    shards = Shards(bound, N, torch.device("cpu"), memory_gb=1.0)
    random = np.random.default_rng(1)
    w, v = (shards.arranged(0.5 * random.standard_normal((len(counts), SIZE))) for _ in range(2))
    return bound, KERNELS[bound.kernel](SIZE, "float32"), shards, w, v


def evenly_drawn(gradients, place):
    """Replace draws by the one at this place between 0 and 1."""
    gradients.draw_columns = lambda i, j, number: gradients.column_samplers[j].draw(place)
    gradients.draw_rows = lambda i, j, number: gradients.row_samplers[i].draw(place)


@pytest.mark.parametrize("objective", WITH_BACKGROUND)
@pytest.mark.parametrize("shard", [(0, 1), (1, 1)])
def test_the_mean_over_all_draws_is_the_exact_gradient_and_loss(counts, objective, shard):
    bound, kernel, shards, w, v = shards_and_rows(counts, objective)
    dense, sampled = DenseGradients(bound, kernel, shards), SampledGradients(bound, kernel, shards, COLUMNS, 1)
    i, j = shard
    exact = dense(shards[shard], w[i], v[j], 0)
    to_w, to_v, losses = torch.zeros_like(exact.to_w), torch.zeros_like(exact.to_v), []
    for k in range(DRAWS):
        evenly_drawn(sampled, (k + 0.5) / DRAWS)
        estimate = sampled(shards[shard], w[i], v[j], 0)
        to_w += estimate.to_w / DRAWS
        to_v += estimate.to_v / DRAWS
        losses.append(estimate.cost.loss)
    for mean, gradient in ((to_w, exact.to_w), (to_v, exact.to_v)):
        assert torch.linalg.norm(mean - gradient) < 0.01 * torch.linalg.norm(gradient)
    assert np.mean(losses) == pytest.approx(exact.cost.loss, rel=2e-3)
    single = torch.linalg.norm(estimate.to_w - exact.to_w) / torch.linalg.norm(exact.to_w)
    assert single > 0.02  # One draw alone is no such estimate: the mean says something.


@pytest.mark.parametrize("objective", WITH_BACKGROUND)
def test_wrong_weights_of_draws_would_be_noticed(counts, objective):
    bound, kernel, shards, w, v = shards_and_rows(counts, objective)
    dense, sampled = DenseGradients(bound, kernel, shards), SampledGradients(bound, kernel, shards, COLUMNS, 1)
    exact = dense(shards[0, 1], w[0], v[1], 0)
    total = torch.zeros_like(exact.to_w)
    for k in range(100):
        drawn = sampled.column_samplers[1].draw((k + 0.5) / 100)
        sampled.draw_columns = lambda i, j, number, drawn=drawn: Drawn(drawn.numbers, 1.2 * drawn.weights)
        total += sampled(shards[0, 1], w[0], v[1], 0).to_w / 100
    assert torch.linalg.norm(total - exact.to_w) > 0.01 * torch.linalg.norm(exact.to_w)


@pytest.mark.parametrize("objective", WITH_BACKGROUND)
def test_the_standard_error_of_the_loss_is_what_it_varies_by(counts, objective):
    bound, kernel, shards, w, v = shards_and_rows(counts, objective)
    sampled = SampledGradients(bound, kernel, shards, COLUMNS, 1)
    losses, errors = [], []
    for number in range(400):
        estimate = sampled(shards[0, 1], w[0], v[1], number)
        losses.append(estimate.cost.loss)
        errors.append(estimate.error)
    assert np.mean(errors) == pytest.approx(np.var(losses), rel=0.35)


def test_where_all_columns_are_drawn_the_estimate_is_exact(counts):
    bound, kernel, shards, w, v = shards_and_rows(counts, "hilbert")
    dense, sampled = DenseGradients(bound, kernel, shards), SampledGradients(bound, kernel, shards, shards.rows, 1)
    exact = dense(shards[1, 0], w[1], v[0], 0)
    estimate = sampled(shards[1, 0], w[1], v[0], 0)
    assert estimate.cost.loss == pytest.approx(exact.cost.loss, rel=1e-5)
    assert estimate.error < 1e-6 * exact.cost.loss**2
    torch.testing.assert_close(estimate.to_w, exact.to_w, rtol=1e-3, atol=1e-4 * float(exact.to_w.abs().max()))
    torch.testing.assert_close(estimate.to_v, exact.to_v, rtol=1e-3, atol=1e-4 * float(exact.to_v.abs().max()))


@pytest.mark.parametrize("objective", WITH_BACKGROUND)
def test_the_optimum_is_that_of_the_dense_solver(news, objective, tmp_path):
    """After the same passes the exact loss is as low, and psi differs hardly more than by another seed."""
    counts = PairCounts.from_corpus(news, directory=tmp_path / "counts", min_count=10)
    losses, tables = [], []
    for background, seed in (("dense", 1), ("sampled", 1), ("dense", 2)):
        options = {"n": N, "passes": 60, "columns": 128, "tolerance": 0}
        fit = Factorization(named(objective).bind(counts), 10, background=background, seed=seed, **options)
        fit.run(fit.steps)
        losses.append(fit.evaluate().loss)
        covectors, vectors = fit.result()[:2]
        tables.append((covectors @ vectors.T).ravel())
    assert losses[1:] == pytest.approx([losses[0]] * 2, rel=0.002)
    sampled, reseeded = np.corrcoef(tables)[0, 1:]
    assert 1 - sampled < 2 * (1 - reseeded)


@pytest.mark.parametrize("objective", ["glove(x_max=10)", "lds"])
def test_without_a_background_both_ways_are_the_same(counts, objective):
    results = []
    for background in ("dense", "sampled"):
        fit = Factorization(named(objective).bind(counts), SIZE, n=N, passes=4, background=background)
        fit.run(fit.steps)
        results.append(np.concatenate(fit.result()[:2]))
    np.testing.assert_allclose(results[1], results[0], atol=2e-3 * np.abs(results[0]).max())


@pytest.mark.parametrize("shard", [(0, 1), (1, 1)])
@pytest.mark.parametrize("level", [0.0, 0.8])
def test_compiled_loops_give_the_same_gradients_and_losses(counts, shard, level):
    bound, kernel, shards, w, v = shards_and_rows(counts, "hilbert(temperature=1.25)")
    results = []
    for kind in (SampledGradients, ExponentialGradients):
        gradients = kind(bound, kernel, shards, COLUMNS, 1)
        gradients.level = level
        found = gradients(shards[shard], w[shard[0]], v[shard[1]], 3)
        results.append((found.to_w, found.to_v, [*found.cost, found.error]))
    for ours, expected in zip(results[1][:2], results[0][:2], strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-3, atol=2e-5 * float(expected.abs().max()))
    np.testing.assert_allclose(results[1][2], results[0][2], rtol=1e-4)
