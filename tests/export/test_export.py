"""What can be exported of a model, and by which name."""

import logging

import numpy as np
import pytest
from consumers import random_vectors
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.test.utils import common_texts

from gensim_hilbert import HilbertMLE
from gensim_hilbert.export import export, load_vectors


def test_unfit_words_can_be_left_out(tmp_path, caplog):
    vectors = random_vectors(["cat", "New York", "dog", "rock and roll"])
    with pytest.raises(ValueError, match=r"'New York' nor 1 more; .*'parquet'"):
        export(vectors, tmp_path / "v.vec")
    with caplog.at_level(logging.WARNING):
        export(vectors, tmp_path / "v.vec", skip_unfit=True)
    assert "left out 2 words" in caplog.text
    np.testing.assert_array_equal(load_vectors(tmp_path / "v.vec")["dog"], vectors["dog"])
    with pytest.raises(ValueError, match="can hold none"):
        export(random_vectors(["a b"]), tmp_path / "w.vec", skip_unfit=True)


def test_vectors_covectors_and_sums_of_a_model(tiny_model, tmp_path):
    export(tiny_model, tmp_path / "vectors.npy")
    export(tiny_model, tmp_path / "covectors.npy", what="covectors")
    export(tiny_model, tmp_path / "sum.npy", what="sum")
    np.testing.assert_array_equal(np.load(tmp_path / "vectors.npy"), tiny_model.wv.vectors)
    np.testing.assert_array_equal(np.load(tmp_path / "covectors.npy"), tiny_model.syn1neg)
    returned = HilbertMLE(common_texts * 5, vector_size=4, min_count=1, seed=1, vectors="v+w")
    np.testing.assert_allclose(np.load(tmp_path / "sum.npy"), returned.wv.vectors, rtol=1e-4, atol=1e-5)
    export(returned, tmp_path / "again.npy", what="sum")  # not added a second time
    np.testing.assert_array_equal(np.load(tmp_path / "again.npy"), returned.wv.vectors)


def test_gensims_own_models_can_be_exported(tmp_path):
    model = Word2Vec(common_texts, vector_size=4, min_count=1)
    export(model, tmp_path / "v.bin", what="covectors")
    np.testing.assert_array_equal(load_vectors(tmp_path / "v.bin").vectors, model.syn1neg)
    export(FastText(common_texts, vector_size=4, min_count=1), tmp_path / "v.vec")
    assert "graph" in load_vectors(tmp_path / "v.vec")


def test_what_cannot_be_exported_is_refused(tiny_model, tmp_path):
    for arguments, error, message in (
        ((tiny_model, "v.txt"), ValueError, "does not tell the format.*'glove' .*'parquet'"),
        ((tiny_model, "v.bin", "word3vec"), ValueError, "one of word2vec, .* got 'word3vec'"),
        (
            (tiny_model, "v.bin", None, "weights"),
            ValueError,
            "what must be one of vectors, covectors, sum, got 'weights'",
        ),
        (
            (tiny_model.wv, "v.bin", None, "covectors"),
            ValueError,
            "needs a model with covectors, and this WordVectors has none",
        ),
        ((KeyedVectors(3), "v.bin"), ValueError, "no words"),
        (([1, 2], "v.bin"), TypeError, "got list"),
        (
            (random_vectors([0, 1], counts=False), "v.bin"),
            TypeError,
            "can hold only keys that are str, and 0 is of type int",
        ),
        ((tiny_model, "v.dat", "numpy"), ValueError, "must end in .npy"),
        ((tiny_model, "missing/v.bin"), FileNotFoundError, "missing/v.bin"),
    ):
        with pytest.raises(error, match=message):
            export(arguments[0], tmp_path / arguments[1], *arguments[2:])
    with pytest.raises(TypeError, match="'glove' has no option 'lowercase'"):
        export(tiny_model, tmp_path / "v.glove", lowercase=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("V.BIN", "word2vec-binary"),
        ("cc.en.300.vec.gz", "fasttext"),
        ("glove.6B.50d.txt", "glove"),
        ("v.w2v.xz", "word2vec"),
        ("v.npy", "numpy"),
    ],
)
def test_names_tell_formats(name, format, tmp_path):
    vectors = random_vectors(["cat", "dog"])
    export(vectors, tmp_path / name)
    with_format = tmp_path / "other" / name.lower()
    with_format.parent.mkdir()
    export(vectors, with_format, format=format)
    if not name.endswith(".gz"):  # which holds the time
        assert (tmp_path / name).read_bytes() == with_format.read_bytes()
    assert load_vectors(tmp_path / name).index_to_key == ["cat", "dog"]
