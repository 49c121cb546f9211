"""A model keeps its promises with every objective."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers import Recorder, Stop, StopAfter, assert_same_vectors, training_for
from objective_cases import TYPICAL, TYPICAL_FIRST, typical_objectives

from gensim_hilbert import HilbertMLE
from gensim_hilbert.objectives import PPMI
from gensim_hilbert.training.kernels import KERNELS

OPTIONS = {"vector_size": 8, "min_count": 1, "sample": 0, "seed": 3, "epochs": 4}


@pytest.fixture(autouse=True, scope="module")
def more_training():
    """So few words are usually trained on for a shorter time than some objectives need."""
    with training_for(lambda pairs, words: 100):
        yield


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    """Animals eat, machines run; and everything is."""
    random = np.random.default_rng(0)
    kinds = (["cat", "dog", "cow", "eats", "sleeps", "drinks"], ["car", "bus", "mill", "runs", "stops", "turns"])
    return [list(random.choice([*kinds[k % 2], "the", "is"], size=8)) for k in range(1500)]


@pytest.fixture(scope="module", params=TYPICAL_FIRST, ids=repr)
def model(request, sentences) -> HilbertMLE:
    recorder = Recorder()
    model = HilbertMLE(sentences, objective=request.param, callbacks=[recorder], **OPTIONS)
    model.recorder = recorder
    return model


def test_a_model_learns_what_goes_with_what(model):
    assert model.wv.similarity("cat", "cow") > model.wv.similarity("cat", "bus") + 0.1
    found = model.most_cooccurring("cat", topn=14)
    assert found == sorted(found, key=lambda pair: -pair[1])
    assert found == [(word, pytest.approx(model.pmi(word, "cat"), abs=1e-5)) for word, _ in found]
    animals = {"cat", "dog", "cow", "eats", "sleeps", "drinks"}
    assert {word for word, _ in found[:5]} <= animals
    (first, chance), *_ = model.predict_output_word(["eats", "sleeps"], topn=3)
    assert first in animals | {"the", "is"}
    assert 0 < chance < 1
    together = [(value, model.counts.pmi(word, "cat")) for word, value in found if model.counts.count(word, "cat")]
    assert len(together) >= 8
    assert np.corrcoef(*zip(*together, strict=True))[0, 1] > 0.5


def test_callbacks_see_every_epoch(model):
    assert model.recorder.events == ["train begins", *["epoch begins", "epoch ends"] * 4, "train ends"]
    assert all(np.isfinite(vectors).all() for vectors in model.recorder.vectors)
    np.testing.assert_array_equal(model.recorder.vectors[-1], model.wv.vectors)


def test_a_saved_model_is_the_same(model, tmp_path):
    recorder = model.__dict__.pop("recorder")
    model.save(str(tmp_path / "model"))
    model.recorder = recorder
    loaded = HilbertMLE.load(str(tmp_path / "model"))
    assert loaded.objective == model.objective
    np.testing.assert_array_equal(loaded.wv.vectors, model.wv.vectors)
    for ours, expected in ((loaded.context_biases, model.context_biases), (loaded.term_biases, model.term_biases)):
        assert (ours is None) == (expected is None) == (KERNELS[model.objective.kernel].extra == 0)
        if ours is not None:
            np.testing.assert_array_equal(ours, expected)
    assert loaded.pmi("cat", "eats") == model.pmi("cat", "eats")


@typical_objectives
def test_interrupted_training_ends_with_the_same_bits(objective, sentences, tmp_path):
    def trained(callbacks=(), **options):
        return HilbertMLE(sentences[:300], objective=objective, callbacks=callbacks, **OPTIONS, **options)

    whole = trained()
    with pytest.raises(Stop):
        trained([StopAfter(2)], checkpoint=tmp_path)
    rest = Recorder()
    again = trained([rest], checkpoint=tmp_path)
    assert len(rest.vectors) == 2
    assert_same_vectors(again, whole)
    if whole.biases is not None:
        np.testing.assert_array_equal(again.term_biases, whole.term_biases)


@pytest.mark.parametrize("objective", [objective for objective in TYPICAL if not isinstance(objective, PPMI)], ids=repr)
def test_training_goes_on_from_vectors_that_were_set(objective, sentences):
    model = HilbertMLE(sentences, objective=objective, compute_loss=True, **OPTIONS)
    loss = model.get_latest_training_loss()
    psi = model.syn1neg @ model.wv.vectors.T
    model.wv.vectors, model.syn1neg = model.wv.vectors.copy(), model.syn1neg.copy()
    model.wv.vectors[0, 0] += 1e-3  # somebody has set them
    model.train(sentences[:1], total_examples=1, epochs=1, start_alpha=1e-6, end_alpha=1e-7, compute_loss=True)
    np.testing.assert_allclose(model.syn1neg @ model.wv.vectors.T, psi, atol=0.02)
    assert model.get_latest_training_loss() == pytest.approx(loss, rel=0.2)


@typical_objectives
@pytest.mark.parametrize("sentences", [[["a", "a"]], [["a", "b"]], [["a", "b", "c"]] * 50], ids=len)
def test_almost_nothing_to_learn_from(objective, sentences):
    model = HilbertMLE(sentences, objective=objective, **OPTIONS)
    assert np.isfinite(model.wv.vectors).all()
    assert math.isfinite(model.pmi("a", "a"))


@typical_objectives
def test_words_that_come_later(objective, sentences):
    model = HilbertMLE(sentences[:300], objective=objective, **OPTIONS)
    more = [["cat", "purrs", "the", "dog"]] * 20
    model.build_vocab(more, update=True)
    model.pmi("cat", "purrs")
    model.train(more, total_examples=20, epochs=1)
    assert model.pmi("cat", "purrs") > model.pmi("bus", "purrs")
