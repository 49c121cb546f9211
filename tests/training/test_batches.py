"""Steps of whole rows of shards: the same as one shard after the other, and without waiting for the device."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from fake_devices import fake_devices
from ngrams import vectors_of
from torch._subclasses.fake_tensor import DataDependentOutputException

from gensim_hilbert import PairCounts
from gensim_hilbert.objectives import named
from gensim_hilbert.training import batches as batches_module
from gensim_hilbert.training import pairs
from gensim_hilbert.training import shards as shards_module
from gensim_hilbert.training.batches import Batches
from gensim_hilbert.training.checkpoint import Checkpoint
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
    if objective == "lds":  # The signs of its axes are by chance.
        all_at_once = all_at_once * np.sign((one * all_at_once).sum(axis=0))
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
        if background == "sampled":
            gradients.level = 0.5 * bound.background_is_its_derivative
        for number in range(2):
            for offset in range(N):
                sums = batches.step(w, v, offset, 0.1, number)
        assert sums.device.type == batches.loss(w, v, 1).device.type == gpu
        with pytest.raises(DataDependentOutputException):  # The test would notice.
            sums.tolist()


def rows_of_shards(counts, **options) -> Factorization:
    """A fit that visits whole rows of shards, as on a GPU."""
    fit = Factorization(named("hilbert").bind(counts), SIZE, **{"n": N, "passes": 3, "columns": 16} | options)
    fit.batches = Batches(fit.gradients)
    return fit


def test_rows_of_shards_whose_vectors_are_made_of_n_grams(counts):
    composition = vectors_of(counts.vocabulary.words, bucket=2000, size=SIZE).composition
    options = {"n": N, "passes": 3, "columns": 16, "composition": composition}
    fits = [Factorization(named("hilbert").bind(counts), SIZE, **options), rows_of_shards(counts, **options)]
    reports = [fit.run(fit.steps) for fit in fits]
    one, all_at_once = (np.concatenate(fit.result()[:2]) for fit in fits)
    np.testing.assert_allclose(all_at_once, one, atol=1e-3 * np.abs(one).max())
    assert reports[1].loss == pytest.approx(reports[0].loss, rel=1e-4)


def test_after_a_divergence_rows_of_shards_are_as_if_the_rate_had_been_lower(counts):
    fit = rows_of_shards(counts, rate=300.0)
    fit.run(fit.steps)
    assert fit.scale < 1
    lower = rows_of_shards(counts, rate=300.0 * fit.scale)
    lower.run(lower.steps)
    assert lower.scale == 1
    np.testing.assert_array_equal(fit.result().parameters, lower.result().parameters)


@pytest.mark.parametrize("stop", [5, 16, 21])
def test_rows_of_shards_go_on_from_a_checkpoint(counts, stop, tmp_path):
    whole, cut = rows_of_shards(counts), rows_of_shards(counts)
    whole.run(whole.steps)
    cut.run(stop)
    assert cut.steps_done == -(-stop // N) * N, "rows are whole"
    checkpoint = Checkpoint(tmp_path, {"settings": {}})
    checkpoint.write(1, *cut.state())
    again = rows_of_shards(counts, saved=checkpoint.load())
    again.run(again.steps)
    np.testing.assert_array_equal(again.result().parameters, whole.result().parameters)
    assert again.history == whole.history
