"""Training on counts: what a model counts, adds to them, and starts from."""

import copy

import numpy as np
import pytest
import torch
from helpers import (
    NEWS_OPTIONS,
    SMALL_OPTIONS,
    assert_same_but_for_a_turn,
    assert_same_counts,
    assert_same_vectors,
    full_training,
)

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.objectives import PPMI, Hilbert
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.from_counts import FromCounts, make_fit
from gensim_hilbert.training.truncated_svd import TruncatedSVD

pytestmark = pytest.mark.usefixtures("short_training")


class Reread:
    """A corpus that knows how often it was read."""

    def __init__(self, sentences):
        self.sentences, self.times = sentences, 0

    def __iter__(self):
        self.times += 1
        return iter(self.sentences)


@pytest.mark.parametrize(("options", "reads"), [({}, 2), ({"max_vocab_size": 1000}, 3), ({"null_word": 1}, 3)])
@pytest.mark.filterwarnings("ignore:HilbertMLE with solver=")
def test_a_corpus_is_read_once_for_words_and_once_for_pairs(some_news, options, reads):
    corpus = Reread(some_news)
    at_once = HilbertMLE(corpus, vector_size=5, min_count=5, **options)
    assert corpus.times == reads  # pruned words must be counted again
    in_steps = HilbertMLE(vector_size=5, min_count=5, **options)
    in_steps.build_vocab(corpus)
    in_steps.train(corpus, total_examples=in_steps.corpus_count, epochs=5)
    assert_same_counts(at_once.counts, in_steps.counts)
    np.testing.assert_array_equal(at_once.wv.vectors, in_steps.wv.vectors)
    before = at_once.counts.vocabulary
    at_once.train(some_news[:50], total_examples=50, epochs=1)  # another corpus has other counts
    assert at_once.counts.vocabulary.tokens == before.tokens + sum(map(len, some_news[:50]))


def test_training_on_a_then_b_is_training_on_both(some_news):
    half = len(some_news) // 2
    whole = HilbertMLE(vector_size=8, min_count=5, sorted_vocab=0)
    whole.build_vocab(some_news)
    whole.train(some_news, total_examples=len(some_news), epochs=1)
    parts = HilbertMLE(vector_size=8, min_count=5, sorted_vocab=0)
    parts.build_vocab(some_news)
    for part in (some_news[:half], some_news[half:]):
        result = parts.train(part, total_examples=len(part), epochs=1)
        assert result[1] == sum(map(len, part))
    assert parts.counts.fingerprint == whole.counts.fingerprint
    assert_same_but_for_a_turn(parts, whole)


def test_new_words_join_and_old_counts_stay(some_news):
    half = len(some_news) // 2
    model = HilbertMLE(some_news[:half], vector_size=8, min_count=5)
    old = list(model.wv.index_to_key)
    before = model.counts.total
    model.build_vocab(some_news[half:], update=True)
    assert model.wv.index_to_key[: len(old)] == old
    model.train(some_news[half:], total_examples=model.corpus_count, epochs=2)
    assert len(model.wv) > len(old)
    assert model.counts.total > before
    assert np.isfinite(model.wv.vectors).all()
    assert model.wv.vectors.shape == model.syn1neg.shape == (len(model.wv), 8)


def test_from_counts(news):
    counts = PairCounts.from_corpus(news, window=3, min_count=10)
    model = HilbertMLE.from_counts(counts, vector_size=15)
    assert model.wv.index_to_key == counts.vocabulary.words
    assert model.wv.vectors.shape == (len(counts), 15)
    assert model.window == 3
    assert model.min_count == 5
    assert "laden" in [word for word, _ in model.most_cooccurring("bin", topn=3)]


def test_locked_vectors_stay_and_given_ones_are_started_from(news_model, news, tmp_path):
    news_model.wv.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    other = HilbertMLE(**NEWS_OPTIONS)
    other.build_vocab(news)
    other.wv.vectors_lockf = np.ones(len(other.wv), dtype=np.float32)
    other.wv.intersect_word2vec_format(str(tmp_path / "v.bin"), binary=True, lockf=0.0)
    before = other.wv.vectors.copy()
    other.train(news, total_examples=len(news), epochs=1)
    np.testing.assert_array_equal(other.wv.vectors, before)
    assert other.syn1neg.any()


def test_given_covectors_are_started_from(news_model, news):
    other = HilbertMLE(**NEWS_OPTIONS, alpha=1e-9, min_alpha=1e-10)
    other.build_vocab(news)
    other.wv.vectors, other.syn1neg = news_model.wv.vectors.copy(), news_model.syn1neg.copy()
    other.train(news, total_examples=len(news), epochs=1)
    np.testing.assert_allclose(other.syn1neg, news_model.syn1neg, atol=1e-4)
    other.syn1neg[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        other.train(news, total_examples=len(news), epochs=1)


def test_workers_do_not_change_a_bit(news, news_model):
    with full_training():
        assert_same_vectors(HilbertMLE(news, **NEWS_OPTIONS | {"workers": 3}), news_model)


@pytest.mark.parametrize("once", [iter, lambda texts: (text for text in texts), lambda texts: map(list, texts)])
def test_iterators_are_counted_as_lists_are(small_model, some_news, once):
    twins = [copy.deepcopy(small_model) for _ in range(2)]
    done = [
        twin.train(some, total_examples=10, epochs=1)
        for twin, some in zip(twins, (once(some_news[:10]), some_news[:10]), strict=True)
    ]
    assert done[0] == done[1]
    assert twins[0].counts.fingerprint == twins[1].counts.fingerprint
    assert twins[0].counts.vocabulary.tokens == twins[1].counts.vocabulary.tokens


def test_a_corpus_may_differ_each_time_it_is_read(some_news, caplog):
    class Walks:
        random = np.random.default_rng(1)

        def __iter__(self):
            return (some_news[k] for k in self.random.integers(0, len(some_news), 80))

    assert np.isfinite(HilbertMLE(Walks(), **SMALL_OPTIONS).wv.vectors).all()
    assert "when its pairs were counted" in caplog.text


def test_a_training_that_cannot_begin_leaves_no_counts(small_model, some_news):
    model = copy.deepcopy(small_model)
    model.precision = "half"
    with pytest.raises(ValueError, match="precision"):
        model.train(some_news, total_examples=len(some_news), epochs=1)
    assert model.counts.fingerprint == small_model.counts.fingerprint


@pytest.mark.parametrize("text", [[], [["unheard"]], [["unheard", "of"]], [["the"]]])
def test_text_without_pairs_adds_nothing_to_what_is_known(small_model, text):
    twin = copy.deepcopy(small_model)
    words = sum(map(len, text))
    assert twin.train(text, total_examples=1, epochs=1) == (0, words)
    assert np.array_equal(twin.wv.vectors, small_model.wv.vectors)


def test_counts_are_trained_on_as_they_are_also_after_loading(some_news, tmp_path):
    counts = PairCounts.from_corpus(some_news, window=3)
    model = HilbertMLE.from_counts(counts.expected(1e-3), vector_size=8)
    model.save(str(tmp_path / "model"))
    again = HilbertMLE.load(str(tmp_path / "model"))
    assert again.fitted_counts.total == model.fitted_counts.total == counts.expected(1e-3).total
    assert model.lifecycle_events[-1]["event"] in ("train", "saving")
    plain = HilbertMLE.from_counts(counts, vector_size=8)
    plain.train(some_news[:10], total_examples=10, epochs=1)
    assert plain.fitted_counts.total > counts.total  # nothing is thinned that was not


def test_text_is_not_added_to_counts_of_another_window(some_news):
    model = HilbertMLE.from_counts(PairCounts.from_corpus(some_news, weights="harmonic"), vector_size=8)
    with pytest.raises(ValueError, match="another window"):
        model.train(some_news, total_examples=len(some_news), epochs=1)


def test_locks_grow_with_the_vocabulary(some_news):
    model = HilbertMLE(some_news[:60], **SMALL_OPTIONS)
    model.wv.vectors_lockf = np.zeros(len(model.wv), dtype=np.float32)
    before = model.wv.vectors.copy()
    model.build_vocab(some_news, update=True)
    model.train(some_news, total_examples=len(some_news), epochs=1)
    assert np.array_equal(model.wv.vectors[: len(before)], before)
    assert len(model.wv) > len(before)


def test_the_same_vectors_but_for_noise_whatever_the_seed(news):
    # A weaker prior than this leaves directions in which the loss is nearly flat.
    converged = {"passes": 300, "background": "dense", "sample": 1e-3, "temperature": 1.25, "l2": 22.4}
    options = NEWS_OPTIONS | converged
    one, two = (HilbertMLE(news, **options | {"seed": seed}) for seed in (1, 2))
    psi = [(model.syn1neg @ model.wv.vectors.T).ravel() for model in (one, two)]
    assert np.corrcoef(psi)[0, 1] > 0.99
    words = one.wv.index_to_key[:200]
    same = [
        len({w for w, _ in one.wv.most_similar(word)} & {w for w, _ in two.wv.most_similar(word)}) for word in words
    ]
    assert np.mean(same) > 8  # of 10 neighbours


def test_a_small_vocabulary_has_the_same_bits_whatever_threads_torch_has(some_news):
    threads = torch.get_num_threads()
    try:
        vectors = []
        for number in (1, 2):
            torch.set_num_threads(number)
            vectors.append(HilbertMLE(some_news, **SMALL_OPTIONS).wv.vectors)
            assert torch.get_num_threads() == number, "what was set is set again"
    finally:
        torch.set_num_threads(threads)
    assert np.array_equal(*vectors)


OPTIONS = {"epochs": 4, "vector_size": 5, "alpha": 0.025, "min_alpha": 0.0001}


@pytest.fixture(scope="module")
def counts(news):
    return PairCounts.from_corpus(news[:100], min_count=5)


def test_the_objective_decides_how_it_is_fitted(counts):
    assert isinstance(make_fit(Hilbert().bind(counts), 5), Factorization)
    assert isinstance(make_fit(PPMI().bind(counts), 5), TruncatedSVD)


def test_it_needs_no_model(counts, news):
    model = HilbertMLE.from_counts(counts, vector_size=5, epochs=4)
    solver = FromCounts(counts, Hilbert(), **OPTIONS, gauge=model.gauge)
    for epoch in range(4):
        solver.run_epoch(epoch)
    solver.close()
    fitted = solver.result()
    np.testing.assert_array_equal(fitted.covectors, model.syn1neg)
    np.testing.assert_array_equal(fitted.parameters, model.wv.vectors)
    assert [{"training": 1, **record} for record in fitted.history] == model.training_history


@pytest.mark.parametrize(("error", "sound"), [(KeyboardInterrupt, True), (MemoryError, False)])
def test_only_after_ctrl_c_vectors_can_be_used(counts, error, sound, monkeypatch):
    solver = FromCounts(counts, Hilbert(), **OPTIONS)
    solver.run_epoch(0)

    def fail(report):
        raise error

    monkeypatch.setattr(solver, "_show", fail)
    with pytest.raises(error):
        solver.run_epoch(1)
    solver.close()
    assert solver.is_sound is sound


def test_a_model_whose_training_is_interrupted_has_what_it_learnt_by_then(counts, monkeypatch):
    model = HilbertMLE.from_counts(counts, vector_size=5)
    whole = model.syn1neg @ model.wv.vectors.T
    show = FromCounts._show

    def interrupt(self, report):
        show(self, report)
        if report.passes >= 16:
            raise KeyboardInterrupt

    monkeypatch.setattr(FromCounts, "_show", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model._train_on_counts(5, ())
    psi = model.syn1neg @ model.wv.vectors.T
    assert not np.array_equal(psi, whole)
    assert np.corrcoef(psi.ravel(), whole.ravel())[0, 1] > 0.8, "it is on its way to that of a whole training"
    assert max(record["passes"] for record in model.training_history if record["training"] == 2) <= 16
