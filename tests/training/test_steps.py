"""Compiled steps against those in Python: the same bits, whatever is drawn, locked or missing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tables import store

from gensim_hilbert.objectives import SGNS, Hilbert
from gensim_hilbert.training.exponential import ExponentialGradients
from gensim_hilbert.training.factors import Factor
from gensim_hilbert.training.gradients import SampledGradients
from gensim_hilbert.training.kernels import KERNELS
from gensim_hilbert.training.shards import Shards
from gensim_hilbert.training.steps import CompiledSteps, PlainSteps, choose_steps

WORDS, SIZE, N = 95, 7, 3


@pytest.fixture(scope="module")
def counts():
    random = np.random.default_rng(0)
    table = random.poisson(0.3 + 4 / np.arange(1, WORDS + 1), size=(WORDS, WORDS))
    table[:, 5] = table[5] = 0  # A word without any pair
    return store(table + table.T)


def sides(shards, locked=False):
    random = np.random.default_rng(1)
    factors = []
    for name in "wv":
        blocks = shards.arranged(0.5 * random.standard_normal((WORDS, SIZE)))
        rows = torch.empty(N, blocks[0].numel() + 16)[:, :-16].view(blocks.shape).copy_(blocks)  # with gaps between
        priors = shards.arranged(random.random(WORDS))
        locks = shards.arranged(random.random(WORDS)) if locked and name == "v" else None
        factors.append(Factor(name, rows, priors, SIZE, locks))
    return factors


def gradients_on(counts, columns, seed=1):
    objective = Hilbert(temperature=1.25).bind(counts)
    shards = Shards(objective, N, torch.device("cpu"), memory_gb=1.0)
    return ExponentialGradients(objective, KERNELS[objective.kernel](SIZE, "float32"), shards, columns, seed)


@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("seed", [1, -1, 2**70])
@pytest.mark.parametrize("columns", [1, 9, 2 * WORDS])
def test_steps_are_the_same_to_the_last_bit(counts, columns, locked, seed):
    gradients = gradients_on(counts, columns, seed)
    shards, ways = gradients.shards, (PlainSteps, CompiledSteps)
    by_way = [sides(shards, locked) for _ in ways]
    gradients.measure_level(*by_way[0], 0)
    assert gradients.level > 0
    steps = [way(gradients, *factors) for way, factors in zip(ways, by_way, strict=True)]
    for row in range(2 * N):
        gradients.begin_pass(row / 2 / N)
        for i in range(N):
            shard = shards[i, (i + row) % N]
            plain, compiled = (step(shard, 0.05, row) for step in steps)
            assert plain == compiled
    for mine, theirs in zip(*by_way, strict=True):
        for part in ("rows", "first", "second"):
            assert torch.equal(getattr(mine, part), getattr(theirs, part))
    start = sides(shards)[0].rows
    assert not torch.equal(by_way[0][0].rows, start)


def test_blocks_that_moved_to_another_array_are_found_there(counts):
    gradients = gradients_on(counts, 9)
    w, v = sides(gradients.shards)
    step = CompiledSteps(gradients, w, v)
    step(gradients.shards[0, 1], 0.05, 0)
    left = v.rows
    before = left.clone()
    v.rows, v.first, v.second = (part.clone() for part in (v.rows, v.first, v.second))
    step(gradients.shards[1, 1], 0.05, 1)
    assert torch.equal(left, before)
    assert not torch.equal(v.rows, before)


def test_compiled_steps_are_chosen_where_there_are_any(counts):
    gradients = gradients_on(counts, 9)
    assert isinstance(choose_steps(gradients, *sides(gradients.shards)), CompiledSteps)
    objective = SGNS().bind(counts)
    shards = Shards(objective, N, torch.device("cpu"), memory_gb=1.0)
    others = SampledGradients(objective, KERNELS[objective.kernel](SIZE, "float32"), shards, 9, 1)
    assert isinstance(choose_steps(others, *sides(shards)), PlainSteps)
