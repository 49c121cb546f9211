"""Sums over the pairs that occur, against loops in plain Python."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import pair_products, sums_of_products

from gensim_hilbert import _pairs
from gensim_hilbert.training import pairs as pairs_module
from gensim_hilbert.training.pairs import DevicePairs, HostPairs


class Case(NamedTuple):
    """Pairs of a shard, and rows of both sides that hold `extra` numbers more than a vector has."""

    triples: list[tuple[int, int, float]]
    rows: int
    columns: int
    d: int
    extra: int
    seed: int

    def host_pairs(self) -> HostPairs:
        starts = np.zeros(self.rows + 1, dtype=np.int32)
        for i, _, _ in self.triples:
            starts[i + 1 :] += 1
        columns = np.array([j for _, j, _ in self.triples], dtype=np.int32)
        values = np.array([value for _, _, value in self.triples], dtype=np.float32)
        return HostPairs(_pairs.SparseMatrix(starts, columns, values), self.columns)

    def sides(self, offset: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        random = torch.Generator().manual_seed(self.seed + offset)
        width = self.d + self.extra
        return torch.randn(self.rows, width, generator=random), torch.randn(self.columns, width, generator=random)


@st.composite
def cases(draw) -> Case:
    """Also rows and columns without pairs, no pairs at all, and vectors of any length."""
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    cells = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1))
    places = sorted(draw(st.sets(cells, max_size=rows * columns)))
    values = [draw(st.floats(-4, 4, width=32)) for _ in places]
    triples = [(i, j, value) for (i, j), value in zip(places, values, strict=True)]
    d = draw(st.sampled_from([1, 3, 7, 8, 9, 15, 16, 17, 24, 31, 40]))
    return Case(triples, rows, columns, d, draw(st.integers(0, 2)), draw(st.integers(0, 2**32 - 1)))


def assert_near(found, expected) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected).reshape(np.shape(found)), rtol=1e-4, atol=1e-4)


@given(cases())
def test_products(case):
    pairs, (w, v) = case.host_pairs(), case.sides()
    assert_near(pairs.products(w, v, case.d), pair_products(w, v, case.d, case.triples))


@given(cases())
def test_gradients(case):
    pairs, (w, v), (to_w, to_v) = case.host_pairs(), case.sides(), case.sides(1)
    before = to_w.clone(), to_v.clone()
    pairs.add_gradients(pairs.values, w, v, to_w, to_v, case.d)
    d, turned = case.d, [(j, i, value) for i, j, value in case.triples]
    assert_near(to_w[:, :d] - before[0][:, :d], sums_of_products(case.triples, v, case.rows, d))
    assert_near(to_v[:, :d] - before[1][:, :d], sums_of_products(turned, w, case.columns, d))
    for side, old in ((to_w, before[0]), (to_v, before[1])):
        assert torch.equal(side[:, d:], old[:, d:]), "numbers after the vectors are not touched"


@given(cases())
def test_a_transpose_has_the_same_pairs_in_order(case):
    pairs = case.host_pairs()
    starts, rows, values = pairs.transposed(pairs.values.numpy())
    turned = sorted((j, i, value) for i, j, value in case.triples)
    assert np.diff(starts).tolist() == np.bincount([j for j, _, _ in turned], minlength=case.columns).tolist()
    assert rows.tolist() == [i for _, i, _ in turned]
    assert values.tolist() == [value for _, _, value in turned]


@given(cases(), st.data())
def test_pairs_that_occur_are_hidden_and_no_others(case, data):
    pairs = case.host_pairs()
    there = np.zeros((case.rows, case.columns), dtype=bool)
    for i, j, _ in case.triples:
        there[i, j] = True
    columns = data.draw(st.lists(st.integers(0, case.columns - 1), unique=True))
    x = torch.ones(case.rows, len(columns))
    pairs.hide(x, np.array(columns, dtype=np.int32), of_rows=True)
    np.testing.assert_array_equal(x.numpy() == 0, there[:, columns])
    rows = data.draw(st.lists(st.integers(0, case.rows - 1), unique=True))
    x = torch.ones(case.columns, len(rows))
    pairs.hide(x, np.array(rows, dtype=np.int32), of_rows=False)
    np.testing.assert_array_equal(x.numpy() == 0, there[rows].T)


@given(cases())
def test_words_with_themselves_that_do_not_occur(case):
    square = case._replace(
        columns=case.rows, triples=[(i, j % case.rows, value) for i, j, value in case.triples if j < case.rows]
    )
    missing = square.host_pairs().missing_selves()
    known = {(i, j) for i, j, _ in square.triples}
    found = list(zip(missing.row_numbers.tolist(), missing.column_numbers.tolist(), strict=True))
    assert found == [(k, k) for k in range(case.rows) if (k, k) not in known]
    assert not missing.values.any()
    assert len(missing) == len(found)


@given(st.lists(cases(), min_size=1, max_size=3))
def test_pairs_on_a_device_are_those_of_the_host(several):
    first = several[0]
    shards = [
        case._replace(
            rows=first.rows, columns=first.columns, d=first.d, extra=first.extra,
            triples=[(i, j, value) for i, j, value in case.triples if i < first.rows and j < first.columns],
        )
        for case in several
    ]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "CHUNK", 3)
        hosts = [shard.host_pairs() for shard in shards]
        pairs = DevicePairs(hosts, torch.device("cpu"))
        w, v = (torch.cat(sides) for sides in zip(*(shard.sides() for shard in shards), strict=True))
        to_w, to_v = torch.zeros_like(w), torch.zeros_like(v)
        products = pairs.products(w, v, first.d)
    pairs.add_gradients(pairs.values, w, v, to_w, to_v, first.d)
    assert len(pairs) == sum(map(len, hosts))
    assert_near(products, [number for host, shard in zip(hosts, shards, strict=True)
                           for number in host.products(*shard.sides(), first.d)])  # fmt: skip
    for k, (host, shard) in enumerate(zip(hosts, shards, strict=True)):
        own = torch.zeros(shard.rows, w.shape[1]), torch.zeros(shard.columns, w.shape[1])
        host.add_gradients(host.values, *shard.sides(), *own, first.d)
        assert_near(to_w[k * first.rows : (k + 1) * first.rows], own[0])
        assert_near(to_v[k * first.columns : (k + 1) * first.columns], own[1])


def test_places_and_words_of_pairs():
    pairs = Case([(0, 1, 2.0), (2, 0, 3.0)], rows=3, columns=4, d=1, extra=0, seed=0).host_pairs()
    assert pairs.places.tolist() == [1, 8]
    known = pairs.with_words(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([10.0, 20.0, 30.0, 40.0]))
    assert [part.tolist() for part in known] == [[2, 3], [1, 3], [20, 10]]


@given(st.lists(cases(), max_size=4), st.integers(0, 99))
def test_words_and_weights_of_several_shards(shards, seed):
    random, rows = np.random.default_rng(seed), max([1, *(max(case.rows, case.columns) for case in shards)])
    a, b = random.random((2, rows), dtype=np.float32), random.random((3, rows), dtype=np.float32)
    matrices = [case.host_pairs().matrix for case in shards]
    keys = [(int(random.integers(2)), int(random.integers(3))) for _ in shards]
    expected = [
        (value, a[key[0], i], b[key[1], j])
        for key, case in zip(keys, shards, strict=True)
        for i, j, value in case.triples
    ]
    found = pairs_module.with_words(matrices, keys, torch.from_numpy(a), torch.from_numpy(b))
    assert list(zip(*(part.numpy() for part in found), strict=True)) == expected
    values = np.array([value for value, _, _ in expected], dtype=np.float32)
    least = np.float32(0.5)
    _pairs.weigh_excess(matrices, keys, a, b, least, values)
    weighed = [of_row * of_column * max(np.float32(value) - least, 0) for value, of_row, of_column in expected]
    assert values.tolist() == np.array(weighed, dtype=np.float32).tolist()
    others = _pairs.with_values(matrices, values)
    assert [value for matrix in others for value in matrix.values] == values.tolist()
    assert all(np.array_equal(one.columns, other.columns) for one, other in zip(matrices, others, strict=True))


def test_matrices_that_cannot_be_are_refused():
    starts, columns, values = (
        np.array([0, 2], dtype=np.int32),
        np.zeros(2, dtype=np.int32),
        np.ones(2, dtype=np.float32),
    )
    matrix = _pairs.SparseMatrix(starts, columns, values)
    words = np.ones((1, 1), dtype=np.float32)
    with pytest.raises(ValueError, match="no matrix"):
        _pairs.SparseMatrix(starts, columns, values[:1])
    with pytest.raises(ValueError, match="too few"):
        _pairs.sparse_matrices(np.array([[0, 2], [0, 1]], dtype=np.int32), columns, values)
    with pytest.raises(ValueError, match="too few"):
        _pairs.with_values([matrix, matrix], values)
    with pytest.raises(ValueError, match="room for 1"):
        _pairs.weigh_excess([matrix], [(0, 0)], words, words, 0, values[:1])
    with pytest.raises(IndexError, match="matrix"):
        _pairs.weigh_excess([matrix], [(0, 1)], words, words, 0, values)
    with pytest.raises(TypeError):
        _pairs.weigh_excess([None], [(0, 0)], words, words, 0, values)


def test_kernels_are_given_arrays_and_nothing_else():
    with pytest.raises(TypeError):
        _pairs.pair_products(None, None, 1, None, None, None)
    with pytest.raises(ValueError, match="dtype mismatch"):
        _pairs.pair_products(*(np.zeros((2, 2)),) * 2, 1, *(np.zeros(1, dtype=np.int32),) * 2, np.zeros(1))


# ---------------------------------------------------------------------------------------------------- registers


@pytest.fixture(params=[4, 8, 16])
def lanes(request):
    """Registers of each width that this machine has."""
    if _pairs.use_lanes(request.param) != request.param:
        _pairs.use_lanes(16)
        pytest.skip(f"this machine has no registers of {request.param} floats")
    yield request.param
    _pairs.use_lanes(16)


def test_products_of_matrices_with_registers_of_any_width(lanes):
    random = np.random.default_rng(0)
    sizes = [1, 5, 6, 11, 12, 13, 40], [1, 2, 65, 300], [1, 3, 4, 15, 16, 17, 31, 32, 33, 100]
    for rows, inner, columns in product(*sizes):
        x, y = (random.standard_normal(shape).astype(np.float32) for shape in ((rows, inner), (inner, columns)))
        out = np.full((rows + 1, columns), 7, dtype=np.float32)
        _pairs.matrix_product(x, y, out[:rows])
        np.testing.assert_allclose(out[:rows], x.astype(float) @ y, rtol=1e-4, atol=1e-5 * inner)
        np.testing.assert_array_equal(out[rows], 7)


@pytest.mark.parametrize("d", [1, 3, 4, 7, 8, 12, 15, 16, 17, 64, 100, 131, 300])
def test_sums_over_rows_with_registers_of_any_width(lanes, d):
    random = np.random.default_rng(d)
    w, v = (random.standard_normal((rows, d)).astype(np.float32) for rows in (5, 9))
    starts, columns = np.array([0, 1, 1, 4, 9, 16], dtype=np.int32), random.integers(0, 9, 16).astype(np.int32)
    rows = np.repeat(np.arange(5), np.diff(starts))
    psi, values = np.zeros(16, dtype=np.float32), random.standard_normal(16).astype(np.float32)
    _pairs.pair_products(w, v, d, starts, columns, psi)
    np.testing.assert_allclose(psi, (w[rows].astype(float) * v[columns]).sum(axis=1), rtol=1e-4, atol=1e-4)
    out = np.ones_like(w)
    _pairs.add_products(values, v, d, starts, columns, out)
    expected = np.ones(w.shape)
    np.add.at(expected, rows, values[:, None].astype(float) * v[columns])
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("transposed", [False, True])
@given(case=cases())
def test_products_of_several_shards_are_added_to_one_block(transposed, case):
    pairs, d = case.host_pairs(), case.d
    dense = np.zeros((case.rows, case.columns), dtype=np.float32)
    for i, j, value in case.triples:
        dense[i, j] = value
    matrix = dense.T if transposed else dense
    random = np.random.default_rng(case.seed)
    right = random.standard_normal((3, matrix.shape[1], d), dtype=np.float32)
    out = random.standard_normal((matrix.shape[0], d), dtype=np.float32)
    expected = out + matrix @ right[2] + matrix @ right[0]
    _pairs.add_block_products([pairs.matrix, pairs.matrix], [2, 0], right, transposed, out)
    assert_near(out, expected)
