"""HilbertMLE(subwords=True): unseen words have vectors, and all that works without subwords still works."""

import copy

import numpy as np
import pytest
from gensim.models.fasttext import FastTextKeyedVectors
from helpers import Recorder, Stop, StopAfter, assert_same_but_for_a_turn, assert_same_vectors, full_training
from subword_models import OPTIONS, SOLVERS, train_subwords

from gensim_hilbert import HilbertMLE
from gensim_hilbert.vectors.subwords import SubwordVectors

pytestmark = pytest.mark.usefixtures("short_training")


def test_unknown_words_have_vectors_neighbours_and_pmi(subword_model):
    assert isinstance(subword_model.wv, FastTextKeyedVectors)
    assert "policing" not in subword_model.wv.key_to_index
    unknown = subword_model.wv["policing"]
    assert unknown.any()
    near = [word for word, _ in subword_model.wv.most_similar("policing", topn=len(subword_model.wv) // 20)]
    assert "police" in near
    row = subword_model.wv.get_index("the")
    assert subword_model.pmi("the", "policing") == pytest.approx(
        float(subword_model.syn1neg[row] @ unknown) - subword_model.psi_offset
    )
    best, value = subword_model.most_cooccurring("policing", topn=1)[0]
    assert value == pytest.approx(subword_model.pmi(best, "policing"), rel=1e-4)
    with pytest.raises(KeyError, match="policing"):
        subword_model.pmi("policing", "the")
    assert subword_model.predict_output_word(["policing"]) is None
    assert subword_model.predict_output_word(["the", "policing"]) == subword_model.predict_output_word(["the"])


def test_vectors_are_what_gensim_makes_of_them(subword_model):
    ours = subword_model.wv.vectors.copy()
    FastTextKeyedVectors.adjust_vectors(subword_model.wv)
    np.testing.assert_array_equal(ours, subword_model.wv.vectors)
    used = subword_model.wv.composition.used(subword_model.wv.bucket)
    assert not subword_model.wv.vectors_ngrams[~used].any()
    assert subword_model.wv.vectors_ngrams[used].any(axis=1).all()


def test_n_grams_of_trained_models_say_twice_the_mean(subword_model):
    wv = subword_model.wv
    said = np.mean([wv.vectors_ngrams[buckets].mean(axis=0) for buckets in wv.buckets_word if len(buckets)], axis=0)
    np.testing.assert_allclose(said, 2 * wv.vectors.mean(axis=0), rtol=1e-3, atol=1e-5)


def test_training_on_known_text_changes_no_n_gram(news):
    model = train_subwords(news[:60], "factorization", epochs=1)
    before, unknown = model.wv.vectors_ngrams.copy(), model.wv["policing"].copy()
    for _ in range(3):
        model.train(news[:60], total_examples=model.corpus_count, epochs=1)
    scale = np.abs(before).max()
    np.testing.assert_allclose(model.wv.vectors_ngrams, before, atol=1e-5 * scale)
    np.testing.assert_allclose(model.wv["policing"], unknown, atol=1e-5 * scale)


def test_psi_is_the_pmi_of_known_words(news):
    """As without subwords, where the prior is weak and there are dimensions enough."""
    text = news[:60]
    options = {"vector_size": 100, "min_count": 8, "epochs": 1, "l2": 0.1}
    plain, made = HilbertMLE(text, **options), train_subwords(text, "factorization", **options)
    psi = made.syn1neg @ made.wv.vectors.T
    assert np.corrcoef(psi.ravel(), (plain.syn1neg @ plain.wv.vectors.T).ravel())[0, 1] > 0.95


def test_sgns_is_fitted_with_subwords(news):
    with full_training():
        model = train_subwords(news[:150], "factorization", objective="sgns")
    best, value = model.most_cooccurring("policing", topn=1)[0]
    assert value == pytest.approx(model.pmi(best, "policing"), rel=1e-4)
    cosines = model.wv.cosine_similarities(model.wv["policing"], model.wv.vectors)
    assert np.mean(cosines > model.wv.similarity("policing", "police")) < 0.1


@pytest.mark.parametrize("mmap", [pytest.param(None, marks=pytest.mark.slow), "r"])
def test_a_model_is_saved_and_loaded(subword_model, tmp_path, mmap):
    path = str(tmp_path / "model")
    subword_model.save(path, sep_limit=0)
    again = HilbertMLE.load(path, mmap=mmap)
    assert_same_vectors(again, subword_model)
    np.testing.assert_array_equal(again.wv["policing"], subword_model.wv["policing"])
    assert isinstance(again.wv, SubwordVectors)
    twin = copy.deepcopy(subword_model)
    for model in (again, twin):
        model.build_vocab([["policing", "policed"]] * 3, update=True)
        model.train([["policing", "policed"]] * 3, total_examples=3, epochs=1)
    assert "policing" in again.wv.key_to_index
    assert_same_vectors(again, twin)
    assert "policing" not in HilbertMLE.load(path).wv.key_to_index
    subword_model.wv.save(str(tmp_path / "vectors"))
    vectors = FastTextKeyedVectors.load(str(tmp_path / "vectors"))
    np.testing.assert_array_equal(vectors["policing"], subword_model.wv["policing"])


@pytest.mark.parametrize("solver", SOLVERS)
def test_interrupted_training_goes_on_to_the_same_vectors(news, solver, tmp_path):
    text = news[:100]
    # Seven epochs of a pass or so each end in the middle of whatever there is.
    expected = train_subwords(text, solver, epochs=7, checkpoint=tmp_path / "whole")
    with pytest.raises(Stop):
        train_subwords(text, solver, epochs=7, checkpoint=tmp_path / "cut", callbacks=[StopAfter(2)])
    assert_same_vectors(train_subwords(text, solver, epochs=7, checkpoint=tmp_path / "cut"), expected)
    assert_same_vectors(train_subwords(text, solver, epochs=7), expected)
    with pytest.raises(ValueError, match="max_n was 6, and is now 5"):
        train_subwords(text, solver, epochs=7, checkpoint=tmp_path / "cut", max_n=5)


def test_workers_do_not_change_the_result(news):
    assert_same_vectors(
        train_subwords(news[:100], "factorization", workers=3), train_subwords(news[:100], "factorization")
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_callbacks_see_vectors_of_unknown_words_change(news, solver):
    seen = []

    class Look(Recorder):
        def on_epoch_end(self, model):
            seen.append(model.wv["policing"])
            np.testing.assert_allclose(model.wv.norms, np.linalg.norm(model.wv.vectors, axis=1), rtol=1e-5)

    train_subwords(news[:100], solver, callbacks=[Look()])
    assert len(seen) == OPTIONS["epochs"]
    assert len({x.tobytes() for x in seen}) == len(seen)


@pytest.mark.parametrize("solver", SOLVERS)
def test_new_words_join(news, solver):
    model = train_subwords(news[:100], solver)
    more = [["policing", "policed", "police", "the"]] * 20
    guess = model.wv["policing"]
    old = model.wv.vectors_ngrams.copy()
    model.build_vocab(more, update=True)
    assert len(model.syn1neg) == len(model.wv.vectors) == len(model.wv)
    used = old.any(axis=1)
    np.testing.assert_array_equal(model.wv.vectors_ngrams[used], old[used])
    model.train(more, total_examples=len(more), epochs=3)
    assert "policing" in model.wv.key_to_index
    assert not np.array_equal(model.wv["policing"], guess)
    assert model.wv.similarity("policing", "policed") > model.wv.similarity("policing", "australia")


def test_training_twice_is_training_on_both(news):
    first, second = news[:60], news[60:120]
    both = train_subwords(first + second, "factorization", sample=0)
    model = HilbertMLE(solver="factorization", subwords=True, sample=0, **OPTIONS)
    model.build_vocab(first + second)
    for part in (first, second):
        model.train(part, total_examples=len(part), epochs=OPTIONS["epochs"])
    assert_same_but_for_a_turn(model, both)


def test_training_starts_from_n_grams_that_were_set(news):
    expected = train_subwords(news[:100], "gibbs")
    model = train_subwords(news[:100], "gibbs")
    model.wv.vectors_ngrams *= 1.5
    model.wv.adjust_vectors()
    for other in (expected, model):
        other.train(news[:100], total_examples=100, epochs=1)
    assert not np.array_equal(model.wv.vectors, expected.wv.vectors)


def test_options_that_do_not_go_with_subwords_are_refused(news, tmp_path):
    with pytest.raises(ValueError, match=r"vectors='v\+w' adds covectors"):
        train_subwords(news, "factorization", vectors="v+w")
    with pytest.raises(ValueError, match="there are no n-grams with min_n=4, max_n=3"):
        train_subwords(news, "factorization", min_n=4, max_n=3)
    for objective in ("glove", "lds", "ppmi-svd"):
        with pytest.raises(ValueError, match=f"objective='{objective}' does not go with subwords"):
            train_subwords(news, "factorization", objective=objective)
    with pytest.warns(UserWarning, match="no use for max_n"):
        HilbertMLE(news[:20], max_n=5, vector_size=4, epochs=1)
    model = train_subwords(news[:50], "gibbs")
    with pytest.raises(NotImplementedError, match="subwords=False"):
        model.wv.intersect_word2vec_format(tmp_path / "any")
    model.wv.vectors_lockf = np.zeros(len(model.wv), dtype=np.float32)
    with pytest.raises(ValueError, match="none can be locked: set vectors_lockf to 1"):
        model.train(news[:50], total_examples=50, epochs=1)
    model.wv.vectors_lockf = np.ones(1, dtype=np.float32)
    model.wv.vectors[3] = 1
    with pytest.raises(ValueError, match="vectors are means of vectors_vocab and vectors_ngrams"):
        model.train(news[:50], total_examples=50, epochs=1)


def test_memory_is_estimated_by_what_is_there(subword_model):
    report = subword_model.estimate_memory()
    assert report["vectors_ngrams"] == subword_model.wv.vectors_ngrams.nbytes
    assert report["vectors_vocab"] == subword_model.wv.vectors_vocab.nbytes
    assert report["total"] == sum(value for name, value in report.items() if name != "total")
    assert subword_model.estimate_memory(vocab_size=10_000)["total"] > report["total"]
