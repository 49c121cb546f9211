"""The singular value decomposition of positive PMI."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import SMALL_OPTIONS
from tables import clustered_table, store

from gensim_hilbert import HilbertMLE
from gensim_hilbert.objectives import PPMI
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.fit import Start
from gensim_hilbert.training.from_counts import make_fit

pytestmark = pytest.mark.usefixtures("short_training")


def test_the_svd_is_the_best_approximation(device):
    counts = store(clustered_table())
    bound = PPMI(shift=2).bind(counts)
    fit = make_fit(bound, 6, gauge=0.25)
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    left, strength, right = np.linalg.svd(bound.table_for_svd().toarray())
    np.testing.assert_allclose(covectors @ vectors.T, left[:, :6] * strength[:6] @ right[:6], atol=1e-4)
    lengths = np.linalg.norm(vectors, axis=0)
    of_covectors = 0.75 * strength[:6] + 0.25 * strength[:6].mean()
    of_vectors = strength[:6] / of_covectors
    np.testing.assert_allclose(lengths / lengths[0], of_vectors / of_vectors[0], rtol=1e-4)
    by_shards = Factorization(bound, 6, l2=0, start=Start(covectors, vectors), device=device).evaluate().loss
    assert fit.evaluate().loss == pytest.approx(by_shards, rel=1e-5)


def test_vectors_of_the_svd_cannot_be_locked(some_news):
    model = HilbertMLE(objective="ppmi-svd", **SMALL_OPTIONS)
    model.build_vocab(some_news)
    model.wv.vectors_lockf = np.zeros(len(model.wv), dtype=np.float32)
    with pytest.raises(ValueError, match="cannot be locked"):
        model.train(some_news, total_examples=len(some_news), epochs=1)


def test_the_svd_does_not_start_from_given_vectors(some_news):
    model = HilbertMLE(some_news, **SMALL_OPTIONS, objective="ppmi-svd")
    model.wv.vectors[:] = 5
    with pytest.raises(ValueError, match="cannot start from given vectors"):
        model.train(some_news, total_examples=len(some_news), epochs=1)
