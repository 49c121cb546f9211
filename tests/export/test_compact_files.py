"""Smaller files are read back by the tools they are meant for, with what they must lose and no more."""

import numpy as np
import pytest
from consumers import CONSUMERS, FILES, LIBRARIES, READABLE, random_vectors
from gensim.test.utils import common_texts
from helpers import short_training
from shell import run_here

from gensim_hilbert import HilbertMLE
from gensim_hilbert.export import FORMATS, export, load_vectors

SMALL = [(name, dtype) for name in FORMATS for dtype in FORMATS[name].dtypes if dtype != "float32"]
WORDS = ["the", "naïve", "日本語", "don't", "3.14"]


def nearly(vectors, dtype):
    """How near numbers are to those of float32 vectors."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    return largest / 127 / 2 * 1.01 if dtype == "int8" else largest * 2.0**-11 * 1.01


@pytest.mark.parametrize(("name", "dtype"), SMALL)
def test_fewer_bits_are_read_back(name, dtype, tmp_path):
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name])
    vectors = random_vectors(WORDS, size=16)
    vectors.vectors[1] *= 100
    path = tmp_path / FILES[name]
    assert export(vectors, path, format=name, dtype=dtype) == 5
    again = load_vectors(path)
    assert again.index_to_key == WORDS
    assert again.vectors.dtype == np.float32
    assert (np.abs(again.vectors - vectors.vectors) <= nearly(vectors.vectors, dtype)).all()
    assert not np.array_equal(again.vectors, vectors.vectors)
    if name == "model2vec":
        words, matrix = CONSUMERS[name](path)
        assert words == WORDS
        np.testing.assert_allclose(matrix, again.vectors, rtol=1e-5, atol=1e-6)
    whole = tmp_path / "whole"
    whole.mkdir()
    export(random_vectors([f"w{k}" for k in range(500)], size=64), whole / FILES[name], format=name)
    small = tmp_path / "small"
    small.mkdir()
    export(random_vectors([f"w{k}" for k in range(500)], size=64), small / FILES[name], format=name, dtype=dtype)
    sizes = [sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) for folder in (small, whole)]
    assert sizes[0] < (0.5 if dtype == "int8" else 0.66) * sizes[1]


def test_an_export_of_another_type_takes_the_place_of_one_that_is_there(tmp_path):
    vectors = random_vectors(WORDS, size=4)
    for dtype in ("float32", "int8", "float16", "int8", "float32"):
        export(vectors, tmp_path / "v.npy", dtype=dtype)
        assert (np.abs(load_vectors(tmp_path / "v.npy").vectors - vectors.vectors) < 0.05).all()
    np.testing.assert_array_equal(load_vectors(tmp_path / "v.npy").vectors, vectors.vectors)


def test_fewer_words_and_dimensions(format, tmp_path):
    vectors = random_vectors(WORDS, size=4)
    vectors.set_vecattr("the", "count", 1)
    path = tmp_path / FILES[format]
    assert export(vectors, path, format=format, max_vocab=3, pca=2) == 3
    words, matrix = CONSUMERS[format](path)
    assert words == ["naïve", "日本語", "don't"]
    kept = vectors[words]
    left, strengths, _ = np.linalg.svd(kept, full_matrices=False)
    best = left[:, :2] * strengths[:2]
    np.testing.assert_allclose(matrix @ matrix.T, best @ best.T, atol=1e-5)
    if format in READABLE:
        assert load_vectors(path).vector_size == 2


@pytest.mark.parametrize("name", [name for name in FORMATS if FORMATS[name].dtypes == ("float32",)])
def test_formats_without_smaller_numbers_say_which_have_them(name, tmp_path):
    with pytest.raises(ValueError, match=f"format='{name}' cannot hold dtype='int8'; formats that can: 'model2vec', "):
        export(random_vectors(WORDS), tmp_path / FILES[name], format=name, dtype="int8")
    assert not list(tmp_path.iterdir())


def test_what_does_not_go_together_is_refused(tiny_model, tmp_path):
    with pytest.raises(ValueError, match=r"fastText's \.bin, which has covectors and n-grams, too; use \.vec"):
        export(tiny_model, tmp_path / "model.bin", format="fasttext", pca=2)
    with pytest.raises(ValueError, match="pca must be a whole number from 1 to the 4 dimensions"):
        export(tiny_model, tmp_path / "v.bin", pca=5)
    with pytest.raises(ValueError, match="'folder' holds a whole HilbertMLE, got covectors of HilbertMLE"):
        export(tiny_model, tmp_path / "model", "folder", "covectors")
    with pytest.raises(ValueError, match="'folder' holds a whole HilbertMLE, got vectors of"):
        export(tiny_model.wv, tmp_path / "model", "folder")
    with pytest.raises(TypeError, match="has no option 'lowercase'"):
        export(tiny_model, tmp_path / "model", "folder", lowercase=True)


def test_the_command_has_all_of_it(tiny_model, tmp_path):
    tiny_model.save_pretrained(tmp_path / "model")
    command = ["export", tmp_path / "model", "-o", tmp_path / "small", "--format", "folder"]
    done = run_here(*command, "--dtype", "int8", "--max-vocab", 6, "--pca", 3)
    assert "vectors of 6 words, 3 dimensions" in done.stdout
    assert HilbertMLE.from_pretrained(tmp_path / "small").wv.vectors.shape == (6, 3)
    done = run_here("export", tmp_path / "model", "-o", tmp_path / "v.bin", "--dtype", "float16")
    assert done.returncode
    assert "format='word2vec-binary' cannot hold dtype='float16'" in done.stderr


def test_texts_have_nearly_the_same_cosines_in_a_small_static_model(tmp_path):
    model2vec = pytest.importorskip("model2vec")
    with short_training():
        model = HilbertMLE(common_texts * 5, vector_size=8, min_count=1, workers=1)
    texts = [" ".join(text) for text in common_texts]
    expected = model.encode(texts)
    for options, most in (({"dtype": "int8"}, 0.03), ({"pca": 8}, 1e-4), ({"pca": 7, "dtype": "float16"}, 0.3)):
        export(model, tmp_path / "static", "model2vec", **options)
        found = model2vec.StaticModel.from_pretrained(tmp_path / "static").encode(texts)
        assert found.shape[1] == options.get("pca", 8)
        assert np.abs(found @ found.T - expected @ expected.T).max() < most


def test_the_most_frequent_words_keep_their_own_rows(tmp_path):
    """The order of words need not be that of their counts."""
    pytest.importorskip("model2vec", reason="model2vec is not installed: pip install model2vec")
    text = [["rare", "b", "c"], ["b", "c", "d"], ["c", "d", "b"]] * 5
    model = HilbertMLE(text, vector_size=2, min_count=1, sorted_vocab=0, sample=0, epochs=1, progress=False)
    assert model.wv.index_to_key[0] == "rare"
    export(model, tmp_path / "all", format="model2vec")
    export(model, tmp_path / "some", format="model2vec", max_vocab=2)
    whole, some = load_vectors(tmp_path / "all"), load_vectors(tmp_path / "some")
    assert sorted(some.index_to_key) == ["b", "c"]
    for word in some.index_to_key:
        np.testing.assert_array_equal(some[word], whole[word])
