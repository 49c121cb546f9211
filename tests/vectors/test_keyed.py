"""Vectors and covectors are Gensim's KeyedVectors."""

import numpy as np
import pytest
from gensim.models import KeyedVectors
from helpers import SMALL_OPTIONS
from shell import run_python

from gensim_hilbert import HilbertMLE

pytestmark = pytest.mark.usefixtures("short_training")


def test_vectors_and_covectors_are_keyed_vectors(news_model):
    for side in (news_model.wv, news_model.covectors):
        assert isinstance(side, KeyedVectors)
        assert side.vectors.dtype == np.float32
        assert side.vectors.flags.c_contiguous
        assert side.index_to_key == news_model.wv.index_to_key
        assert side.get_vecattr("the", "count") == news_model.wv.get_vecattr("the", "count")
    assert news_model.covectors.vectors is news_model.syn1neg
    psi = news_model.syn1neg @ news_model.wv.vectors.T
    i, j = news_model.wv.get_index("bin"), news_model.wv.get_index("laden")
    assert news_model.pmi("bin", "laden") == pytest.approx(psi[i, j], rel=1e-5)


def test_word2vec_formats(news_model, tmp_path):
    news_model.wv.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    news_model.covectors.save_word2vec_format(str(tmp_path / "c.txt.gz"))
    vectors = KeyedVectors.load_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    covectors = KeyedVectors.load_word2vec_format(str(tmp_path / "c.txt.gz"))
    np.testing.assert_array_equal(vectors.vectors, news_model.wv.vectors)
    np.testing.assert_allclose(covectors["police"], news_model.covectors["police"], atol=1e-6)


def test_saved_vectors_need_no_gensim_hilbert(small_model, some_news, tmp_path):
    made_of_ngrams = HilbertMLE(some_news, **SMALL_OPTIONS, subwords=True, bucket=100)
    small_model.wv.save(str(tmp_path / "v.kv"))
    made_of_ngrams.wv.save(str(tmp_path / "n.kv"))
    code = (
        "import sys; sys.modules['gensim_hilbert'] = None\n"
        "from gensim.models import KeyedVectors\n"
        "for path in sys.argv[1:]:\n"
        "    print(*KeyedVectors.load(path)['the'])"
    )
    printed = run_python(code, tmp_path / "v.kv", tmp_path / "n.kv").stdout.splitlines()
    for line, model in zip(printed, (small_model, made_of_ngrams), strict=True):
        assert np.allclose([float(x) for x in line.split()], model.wv["the"], atol=1e-6)
    assert type(KeyedVectors.load(str(tmp_path / "v.kv"))) is KeyedVectors
