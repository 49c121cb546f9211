"""Strided shards: blocks of words, the pairs of each shard, and the memory they are kept in."""

import numpy as np
import pytest
import torch
from tables import store

from gensim_hilbert.objectives import Hilbert, Objective
from gensim_hilbert.training import shards as shards_module
from gensim_hilbert.training.shards import Shards, Slabs


class Counts(Objective):
    """Keeps the counts as they are."""


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(0).poisson(0.7, size=(23, 23)) + np.eye(23, dtype=int)[:, ::-1]


def shards_of(table: np.ndarray, n: int, memory_gb: float = 1.0) -> Shards:
    return Shards(Counts().bind(store(table)), n, torch.device("cpu"), memory_gb)


@pytest.mark.parametrize("n", [1, 2, 5, 23])
@pytest.mark.parametrize("memory_gb", [0.0, 1.0])
def test_shards_are_slices_of_the_table(table, n, memory_gb):
    shards = shards_of(table, n, memory_gb)
    assert (shards.cache is None) == (memory_gb == 0)
    for _ in range(2):  # also when they come from memory
        for i, j in shards.latin():
            shard = shards[i, j]
            dense = torch.zeros(shards.rows, shards.rows)
            dense.view(-1)[shard.pairs.places] = shard.pairs.values
            expected = table[i::n, j::n]
            np.testing.assert_array_equal(dense[: expected.shape[0], : expected.shape[1]].numpy(), expected)
            assert dense.sum() == expected.sum(), "padding is empty"
            assert (shard.selves is None) == (i != j)
            if shard.selves is not None:
                missing = [k for k in range(shards.rows) if dense[k, k] == 0]
                assert shard.selves.row_numbers.tolist() == shard.selves.column_numbers.tolist() == missing


@pytest.mark.parametrize("n", [1, 3, 23])
def test_rows_in_blocks_are_restored(table, n):
    shards = shards_of(table, n)
    rows = np.random.default_rng(1).normal(size=(23, 4)).astype(np.float32)
    blocks = shards.arranged(rows)
    assert blocks.shape == (n, -(-23 // n), 4)
    for k in range(n):
        np.testing.assert_array_equal(blocks[k, : len(rows[k::n])], rows[k::n])
        assert not blocks[k, len(rows[k::n]) :].any()
    np.testing.assert_array_equal(shards.restored(blocks), rows)
    host = shards.on_host()
    assert host.cache is shards.cache
    assert torch.equal(host.a, shards.a)


def test_a_latin_square_has_each_block_once_in_a_row(table):
    order = shards_of(table, 6).latin([4, 0, 5, 2, 1, 3])
    assert order[0] == (0, 4)
    assert sorted(order) == [(i, j) for i in range(6) for j in range(6)]
    for start in range(0, 36, 6):
        for side in zip(*order[start : start + 6], strict=True):
            assert sorted(side) == list(range(6))


def test_values_are_what_the_objective_keeps_of_counts(table):
    bound = Hilbert().bind(store(table))
    shard = Shards(bound, 2, torch.device("cpu"), 1.0)[1, 0]
    rows, columns = shard.pairs.row_numbers.numpy() * 2 + 1, shard.pairs.column_numbers.numpy() * 2
    expected = bound.values(table[rows, columns], rows, columns)
    np.testing.assert_allclose(shard.pairs.values.numpy(), expected, rtol=1e-6)


def test_values_of_an_objective_that_computes_its_own(table):
    class Roots(Hilbert):
        def values(self, counts, contexts, terms):
            return np.sqrt(counts) + contexts - 2 * terms

    bound = Roots().bind(store(table))
    keys = [(1, 0), (2, 2), (0, 1)]
    for (i, j), pairs in zip(keys, Shards(bound, 3, torch.device("cpu"), 1.0).pairs_of(keys), strict=True):
        rows, columns = pairs.row_numbers.numpy() * 3 + i, pairs.column_numbers.numpy() * 3 + j
        expected = np.float32(np.sqrt(table[rows, columns]) + rows - 2 * columns)
        np.testing.assert_array_equal(pairs.values.numpy(), expected)


def test_slabs_keep_copies_one_beside_the_other(monkeypatch):
    monkeypatch.setattr(shards_module, "SLAB", 256)
    slabs = Slabs()
    given = [np.arange(k, dtype=kind) for k in (3, 0, 40, 5, 1) for kind in (np.int32, np.float32)]
    kept = [slabs.keep(x) for x in given]
    for x, copy in zip(given, kept, strict=True):
        np.testing.assert_array_equal(x, copy)
        assert x.dtype == copy.dtype
        assert copy.ctypes.data % 4 == 0
        x += 1
        assert len(x) == 0 or not np.array_equal(x, copy)
    assert kept[1].ctypes.data - kept[0].ctypes.data == shards_module.ALIGNMENT, "one slab holds both"
