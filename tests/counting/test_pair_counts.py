"""What counts say of a pair, of words and of all; and in expectation under subsampling."""

import numpy as np
import pytest

from gensim_hilbert import PairCounts


def test_table_marginals_total_and_pmi_agree(counts):
    table = counts.to_scipy().toarray()
    assert counts.symmetric == np.array_equal(table, table.T)
    np.testing.assert_allclose(counts.marginals.contexts, table.sum(axis=1))
    np.testing.assert_allclose(counts.marginals.terms, table.sum(axis=0))
    assert counts.total == pytest.approx(table.sum())
    i, j = 1, 7
    context, term = counts.vocabulary.words[i], counts.vocabulary.words[j]
    assert counts.count(context, term) == table[i, j]
    pmi = np.log(table[i, j] * table.sum() / table[i].sum() / table[:, j].sum())
    assert counts.pmi(context, term) == pytest.approx(pmi)
    row, column = np.argwhere(table == 0)[0]
    assert counts.pmi(counts.vocabulary.words[row], counts.vocabulary.words[column]) == -np.inf
    with pytest.raises(KeyError, match="'unheard'"):
        counts.pmi("unheard", term)


def test_every_pair_is_found_by_its_rows(counts):
    table, n = counts.to_scipy().toarray(), len(counts)
    rows, columns = (part.ravel() for part in np.indices((n, n)))
    order = np.random.default_rng(1).permutation(n * n)[:200_000]
    assert np.array_equal(counts.counts_of_rows(rows[order], columns[order]), table[rows[order], columns[order]])
    assert counts.counts_of_rows(np.empty(0), np.empty(0)).tolist() == []


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("largest", [9, 60_000, 2**40])
def test_counts_of_every_width_are_found(symmetric, largest):
    random = np.random.default_rng(largest)
    table = random.integers(largest, size=(90, 90)) * (random.random((90, 90)) < 0.3)
    table = table + table.T if symmetric else table
    counts = PairCounts.from_scipy(table.astype(float), [f"w{k}" for k in range(90)], scale=1)
    assert counts.symmetric == symmetric
    rows, columns = (part.ravel() for part in np.indices(table.shape))
    assert np.array_equal(counts.counts_of_rows(rows, columns), table.ravel())


def test_temporary_stores_vanish_with_the_object(corpus):
    counts = PairCounts.from_corpus(corpus)
    directory = counts.directory
    assert directory.exists()
    view = counts.expected(1e-3)
    del counts
    assert directory.exists(), "the view still needs it"
    del view
    assert not directory.exists()


def test_expected_counts_are_weighed_by_the_probabilities_of_keeping(counts):
    thinned = counts.expected(1e-2)
    keep = counts.vocabulary.keep_probability(1e-2)
    assert keep.min() < 0.9
    table = counts.to_scipy().toarray() * keep[:, None] * keep
    np.testing.assert_allclose(thinned.to_scipy().toarray(), table, rtol=1e-14)
    np.testing.assert_allclose(thinned.marginals.contexts, table.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(thinned.marginals.terms, table.sum(axis=0), rtol=1e-12)
    assert thinned.total == pytest.approx(table.sum(), rel=1e-12)
    context, term = counts.vocabulary.words[0], counts.vocabulary.words[3]
    assert thinned.count(context, term) == pytest.approx(table[0, 3], rel=1e-14)
    np.testing.assert_allclose(thinned.shard(1, 0, 3).toarray(), table[1::3, 0::3], rtol=1e-14)
    pmi = np.log(table[0, 3] * table.sum() / table[0].sum() / table[:, 3].sum())
    assert thinned.pmi(context, term) == pytest.approx(pmi, rel=1e-9)
    assert (counts.expected(0).to_scipy() != counts.to_scipy()).nnz == 0
    with pytest.raises(ValueError, match="expectation"):
        thinned + counts
