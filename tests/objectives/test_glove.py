"""GloVe's biases, and another implementation of it."""

from __future__ import annotations

import numpy as np
import pytest
from tables import clustered_table, store

from gensim_hilbert.objectives import GloVe
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.fit import Start


def test_the_biases_of_glove_are_the_logarithms_of_frequencies(device):
    """From biases of zero, as GloVe's own program has them; the paper's figure.

    Vectors could hold as much of the frequencies; a strong prior on them leaves that to the biases.
    """
    random = np.random.default_rng(1)
    frequencies = 1 / (1 + np.arange(80))
    table = random.poisson(np.outer(frequencies, frequencies) * 1e7 * random.lognormal(0, 0.5, size=(80, 80)))
    counts = store(table)
    nothing = [random.normal(size=(80, 3)).astype(np.float32) * 0.1 for _ in range(2)]
    start = Start(*nothing, (np.zeros(80), np.zeros(80)))
    fit = Factorization(GloVe(x_max=10).bind(counts), 3, l2=1e5, passes=1000, start=start, device=device)
    fit.run(fit.steps)
    biases = fit.result()[2]
    for side, marginal in zip(biases, (table.sum(axis=1), table.sum(axis=0)), strict=True):
        expected = np.log(marginal) - np.log(table.sum()) / 2
        assert np.corrcoef(side, expected)[0, 1] > 0.95


def test_glove_against_mittens():
    """Another implementation: the same loss at the same point, and no lower one after as many iterations."""
    peer = pytest.importorskip("mittens", reason="mittens is not installed: pip install mittens")
    table = clustered_table().astype(float)
    random = np.random.default_rng(0)
    w, v = (random.normal(size=(60, 5)) * 0.1 for _ in range(2))
    biases = random.normal(size=60), random.normal(size=60)
    start = {"W": w, "C": v, "bw": biases[0][:, None], "bc": biases[1][:, None]}
    theirs = peer.GloVe(n=5, xmax=10, max_iter=500, display_progress=0, test_mode=True)
    theirs.fit(table.copy(), fixed_initialization={name: array.copy() for name, array in start.items()})
    bound = GloVe(x_max=10).bind(store(clustered_table()))
    scale = bound.scale / 60**2 * 2  # mittens halves the loss
    fit = Factorization(bound, 5, l2=0, passes=500, start=Start(w, v, biases))
    assert fit.evaluate().loss == pytest.approx(scale * theirs.errors[0], rel=1e-5)
    fit.run(fit.steps)
    assert fit.evaluate().loss < scale * theirs.errors[-1]
