"""HilbertMLE(subwords=True): words never seen have vectors, and all that works without subwords still does."""

import json

import numpy as np
import pytest
from gensim.models.fasttext import FastText, FastTextKeyedVectors, load_facebook_vectors
from helpers import Recorder, some_text
from shell import assert_one_sentence, run_here

from gensim_hilbert import HilbertMLE
from gensim_hilbert.export import export, load_vectors
from gensim_hilbert.model_training import starting_point
from gensim_hilbert.training import factorization
from gensim_hilbert.vectors.subwords import SubwordVectors

SOLVERS = ("factorization", "gibbs")
SMALL = {"vector_size": 12, "min_count": 2, "epochs": 4, "workers": 1, "bucket": 30_000, "progress": False}
ODD = [["</s>", "naïve", "日本語", "aaaaaaaa", "x"]] * 5


def train(sentences, solver, **options) -> HilbertMLE:
    return HilbertMLE(sentences, solver=solver, subwords=True, **{**SMALL, **options})


@pytest.fixture(scope="module", autouse=True)
def _short_training():
    """Enough to see that it learns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factorization, "UPDATES", 48)
        patch.setattr(factorization, "LEAST_PASSES", 3)
        yield


@pytest.fixture(scope="module", params=SOLVERS)
def model(request, news):
    return train(news[:150] + ODD, request.param)


def assert_same(model: HilbertMLE, expected: HilbertMLE) -> None:
    np.testing.assert_array_equal(model.wv.vectors, expected.wv.vectors)
    np.testing.assert_array_equal(model.wv.vectors_ngrams, expected.wv.vectors_ngrams)
    np.testing.assert_array_equal(model.syn1neg, expected.syn1neg)


def test_unknown_words_have_vectors_neighbours_and_pmi(model):
    assert isinstance(model.wv, FastTextKeyedVectors)
    assert "policing" not in model.wv.key_to_index
    unknown = model.wv["policing"]
    assert unknown.any()
    near = [word for word, _ in model.wv.most_similar("policing", topn=len(model.wv) // 20)]
    assert "police" in near
    row = model.wv.get_index("the")
    assert model.pmi("the", "policing") == pytest.approx(float(model.syn1neg[row] @ unknown) - model.psi_offset)
    best, value = model.most_cooccurring("policing", topn=1)[0]
    assert value == pytest.approx(model.pmi(best, "policing"), rel=1e-4)
    with pytest.raises(KeyError, match="policing"):
        model.pmi("policing", "the")
    assert model.predict_output_word(["policing"]) is None
    assert model.predict_output_word(["the", "policing"]) == model.predict_output_word(["the"])


def test_vectors_are_what_gensim_makes_of_them(model):
    ours = model.wv.vectors.copy()
    FastTextKeyedVectors.adjust_vectors(model.wv)
    np.testing.assert_array_equal(ours, model.wv.vectors)
    used = model.wv.composition.used(model.wv.bucket)
    assert not model.wv.vectors_ngrams[~used].any()
    assert model.wv.vectors_ngrams[used].any(axis=1).all()


def test_psi_is_the_pmi_of_known_words(news):
    """As without subwords, where the prior is weak and there are dimensions enough."""
    text = news[:60]
    options = {"vector_size": 100, "min_count": 8, "epochs": 1, "l2": 0.1}
    plain, made = HilbertMLE(text, **options), train(text, "factorization", **options)
    psi = made.syn1neg @ made.wv.vectors.T
    assert np.corrcoef(psi.ravel(), (plain.syn1neg @ plain.wv.vectors.T).ravel())[0, 1] > 0.95


def test_sgns_is_fitted_with_subwords(news):
    model = train(news[:150], "factorization", objective="sgns")
    assert isinstance(model.pmi("the", "policing"), float)
    assert model.most_cooccurring("policing")


@pytest.mark.parametrize("mmap", [None, "r"])
def test_a_model_is_saved_and_loaded(model, tmp_path, mmap):
    path = str(tmp_path / "model")
    model.save(path, sep_limit=0)
    again = HilbertMLE.load(path, mmap=mmap)
    assert_same(again, model)
    np.testing.assert_array_equal(again.wv["policing"], model.wv["policing"])
    assert isinstance(again.wv, SubwordVectors)
    assert not starting_point(again)[1], "training would take them for vectors of somebody else"
    again.build_vocab([["policing", "policed"]] * 3, update=True)
    again.train([["policing", "policed"]] * 3, total_examples=3, epochs=1)
    assert "policing" in again.wv.key_to_index
    assert "policing" not in HilbertMLE.load(path).wv.key_to_index
    model.wv.save(str(tmp_path / "vectors"))
    vectors = FastTextKeyedVectors.load(str(tmp_path / "vectors"))
    np.testing.assert_array_equal(vectors["policing"], model.wv["policing"])


@pytest.mark.parametrize("solver", SOLVERS)
def test_interrupted_training_goes_on_to_the_same_vectors(news, solver, tmp_path):
    class Interrupt(Recorder):
        def on_epoch_begin(self, model):
            super().on_epoch_begin(model)
            if self.events.count("epoch begins") == 3:
                raise KeyboardInterrupt

    text = news[:100]
    # Seven epochs of a pass or so each end in the middle of whatever there is.
    expected = train(text, solver, epochs=7, checkpoint=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(text, solver, epochs=7, checkpoint=tmp_path / "cut", callbacks=[Interrupt()])
    assert_same(train(text, solver, epochs=7, checkpoint=tmp_path / "cut"), expected)
    assert_same(train(text, solver, epochs=7), expected)
    with pytest.raises(ValueError, match="max_n was 6, and is now 5"):
        train(text, solver, epochs=7, checkpoint=tmp_path / "cut", max_n=5)


def test_workers_do_not_change_the_result(news):
    assert_same(train(news[:100], "factorization", workers=3), train(news[:100], "factorization"))


@pytest.mark.parametrize("solver", SOLVERS)
def test_callbacks_see_vectors_of_unknown_words_change(news, solver):
    seen = []

    class Look(Recorder):
        def on_epoch_end(self, model):
            seen.append(model.wv["policing"])
            np.testing.assert_allclose(model.wv.norms, np.linalg.norm(model.wv.vectors, axis=1), rtol=1e-5)

    train(news[:100], solver, callbacks=[Look()])
    assert len(seen) == SMALL["epochs"]
    assert len({x.tobytes() for x in seen}) == len(seen)


@pytest.mark.parametrize("solver", SOLVERS)
def test_new_words_join(news, solver):
    model = train(news[:100], solver)
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
    both = train(first + second, "factorization", sample=0)
    model = HilbertMLE(solver="factorization", subwords=True, sample=0, **SMALL)
    model.build_vocab(first + second)
    for part in (first, second):
        model.train(part, total_examples=len(part), epochs=SMALL["epochs"])
    assert_same(model, both)


def test_training_starts_from_n_grams_that_were_set(news):
    expected = train(news[:100], "gibbs")
    model = train(news[:100], "gibbs")
    model.wv.vectors_ngrams *= 1.5
    model.wv.adjust_vectors()
    for other in (expected, model):
        other.train(news[:100], total_examples=100, epochs=1)
    assert not np.array_equal(model.wv.vectors, expected.wv.vectors)


def test_what_has_no_meaning_is_refused(news, tmp_path):
    with pytest.raises(ValueError, match=r"vectors='v\+w' adds covectors"):
        train(news, "factorization", vectors="v+w")
    with pytest.raises(ValueError, match="there are no n-grams with min_n=4, max_n=3"):
        train(news, "factorization", min_n=4, max_n=3)
    for objective in ("glove", "lds", "ppmi-svd"):
        with pytest.raises(ValueError, match=f"objective='{objective}' does not go with subwords"):
            train(news, "factorization", objective=objective)
    with pytest.warns(UserWarning, match="no use for max_n"):
        HilbertMLE(news[:20], max_n=5, vector_size=4, epochs=1)
    model = train(news[:50], "gibbs")
    with pytest.raises(NotImplementedError, match="subwords=False"):
        model.wv.intersect_word2vec_format(tmp_path / "any")
    model.wv.vectors_lockf = np.zeros(len(model.wv), dtype=np.float32)
    with pytest.raises(ValueError, match="none can be locked: set vectors_lockf to 1"):
        model.train(news[:50], total_examples=50, epochs=1)
    model.wv.vectors_lockf = np.ones(1, dtype=np.float32)
    model.wv.vectors[3] = 1
    with pytest.raises(ValueError, match="vectors are means of vectors_vocab and vectors_ngrams"):
        model.train(news[:50], total_examples=50, epochs=1)


def test_memory_is_estimated_by_what_is_there(model):
    report = model.estimate_memory()
    assert report["vectors_ngrams"] == model.wv.vectors_ngrams.nbytes
    assert report["vectors_vocab"] == model.wv.vectors_vocab.nbytes
    assert report["total"] == sum(value for name, value in report.items() if name != "total")
    assert model.estimate_memory(vocab_size=10_000)["total"] > report["total"]


# ------------------------------------------------------------------ fastText


UNKNOWN = ["policing", "日本", "graphical", "aaaa", "naïvely", "unseen-word"]


def test_fasttext_has_the_same_n_grams_and_vectors(model, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    export(model, tmp_path / "model.bin", format="fasttext")
    theirs = fasttext.load_model(str(tmp_path / "model.bin"))
    assert theirs.words == model.wv.index_to_key
    for word, buckets in zip(model.wv.index_to_key, model.wv.buckets_word, strict=True):
        numbers = theirs.get_subwords(word)[1]
        if word != "</s>":
            assert numbers[1:].tolist() == (buckets + len(model.wv)).tolist(), word
        np.testing.assert_allclose(theirs.get_word_vector(word), model.wv[word], rtol=1e-4, atol=1e-6)
    for word in UNKNOWN:
        np.testing.assert_allclose(theirs.get_word_vector(word), model.wv[word], rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(theirs.get_output_matrix(), model.syn1neg)
    export(model, tmp_path / "covectors.bin", format="fasttext", what="covectors")
    covectors = fasttext.load_model(str(tmp_path / "covectors.bin"))
    np.testing.assert_array_equal(covectors.get_word_vector("the"), model.covectors["the"])
    assert not covectors.get_word_vector("policing").any(), "covectors are of words alone"
    near = [word for _, word in theirs.get_nearest_neighbors("policing", k=3)]
    assert near == [word for word, _ in model.wv.most_similar("policing", topn=3)]
    arguments = theirs.f.getArgs()
    assert (arguments.dim, arguments.minn, arguments.maxn, arguments.bucket) == (12, 3, 6, 30_000)
    assert (arguments.ws, arguments.epoch, arguments.minCount) == (model.window, model.epochs, model.min_count)


@pytest.mark.parametrize(("min_n", "max_n"), [(1, 2), (2, 2), (3, 3), (4, 9)])
def test_n_grams_of_all_lengths_are_those_of_fasttext(min_n, max_n, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    model = train(ODD * 3, "gibbs", epochs=1, min_n=min_n, max_n=max_n)
    export(model, tmp_path / "model.bin", format="fasttext")
    theirs = fasttext.load_model(str(tmp_path / "model.bin"))
    for word in [*model.wv.index_to_key, *UNKNOWN, "é", "ab"]:
        np.testing.assert_allclose(theirs.get_word_vector(word), model.wv[word], rtol=1e-4, atol=1e-6)


def test_gensim_reads_what_fasttext_reads(model, tmp_path):
    path = tmp_path / "model.bin"
    export(model, path, format="fasttext")
    for vectors in (load_facebook_vectors(str(path)), load_vectors(path)):
        assert vectors.index_to_key == model.wv.index_to_key
        np.testing.assert_array_equal(vectors.vectors_ngrams, model.wv.vectors_ngrams)
        for word in (*UNKNOWN, "the"):
            np.testing.assert_array_equal(vectors[word], model.wv[word])
    export(model, tmp_path / "model.vec")
    np.testing.assert_array_equal(load_vectors(tmp_path / "model.vec").vectors, model.wv.vectors)


def test_models_without_subwords_become_models_of_fasttext_too(news, tmp_path):
    fasttext = pytest.importorskip("fasttext")
    plain = HilbertMLE(news[:50], vector_size=8, min_count=2, epochs=1)
    gensims = FastText(news[:50], vector_size=8, bucket=500, epochs=1)
    for model, unknown in ((plain, np.zeros(8)), (plain.wv, np.zeros(8)), (gensims, gensims.wv["policing"])):
        export(model, tmp_path / "model.bin", format="fasttext")
        theirs = fasttext.load_model(str(tmp_path / "model.bin"))
        vectors = getattr(model, "wv", model)
        np.testing.assert_allclose(theirs.get_word_vector("the"), vectors["the"], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(theirs.get_word_vector("policing"), unknown, rtol=1e-4, atol=1e-6)
    export(plain, tmp_path / "model.bin", format="fasttext", what="covectors")
    theirs = fasttext.load_model(str(tmp_path / "model.bin"))
    np.testing.assert_array_equal(theirs.get_word_vector("the"), plain.covectors["the"])


def test_words_that_do_not_fit_are_left_out_of_a_model_of_fasttext(tmp_path):
    fasttext = pytest.importorskip("fasttext")
    model = train([["New York", "new", "york\0", "yorkshire"]] * 5, "gibbs")
    with pytest.raises(ValueError, match="cannot hold the word"):
        export(model, tmp_path / "model.bin", format="fasttext")
    export(model, tmp_path / "model.bin", format="fasttext", skip_unfit=True)
    theirs = fasttext.load_model(str(tmp_path / "model.bin"))
    assert sorted(theirs.words) == ["new", "yorkshire"]
    np.testing.assert_allclose(theirs.get_word_vector("yorkshire"), model.wv["yorkshire"], rtol=1e-4, atol=1e-6)


# ------------------------------------------------------------------ command line


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_command_line_has_subwords(solver, tmp_path):
    text, path = tmp_path / "text.txt", tmp_path / "sub.model"
    text.write_text(some_text(), encoding="utf-8")
    options = ["--vector-size", 6, "--min-count", 2, "--workers", 1, "--min-n", 2, "--max-n", 4, "--bucket", 500]
    done = run_here("train", text, "-o", path, "--subwords", "--solver", solver, *options)
    assert done.returncode == 0, done.stderr
    model = HilbertMLE.load(str(path))
    expected = HilbertMLE(
        corpus_file=str(text), subwords=True, solver=solver, vector_size=6, min_count=2, workers=1, min_n=2, max_n=4,
        bucket=500,
    )  # fmt: skip
    assert_same(model, expected)
    settings = json.loads(run_here("info", path, "--json").stdout)["settings"]
    assert {name: settings[name] for name in ("subwords", "min_n", "max_n", "bucket")} == {
        "subwords": True, "min_n": 2, "max_n": 4, "bucket": 500,
    }  # fmt: skip
    (found,) = json.loads(run_here("neighbors", path, "catlike", "--topn", 3, "--json").stdout)
    assert [near["word"] for near in found["similar"]] == [w for w, _ in model.wv.most_similar("catlike", topn=3)]
    facts = json.loads(run_here("pmi", path, "the", "catlike", "--json").stdout)
    assert facts == {"context": "the", "term": "catlike", "fitted": pytest.approx(model.pmi("the", "catlike"))}
    assert_one_sentence(run_here("pmi", path, "catlike", "the"), "'catlike' is not among the")
    assert run_here("analogy", path, "cat", "catlike", "mat").returncode == 0
    assert run_here("export", path, "-o", tmp_path / "x.bin", "--format", "fasttext").returncode == 0
    assert load_vectors(tmp_path / "x.bin")["catlike"] == pytest.approx(model.wv["catlike"])
