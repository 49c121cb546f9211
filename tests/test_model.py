"""HilbertMLE as a user of Gensim meets it."""

import gzip

import numpy as np
import pytest
from gensim.models import Word2Vec
from gensim.test.utils import common_texts
from helpers import NEWS_OPTIONS, SMALL_OPTIONS, Stop, StopAfter, full_training
from scipy.linalg import orthogonal_procrustes

from gensim_hilbert import HilbertMLE

pytestmark = pytest.mark.usefixtures("short_training")


def test_threshold_and_precision_are_used_and_saved(news_model, news, tmp_path):
    with full_training():
        other = HilbertMLE(news, **NEWS_OPTIONS, threshold=1e-3, precision="bf16")
    assert np.corrcoef(other.wv.vectors.ravel(), news_model.wv.vectors.ravel())[0, 1] < 0.999
    other.save(str(tmp_path / "model"))
    loaded = HilbertMLE.load(str(tmp_path / "model"))
    assert (loaded.threshold, loaded.precision) == (1e-3, "bf16")
    loaded.train(news[:50], total_examples=50, epochs=1)


def test_corpus_files_may_be_compressed(some_news, tmp_path):
    text = "\n".join(" ".join(sentence) for sentence in some_news).encode()
    (tmp_path / "news.txt").write_bytes(text)
    (tmp_path / "news.txt.gz").write_bytes(gzip.compress(text))
    plain, packed = (
        HilbertMLE(corpus_file=str(tmp_path / name), vector_size=10, min_count=20, epochs=1)
        for name in ("news.txt", "news.txt.gz")
    )
    np.testing.assert_array_equal(plain.wv.vectors, packed.wv.vectors)
    with pytest.raises(TypeError, match="nowhere"):
        HilbertMLE(corpus_file=str(tmp_path / "nowhere.txt"))


def test_sums_of_vectors_and_covectors(news, news_model):
    with full_training():
        both = HilbertMLE(news, **NEWS_OPTIONS, vectors="v+w")
    np.testing.assert_array_equal(both.syn1neg, news_model.syn1neg)
    vectors, covectors = news_model.wv.vectors, news_model.syn1neg
    # Both are in the canonical gauge, in which axes only differ in length.
    covectors = covectors * np.linalg.norm(vectors, axis=0) / np.linalg.norm(covectors, axis=0)
    turn, _ = orthogonal_procrustes(covectors, vectors)
    total = vectors + covectors @ turn
    np.testing.assert_allclose(both.wv.vectors, total - total.mean(axis=0), atol=1e-4)
    with pytest.raises(ValueError, match="vectors='v'"):
        both.pmi("bin", "laden")


def test_small_and_odd_corpora():
    assert HilbertMLE([["a", "b"]] * 10, min_count=1, vector_size=50).wv.vectors.shape == (2, 50)
    repeated = HilbertMLE([["a", "a", "a"]] * 10, min_count=1, vector_size=5)
    assert np.isfinite(repeated.wv.vectors).all()
    lonely = HilbertMLE([["a", "b"]] * 10 + [["c"]] * 10, min_count=1, vector_size=5)
    assert np.abs(lonely.wv["c"]).max() < 1e-12


def test_estimate_memory_has_counts_and_shards(news_model):
    report = news_model.estimate_memory()
    assert {"counts", "shards", "optimizer", "vectors", "syn1neg", "total"} <= set(report)
    assert report["total"] == sum(value for key, value in report.items() if key != "total")


@pytest.mark.parametrize("kind", [Word2Vec, HilbertMLE])
def test_a_corpus_without_words_is_refused_as_gensim_does(kind):
    with pytest.raises(RuntimeError, match="you must first build vocabulary"):
        kind([])
    assert kind().build_vocab([]) is None


def test_the_example_of_gensims_documentation(tmp_path):
    model = HilbertMLE(sentences=common_texts, vector_size=100, window=5, min_count=1, workers=4)
    model.save(str(tmp_path / "word2vec.model"))
    model = HilbertMLE.load(str(tmp_path / "word2vec.model"))
    assert model.train([["hello", "world"]], total_examples=1, epochs=1) == (0, 2)


def test_sums_are_sums_also_after_an_early_stop(some_news):
    stop = StopAfter(1)
    with pytest.raises(Stop):
        HilbertMLE(some_news, **SMALL_OPTIONS | {"epochs": 2}, vectors="v+w", callbacks=[stop])
    assert abs(stop.model.wv.vectors.mean(axis=0)).max() < 1e-5  # they are centred, vectors are not


def test_sums_are_not_summed_again_by_a_training_that_did_not_begin(some_news):
    model = HilbertMLE(some_news, **SMALL_OPTIONS, vectors="v+w")
    before = model.wv.vectors.copy()
    with pytest.raises(Stop):
        model.train(some_news[:20], total_examples=20, epochs=1, callbacks=[StopAfter(0)])
    assert np.array_equal(model.wv.vectors, before)


def test_memory_is_not_overestimated_for_a_few_words(small_model):
    assert small_model.estimate_memory()["counts"] == 8 * len(small_model.wv) ** 2
