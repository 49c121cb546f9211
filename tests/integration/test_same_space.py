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
