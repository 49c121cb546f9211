"""Hilbert-MLE: temperature, threshold, and what maximum likelihood promises."""

import numpy as np
import pytest
from tables import pmi_of, random_table, store

from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training.factorization import Factorization


def test_at_full_rank_probabilities_add_up_to_one(device):
    table = random_table(12, least=1)
    fit = Factorization(
        Hilbert(temperature=1.0).bind(store(table)), 12, l2=0, passes=3000, final_rate=1e-4, device=device
    )
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    assert np.abs(covectors @ vectors.T - pmi_of(table)).max() < 1e-3
    assert fit.evaluate().unitarity == pytest.approx(1, abs=1e-3)
    p_i, p_j = table.sum(axis=1) / table.sum(), table.sum(axis=0) / table.sum()
    assert (np.outer(p_i, p_j) * np.exp(covectors @ vectors.T)).sum() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    "temperature", [pytest.param(1.0, marks=pytest.mark.slow), 1.25, pytest.param(2.0, marks=pytest.mark.slow)]
)
def test_pmi_of_words_that_are_one_in_a_billion_is_reached_and_not_passed(temperature, device):
    table = np.array([[2e9, 1e9, 1, 1], [1e9, 2e9, 1, 1], [1, 1, 1, 30], [1, 1, 30, 1]]).astype(np.int64)
    pmi = pmi_of(table.astype(np.float64))
    assert pmi.max() > 18
    fit = Factorization(Hilbert(temperature).bind(store(table)), 4, l2=0, passes=6000, final_rate=1e-4, device=device)
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    assert np.abs((covectors @ vectors.T - pmi)[[2, 3], [3, 2]]).max() < 0.01


def test_a_threshold_spares_the_words_below_it():
    table = random_table(40)
    p = table.sum(axis=1) / table.sum()
    threshold = float(np.median(p))
    contexts = Hilbert(2.0, threshold).bind(store(table)).contexts
    paper, plain = Hilbert(2.0).bind(store(table)).contexts, Hilbert(1.0).bind(store(table)).contexts
    for reference, words in ((plain, p < threshold), (paper, p > threshold)):
        ratio = contexts[words] / reference[words]
        np.testing.assert_allclose(ratio, ratio[0])
    assert contexts.mean() == pytest.approx(1)
