"""Words that users add to `model.wv` by hand, as `add_vector` and `add_vectors` do, beside Word2Vec."""

import numpy as np
import pytest
from gensim.models import Word2Vec
from helpers import SMALL_OPTIONS, assert_same_vectors

from gensim_hilbert import HilbertMLE

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


def test_words_that_are_made_of_ngrams_cannot_be_added(some_news):
    model = HilbertMLE(some_news, **SMALL_OPTIONS, subwords=True, bucket=100)
    add_at_once(model)
    with pytest.raises(ValueError, match=r"words such as 'zebra' cannot be added by hand.*update=True"):
        train(model, some_news)
