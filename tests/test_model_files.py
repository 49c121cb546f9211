"""Saving, loading and copying a model, with the counts beside it."""

import copy
import os
import pickle
import shutil

import numpy as np
import pytest
from gensim.models import Word2Vec
from helpers import SMALL_OPTIONS
from shell import run_python

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.model_files import LearntFrom

pytestmark = pytest.mark.usefixtures("short_training")


def test_saving_leaves_counts_alone_that_were_not_saved_with_a_model(small_model, some_news, tmp_path):
    own = PairCounts.from_corpus(some_news, window=9, directory=tmp_path / "wiki.counts")
    with pytest.raises(FileExistsError, match=r"wiki\.counts .* choose another name"):
        small_model.save(str(tmp_path / "wiki"))
    HilbertMLE(some_news, solver="gibbs", **SMALL_OPTIONS).save(str(tmp_path / "wiki"))
    assert PairCounts.open(tmp_path / "wiki.counts").fingerprint == own.fingerprint
    assert HilbertMLE.load(str(tmp_path / "wiki")).counts is None


def test_a_model_saved_over_another_replaces_its_counts(small_model, some_news, tmp_path):
    path = str(tmp_path / "model")
    small_model.save(path)
    HilbertMLE(some_news[:60], **SMALL_OPTIONS).save(path)
    assert HilbertMLE.load(path).counts.total < small_model.counts.total
    HilbertMLE(some_news, solver="gibbs", **SMALL_OPTIONS).save(path)
    assert not (tmp_path / "model.counts").exists()


def test_counts_of_another_model_beside_a_file_are_not_taken_for_its_own(small_model, some_news, tmp_path, caplog):
    small_model.save(str(tmp_path / "model"))
    HilbertMLE(some_news[:60], **SMALL_OPTIONS).save(str(tmp_path / "other"))
    (tmp_path / "model.counts").rename(tmp_path / "away")
    (tmp_path / "other.counts").rename(tmp_path / "model.counts")
    assert HilbertMLE.load(str(tmp_path / "model")).counts is None
    assert "does not hold the counts" in caplog.text


def test_a_deep_copy_goes_on_with_the_same_counts(small_model, some_news):
    twin = copy.deepcopy(small_model)
    twin.train(some_news[:20], total_examples=20, epochs=1)
    assert twin.counts.total > small_model.counts.total
    assert np.array_equal(copy.deepcopy(small_model).wv.vectors, small_model.wv.vectors)


def test_a_pickled_copy_goes_on_from_its_vectors(small_model, some_news, caplog):
    twin = pickle.loads(pickle.dumps(small_model))
    twin.train(some_news[:3], total_examples=3, epochs=1)
    assert "without the counts of earlier texts" in caplog.text
    unseen = [word for word in twin.wv.index_to_key if not any(word in text for text in some_news[:3])]
    rows = [twin.wv.key_to_index[word] for word in unseen]
    assert np.allclose(twin.wv.vectors[rows], small_model.wv.vectors[rows], atol=1e-5)


def test_a_model_with_damaged_counts_is_loaded_without_them(small_model, tmp_path, caplog):
    small_model.save(str(tmp_path / "model"))
    manifest = tmp_path / "model.counts" / "manifest.json"
    manifest.unlink()  # It may be a second name of a file of the counts that were saved.
    manifest.write_text("{")
    assert HilbertMLE.load(str(tmp_path / "model")).counts is None
    assert "is without them" in caplog.text


@pytest.mark.parametrize("mmap", [pytest.param(None, marks=pytest.mark.slow), "r"])
def test_saved_models_load_and_train_on(news_model, news, tmp_path, mmap):
    news_model.save(str(tmp_path / "model"), sep_limit=100)
    loaded = HilbertMLE.load(str(tmp_path / "model"), mmap=mmap)
    np.testing.assert_array_equal(loaded.wv.vectors, news_model.wv.vectors)
    np.testing.assert_array_equal(loaded.syn1neg, news_model.syn1neg)
    assert loaded.counts.fingerprint == news_model.counts.fingerprint
    loaded.train(news[:50], total_examples=50, epochs=1)
    assert loaded.counts.total > news_model.counts.total


def test_models_without_counts_are_pickled_and_load_alone(news_model, tmp_path):
    news_model.save(str(tmp_path / "model"))
    (tmp_path / "alone").write_bytes((tmp_path / "model").read_bytes())
    assert HilbertMLE.load(str(tmp_path / "alone")).wv.most_similar("police")
    again = pickle.loads(pickle.dumps(news_model))
    assert again.wv.most_similar("police") == news_model.wv.most_similar("police")
    assert again.counts is None


@pytest.mark.parametrize("mmap", [pytest.param(None, marks=pytest.mark.slow), "r"])
def test_saved_models_of_the_stream_load_and_train_on(stream_model, news, tmp_path, mmap):
    stream_model.save(str(tmp_path / "m"))
    loaded = HilbertMLE.load(str(tmp_path / "m"), mmap=mmap)
    assert np.array_equal(loaded.wv.vectors, stream_model.wv.vectors)
    assert loaded.pmi("bin", "laden") == stream_model.pmi("bin", "laden")
    loaded.train(news, total_examples=len(news), epochs=2, compute_loss=True)
    assert loaded.get_latest_training_loss() < 1.05 * stream_model.get_latest_training_loss()
    assert not np.array_equal(loaded.wv.vectors, stream_model.wv.vectors)


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


def test_a_copy_without_its_counts_is_saved_and_they_stay(model, tmp_path, caplog):
    path = str(tmp_path / "model")
    model.save(path)
    pickle.loads(pickle.dumps(model)).save(path)
    assert HilbertMLE.load(path).counts.fingerprint == model.counts.fingerprint
    (tmp_path / "model.counts").rename(tmp_path / "away")
    lost = HilbertMLE.load(path)
    (tmp_path / "away").rename(tmp_path / "model.counts")
    lost.save(path)
    again = HilbertMLE.load(path)
    assert again.counts.fingerprint == model.counts.fingerprint
    assert again.learnt_from is LearntFrom.COUNTS


def test_counts_of_a_model_that_is_replaced_do_not_stay(news, model, tmp_path):
    path = str(tmp_path / "model")
    HilbertMLE(news[:50], **SMALL).save(path)
    pickle.loads(pickle.dumps(model)).save(path)
    assert not (tmp_path / "model.counts").exists()
    assert HilbertMLE.load(path).learnt_from is LearntFrom.LOST_COUNTS


def test_a_model_whose_counts_are_gone_is_saved_with_a_warning(news, tmp_path, caplog):
    fresh = HilbertMLE(news[:50], **SMALL)
    shutil.rmtree(fresh.counts.directory)
    fresh.save(str(tmp_path / "model"))
    assert "the counts of the model are gone, and it is saved without them" in caplog.text
    loaded = HilbertMLE.load(str(tmp_path / "model"))
    assert np.array_equal(loaded.wv.vectors, fresh.wv.vectors)
    assert loaded.learnt_from is LearntFrom.LOST_COUNTS


FORKED = """
import os, sys
from gensim_hilbert import HilbertMLE, PairCounts
texts = [["a", "b", "c"]] * 20
model = HilbertMLE(texts, vector_size=2, min_count=1, epochs=1, passes=1)
counts = PairCounts.from_corpus(texts, min_count=1)
if not os.fork():
    sys.exit()  # which runs finalizers
os.wait()
if not os.fork():
    del model, counts
    os._exit(0)
os.wait()
counts.verify()
model.save(sys.argv[1])
print(HilbertMLE.load(sys.argv[1]).counts.fingerprint == model.counts.fingerprint)
folders = [model.counts.directory, counts.directory]
del model, counts
print([folder.exists() for folder in folders])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_that_ends_leaves_the_counts_of_its_parent(tmp_path):
    done = run_python(FORKED, tmp_path / "model")
    assert (done.returncode, done.stdout) == (0, "True\n[False, False]\n"), done.stderr


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
