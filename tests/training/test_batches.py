"""Steps of whole rows of shards: the same as one shard after the other, and without waiting for the device."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from fake_devices import fake_devices
from torch._subclasses.fake_tensor import DataDependentOutputException

from gensim_hilbert import PairCounts
from gensim_hilbert.objectives import named
from gensim_hilbert.training import batches as batches_module
from gensim_hilbert.training import pairs
from gensim_hilbert.training import shards as shards_module
from gensim_hilbert.training.batches import Batches
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.factors import Factor
from gensim_hilbert.training.gradients import DenseGradients, SampledGradients
from gensim_hilbert.training.kernels import KERNELS
from gensim_hilbert.training.shards import Shards

OBJECTIVES = ("hilbert", "sgns", "glove(x_max=10)", "lds", "swivel")
SIZE, N = 8, 4


@pytest.fixture(scope="module")
def counts(news, tmp_path_factory):
    return PairCounts.from_corpus(news[:60], directory=tmp_path_factory.mktemp("counts") / "counts", min_count=3)


@pytest.mark.parametrize("background", ["dense", "sampled"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_steps_of_rows_of_shards_are_those_of_one_shard_after_the_other(counts, objective, background):
    fits = [
        Factorization(named(objective).bind(counts), SIZE, n=N, passes=3, columns=16, background=background)
        for _ in range(2)
    ]
    fits[1].batches = Batches(fits[1].gradients)
    reports = [fit.run(3 * N * N) for fit in fits]
    one, all_at_once = (np.concatenate(fit.result()[:2]) for fit in fits)
    # LDS has one constant for all words, which moves by the mean over a shard or over all shards of a row.
    tolerance = 0.1 if objective == "lds" else 1e-3
    np.testing.assert_allclose(all_at_once, one, atol=tolerance * np.abs(one).max())
    assert reports[1].loss == pytest.approx(reports[0].loss, rel=0.02 if objective == "lds" else 1e-4)
    assert reports[1].error == pytest.approx(reports[0].error, rel=1e-2)
    assert fits[1].evaluate().loss == pytest.approx(fits[0].evaluate().loss, rel=0.02 if objective == "lds" else 1e-4)


@pytest.mark.parametrize("gpu", ["cuda", "mps"])
@pytest.mark.parametrize("background", ["dense", "sampled"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_pass_stays_on_the_device_and_never_waits_for_it(counts, objective, background, gpu, monkeypatch):
    """Fake tensors have a device and a shape but no numbers: they refuse mixed devices and any look by the host.

    Without a GPU, torch has no transfers to one, not even fake ones, so those give an empty tensor there.
    """
    for module in (shards_module, pairs, batches_module):
        monkeypatch.setattr(module, "sent", lambda x, device: torch.empty_like(x, device=device))
    bound = named(objective).bind(counts)
    kernel = KERNELS[bound.kernel](SIZE, "float32")
    with fake_devices():
        shards = Shards(bound, N, torch.device(gpu), memory_gb=1.0)
        if background == "dense":
            gradients = DenseGradients(bound, kernel, shards)
        else:
            gradients = SampledGradients(bound, kernel, shards, columns=16, seed=1)
        shape = N, shards.rows, SIZE + kernel.extra
        w, v = (
            Factor(name, torch.zeros(shape, device=gpu), torch.zeros(shape[:2], device=gpu), SIZE)
            for name in ("w", "v")
        )
        batches = Batches(gradients)
        for number in range(2):
            for offset in range(N):
                sums = batches.step(w, v, offset, 0.1, number)
        assert sums.device.type == batches.loss(w, v, 1).device.type == gpu
        with pytest.raises(DataDependentOutputException):  # The test would notice.
            sums.tolist()
