"""Models in fastText's own format are read by fastText and by Gensim."""

import numpy as np
import pytest
from consumers import ODD, random_vectors
from gensim.models.fasttext import FastText, load_facebook_vectors
from subword_models import ODD_SENTENCES, train_subwords

from gensim_hilbert import HilbertMLE
from gensim_hilbert.export import FORMATS, export, load_vectors

pytestmark = pytest.mark.usefixtures("short_training")
UNKNOWN = ["policing", "日本", "graphical", "aaaa", "naïvely", "unseen-word"]


def test_fasttext_has_the_same_n_grams_and_vectors(subword_model, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    export(subword_model, tmp_path / "model.bin", format="fasttext")
    theirs = fasttext.load_model(str(tmp_path / "model.bin"))
    assert theirs.words == subword_model.wv.index_to_key
    for word, buckets in zip(subword_model.wv.index_to_key, subword_model.wv.buckets_word, strict=True):
        numbers = theirs.get_subwords(word)[1]
        if word != "</s>":
            assert numbers[1:].tolist() == (buckets + len(subword_model.wv)).tolist(), word
        np.testing.assert_allclose(theirs.get_word_vector(word), subword_model.wv[word], rtol=1e-4, atol=1e-6)
    for word in UNKNOWN:
        np.testing.assert_allclose(theirs.get_word_vector(word), subword_model.wv[word], rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(theirs.get_output_matrix(), subword_model.syn1neg)
    export(subword_model, tmp_path / "covectors.bin", format="fasttext", what="covectors")
    covectors = fasttext.load_model(str(tmp_path / "covectors.bin"))
    np.testing.assert_array_equal(covectors.get_word_vector("the"), subword_model.covectors["the"])
    assert not covectors.get_word_vector("policing").any(), "covectors are of words alone"
    near = [word for _, word in theirs.get_nearest_neighbors("policing", k=3)]
    assert near == [word for word, _ in subword_model.wv.most_similar("policing", topn=3)]
    arguments = theirs.f.getArgs()
    assert (arguments.dim, arguments.minn, arguments.maxn, arguments.bucket) == (12, 3, 6, 30_000)
    assert (arguments.ws, arguments.epoch, arguments.minCount) == (
        subword_model.window,
        subword_model.epochs,
        subword_model.min_count,
    )


@pytest.mark.parametrize(("min_n", "max_n"), [(1, 2), (2, 2), (3, 3), (4, 9)])
def test_n_grams_of_all_lengths_are_those_of_fasttext(min_n, max_n, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    model = train_subwords(ODD_SENTENCES * 3, "gibbs", epochs=1, min_n=min_n, max_n=max_n)
    export(model, tmp_path / "model.bin", format="fasttext")
    theirs = fasttext.load_model(str(tmp_path / "model.bin"))
    for word in [*model.wv.index_to_key, *UNKNOWN, "é", "ab"]:
        np.testing.assert_allclose(theirs.get_word_vector(word), model.wv[word], rtol=1e-4, atol=1e-6)


def test_gensim_reads_what_fasttext_reads(subword_model, tmp_path):
    path = tmp_path / "model.bin"
    export(subword_model, path, format="fasttext")
    for vectors in (load_facebook_vectors(str(path)), load_vectors(path)):
        assert vectors.index_to_key == subword_model.wv.index_to_key
        np.testing.assert_array_equal(vectors.vectors_ngrams, subword_model.wv.vectors_ngrams)
        for word in (*UNKNOWN, "the"):
            np.testing.assert_array_equal(vectors[word], subword_model.wv[word])
    export(subword_model, tmp_path / "model.vec")
    np.testing.assert_array_equal(load_vectors(tmp_path / "model.vec").vectors, subword_model.wv.vectors)


def test_models_without_subwords_become_models_of_fasttext_too(news, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    plain = HilbertMLE(news[:50], vector_size=8, min_count=2, epochs=1)
    gensims = FastText(news[:50], vector_size=8, bucket=500, epochs=1)
    for model, unknown in ((plain, np.zeros(8)), (plain.wv, np.zeros(8)), (gensims, gensims.wv["policing"])):
        export(model, tmp_path / "model.bin", format="fasttext")
        theirs = fasttext.load_model(str(tmp_path / "model.bin"))
        vectors = getattr(model, "wv", model)
        np.testing.assert_allclose(theirs.get_word_vector("the"), vectors["the"], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(theirs.get_word_vector("policing"), unknown, rtol=1e-4, atol=1e-6)
    export(plain, tmp_path / "model.bin", format="fasttext", what="covectors")
    theirs = fasttext.load_model(str(tmp_path / "model.bin"))
    np.testing.assert_array_equal(theirs.get_word_vector("the"), plain.covectors["the"])


def test_words_that_do_not_fit_are_left_out_of_a_model_of_fasttext(tmp_path):
    fasttext = pytest.importorskip("fasttext")
    model = train_subwords([["New York", "new", "york\0", "yorkshire"]] * 5, "gibbs")
    with pytest.raises(ValueError, match="cannot hold the word"):
        export(model, tmp_path / "model.bin", format="fasttext")
    export(model, tmp_path / "model.bin", format="fasttext", skip_unfit=True)
    theirs = fasttext.load_model(str(tmp_path / "model.bin"))
    assert sorted(theirs.words) == ["new", "yorkshire"]
    np.testing.assert_allclose(theirs.get_word_vector("yorkshire"), model.wv["yorkshire"], rtol=1e-4, atol=1e-6)


def test_fasttext_starts_from_text(tmp_path):
    fasttext = pytest.importorskip("fasttext")
    words = [word for word in ODD if FORMATS["fasttext"].holds(word) and len(word) < 1000]
    vectors = random_vectors(words)
    export(vectors, tmp_path / "v.vec")
    (tmp_path / "text").write_text("cat dog " * 10)
    model = fasttext.train_unsupervised(
        str(tmp_path / "text"), dim=3, minn=0, maxn=0, lr=0.0, epoch=1, minCount=1, thread=1, verbose=0,
        pretrainedVectors=str(tmp_path / "v.vec"),
    )  # fmt: skip
    for word in words:
        np.testing.assert_array_equal(model.get_word_vector(word), vectors[word])
