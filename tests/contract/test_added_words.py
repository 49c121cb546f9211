"""Words that users add to `model.wv` by hand, as `add_vector` and `add_vectors` do, beside Word2Vec."""

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from helpers import SMALL_OPTIONS, assert_same_vectors

from gensim_hilbert import HilbertMLE
from gensim_hilbert.export import export

OURS = [pytest.param({"solver": solver}, id=solver) for solver in ("factorization", "gibbs")]
WORDS = ["zebra", "yak"]
VECTORS = np.arange(16, dtype=np.float32).reshape(2, 8) / 10
pytestmark = [pytest.mark.usefixtures("short_training"), pytest.mark.filterwarnings("ignore:Adding single vectors")]


def add_one_by_one(model):
    for word, vector in zip(WORDS, VECTORS, strict=True):
        model.wv.add_vector(word, vector)


def add_at_once(model):
    model.wv.add_vectors(WORDS, VECTORS)


def train(model, texts, **options):
    return model.train(texts, total_examples=len(texts), epochs=2, **options)


@pytest.mark.parametrize("add", [add_one_by_one, add_at_once])
@pytest.mark.parametrize("options", OURS)
def test_words_that_do_not_occur_stay_where_they_were_put(options, add, some_news):
    ours, peer = HilbertMLE(some_news, **SMALL_OPTIONS, **options), Word2Vec(some_news, **SMALL_OPTIONS)
    for model in (ours, peer):
        add(model)
        for texts in (some_news[:100], some_news[100:]):
            train(model, texts)
            np.testing.assert_array_equal(model.wv[WORDS], VECTORS)
            assert np.isfinite(model.wv.most_similar("the")[0][1])
    assert ours.wv.get_vecattr("zebra", "count") == 0
    assert ours.covectors["yak"].shape == (8,)
    assert len(ours.cum_table) == len(ours.wv)


def test_words_that_occur_are_learnt(some_news):
    texts = [[WORDS[0] if word == "government" else word for word in text] for text in some_news]
    expected = HilbertMLE(texts, **SMALL_OPTIONS)
    model = HilbertMLE(**SMALL_OPTIONS)
    model.build_vocab([[word for word in text if word != "zebra"] for text in texts])
    add_at_once(model)
    train(model, texts)
    np.testing.assert_array_equal(model.wv["yak"], VECTORS[1])
    assert model.counts.total == pytest.approx(expected.counts.total)
    known = [model.pmi("zebra", word) for word in model.wv.index_to_key[:50]]
    assert np.corrcoef(known, [expected.pmi("zebra", word) for word in model.wv.index_to_key[:50]])[0, 1] > 0.9


def test_the_text_is_still_known_after_words_were_added(some_news):
    model = HilbertMLE(some_news, **SMALL_OPTIONS)
    before, total = model.wv.vectors.copy(), model.counts.total
    add_at_once(model)
    for _ in range(2):
        train(model, some_news)
        assert model.counts.total == total
        np.testing.assert_array_equal(model.wv.vectors, np.concatenate([before, VECTORS]))


def test_more_words_can_follow(some_news):
    model = HilbertMLE(some_news, **SMALL_OPTIONS)
    add_at_once(model)
    model.build_vocab([["okapi", "the"]] * 20, update=True)
    train(model, [["okapi", "the"]] * 20)
    assert model.wv.index_to_key[-3:] == [*WORDS, "okapi"]
    np.testing.assert_array_equal(model.wv[WORDS], VECTORS)
    assert model.pmi("okapi", "the") > model.pmi("zebra", "the") == 0


def test_they_have_covectors_and_are_saved(some_news, tmp_path):
    model = HilbertMLE(some_news, **SMALL_OPTIONS)
    add_at_once(model)
    assert model.pmi("zebra", "the") == 0
    assert len(model.predict_output_word(["the"], topn=5)) == 5
    model.save_pretrained(tmp_path / "folder")
    assert_same_vectors(HilbertMLE.from_pretrained(tmp_path / "folder"), model)
    model.save(str(tmp_path / "model"))
    assert_same_vectors(HilbertMLE.load(str(tmp_path / "model")), model)


def test_vectors_can_be_inferred_as_before(some_news):
    model = HilbertMLE(some_news, **SMALL_OPTIONS)
    before = model.infer_vector(["the", "government"])
    frequencies = model.term_frequencies()
    add_at_once(model)
    # The prior depends a little on the number of words.
    np.testing.assert_allclose(model.infer_vector(["the", "government"]), before, rtol=0.01)
    assert not model.infer_vector(WORDS).any()
    np.testing.assert_array_equal(model.term_frequencies(), [*frequencies, 0, 0])


def test_other_models_can_have_the_covectors(some_news):
    model = HilbertMLE(some_news, **SMALL_OPTIONS)
    expected = HilbertMLE(some_news, **SMALL_OPTIONS, covectors=model)
    add_at_once(model)
    assert_same_vectors(HilbertMLE(some_news, **SMALL_OPTIONS, covectors=model), expected)


def test_they_have_biases(some_news):
    model = HilbertMLE(some_news, **SMALL_OPTIONS, objective="glove")
    add_at_once(model)
    assert len(model.context_biases) == len(model.term_biases) == len(model.wv)


def test_documents_are_ranked_as_before(some_news):
    model, documents = HilbertMLE(some_news, **SMALL_OPTIONS), [["the", "government"], ["water"], ["police"]]
    before = model.encode_documents(documents)
    add_at_once(model)
    np.testing.assert_allclose(model.encode_documents(documents), before, atol=1e-6)
    assert model.rank(["fire"], documents)[0][0] in range(3)


def test_they_are_in_smaller_folders_and_exports(some_news, tmp_path):
    model = HilbertMLE(some_news, **SMALL_OPTIONS)
    add_at_once(model)
    model.save_pretrained(tmp_path / "folder", pca=4)
    assert HilbertMLE.from_pretrained(tmp_path / "folder").wv.index_to_key == model.wv.index_to_key
    model = HilbertMLE(some_news, **SMALL_OPTIONS)
    add_at_once(model)
    export(model, tmp_path / "covectors.txt", what="covectors", format="word2vec")
    written = KeyedVectors.load_word2vec_format(str(tmp_path / "covectors.txt"))
    np.testing.assert_allclose(written.vectors, model.syn1neg, atol=1e-6)
    assert not written["zebra"].any()


def test_words_without_covectors_in_another_model_are_counted(some_news, tmp_path):
    model = Word2Vec(some_news, **SMALL_OPTIONS)
    covectors = len(model.wv)
    add_at_once(model)
    with pytest.raises(ValueError, match=f"this Word2Vec has {covectors} covectors for {covectors + 2} words"):
        export(model, tmp_path / "covectors.txt", what="covectors", format="word2vec")


def test_words_that_are_made_of_ngrams_cannot_be_added(some_news):
    model = HilbertMLE(some_news, **SMALL_OPTIONS, subwords=True, bucket=100)
    add_at_once(model)
    with pytest.raises(ValueError, match=r"words such as 'zebra' cannot be added by hand.*update=True"):
        train(model, some_news)
