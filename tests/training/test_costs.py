"""The choice between all cells of a shard and a sample of them."""

import numpy as np
import pytest
from tables import store

from gensim_hilbert.objectives import SGNS, Hilbert
from gensim_hilbert.training import costs
from gensim_hilbert.training.exponential import ExponentialGradients
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.gradients import DenseGradients, SampledGradients


def test_dense_where_most_pairs_occur_and_sampled_where_few_do():
    choose = lambda rows, pairs: costs.prefers_dense(costs.COMPILED, costs.DENSE, rows, 64, pairs, 100)  # noqa: E731
    assert choose(512, 512**2)
    assert not choose(512, 2_000)
    assert not choose(1024, 20_000)


def test_prices_add_up():
    assert costs.Prices(7, 2, 0.5, 3, 0.25).of(cells=10, pairs=4, vector_size=8) == 7 + 10 * (2 + 4) + 4 * (3 + 2)


@pytest.mark.parametrize(("objective", "kind"), [(Hilbert(), ExponentialGradients), (SGNS(), SampledGradients)])
def test_auto_asks_the_prices(monkeypatch, objective, kind):
    bound = objective.bind(store(np.random.default_rng(0).poisson(0.8, size=(90, 90)) + np.eye(90, dtype=int)))
    for is_dense in (True, False):
        monkeypatch.setattr(costs, "prefers_dense", lambda *sizes, is_dense=is_dense: is_dense)
        assert type(Factorization(bound, 5).gradients) is (DenseGradients if is_dense else kind)
