"""What is exported is read back by the tools it is meant for, whatever the words."""

import gzip
import shutil
import sys

import numpy as np
import pytest
from consumers import CONSUMERS, FILES, ODD, READABLE, by_gensim, random_vectors
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st

from gensim_hilbert.export import FORMATS, export, load_vectors


def test_every_format_is_tested():
    assert set(FORMATS) == set(FILES) == set(CONSUMERS)


@pytest.mark.parametrize("counts", [True, False])
def test_the_consumer_reads_what_was_written(format, counts, tmp_path):
    vectors = random_vectors(["the", "naïve", "日本語", "don't", "3.14"], counts=counts)
    vectors.vectors[0] = [1, -0.0, 1e-38]  # integers must not look like a header, nor small numbers get lost
    path = tmp_path / FILES[format]
    export(vectors, path, format=format)
    words, matrix = CONSUMERS[format](path)
    assert words == vectors.index_to_key
    np.testing.assert_array_equal(matrix, vectors.vectors)
    if format == "projector" and counts:
        lines = (path / "metadata.tsv").read_text(encoding="utf-8").splitlines()
        assert lines[:3] == ["word\tcount", "the\t1000", "naïve\t999"]
    if format in READABLE:
        again = load_vectors(path)
        assert again.index_to_key == vectors.index_to_key
        np.testing.assert_array_equal(again.vectors, vectors.vectors)
        assert again.most_similar("the") == vectors.most_similar("the")
        if counts and format in ("numpy", "parquet"):
            assert again.get_vecattr("naïve", "count") == 999


@pytest.mark.parametrize(
    ("word", "unable"),
    [
        ("naïve", ""),
        ("New York", "word2vec word2vec-binary glove fasttext model2vec"),
        ("line\nbreak", "word2vec word2vec-binary glove fasttext model2vec projector"),
        ("carriage\rreturn", "word2vec glove fasttext model2vec projector"),
        ("tab\tstop", "word2vec glove fasttext model2vec projector"),
        ("next\x85line", "glove model2vec"),
        ("line\u2028separator", "glove model2vec"),
        ("no\xa0break", "glove model2vec"),
        ("", "word2vec glove fasttext model2vec projector"),
        ("\ud800", "word2vec word2vec-binary glove fasttext model2vec projector parquet"),
    ],
)
def test_only_words_that_a_format_cannot_hold_are_refused(word, unable):
    assert [name for name in FORMATS if not FORMATS[name].holds(word)] == unable.split()


def survives_or_is_refused(words, format, path):
    """All words come back by the consumer and by us, or the error names one that does not fit, and where it would."""
    vectors = random_vectors(words, size=2)
    unfit = [word for word in words if not FORMATS[format].holds(word)]
    if unfit:
        with pytest.raises(ValueError, match="cannot hold the word") as caught:
            export(vectors, path, format=format)
        assert repr(unfit[0][:60]) in str(caught.value)
        able = [name for name in FORMATS if f"'{name}'" in str(caught.value).partition("formats that can")[2]]
        assert "numpy" in able
        assert format not in able
        assert all(FORMATS[name].holds(unfit[0]) for name in able)
        assert not path.exists()
        words = [word for word in words if word not in unfit]
        if not words:
            return
    export(vectors, path, format=format, skip_unfit=True)
    read, matrix = CONSUMERS[format](path)
    assert read == words
    np.testing.assert_array_equal(matrix, vectors[words])
    if format in READABLE:
        again = load_vectors(path)
        assert again.index_to_key == words
        np.testing.assert_array_equal(again.vectors, vectors[words])


def test_odd_words_survive_or_are_refused(format, tmp_path):
    for number, word in enumerate(ODD):
        for place, words in (("first", [word, "cat"]), ("between", ["cat", word, "dog"])):
            folder = tmp_path / f"{number} {place}"
            folder.mkdir()
            survives_or_is_refused(words, format, folder / FILES[format])


# Mostly what separates words or lines for somebody; otherwise any character.
WORD = st.text(st.one_of(st.sampled_from(" \n\r\t\v\f\0\x1c\x1f\x85\xa0\u2028\u3000\ufeff\ud800a1.-"), st.characters()))


@given(words=st.lists(WORD, min_size=1, max_size=5, unique=True))
def test_any_words_survive_or_are_refused(format, words, tmp_path):
    path = tmp_path / FILES[format]
    survives_or_is_refused(words, format, path)
    for left in tmp_path.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()


@given(numbers=st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=4))
def test_any_numbers_survive(numbers, tmp_path):
    vectors = KeyedVectors(len(numbers))
    vectors.add_vectors(["2000", "1"], np.array([numbers, numbers[::-1]], dtype=np.float32))
    for format in ("word2vec", "word2vec-binary", "glove"):
        path = tmp_path / FILES[format]
        export(vectors, path)
        np.testing.assert_array_equal(CONSUMERS[format](path)[1], vectors.vectors)
        np.testing.assert_array_equal(load_vectors(path).vectors, vectors.vectors)


def test_text_is_what_gensim_writes_byte_for_byte(tmp_path):
    vectors = random_vectors(["cat", "naïve", "日本語"], size=50)
    export(vectors, tmp_path / "ours.vec")
    vectors.save_word2vec_format(tmp_path / "gensims.vec")
    assert (tmp_path / "ours.vec").read_bytes() == (tmp_path / "gensims.vec").read_bytes()


def test_compressed_files_are_read_by_gensim(tmp_path):
    vectors = random_vectors(["cat", "dog"])
    for suffix in (".gz", ".bz2", ".xz"):
        export(vectors, tmp_path / f"v.bin{suffix}")
        assert by_gensim(tmp_path / f"v.bin{suffix}", binary=True)[0] == ["cat", "dog"]
    export(vectors, tmp_path / "v.vec.gz")
    assert gzip.decompress((tmp_path / "v.vec.gz").read_bytes()).startswith(b"2 3\ncat ")


def test_model2vec_averages_the_words_it_knows(tmp_path):
    model2vec = pytest.importorskip("model2vec")
    vectors = random_vectors(["the", "cat", "don't", "[UNK]"])
    export(vectors, tmp_path / "plain", format="model2vec")
    model = model2vec.StaticModel.from_pretrained(tmp_path / "plain")
    expected = vectors[["the", "cat"]].mean(axis=0)
    np.testing.assert_allclose(model.encode("the  cat\nunheard-of"), expected, rtol=1e-6)
    np.testing.assert_array_equal(model.encode("don't"), vectors["don't"])
    np.testing.assert_array_equal(model.encode("[UNK]"), vectors["[UNK]"])
    assert not model.encode("The Cat.").any()
    np.testing.assert_allclose(model.encode("the cat " * 5000), expected, rtol=1e-3)
    export(vectors, tmp_path / "prose", format="model2vec", lowercase=True, split_punctuation=True)
    prose = model2vec.StaticModel.from_pretrained(tmp_path / "prose")
    np.testing.assert_allclose(prose.encode("The Cat!"), expected, rtol=1e-6)
    prose.save_pretrained(tmp_path / "resaved")
    assert load_vectors(tmp_path / "resaved").index_to_key == vectors.index_to_key


def test_model2vec_gives_texts_the_vectors_that_the_model_gives(small_model, some_news, tmp_path):
    model2vec = pytest.importorskip("model2vec")
    texts = [" ".join(words) for words in some_news]
    export(small_model, tmp_path / "folder", format="model2vec")
    peer = model2vec.StaticModel.from_pretrained(tmp_path / "folder")
    np.testing.assert_allclose(peer.encode(texts), small_model.encode(texts), atol=1e-5)
    export(small_model, tmp_path / "prose", format="model2vec", lowercase=True, split_punctuation=True)
    prose = model2vec.StaticModel.from_pretrained(tmp_path / "prose")
    np.testing.assert_allclose(
        prose.encode("The police, the court!"), small_model.encode("the police the court"), atol=1e-5
    )
    export(small_model, tmp_path / "plain", format="model2vec", weighting="mean")
    np.testing.assert_array_equal(load_vectors(tmp_path / "plain").vectors, small_model.wv.vectors)
    with pytest.raises(ValueError, match="weighting='sif' needs what='vectors'"):
        export(small_model, tmp_path / "covectors", format="model2vec", what="covectors", weighting="sif")


def test_sentence_transformers_loads_the_folder(tmp_path):
    library = pytest.importorskip("sentence_transformers")
    vectors = random_vectors(["the", "cat", "dog"])
    export(vectors, tmp_path / "folder", format="model2vec")
    model = library.SentenceTransformer(str(tmp_path / "folder"), device="cpu")
    np.testing.assert_allclose(model.encode("the cat"), vectors[["the", "cat"]].mean(axis=0), rtol=1e-6)
    model.save(str(tmp_path / "resaved"))
    again = load_vectors(tmp_path / "resaved")
    assert again.index_to_key == vectors.index_to_key
    np.testing.assert_array_equal(again.vectors, vectors.vectors)


def test_safetensors_reads_the_matrix(tmp_path):
    from safetensors.numpy import load_file

    vectors = random_vectors(["the", "cat"])
    export(vectors, tmp_path / "folder", format="model2vec")
    matrix = load_file(tmp_path / "folder" / "model.safetensors")["embeddings"]
    np.testing.assert_array_equal(matrix[:2], vectors.vectors)
    assert not matrix[2].any()  # the unknown word


@pytest.mark.parametrize("format", ["word2vec", "fasttext", "glove"])
def test_spacy_reads_text(format, tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.training.initialize import convert_vectors  # what `spacy init vectors` calls

    vectors = random_vectors([word for word in ODD if FORMATS[format].holds(word)])
    export(vectors, tmp_path / FILES[format])
    nlp = spacy.blank("en")
    convert_vectors(nlp, tmp_path / FILES[format], truncate=0, prune=-1)
    for word in vectors.index_to_key:
        np.testing.assert_array_equal(nlp.vocab.get_vector(word), vectors[word])


def test_parquet_names_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'gensim-hilbert\[parquet\]'"):
        export(random_vectors(["cat"]), tmp_path / "v.parquet")
