"""Precision of products on a device."""

import numpy as np
import pytest
import torch
from tables import clustered_table, random_table, store

from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training.device import products_in
from gensim_hilbert.training.factorization import Factorization


@pytest.mark.parametrize("precision", ["tf32", "bf16"])
def test_lower_precision_fits_about_the_same(precision, device):
    counts = store(clustered_table())

    def fitted(precision: str) -> tuple[np.ndarray, float]:
        fit = Factorization(Hilbert().bind(counts), 5, n=2, passes=100, precision=precision, device=device)
        fit.run(fit.steps)
        covectors, vectors = fit.result()[:2]
        return covectors @ vectors.T, fit.evaluate().loss

    before = torch.get_float32_matmul_precision()
    (exact, exact_loss), (about, about_loss) = fitted("float32"), fitted(precision)
    assert np.corrcoef(exact.ravel(), about.ravel())[0, 1] > 0.99
    assert about_loss == pytest.approx(exact_loss, abs=1e-3)
    assert torch.get_float32_matmul_precision() == before


def test_the_precision_of_other_products_comes_back_also_after_an_error(monkeypatch):
    before = torch.get_float32_matmul_precision()
    seen = []
    fit = Factorization(Hilbert().bind(store(random_table(40))), 5, precision="tf32")
    assert torch.get_float32_matmul_precision() == before

    def fail(*args):
        seen.append(torch.get_float32_matmul_precision())
        raise RuntimeError("out of memory")

    monkeypatch.setattr(fit.objective, "differentiate_pairs_", fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        fit.run(fit.steps)
    assert seen == ["high"]
    assert torch.get_float32_matmul_precision() == before
    with products_in("float32"):
        assert torch.get_float32_matmul_precision() == before
