"""Vectors for fixed covectors are at the minimum of the loss of training, whoever looks for it."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from tables import clustered_table, store

from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.newton import FixedCovectors
from gensim_hilbert.training.prior import PRIOR_EXPONENT
from gensim_hilbert.training.space import TermLosses, prior_metric


class Problem:
    """Random covectors, a metric, and the loss as the module's docstring has it, in plain numpy."""

    def __init__(self, seed, contexts=40, size=6, problems=5):
        random = np.random.default_rng(seed)
        self.w = random.normal(size=(contexts, size))
        self.a = random.exponential(size=contexts)
        self.a[:3] = 0
        half = random.normal(size=(size, size))
        self.metric = half @ half.T + 0.1 * np.eye(size)
        self.s = random.poisson(2.0, size=(problems, contexts)) * random.exponential(size=(problems, 1)) * (self.a > 0)
        self.b, self.prior = random.exponential(size=problems) + 0.01, random.exponential(size=problems)

    def loss(self, k, v):
        psi = self.w @ v
        squares = v @ np.linalg.solve(self.metric, v)
        return (self.a * self.b[k] * np.exp(psi)).sum() - self.s[k] @ psi + self.prior[k] / 2 * squares

    def slope(self, k, v):
        slopes = self.a * self.b[k] * np.exp(self.w @ v) - self.s[k]
        return self.w.T @ slopes + self.prior[k] * np.linalg.solve(self.metric, v)

    def solve(self, **options):
        solver = FixedCovectors(self.w, self.a, self.metric)
        rows, columns = np.nonzero(self.s)
        starts = np.searchsorted(rows, np.arange(len(self.s) + 1))
        linear = solver.linear(self.s[rows, columns], columns, starts)
        return solver.solve(linear, self.b, self.prior, **options)


@pytest.mark.parametrize("seed", range(8))
def test_the_minimum_is_that_of_scipy(seed):
    problem = Problem(seed)
    found = problem.solve()
    for k, vector in enumerate(found.vectors):
        assert np.linalg.norm(problem.slope(k, vector)) < 1e-7 * np.linalg.norm(problem.slope(k, 0 * vector))
        peer = minimize(partial(problem.loss, k), 0 * vector, jac=partial(problem.slope, k), method="BFGS")
        np.testing.assert_allclose(vector, peer.x, atol=1e-4)
        assert found.losses[k] == pytest.approx(problem.loss(k, vector), rel=1e-9)
        assert found.losses[k] <= peer.fun + 1e-9 * abs(peer.fun)
    assert found.gradients.max() < 1e-9


def test_hard_problems_are_solved_too():
    """Counts far beyond chance, of one context only, with hardly any prior: the first step would overflow."""
    problem = Problem(0)
    problem.s[:] = 0
    problem.s[np.arange(5), 4 + np.arange(5)] = 10.0 ** np.arange(5)
    problem.prior[:] = 1e-6
    found = problem.solve()
    assert found.gradients.max() < 1e-9
    assert np.isfinite(found.vectors).all()


def test_terms_that_do_not_occur_have_no_vector():
    problem = Problem(1)
    problem.s[2], problem.b[2] = 0, 0
    assert not problem.solve().vectors[2].any()


def test_the_loss_is_that_of_training():
    """Where a fit has come to rest, the gradient of each vector's own loss is zero, prior and temperature included."""
    counts = store(clustered_table(40))
    objective = Hilbert(temperature=2.0, threshold=1e-3).bind(counts)
    fit = Factorization(objective, 5, l2=20.0, passes=4000, final_rate=1e-5, tolerance=0, device="cpu", gauge=0.0)
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    contexts, terms = counts.marginals
    losses = TermLosses(objective, contexts, terms, 20.0, 5)
    b = losses.multipliers(terms)
    np.testing.assert_allclose(b, objective.terms)
    np.testing.assert_allclose(losses.contexts, objective.contexts)
    np.testing.assert_allclose(losses.priors(b), len(counts) * fit.l2 * objective.terms**PRIOR_EXPONENT)
    table = counts.to_scipy().T.tocsr()
    rows = np.repeat(np.arange(40), np.diff(table.indptr))
    values = losses.values(table.data, table.indices, losses.term_factors(terms)[rows])
    np.testing.assert_allclose(values, objective.values(table.data, table.indices, rows))
    metric = prior_metric(covectors, vectors, (losses.priors(losses.contexts), losses.priors(b)))
    solver = FixedCovectors(covectors, losses.contexts, metric)
    found = solver.solve(solver.linear(values, table.indices, table.indptr), b, losses.priors(b))
    # The result is shown in another gauge than the prior's, in which lengths of axes differ.
    assert np.linalg.cond(metric) > 1.5
    assert np.abs(found.vectors - vectors).max() < 2e-3 * np.abs(vectors).max()
