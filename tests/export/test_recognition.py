"""Files of vectors are recognised by what is in them, in one place for reading and for the command line."""

import sys

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from gensim.test.utils import common_texts

from gensim_hilbert.cli.loading import kind_of
from gensim_hilbert.export import export
from gensim_hilbert.export.recognition import Kind, recognise
from gensim_hilbert.export.writing import guess_format


@pytest.fixture(scope="module")
def vectors():
    keyed = KeyedVectors(3)
    keyed.add_vectors(["cat", "dog"], np.arange(6, dtype=np.float32).reshape(2, 3))
    return keyed


WRITTEN = {
    "v.w2v": ("word2vec", Kind.WORD2VEC_TEXT, 2, 3),
    "v.bin": ("word2vec-binary", Kind.WORD2VEC_BINARY, 2, 3),
    "v.bin.gz": ("word2vec-binary", Kind.WORD2VEC_BINARY, 2, 3),
    "v.glove": ("glove", Kind.GLOVE, None, 3),
    "model.bin": ("fasttext", Kind.FASTTEXT, None, 0),
    "v.npy": ("numpy", Kind.NUMPY, None, 0),
    "folder": ("model2vec", Kind.FOLDER, None, 0),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_exported_is_recognised(name, vectors, tmp_path):
    format, *expected = WRITTEN[name]
    export(vectors, tmp_path / name, format=format)
    assert list(recognise(str(tmp_path / name))) == expected
    assert kind_of(tmp_path / name) == expected[0]


def test_what_gensim_has_saved_is_recognised(vectors, tmp_path):
    vectors.save(str(tmp_path / "vectors"))
    Word2Vec(common_texts, vector_size=4, min_count=1).save(str(tmp_path / "model"))
    for name in ("vectors", "model"):
        assert recognise(str(tmp_path / name)).kind == Kind.SAVED


@pytest.mark.parametrize("name", ["v.bin.lz4", "v.bin.gz", "v.bin.zst", "V.BIN.XZ"])
def test_compressed_names_tell_the_format(name):
    assert guess_format(name) == "word2vec-binary"


def test_lz4_is_written_and_read_if_it_is_installed(vectors, tmp_path):
    pytest.importorskip("lz4.frame", reason="pip install 'smart_open[lz4]'")
    export(vectors, tmp_path / "v.bin.lz4")
    assert recognise(str(tmp_path / "v.bin.lz4")).kind == Kind.WORD2VEC_BINARY


def test_without_lz4_the_error_tells_what_to_install(vectors, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lz4.frame", None)
    with pytest.raises(ImportError, match=r"pip install 'smart_open\[lz4\]'"):
        export(vectors, tmp_path / "v.bin.lz4")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "is empty"), (b"0 0\n", "holds no vectors"), (b"some prose in a file\n", "neither a header nor a word")],
)
def test_what_holds_no_vectors_is_refused(data, message, tmp_path):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(ValueError, match=message):
        recognise(str(tmp_path / "file"))
