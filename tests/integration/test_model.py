"""HilbertMLE as a user of gensim meets it."""

import gzip
import inspect
import pickle
import warnings

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from helpers import Recorder, assert_same
from scipy.linalg import orthogonal_procrustes

from gensim_hilbert import HilbertMLE, PairCounts


@pytest.fixture(scope="module")
def model(news):
    return HilbertMLE(news, vector_size=30, min_count=10, seed=1, compute_loss=True)


def test_the_signature_is_gensims_and_ours_comes_after():
    theirs, ours = (list(inspect.signature(kind.__init__).parameters.values()) for kind in (Word2Vec, HilbertMLE))
    for mine, gensims in zip(ours, theirs, strict=False):
        assert (mine.name, mine.default) == (gensims.name, gensims.default)
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in ours[len(theirs) :])
    assert isinstance(HilbertMLE(), Word2Vec)


def test_one_warning_names_all_arguments_without_effect():
    with pytest.warns(UserWarning, match="hs, negative, cbow_mean") as caught:
        HilbertMLE(hs=1, negative=10, cbow_mean=0)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HilbertMLE(sg=1)


def test_vectors_are_like_words_and_covectors_go_with_them(model):
    assert {"laden", "osama"} & {word for word, _ in model.wv.most_similar("bin", topn=3)}
    assert "laden" in [word for word, _ in model.most_cooccurring("bin", topn=3)]
    assert model.predict_output_word(["osama", "bin"])[0][0] == "laden"
    sentence, nonsense = model.score([["osama", "bin", "laden"], ["laden", "cricket", "interest"]])
    assert sentence > nonsense


def test_vectors_and_covectors_are_keyed_vectors(model):
    for side in (model.wv, model.covectors):
        assert isinstance(side, KeyedVectors)
        assert side.vectors.dtype == np.float32
        assert side.vectors.flags.c_contiguous
        assert side.index_to_key == model.wv.index_to_key
        assert side.get_vecattr("the", "count") == model.wv.get_vecattr("the", "count")
    assert model.covectors.vectors is model.syn1neg
    psi = model.syn1neg @ model.wv.vectors.T
    i, j = model.wv.get_index("bin"), model.wv.get_index("laden")
    assert model.pmi("bin", "laden") == pytest.approx(psi[i, j], rel=1e-5)


def test_psi_follows_the_counted_pmi(model):
    table = model.counts.to_scipy().tocoo()
    often = table.data >= 10
    rows, columns = table.row[often], table.col[often]
    contexts, terms = model.counts.marginals
    pmi = np.log(table.data[often] * model.counts.total / contexts[rows] / terms[columns])
    psi = np.einsum("kd,kd->k", model.syn1neg[rows], model.wv.vectors[columns])
    assert np.corrcoef(pmi, psi)[0, 1] > 0.8


@pytest.mark.parametrize("epochs", [1, 5, 60])
def test_epochs_are_rounds_not_work(news, model, epochs):
    recorder = Recorder()
    other = HilbertMLE(
        news, vector_size=30, min_count=10, seed=1, epochs=epochs, compute_loss=True, callbacks=[recorder]
    )
    assert recorder.events == ["train begins"] + ["epoch begins", "epoch ends"] * epochs + ["train ends"]
    assert recorder.losses[-1] <= recorder.losses[0]
    assert np.array_equal(recorder.vectors[-1], other.wv.vectors)
    np.testing.assert_array_equal(other.wv.vectors, model.wv.vectors)


def test_the_history_of_training_has_a_record_a_pass_and_is_saved(model, tmp_path):
    history = model.training_history
    assert [record["passes"] for record in history] == list(range(1, len(history) + 1))
    assert history[-1]["loss"] < 0.95 * history[0]["loss"]
    assert history[-1]["unitarity"] == pytest.approx(1, abs=0.1)
    model.save(str(tmp_path / "m"))
    assert HilbertMLE.load(str(tmp_path / "m")).training_history == history
    model = HilbertMLE.load(str(tmp_path / "m"))
    model.init_weights()
    assert model.training_history == []


def test_workers_do_not_change_a_bit(news, model):
    other = HilbertMLE(news, vector_size=30, min_count=10, seed=1, workers=1)
    np.testing.assert_array_equal(other.wv.vectors, model.wv.vectors)
    np.testing.assert_array_equal(other.syn1neg, model.syn1neg)


class Reread:
    """A corpus that knows how often it was read."""

    def __init__(self, sentences):
        self.sentences, self.times = sentences, 0

    def __iter__(self):
        self.times += 1
        return iter(self.sentences)


@pytest.mark.parametrize(("options", "reads"), [({}, 2), ({"max_vocab_size": 3000}, 3), ({"null_word": 1}, 3)])
@pytest.mark.filterwarnings("ignore:HilbertMLE with solver=")
def test_a_corpus_is_read_once_for_words_and_once_for_pairs(news, options, reads):
    corpus = Reread(news)
    at_once = HilbertMLE(corpus, vector_size=5, min_count=10, **options)
    assert corpus.times == reads  # pruned words must be counted again
    in_steps = HilbertMLE(vector_size=5, min_count=10, **options)
    in_steps.build_vocab(corpus)
    in_steps.train(corpus, total_examples=in_steps.corpus_count, epochs=5)
    assert_same(at_once.counts, in_steps.counts)
    np.testing.assert_array_equal(at_once.wv.vectors, in_steps.wv.vectors)
    before = at_once.counts.vocabulary
    at_once.train(news[:50], total_examples=50, epochs=1)  # another corpus has other counts
    assert at_once.counts.vocabulary.tokens == before.tokens + sum(map(len, news[:50]))


def test_training_on_a_then_b_is_training_on_both(news):
    half = len(news) // 2
    whole = HilbertMLE(vector_size=20, min_count=10, sorted_vocab=0)
    whole.build_vocab(news)
    whole.train(news, total_examples=len(news), epochs=1)
    parts = HilbertMLE(vector_size=20, min_count=10, sorted_vocab=0)
    parts.build_vocab(news)
    for part in (news[:half], news[half:]):
        result = parts.train(part, total_examples=len(part), epochs=1)
        assert result[1] == sum(map(len, part))
    assert parts.counts.fingerprint == whole.counts.fingerprint
    np.testing.assert_array_equal(parts.wv.vectors, whole.wv.vectors)


def test_new_words_join_and_old_counts_stay(news):
    half = len(news) // 2
    model = HilbertMLE(news[:half], vector_size=20, min_count=10)
    old = list(model.wv.index_to_key)
    before = model.counts.total
    model.build_vocab(news[half:], update=True)
    assert model.wv.index_to_key[: len(old)] == old
    model.train(news[half:], total_examples=model.corpus_count, epochs=2)
    assert len(model.wv) > len(old)
    assert model.counts.total > before
    assert np.isfinite(model.wv.vectors).all()
    assert model.wv.vectors.shape == model.syn1neg.shape == (len(model.wv), 20)


@pytest.mark.parametrize("mmap", [None, "r"])
def test_saved_models_load_and_train_on(model, news, tmp_path, mmap):
    model.save(str(tmp_path / "model"), sep_limit=100)
    loaded = HilbertMLE.load(str(tmp_path / "model"), mmap=mmap)
    np.testing.assert_array_equal(loaded.wv.vectors, model.wv.vectors)
    np.testing.assert_array_equal(loaded.syn1neg, model.syn1neg)
    assert loaded.counts.fingerprint == model.counts.fingerprint
    loaded.train(news[:50], total_examples=50, epochs=1)
    assert loaded.counts.total > model.counts.total


def test_threshold_and_precision_are_used_and_saved(model, news, tmp_path):
    other = HilbertMLE(news, vector_size=30, min_count=10, seed=1, threshold=1e-3, precision="bf16")
    assert np.corrcoef(other.wv.vectors.ravel(), model.wv.vectors.ravel())[0, 1] < 0.999
    other.save(str(tmp_path / "model"))
    loaded = HilbertMLE.load(str(tmp_path / "model"))
    assert (loaded.threshold, loaded.precision) == (1e-3, "bf16")
    loaded.train(news[:50], total_examples=50, epochs=1)


def test_progress_is_logged_as_often_as_asked(news, caplog):
    caplog.set_level("INFO", logger="gensim_hilbert")
    model = HilbertMLE(vector_size=10, min_count=20)
    model.build_vocab(news)

    def lines(report_delay: float) -> list[str]:
        caplog.clear()
        model.train(news, total_examples=len(news), epochs=2, report_delay=report_delay)
        return [message for message in caplog.messages if message.startswith("PROGRESS")]

    often = lines(0)
    assert len(often) > 50
    assert all(word in often[0] for word in ("pass 1.00 of", "loss", "sum p^", "gradient"))
    assert not lines(1000)


def test_models_without_counts_are_pickled_and_load_alone(model, tmp_path):
    model.save(str(tmp_path / "model"))
    (tmp_path / "alone").write_bytes((tmp_path / "model").read_bytes())
    assert HilbertMLE.load(str(tmp_path / "alone")).wv.most_similar("police")
    again = pickle.loads(pickle.dumps(model))
    assert again.wv.most_similar("police") == model.wv.most_similar("police")
    assert again.counts is None


def test_word2vec_formats(model, tmp_path):
    model.wv.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    model.covectors.save_word2vec_format(str(tmp_path / "c.txt.gz"))
    vectors = KeyedVectors.load_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    covectors = KeyedVectors.load_word2vec_format(str(tmp_path / "c.txt.gz"))
    np.testing.assert_array_equal(vectors.vectors, model.wv.vectors)
    np.testing.assert_allclose(covectors["police"], model.covectors["police"], atol=1e-6)


def test_corpus_files_may_be_compressed(news, tmp_path):
    text = "\n".join(" ".join(sentence) for sentence in news).encode()
    (tmp_path / "news.txt").write_bytes(text)
    (tmp_path / "news.txt.gz").write_bytes(gzip.compress(text))
    plain, packed = (
        HilbertMLE(corpus_file=str(tmp_path / name), vector_size=10, min_count=20, epochs=1)
        for name in ("news.txt", "news.txt.gz")
    )
    np.testing.assert_array_equal(plain.wv.vectors, packed.wv.vectors)
    with pytest.raises(TypeError, match="nowhere"):
        HilbertMLE(corpus_file=str(tmp_path / "nowhere.txt"))


def test_from_counts(news):
    counts = PairCounts.from_corpus(news, window=3, min_count=10)
    model = HilbertMLE.from_counts(counts, vector_size=15)
    assert model.wv.index_to_key == counts.vocabulary.words
    assert model.wv.vectors.shape == (len(counts), 15)
    assert model.window == 3
    assert model.min_count == 5
    assert "laden" in [word for word, _ in model.most_cooccurring("bin", topn=3)]


def test_locked_vectors_stay_and_given_ones_are_started_from(model, news, tmp_path):
    model.wv.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    other = HilbertMLE(vector_size=30, min_count=10)
    other.build_vocab(news)
    other.wv.vectors_lockf = np.ones(len(other.wv), dtype=np.float32)
    other.wv.intersect_word2vec_format(str(tmp_path / "v.bin"), binary=True, lockf=0.0)
    before = other.wv.vectors.copy()
    other.train(news, total_examples=len(news), epochs=1)
    np.testing.assert_array_equal(other.wv.vectors, before)
    assert other.syn1neg.any()


def test_given_covectors_are_started_from(model, news):
    other = HilbertMLE(vector_size=30, min_count=10, alpha=1e-9, min_alpha=1e-10)
    other.build_vocab(news)
    other.wv.vectors, other.syn1neg = model.wv.vectors.copy(), model.syn1neg.copy()
    other.train(news, total_examples=len(news), epochs=1)
    np.testing.assert_allclose(other.syn1neg, model.syn1neg, atol=1e-4)
    other.syn1neg[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        other.train(news, total_examples=len(news), epochs=1)


def test_sums(news, model):
    both = HilbertMLE(news, vector_size=30, min_count=10, seed=1, vectors="v+w")
    np.testing.assert_array_equal(both.syn1neg, model.syn1neg)
    balanced = HilbertMLE(news, vector_size=30, min_count=10, seed=1, gauge=0.5)
    turn, _ = orthogonal_procrustes(balanced.syn1neg, balanced.wv.vectors)
    total = balanced.wv.vectors + balanced.syn1neg @ turn
    np.testing.assert_allclose(both.wv.vectors, total - total.mean(axis=0), atol=1e-4)
    with pytest.raises(ValueError, match="vectors='v'"):
        both.pmi("bin", "laden")


def test_small_and_odd_corpora():
    with pytest.raises(ValueError, match="single pair"):
        HilbertMLE([["alone"]] * 10, min_count=1)
    assert HilbertMLE([["a", "b"]] * 10, min_count=1, vector_size=50).wv.vectors.shape == (2, 50)
    repeated = HilbertMLE([["a", "a", "a"]] * 10, min_count=1, vector_size=5)
    assert np.isfinite(repeated.wv.vectors).all()
    lonely = HilbertMLE([["a", "b"]] * 10 + [["c"]] * 10, min_count=1, vector_size=5)
    assert np.abs(lonely.wv["c"]).max() < 1e-12


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 0}, "workers"),
        ({"solver": "magic"}, "'magic'"),
        ({"vectors": "w"}, "'w'"),
        ({"device": "cuda:7"}, "cuda:7"),
        ({"temperature": 0.5}, "temperature"),
        ({"threshold": 1.5}, r"threshold.*1\.5"),
        ({"precision": "half"}, "'half'"),
    ],
)
def test_bad_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        HilbertMLE([["a", "b"]] * 10, min_count=1, **options)


def test_estimate_memory_has_counts_and_shards(model):
    report = model.estimate_memory()
    assert {"counts", "shards", "optimizer", "vectors", "syn1neg", "total"} <= set(report)
    assert report["total"] == sum(value for key, value in report.items() if key != "total")
