"""Training on more text leaves the space of vectors where it was."""

import copy

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from helpers import NEWS_OPTIONS, assert_same_but_for_a_turn, self_similarity

from gensim_hilbert import HilbertMLE, PairCounts

OPTIONS = NEWS_OPTIONS | {"vector_size": 20, "min_count": 10}


class Similarities(CallbackAny2Vec):
    """Notes after each epoch how similar words are to what they were."""

    def __init__(self, before):
        self.before, self.found = before, []

    def on_epoch_end(self, model):
        self.found.append(self_similarity(model.wv, self.before))


def train_on(model, texts, **options):
    model.build_vocab(texts, update=True)
    model.train(texts, total_examples=len(texts), epochs=model.epochs, **options)


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ({}, 0.9),
        ({"objective": "glove"}, 0.85),
        ({"objective": "lds"}, 0.85),
        ({"objective": "ppmi-svd"}, 0.8),
        ({"subwords": True, "bucket": 5000}, 0.9),
        ({"vectors": "v+w"}, 0.9),
        ({"solver": "gibbs", "workers": 1, "epochs": 10}, 0.85),
    ],
    ids=lambda options: "-".join(map(str, options.values())) if isinstance(options, dict) else "",
)
def test_old_words_stay_where_they_were(news, options, least):
    model = HilbertMLE(news[:250], **OPTIONS | options)
    before = copy.deepcopy(model.wv)
    seen = Similarities(before)
    train_on(model, news[250:], callbacks=[seen])
    assert len(model.wv) > len(before)
    assert self_similarity(model.wv, before) > least
    assert "v+w" in options.values() or seen.found[-1] > 0.8


def test_counts_are_fitted_like_another_model(news):
    model = HilbertMLE(news[:250], **OPTIONS)
    counts = PairCounts.from_corpus(news, min_count=10)
    options = {"vector_size": 20, "seed": 7}
    like, alone = HilbertMLE.from_counts(counts, like=model, **options), HilbertMLE.from_counts(counts, **options)
    assert self_similarity(like.wv, model.wv) > 0.8 > self_similarity(alone.wv, model.wv)
    assert_same_but_for_a_turn(like, alone)
    np.testing.assert_array_equal(like.wv.vectors, HilbertMLE.from_counts(counts, like=model.wv, **options).wv.vectors)
    with pytest.raises(ValueError, match="vector_size=20"):
        HilbertMLE.from_counts(counts, like=model, vector_size=10)


@pytest.mark.parametrize("scale", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("objective", ["hilbert", "glove"])
def test_own_vectors_are_a_start_that_epochs_lead_away_from(news, scale, objective):
    vectors = scale * np.random.default_rng(1).standard_normal((2000, 20), dtype=np.float32)
    found, losses = [], []
    for epochs in (1, 5):
        model = HilbertMLE(**OPTIONS | {"objective": objective})
        model.build_vocab(news)
        model.wv.vectors[:] = vectors[: len(model.wv)]
        before = copy.deepcopy(model.wv)
        model.train(news, total_examples=len(news), epochs=epochs, compute_loss=True)
        found.append(self_similarity(model.wv, before))
        losses.append(model.get_latest_training_loss())
    assert found[0] > 0.8 > found[1]
    assert losses[0] > losses[1]


def test_vectors_of_a_file_are_a_start(news, news_model, tmp_path):
    news_model.wv.save_word2vec_format(str(tmp_path / "vectors.txt"))
    model = HilbertMLE(**NEWS_OPTIONS)
    model.build_vocab(news[:100])
    model.wv.intersect_word2vec_format(str(tmp_path / "vectors.txt"), lockf=1.0)
    model.train(news[:100], total_examples=100, epochs=1)
    assert 0.8 < self_similarity(model.wv, news_model.wv) < 0.9999
