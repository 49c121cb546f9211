"""Training starts from a spectral solution."""

import numpy as np
import pytest
from tables import pmi_of, store

from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training import spectral
from gensim_hilbert.training.factorization import Factorization


@pytest.mark.parametrize("share", [0.0, 1.0])  # of cells, below which a product is sparse: none is, all are
def test_training_starts_from_the_best_factors_of_weighted_positive_pmi(share, monkeypatch):
    monkeypatch.setattr(spectral, "SPARSE", share)
    monkeypatch.setattr(spectral, "LONGEST", 1e9)
    table = np.random.default_rng(3).poisson(0.7, size=(22, 22)) + np.eye(22, dtype=int)
    p = table / table.sum()
    weights = [side**0.8 / (side**0.8).mean() for side in (p.sum(axis=1), p.sum(axis=0))]
    root = np.sqrt(np.outer(*weights))
    left, strength, right = np.linalg.svd(root * np.maximum(pmi_of(table), 0))
    best = (left[:, :6] * strength[:6]) @ right[:6] / root
    fit = Factorization(Hilbert().bind(store(table)), 6, n=2, device="cpu")
    w, v = fit.result()[:2]
    np.testing.assert_allclose(w @ v.T, best, atol=1e-4)
