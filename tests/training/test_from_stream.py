"""HilbertMLE from the stream, as a user of Gensim meets it."""

import copy
import gzip

import numpy as np
import pytest
from helpers import STREAM_OPTIONS, Recorder, assert_same_vectors
from memory import SLACK, measure, needs_proc
from texts import zipf_text

from gensim_hilbert import HilbertMLE, PairCounts, Vocabulary
from gensim_hilbert.training.gibbs import log_partition

SLOW = [pytest.param(sampler, marks=pytest.mark.slow) for sampler in ("metropolis", "exact")]


def test_the_prior_keeps_psi_small(news):
    lengths = []
    for l2 in (0, 1000):
        model = HilbertMLE(news[:100], **{**STREAM_OPTIONS, "l2": l2, "seed": 1})
        lengths.append(np.linalg.norm(model.syn1neg @ model.wv.vectors.T))
    assert lengths[1] < 0.7 * lengths[0]


@pytest.mark.parametrize("sampler", ["candidates", *SLOW])
def test_pmi_is_found_without_bias(sampler):
    """Sentences of two words, drawn from a known table of low rank: psi is its PMI."""
    random = np.random.default_rng(3)
    size = 30
    left, right = (random.normal(size=(size, 3)) * 0.6 for _ in range(2))
    p = random.dirichlet(np.full(size, 4.0))
    table = np.outer(p, p) * np.exp(left @ right.T)
    table += table.T
    table /= table.sum()
    pairs = np.divmod(random.choice(table.size, 60_000, p=table.ravel()), size)
    sentences = [[f"w{i}", f"w{j}"] for i, j in zip(*pairs, strict=True)]
    epochs, alpha = (10, 0.05) if sampler == "candidates" else (20, 0.02)
    model = HilbertMLE(
        sentences, vector_size=10, min_count=1, sample=0, window=1, workers=1, epochs=epochs, alpha=alpha,
        solver="gibbs", sampler=sampler,
    )  # fmt: skip
    marginal = table.sum(axis=0)
    truth = np.log(table / np.outer(marginal, marginal))
    fitted = np.array([[model.pmi(f"w{i}", f"w{j}") for j in range(size)] for i in range(size)])
    often = table > np.median(table)
    assert abs((fitted - truth)[often].mean()) < 0.05
    assert np.corrcoef(fitted[often], truth[often])[0, 1] > 0.95


def test_one_worker_gives_the_same_bits(news, stream_model):
    assert_same_vectors(HilbertMLE(news, **STREAM_OPTIONS, epochs=20), stream_model)
    other = HilbertMLE(news, **STREAM_OPTIONS | {"seed": 2}, epochs=20)
    assert not np.array_equal(other.wv.vectors, stream_model.wv.vectors)


def test_many_workers_learn_as_well(tmp_path, news):
    text = tmp_path / "news.txt"
    text.write_text("\n".join(" ".join(sentence) for sentence in news * 12), encoding="utf-8")  # several blocks
    losses = []
    for workers in (1, 3):
        model = HilbertMLE(
            corpus_file=str(text), **STREAM_OPTIONS | {"workers": workers}, epochs=2, compute_loss=True, sample=1e-4
        )
        losses.append(model.get_latest_training_loss())
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def test_the_words_of_a_compressed_file_that_were_trained_on_are_counted(tmp_path, news):
    path = tmp_path / "news.txt.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(" ".join(sentence) + "\n" for sentence in news)
    model = HilbertMLE(**STREAM_OPTIONS)
    model.build_vocab(corpus_file=path)
    used, read = model.train(corpus_file=path, total_words=model.corpus_total_words, epochs=3)
    assert read == 3 * sum(map(len, news))
    counts = [model.wv.get_vecattr(word, "count") for word in model.wv.index_to_key]
    expected = 3 * Vocabulary(model.wv.index_to_key, counts).keep_probability(model.sample) @ counts
    assert used == pytest.approx(expected, rel=0.02)


def test_new_words_join(news):
    model = HilbertMLE(news[:200], **STREAM_OPTIONS, epochs=5)
    before = len(model.wv)
    known = model.wv.index_to_key[0]
    model.build_vocab(news[200:], update=True)
    model.train(news[200:], total_examples=model.corpus_count, epochs=5)
    assert len(model.wv) > before
    assert model.syn1neg.shape == model.wv.vectors.shape
    assert known in model.wv
    assert np.abs(model.wv.vectors[before:]).max(axis=1).min() > 0


def test_warm_starts_both_ways(news, news_model, stream_model):
    counted = copy.deepcopy(news_model)
    psi = counted.syn1neg @ counted.wv.vectors.T
    counted.solver = "gibbs"
    counted.train(news, total_examples=len(news), epochs=1, start_alpha=0.001, end_alpha=0.0001)
    after = counted.syn1neg @ counted.wv.vectors.T
    assert np.corrcoef(psi.ravel(), after.ravel())[0, 1] > 0.99
    streamed = copy.deepcopy(stream_model)
    axis = streamed.wv.vectors[:, 0].copy()
    streamed.solver = "factorization"
    streamed.train(news, total_examples=len(news), epochs=1)
    assert streamed.psi_offset == 0
    assert streamed.counts is not None
    assert abs(np.corrcoef(axis, streamed.wv.vectors[:, 0])[0, 1]) > 0.5  # it went on from there, on the same axes


def test_locked_vectors_stay(news):
    model = HilbertMLE(**STREAM_OPTIONS)
    model.build_vocab(news)
    model.wv.vectors_lockf = np.ones(len(model.wv), dtype=np.float32)
    model.wv.vectors_lockf[3] = 0
    given = model.wv.vectors[3].copy()
    model.train(news, total_examples=len(news), epochs=2)
    assert np.array_equal(model.wv.vectors[3], given)
    assert not np.array_equal(model.wv.vectors[4], given)


class Failing:
    """Sentences that end in an error, the third time."""

    def __init__(self, sentences):
        self.sentences, self.times = sentences, 0

    def __iter__(self):
        self.times += 1
        for number, sentence in enumerate(self.sentences * 20):
            if self.times == 3 and number == 5000:
                raise ConnectionError("the line is dead")
            yield sentence


def test_a_stream_that_fails_leaves_a_usable_model(news, tmp_path):
    model = HilbertMLE(**STREAM_OPTIONS)
    sentences = Failing(news)
    model.build_vocab(sentences)
    with pytest.raises(ConnectionError, match="the line is dead") as caught:
        model.train(sentences, total_examples=model.corpus_count, epochs=5)
    assert "it can be used, saved and trained on" in caught.value.__notes__[0]
    assert np.isfinite(model.wv.vectors).all()
    assert {"laden", "osama"} & {word for word, _ in model.wv.most_similar("bin", topn=5)}
    model.save(str(tmp_path / "m"))
    HilbertMLE.load(str(tmp_path / "m")).train(news, total_examples=len(news), epochs=1)


def test_malformed_text_is_named(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"some good words here\n" * 50)
    model = HilbertMLE(**STREAM_OPTIONS | {"min_count": 1})
    model.build_vocab(corpus_file=path)
    path.write_bytes(b"some good words here\n" * 50 + b"and \xff bad\n")
    with pytest.raises(UnicodeError, match=r"bad\.txt"):
        model.train(corpus_file=path, total_words=200, epochs=1)


def test_iterators_are_read_for_one_epoch_only(news):
    model = HilbertMLE(**STREAM_OPTIONS)
    model.build_vocab(news)
    model.train((sentence for sentence in news), total_examples=len(news), epochs=1)
    with pytest.raises(TypeError, match="generator"):
        model.train((sentence for sentence in news), total_examples=len(news), epochs=2)


def test_small_and_odd_corpora():
    alone = HilbertMLE([["a"]], **STREAM_OPTIONS | {"min_count": 1})
    assert np.isfinite(alone.wv.vectors).all()
    few = HilbertMLE([["a", "b"], [], ["c"]], **STREAM_OPTIONS | {"min_count": 1, "vector_size": 50})
    assert np.isfinite(few.wv.vectors).all()
    long = HilbertMLE(
        [["x", "y", "z"] * 500_000], **STREAM_OPTIONS, epochs=1, sample=0
    )  # one sentence, longer than a block
    assert np.isfinite(long.wv.vectors).all()


def test_counts_are_refused_by_the_solver_of_the_stream(news):
    counts = PairCounts.from_corpus(news, min_count=20, progress=False)
    with pytest.raises(ValueError, match="solver='factorization'"):
        HilbertMLE.from_counts(counts, solver="gibbs")


def test_sums_cannot_be_trained_on(news):
    model = HilbertMLE(news, **STREAM_OPTIONS, vectors="v+w")
    with pytest.raises(ValueError, match="vectors='v'"):
        model.train(news, total_examples=len(news), epochs=1)


def test_memory_is_two_matrices_and_a_constant():
    report = HilbertMLE(solver="gibbs", workers=2, vector_size=100).estimate_memory(vocab_size=1_000_000)
    assert report["vectors"] == report["syn1neg"] == 4 * 100 * 1_000_000
    assert "counts" not in report
    assert report["workers"] < 50e6


TRAIN = """
import torch
from gensim_hilbert import HilbertMLE

model = HilbertMLE(vector_size=10, window=2, min_count=1, epochs=1, workers=2, solver="gibbs")
model.build_vocab_from_freq({f"w{k}": 1 + 1000 // (k + 1) for k in range(1000)})
before = status("VmRSS")
for _ in range(2):  # The second training also turns its result onto that of the first.
    model.train(corpus_file=sys.argv[1], total_words=1_000_000, epochs=1)
small = status("VmHWM") - before
model.train(corpus_file=sys.argv[2], total_words=1_000_000, epochs=1)
tell_peak_since(before, small=small)
"""


@needs_proc
def test_training_from_the_stream_takes_the_same_memory_for_any_corpus(tmp_path):
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    text = zipf_text(500_000, 1000)
    small.write_bytes(text)
    large.write_bytes(text * 8)
    found = measure(TRAIN, small, large)
    assert found["peak"] < 2 * (8 << 20) + SLACK
    assert found["peak"] < found["small"] + (8 << 20)


@pytest.mark.parametrize("subwords", [False, True])
def test_after_each_epoch_pmi_has_its_constant(news, subwords):
    offsets = []

    class Watch(Recorder):
        def on_epoch_end(self, model):
            super().on_epoch_end(model)
            counts = model.wv.expandos["count"].astype(float)
            offsets.append((model.psi_offset, log_partition(model.syn1neg, model.wv.vectors, counts)))

    options = {"vector_size": 10, "min_count": 10, "epochs": 3, "workers": 1, "sample": 0, "solver": "gibbs"}
    if subwords:
        options |= {"subwords": True, "bucket": 1000}
    HilbertMLE(news[:100], **options, callbacks=[Watch()])
    found, expected = np.array(offsets).T
    assert found == pytest.approx(expected, abs=1e-6)
    assert len(set(found)) == 3
