"""A fair sample of pairs, and how well fitted and counted PMI agree."""

import numpy as np
import pytest
from helpers import short_training
from texts import zipf_text

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.report.pairs import agreement, bands, sample_pairs


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of counts in several shards, with random vectors."""
    path = tmp_path_factory.mktemp("text") / "zipf.txt"
    path.write_bytes(zipf_text(60_000, 3_000))
    with short_training():
        model = HilbertMLE.from_counts(PairCounts.from_corpus(path, min_count=1), vector_size=4)
    random = np.random.default_rng(1)
    model.syn1neg, model.wv.vectors = random.normal(size=(2, len(model.wv), 4)).astype(np.float32)
    return model


def test_a_sample_has_what_the_table_has(model):
    assert model.counts.manifest["classes"] > 1, "the store must have several shards"
    table = model.counts.to_scipy()
    pairs = sample_pairs(model, wanted=20_000)
    assert len(set(zip(pairs.contexts.tolist(), pairs.terms.tolist(), strict=True))) == len(pairs)
    assert np.array_equal(table[pairs.contexts, pairs.terms], pairs.counts)
    for k in range(0, len(pairs), 997):
        words = [model.wv.index_to_key[row] for row in (pairs.contexts[k], pairs.terms[k])]
        assert pairs.pmi[k] == pytest.approx(model.counts.pmi(*words))
        assert pairs.psi[k] == pytest.approx(model.pmi(*words), abs=1e-5)


@pytest.mark.parametrize("wanted", [2_000, 20_000])
def test_a_sample_is_fair(model, wanted):
    whole, part = sample_pairs(model, wanted=10**9), sample_pairs(model, wanted=wanted)
    table = model.counts.to_scipy()
    assert len(whole) == table.nnz
    assert whole.sample == f"all {table.nnz:,} pairs of words that occur"
    assert len(part) == pytest.approx(wanted, rel=0.5)
    assert f"{len(part):,} of them" in part.sample
    assert float(part.sample.split("1 in ")[1].split(":")[0]) == pytest.approx(table.nnz / len(part), rel=0.2)
    error = whole.pmi.std() / np.sqrt(len(part))
    assert part.pmi.mean() == pytest.approx(whole.pmi.mean(), abs=5 * error)
    for rows in (part.contexts, part.terms):
        # Frequent words, which are few, have their share of pairs too.
        share = np.mean(rows < 64)
        expected = np.mean(whole.contexts < 64)
        assert share == pytest.approx(expected, rel=0.15)


def test_agreement_and_bands():
    pmi = np.array([0.0, 1.0, 2.0, 3.0])
    found = agreement(pmi, 2 * pmi + 1)
    assert (found.pairs, found.correlation, found.bias) == (4, pytest.approx(1), 2.5)
    assert np.isnan(agreement(pmi, np.ones(4)).correlation)
    masks = dict(bands(np.array([0.5, 1, 9.99, 10, 100, 99_999])))
    assert list(masks) == ["under 1", "1 – 10", "10 – 100", "100 – 1,000", "10,000 – 100,000"]
    assert [int(mask.sum()) for mask in masks.values()] == [1, 2, 1, 1, 1]
