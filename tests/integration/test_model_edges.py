"""Where a model could lose what it knows, learn it twice, or take what is not its own."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors, Word2Vec
from gensim.test.utils import common_texts

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.model_text import FEW_TOKENS

SMALL = {"vector_size": 8, "min_count": 5, "epochs": 1, "workers": 1}


@pytest.fixture(scope="module")
def texts(news):
    return news[:120]


@pytest.fixture(scope="module")
def trained(texts):
    return HilbertMLE(texts, **SMALL)


def test_saving_leaves_counts_alone_that_were_not_saved_with_a_model(trained, texts, tmp_path):
    own = PairCounts.from_corpus(texts, window=9, directory=tmp_path / "wiki.counts")
    with pytest.raises(FileExistsError, match=r"wiki\.counts .* choose another name"):
        trained.save(str(tmp_path / "wiki"))
    HilbertMLE(texts, solver="gibbs", **SMALL).save(str(tmp_path / "wiki"))
    assert PairCounts.open(tmp_path / "wiki.counts").fingerprint == own.fingerprint
    assert HilbertMLE.load(str(tmp_path / "wiki")).counts is None


def test_a_model_saved_over_another_replaces_its_counts(trained, texts, tmp_path):
    path = str(tmp_path / "model")
    trained.save(path)
    HilbertMLE(texts[:60], **SMALL).save(path)
    assert HilbertMLE.load(path).counts.total < trained.counts.total
    HilbertMLE(texts, solver="gibbs", **SMALL).save(path)
    assert not (tmp_path / "model.counts").exists()


def test_counts_of_another_model_beside_a_file_are_not_taken_for_its_own(trained, texts, tmp_path, caplog):
    trained.save(str(tmp_path / "model"))
    HilbertMLE(texts[:60], **SMALL).save(str(tmp_path / "other"))
    (tmp_path / "model.counts").rename(tmp_path / "away")
    (tmp_path / "other.counts").rename(tmp_path / "model.counts")
    assert HilbertMLE.load(str(tmp_path / "model")).counts is None
    assert "does not hold the counts" in caplog.text


def test_a_deep_copy_goes_on_with_the_same_counts(trained, texts):
    twin = copy.deepcopy(trained)
    twin.train(texts[:20], total_examples=20, epochs=1)
    assert twin.counts.total > trained.counts.total
    assert np.array_equal(copy.deepcopy(trained).wv.vectors, trained.wv.vectors)


def test_a_pickled_copy_goes_on_from_its_vectors(trained, texts, caplog):
    twin = pickle.loads(pickle.dumps(trained))
    twin.train(texts[:3], total_examples=3, epochs=1)
    assert "without the counts of earlier texts" in caplog.text
    unseen = [word for word in twin.wv.index_to_key if not any(word in text for text in texts[:3])]
    rows = [twin.wv.key_to_index[word] for word in unseen]
    assert np.allclose(twin.wv.vectors[rows], trained.wv.vectors[rows], atol=1e-5)


def test_probabilities_are_those_of_the_counts_that_were_fitted(trained):
    assert trained.corpus_total_words < FEW_TOKENS
    fitted = trained.fitted_counts.marginals.terms
    assert np.allclose(trained.term_frequencies(), fitted / fitted.sum())
    assert abs(trained.term_frequencies() - pickle.loads(pickle.dumps(trained)).term_frequencies()).max() < 0.01


@pytest.mark.parametrize("once", [iter, lambda texts: (text for text in texts), lambda texts: map(list, texts)])
def test_what_can_be_read_only_once_is_counted_as_a_list_is(trained, texts, once):
    twins = [copy.deepcopy(trained) for _ in range(2)]
    done = [
        twin.train(some, total_examples=10, epochs=1)
        for twin, some in zip(twins, (once(texts[:10]), texts[:10]), strict=True)
    ]
    assert done[0] == done[1]
    assert twins[0].counts.fingerprint == twins[1].counts.fingerprint
    assert twins[0].counts.vocabulary.tokens == twins[1].counts.vocabulary.tokens


def test_a_corpus_may_differ_each_time_it_is_read(texts, caplog):
    class Walks:
        random = np.random.default_rng(1)

        def __iter__(self):
            return (texts[k] for k in self.random.integers(0, len(texts), 80))

    assert np.isfinite(HilbertMLE(Walks(), **SMALL).wv.vectors).all()
    assert "when its pairs were counted" in caplog.text


def test_a_training_that_cannot_begin_leaves_no_counts(trained, texts):
    model = copy.deepcopy(trained)
    model.precision = "half"
    with pytest.raises(ValueError, match="precision"):
        model.train(texts, total_examples=len(texts), epochs=1)
    assert model.counts.fingerprint == trained.counts.fingerprint


@pytest.mark.parametrize("text", [[], [["unheard"]], [["unheard", "of"]], [["the"]]])
def test_text_without_pairs_adds_nothing_to_what_is_known(trained, text):
    twin = copy.deepcopy(trained)
    words = sum(map(len, text))
    assert twin.train(text, total_examples=1, epochs=1) == (0, words)
    assert np.array_equal(twin.wv.vectors, trained.wv.vectors)


@pytest.mark.parametrize("kind", [Word2Vec, HilbertMLE])
def test_a_corpus_without_words_is_refused_as_gensim_does(kind):
    with pytest.raises(RuntimeError, match="you must first build vocabulary"):
        kind([])
    assert kind().build_vocab([]) is None


def test_the_example_of_gensims_documentation(tmp_path):
    model = HilbertMLE(sentences=common_texts, vector_size=100, window=5, min_count=1, workers=4)
    model.save(str(tmp_path / "word2vec.model"))
    model = HilbertMLE.load(str(tmp_path / "word2vec.model"))
    assert model.train([["hello", "world"]], total_examples=1, epochs=1) == (0, 2)


def test_counts_are_trained_on_as_they_are_also_later(texts, tmp_path):
    counts = PairCounts.from_corpus(texts, window=3)
    model = HilbertMLE.from_counts(counts.expected(1e-3), vector_size=8)
    model.save(str(tmp_path / "model"))
    again = HilbertMLE.load(str(tmp_path / "model"))
    assert again.fitted_counts.total == model.fitted_counts.total == counts.expected(1e-3).total
    assert model.lifecycle_events[-1]["event"] in ("train", "saving")
    plain = HilbertMLE.from_counts(counts, vector_size=8)
    plain.train(texts[:10], total_examples=10, epochs=1)
    assert plain.fitted_counts.total > counts.total  # nothing is thinned that was not


def test_text_is_not_added_to_counts_of_another_window(texts):
    model = HilbertMLE.from_counts(PairCounts.from_corpus(texts, weights="harmonic"), vector_size=8)
    with pytest.raises(ValueError, match="another window"):
        model.train(texts, total_examples=len(texts), epochs=1)


def test_locks_grow_with_the_vocabulary(texts):
    model = HilbertMLE(texts[:60], **SMALL)
    model.wv.vectors_lockf = np.zeros(len(model.wv), dtype=np.float32)
    before = model.wv.vectors.copy()
    model.build_vocab(texts, update=True)
    model.train(texts, total_examples=len(texts), epochs=1)
    assert np.array_equal(model.wv.vectors[: len(before)], before)
    assert len(model.wv) > len(before)


def test_sums_are_sums_also_after_an_early_stop(texts):
    class Stop(Exception):
        pass

    class AfterOne:
        on_train_begin = on_train_end = on_epoch_begin = lambda self, model: None

        def on_epoch_end(self, model):
            self.model = model
            raise Stop

    stop = AfterOne()
    with pytest.raises(Stop):
        HilbertMLE(texts, **SMALL, vectors="v+w", callbacks=[stop])
    assert abs(stop.model.wv.vectors.mean(axis=0)).max() < 1e-5  # they are centred, vectors are not


def test_sums_are_not_summed_again_by_a_training_that_did_not_begin(texts):
    class Stop(Exception):
        pass

    class AtOnce:
        on_train_begin = on_train_end = on_epoch_end = lambda self, model: None

        def on_epoch_begin(self, model):
            raise Stop

    model = HilbertMLE(texts, **SMALL, vectors="v+w")
    before = model.wv.vectors.copy()
    with pytest.raises(Stop):
        model.train(texts[:20], total_examples=20, epochs=1, callbacks=[AtOnce()])
    assert np.array_equal(model.wv.vectors, before)


def test_words_without_pairs_go_with_nothing_in_particular(texts):
    model = HilbertMLE([*texts, *[["lonely"]] * 10], **SMALL, objective="sgns")
    assert abs(model.pmi("lonely", "the")) < 5  # noise has moved it, but it is no outlier
    model.build_vocab([["newcomer"] * 10], update=True)
    assert model.pmi("newcomer", "the") == pytest.approx(0, abs=1e-6)


def test_a_model_with_damaged_counts_is_loaded_without_them(trained, tmp_path, caplog):
    trained.save(str(tmp_path / "model"))
    (tmp_path / "model.counts" / "manifest.json").write_text("{")
    assert HilbertMLE.load(str(tmp_path / "model")).counts is None
    assert "is without them" in caplog.text


def test_what_is_solved_at_once_does_not_start_from_given_vectors(texts):
    model = HilbertMLE(texts, **SMALL, objective="ppmi-svd")
    model.wv.vectors[:] = 5
    with pytest.raises(ValueError, match="cannot start from given vectors"):
        model.train(texts, total_examples=len(texts), epochs=1)


def test_saved_vectors_need_no_gensim_hilbert(trained, texts, tmp_path):
    made_of_ngrams = HilbertMLE(texts, **SMALL, subwords=True, bucket=100)
    for name, model in (("v.kv", trained), ("n.kv", made_of_ngrams)):
        model.wv.save(str(tmp_path / name))
        code = (
            "import sys; sys.modules['gensim_hilbert'] = None\n"
            "from gensim.models import KeyedVectors\n"
            f"print(*KeyedVectors.load({str(tmp_path / name)!r})['the'])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert np.allclose([float(x) for x in done.stdout.split()], model.wv["the"], atol=1e-6)
    assert type(KeyedVectors.load(str(tmp_path / "v.kv"))) is KeyedVectors


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"l2": "strong"}, "'l2' parameter of HilbertMLE must be a number of 0 or more, or 'auto', got"),
        ({"l2": -1}, "'l2' parameter of HilbertMLE must be a number of 0 or more, or 'auto', got"),
        ({"l2": float("nan")}, "'l2' parameter of HilbertMLE must be a number of 0 or more, or 'auto', got"),
        ({"alpha": float("nan")}, "'alpha' parameter of HilbertMLE must be a number above 0, got"),
        ({"alpha": -0.1}, "'alpha' parameter of HilbertMLE must be a number above 0, got"),
        ({"vector_size": 0}, "'vector_size' parameter of HilbertMLE must be a whole number of 1 or more, got 0"),
        ({"precision": "half"}, "'precision' parameter of HilbertMLE must be one of 'float32', .* got 'half'"),
        ({"max_vocab_size": -1}, "'max_vocab_size' .* whole number of 0 or more, or None, got -1"),
        ({"temperature": 0.5}, "temperature must be 1 or more"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_read(wrong, why):
    with pytest.raises(ValueError, match=why):
        HilbertMLE(**wrong)


def test_numbers_of_numpy_and_none_are_taken_as_gensim_takes_them(texts):
    model = HilbertMLE(texts, **{**SMALL, "workers": None}, seed=np.int64(3), sample=None)
    assert np.array_equal(model.wv.vectors, HilbertMLE(texts, **SMALL, seed=3, sample=0).wv.vectors)
    assert HilbertMLE(seed=None).seed != HilbertMLE(seed=None).seed


def test_the_same_vectors_but_for_noise_whatever_the_seed(news):
    one, two = (HilbertMLE(news, vector_size=50, seed=seed) for seed in (1, 2))
    psi = [(model.syn1neg @ model.wv.vectors.T).ravel() for model in (one, two)]
    assert np.corrcoef(psi)[0, 1] > 0.99
    words = one.wv.index_to_key[:200]
    same = [
        len({w for w, _ in one.wv.most_similar(word)} & {w for w, _ in two.wv.most_similar(word)}) for word in words
    ]
    assert np.mean(same) > 8  # of 10 neighbours


def test_a_small_vocabulary_has_the_same_bits_whatever_threads_torch_has(texts):
    threads = torch.get_num_threads()
    try:
        vectors = []
        for number in (1, 2):
            torch.set_num_threads(number)
            vectors.append(HilbertMLE(texts, **SMALL).wv.vectors)
            assert torch.get_num_threads() == number, "what was set is set again"
    finally:
        torch.set_num_threads(threads)
    assert np.array_equal(*vectors)


def test_memory_is_not_overestimated_for_a_few_words(trained):
    assert trained.estimate_memory()["counts"] == 12 * len(trained.wv) ** 2
