"""Training on the same text again, as loops that were written for Word2Vec do."""

import copy
import random

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from helpers import SMALL_OPTIONS, Stop, StopAfter, assert_same_but_for_a_turn, assert_same_vectors

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.training.factorization import Factorization

pytestmark = pytest.mark.usefixtures("short_training")


class Moments(CallbackAny2Vec):
    def __init__(self):
        self.names = []

    def on_epoch_end(self, model):
        self.names.append("epoch ends")

    def on_train_end(self, model):
        self.names.append("train ends")


@pytest.fixture
def fits(monkeypatch):
    """How many fits there were."""
    made = []
    run = Factorization.run
    monkeypatch.setattr(Factorization, "run", lambda *args: made.append(args[0]) or run(*args))
    return lambda: len(set(map(id, made)))


@pytest.fixture
def countings(monkeypatch):
    """How often the pairs of a text were counted."""
    made = []
    count = PairCounts.from_corpus
    monkeypatch.setattr(
        PairCounts, "from_corpus", lambda *args, **options: made.append(args) or count(*args, **options)
    )
    return lambda: len(made)


@pytest.fixture
def news_file(some_news, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(map(" ".join, some_news)))
    return path


def train(model, texts, **options):
    return model.train(texts, total_examples=len(texts), epochs=1, **options)


def test_a_loop_over_epochs_is_one_fit(some_news, news_file, fits):
    once = HilbertMLE(**SMALL_OPTIONS)
    once.build_vocab(some_news)
    words = train(once, some_news)
    model = HilbertMLE(**SMALL_OPTIONS)
    model.build_vocab(some_news)
    texts, moments = list(some_news), Moments()
    for _ in range(3):
        assert train(model, texts, callbacks=[moments]) == words
        model.alpha -= 0.002
        random.Random(1).shuffle(texts)
    model.train(corpus_file=str(news_file), total_words=1000, epochs=1)
    assert moments.names == ["epoch ends", "train ends"] * 3
    assert fits() == 2
    assert model.train_count == len(model.trained_on) == 4
    assert_same_vectors(model, once)


def test_text_of_the_constructor_is_known_also_among_others(some_news, fits):
    model = HilbertMLE(some_news, **SMALL_OPTIONS)
    train(model, some_news[:50])
    before = copy.deepcopy(model)
    for text in (some_news, some_news[:50]):
        train(model, text)
    assert_same_vectors(model, before)
    assert fits() == 2


def test_text_is_added_again_if_that_is_asked_for(some_news):
    model = HilbertMLE(some_news, **SMALL_OPTIONS)
    total = model.counts.total
    train(model, some_news, add_again=True)
    assert model.counts.total == 2 * total


def test_a_fit_is_made_where_vectors_are_not_those_of_the_counts(some_news, fits):
    model = HilbertMLE(some_news, **SMALL_OPTIONS)
    expected, total = copy.deepcopy(model), model.counts.total
    model.l2 = 3.0
    train(model, some_news)
    assert fits() == 2
    assert not np.allclose(model.syn1neg @ model.wv.vectors.T, expected.syn1neg @ expected.wv.vectors.T, atol=1e-2)
    model.l2 = "auto"
    train(model, some_news)
    assert_same_but_for_a_turn(model, expected)
    model.wv.vectors[:] += 0.1
    train(model, some_news)
    assert fits() == 4
    assert model.counts.total == total


def test_a_fit_that_was_stopped_is_made_again(some_news):
    model = HilbertMLE(**SMALL_OPTIONS)
    model.build_vocab(some_news)
    with pytest.raises(Stop):
        model.train(some_news, total_examples=len(some_news), epochs=5, callbacks=[StopAfter(1)])
    total = model.counts.total
    train(model, some_news)
    assert model.counts.total == total
    assert_same_but_for_a_turn(model, HilbertMLE(some_news, **SMALL_OPTIONS))


def test_files_that_were_counted_are_not_counted_again(news_file, countings, tmp_path):
    model = HilbertMLE(corpus_file=str(news_file), **SMALL_OPTIONS)
    before = copy.deepcopy(model)
    words = [model.train(corpus_file=str(news_file), total_words=1000, epochs=1) for _ in range(2)]
    assert countings() == 1
    assert_same_vectors(model, before)
    model.save_pretrained(tmp_path / "model")
    model = HilbertMLE.from_pretrained(tmp_path / "model")
    words.append(model.train(corpus_file=str(news_file), total_words=1000, epochs=1))
    assert countings() == 1
    news_file.touch()  # It may hold another text now: it is counted, and found to be the same.
    words.append(model.train(corpus_file=str(news_file), total_words=1000, epochs=1))
    assert countings() == 2
    assert len(set(words)) == 1
    assert model.counts.total == before.counts.total
    model.train(corpus_file=str(news_file), total_words=1000, epochs=1, add_again=True)
    assert countings() == 3
    assert model.counts.total == 2 * before.counts.total
    with news_file.open("a") as file:
        file.write("\nthe man the woman")
    model.train(corpus_file=str(news_file), total_words=1000, epochs=1)
    assert model.counts.total > 3 * before.counts.total


def test_a_loop_with_checkpoints_goes_on(news_file, tmp_path):
    models = []
    for _ in range(2):
        models.append(HilbertMLE(corpus_file=str(news_file), checkpoint=tmp_path / "checkpoint", **SMALL_OPTIONS))
        for _ in range(2):
            models[-1].train(corpus_file=str(news_file), total_words=1000, epochs=1)
    assert_same_vectors(*models)
