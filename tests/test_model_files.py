"""What a model has learnt from is known after saving, loading, pickling and copying."""

import copy
import pickle

import numpy as np
import pytest
from gensim.models import Word2Vec

from gensim_hilbert import HilbertMLE
from gensim_hilbert.model_files import LearntFrom

SMALL = {"vector_size": 6, "min_count": 10, "epochs": 1, "workers": 1}


@pytest.fixture(scope="module")
def model(news):
    return HilbertMLE(news[:100], **SMALL)


def test_what_a_model_has_learnt_from(news, model, tmp_path):
    assert HilbertMLE().learnt_from is LearntFrom.NOTHING
    assert model.learnt_from is LearntFrom.COUNTS
    assert copy.deepcopy(model).learnt_from is LearntFrom.COUNTS
    assert pickle.loads(pickle.dumps(model)).learnt_from is LearntFrom.LOST_COUNTS
    model.save(str(tmp_path / "model"))
    assert HilbertMLE.load(str(tmp_path / "model")).learnt_from is LearntFrom.COUNTS
    (tmp_path / "model.counts").rename(tmp_path / "away")
    lost = HilbertMLE.load(str(tmp_path / "model"))
    assert (lost.learnt_from, lost.counts) == (LearntFrom.LOST_COUNTS, None)
    lost.train(news[:50], total_examples=50, epochs=1)
    assert lost.learnt_from is LearntFrom.COUNTS
    lost.init_weights()
    assert lost.learnt_from is LearntFrom.NOTHING
    streamed = HilbertMLE(news[:100], **SMALL, solver="gibbs")
    assert pickle.loads(pickle.dumps(streamed)).learnt_from is LearntFrom.STREAM


def test_counts_are_found_whatever_class_loads_the_model(model, tmp_path):
    model.save(str(tmp_path / "model"))
    loaded = Word2Vec.load(str(tmp_path / "model"))
    assert isinstance(loaded, HilbertMLE)
    assert loaded.counts.fingerprint == model.counts.fingerprint
    loaded.save(str(tmp_path / "model"))
    assert HilbertMLE.load(str(tmp_path / "model")).counts.fingerprint == model.counts.fingerprint


def test_open_files_are_saved_to_without_counts(model, tmp_path):
    with open(tmp_path / "model", "wb") as file:
        model.save(file)
    loaded = HilbertMLE.load(str(tmp_path / "model"))
    assert np.array_equal(loaded.wv.vectors, model.wv.vectors)
    assert loaded.learnt_from is LearntFrom.LOST_COUNTS


def test_sums_without_counts_are_not_trained_on(news):
    model = pickle.loads(pickle.dumps(HilbertMLE(news[:100], **SMALL, vectors="v+w")))
    with pytest.raises(ValueError, match="train with vectors='v'"):
        model.train(news[:50], total_examples=50, epochs=1)
