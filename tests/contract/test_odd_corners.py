"""Situations in which scripts that were written for Word2Vec find themselves, run beside Word2Vec."""

import copy
import logging
import pickle

import numpy as np
import pytest
from gensim.models import Word2Vec
from gensim.models.callbacks import CallbackAny2Vec
from gensim.test.utils import common_texts
from shell import run_python

from gensim_hilbert import HilbertMLE

OURS = [pytest.param({"solver": solver}, id=solver) for solver in ("factorization", "gibbs")]
OPTIONS = {"vector_size": 8, "min_count": 1, "epochs": 3, "workers": 1, "sample": 0}
pytestmark = pytest.mark.usefixtures("short_training")


class DrawnAnew:
    """A corpus that counts how often it is read, and has other sentences each time, as random walks do."""

    def __init__(self, draws=1):
        self.draws, self.readings = draws, 0

    def __iter__(self):
        self.readings += 1
        for draw in range(self.draws):
            order = np.random.default_rng(self.readings * 100 + draw).permutation(len(common_texts))
            yield from (common_texts[k] for k in order)


class Rates(CallbackAny2Vec):
    """What callbacks see of the learning rate after each epoch."""

    def __init__(self):
        self.first, self.reached = [], []

    def on_epoch_end(self, model):
        self.first.append(model.alpha)
        self.reached.append(model.min_alpha_yet_reached)


@pytest.mark.parametrize("options", OURS)
def test_sentences_without_a_pair_give_vectors_and_one_warning(options, caplog):
    alone = [["a"], ["b"]] * 10
    model, peer = HilbertMLE(alone, **OPTIONS, **options), Word2Vec(alone, **OPTIONS)
    warnings = [record for record in caplog.records if record.name.startswith("gensim_hilbert")]
    assert ["nothing is learnt" in record.getMessage() for record in warnings] == [True]
    for one in (model, peer):
        assert np.abs(one.wv["a"]).max() > 0
        [(word, cosine)] = one.wv.most_similar("a")
        assert word == "b"
        assert np.isfinite(cosine)
        one.train([["a", "b"]] * 50, total_examples=50, epochs=2)
        assert np.isfinite(one.wv["a"]).all()


@pytest.mark.parametrize("options", OURS)
def test_the_table_for_drawing_words_can_be_looked_at(options, tmp_path):
    model, peer = HilbertMLE(common_texts, **OPTIONS, **options), Word2Vec(common_texts, **OPTIONS)
    np.testing.assert_allclose(model.cum_table.astype(float), peer.cum_table, atol=1)
    assert model.cum_table.dtype == peer.cum_table.dtype
    for one in (model, peer):
        one.make_cum_table(domain=1000)
        assert one.cum_table[-1] == 1000
    model.save(str(tmp_path / "model"))
    np.testing.assert_allclose(HilbertMLE.load(str(tmp_path / "model")).cum_table.astype(float)[-1], 2**31 - 1)


@pytest.mark.parametrize("options", OURS)
def test_the_log_tells_our_own_estimate_of_memory(options, caplog):
    model = HilbertMLE(**OPTIONS, **options)
    with caplog.at_level(logging.INFO):
        model.build_vocab(common_texts)
    [told] = [record for record in caplog.records if "estimated required memory" in record.getMessage()]
    report = model.estimate_memory()
    assert told.args == (12, 8, report["total"])
    gensims = Word2Vec(common_texts, **OPTIONS).estimate_memory()
    assert {name: report[name] for name in ("vocab", "vectors", "syn1neg")} == {
        name: gensims[name] for name in ("vocab", "vectors", "syn1neg")
    }
    assert report["total"] == sum(report.values()) - report["total"] > gensims["total"]


@pytest.mark.parametrize(
    ("kind", "options", "at_first", "later"),
    [
        pytest.param(HilbertMLE, {}, 2, 2, id="factorization"),
        pytest.param(HilbertMLE, {"solver": "gibbs"}, 4, 5, id="gibbs"),
        pytest.param(Word2Vec, {}, 4, 5, id="Word2Vec"),
    ],
)
def test_a_corpus_is_read_as_often_as_documented(kind, options, at_first, later):
    corpus = DrawnAnew()
    model = kind(corpus, **OPTIONS, **options)  # 3 epochs
    assert corpus.readings == at_first
    model.train(corpus, total_examples=model.corpus_count, epochs=5)
    assert corpus.readings - at_first == later


def test_a_corpus_that_repeats_its_draws_is_counted_so_often():
    one, many = (HilbertMLE(DrawnAnew(draws), **OPTIONS) for draws in (1, 7))
    assert many.counts.total == pytest.approx(7 * one.counts.total)


@pytest.mark.parametrize("options", OURS)
def test_callbacks_see_the_rate_fall_as_in_gensim(options):
    rates, gensims = Rates(), Rates()
    model = HilbertMLE(common_texts, **OPTIONS, **options, callbacks=[rates])
    peer = Word2Vec(common_texts, **OPTIONS, callbacks=[gensims])
    assert rates.first == gensims.first == [0.025] * 3  # gensim leaves `alpha` alone, too
    np.testing.assert_allclose(rates.reached[:2], gensims.reached[1:])  # gensim tells the rate of its last batch
    assert rates.reached[2] == pytest.approx(0.0001)
    assert model.min_alpha_yet_reached <= peer.min_alpha_yet_reached


@pytest.mark.parametrize("options", OURS)
def test_a_corpus_that_fails_raises_its_own_error(options):
    class Failing:
        def __init__(self):
            self.readings = 0

        def __iter__(self):
            self.readings += 1
            yield from common_texts
            if self.readings > 1:
                raise OSError("the database is gone")

    with pytest.raises(OSError, match="the database is gone"):
        HilbertMLE(Failing(), **OPTIONS, **options)


def test_the_path_of_a_file_is_not_taken_for_sentences(plain):
    for path in (str(plain), plain):
        with pytest.raises(TypeError, match=r"pass corpus_file=.*text\.txt"):
            HilbertMLE(path, **OPTIONS)
        with pytest.raises(TypeError, match="corpus_file="):
            HilbertMLE(**OPTIONS).build_vocab(path)
    model = HilbertMLE(corpus_file=str(plain), **OPTIONS)
    with pytest.raises(TypeError, match="corpus_file="):
        model.train(str(plain), total_examples=1, epochs=1)


@pytest.mark.parametrize("subwords", [False, True])
def test_pickled_vectors_load_where_only_gensim_is_installed(subwords, tmp_path):
    model = HilbertMLE(common_texts, **OPTIONS, subwords=subwords, **({"bucket": 100} if subwords else {}))
    kind = type(model.wv)
    assert b"gensim_hilbert" not in pickle.dumps(model.wv)
    (tmp_path / "vectors").write_bytes(pickle.dumps(model.wv))
    program = """
import pickle, sys
sys.modules["gensim_hilbert"] = None
vectors = pickle.load(open(sys.argv[1], "rb"))
print(type(vectors).__name__, vectors.most_similar("human")[0][0])
"""
    done = run_python(program, tmp_path / "vectors")
    gensims = "FastTextKeyedVectors" if subwords else "KeyedVectors"
    assert done.stdout.split() == [gensims, model.wv.most_similar("human")[0][0]], done.stderr
    model.save(str(tmp_path / "model"))
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), HilbertMLE.load(str(tmp_path / "model"))):
        assert type(twin.wv) is kind
        twin.train(common_texts, total_examples=9, epochs=1)
    for vectors in (copy.copy(model.wv), copy.deepcopy(model.wv)):
        assert type(vectors) is kind
        np.testing.assert_array_equal(vectors.vectors, model.wv.vectors)


def test_loading_a_file_of_word2vec_says_so(tmp_path, caplog):
    Word2Vec(common_texts, **OPTIONS).save(str(tmp_path / "peer"))
    assert type(HilbertMLE.load(str(tmp_path / "peer"))) is Word2Vec
    [warning] = [record for record in caplog.records if record.name.startswith("gensim_hilbert")]
    assert "holds a Word2Vec of gensim" in warning.getMessage()
    assert "gensim.models.word2vec.Word2Vec.load" in warning.getMessage()
