"""The verbs that read models."""

import json
import os
import pickle

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from shell import assert_one_sentence, run, run_here
from texts import some_text

from gensim_hilbert import HilbertMLE, PairCounts

SENTENCES = [line.split() for line in some_text().splitlines()]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "hilbert.model"
    HilbertMLE(SENTENCES, vector_size=10, min_count=2, comment="for tests").save(str(path))
    return path


@pytest.fixture(scope="module")
def loaded(model):
    return HilbertMLE.load(str(model))


@pytest.fixture(scope="module")
def gensim_model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "gensim.model"
    Word2Vec(SENTENCES, vector_size=10, min_count=2, workers=1, epochs=1).save(str(path))
    return path


def answer(*arguments):
    done = run_here(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    return json.loads(done.stdout)


def test_keys_that_are_no_text(tmp_path):
    walks = [[1, 2, ("a", 3), b"x"], [2, ("a", 3), 1, 20]] * 5
    graph = HilbertMLE(walks, vector_size=3, min_count=1, epochs=2)
    graph.save_pretrained(tmp_path / "graph")
    (one, pair) = answer("neighbors", tmp_path / "graph", "1", "('a', 3)", "--topn", 2)
    assert (one["word"], pair["word"]) == ("1", "('a', 3)")
    assert [near["word"] for near in one["similar"]] == [str(key) for key, _ in graph.wv.most_similar(1, topn=2)]
    assert [near["word"] for near in pair["contexts"]] == [
        str(key) for key, _ in graph.most_cooccurring(("a", 3), topn=2)
    ]
    assert answer("pmi", tmp_path / "graph", "1", "b'x'")["counted"] == pytest.approx(graph.fitted_counts.pmi(1, b"x"))
    assert answer("pmi", tmp_path / "graph" / "counts", "1", "2")["counted"] == pytest.approx(graph.counts.pmi(1, 2))
    assert len(answer("analogy", tmp_path / "graph", "1", "2", "20")) == 2
    assert_one_sentence(run_here("neighbors", tmp_path / "graph", "21"), "'21' is not among the 5 words")
    refused = run_here("export", tmp_path / "graph", "-o", tmp_path / "v.npz.parquet")
    assert_one_sentence(refused, "can hold only keys that are str")
    assert answer("export", tmp_path / "graph", "-o", tmp_path / "v.parquet", "--keys", "str")["words"] == 5
    assert_one_sentence(run_here("evaluate", tmp_path / "graph"), "words must be str to be evaluated")


def test_neighbors(model, loaded):
    (cat, japanese) = answer("neighbors", "--trust-pickle", model, "cat", "日本語", "--topn", 3)
    assert (cat["word"], japanese["word"]) == ("cat", "日本語")
    similar = [(near["word"], pytest.approx(near["cosine"])) for near in cat["similar"]]
    assert similar == loaded.wv.most_similar("cat", topn=3)
    contexts = [(near["word"], pytest.approx(near["pmi"])) for near in japanese["contexts"]]
    assert contexts == loaded.most_cooccurring("日本語", topn=3)


def test_neighbors_side_by_side(model, loaded):
    done = run("neighbors", "--trust-pickle", model, "cat", "--topn", 4)
    assert (done.returncode, done.stderr) == (0, "")
    heading, *lines = done.stdout.splitlines()
    assert heading.split() == ["like", "cat", "cosine", "goes", "with", "cat", "PMI"]
    like, with_it = loaded.wv.most_similar("cat", topn=4), loaded.most_cooccurring("cat", topn=4)
    for line, (near, cosine), (context, value) in zip(lines, like, with_it, strict=True):
        assert line.split() == [near, f"{cosine:.3f}", context, f"{value:.2f}"]
    assert "goes with" not in run_here("neighbors", "--trust-pickle", model, "cat", "--no-contexts").stdout


def test_analogy(model, loaded):
    found = answer("analogy", "--trust-pickle", model, "cat", "mat", "sat", "--topn", 3)
    expected = loaded.wv.most_similar_cosmul(positive=["mat", "sat"], negative=["cat"], topn=3)
    assert [(near["word"], pytest.approx(near["score"])) for near in found] == expected


def test_pmi(model, loaded):
    facts = answer("pmi", "--trust-pickle", model, "cat", "mat")
    assert facts["fitted"] == pytest.approx(loaded.pmi("cat", "mat"))
    assert facts["counted"] == pytest.approx(loaded.counts.expected(loaded.sample).pmi("cat", "mat"))
    store = f"{model}.counts"
    counts = PairCounts.open(store)
    assert answer("pmi", store, "cat", "mat")["counted"] == pytest.approx(counts.pmi("cat", "mat"))
    table = counts.to_scipy().toarray()
    i, j = np.argwhere(table == 0)[0]
    never = [counts.vocabulary.words[k] for k in (i, j)]
    assert answer("pmi", store, *never)["counted"] is None
    assert run_here("pmi", store, *never).stdout == "-inf counted\n"


def test_interval_of_pmi(model, loaded):
    value, low, high = loaded.fitted_counts.pmi("cat", "mat", interval=0.9)
    facts = answer("pmi", "--trust-pickle", model, "cat", "mat", "--interval", 0.9)
    assert (facts["counted"], facts["low"], facts["high"]) == pytest.approx((value, low, high))
    assert facts["interval"] == 0.9
    line = run_here("pmi", "--trust-pickle", model, "cat", "mat", "--interval", 0.9).stdout
    assert line.endswith(f"{value:.3f} counted, from {low:.3f} to {high:.3f} with a probability of 0.9\n")
    table = loaded.counts.to_scipy().toarray()
    never = [loaded.counts.vocabulary.words[k] for k in np.argwhere(table == 0)[0]]
    facts = answer("pmi", f"{model}.counts", *never, "--interval", 0.95)
    assert facts["counted"] is facts["low"] is None
    assert facts["high"] == pytest.approx(loaded.counts.pmi(*never, interval=0.95).high)
    refused = run_here("pmi", f"{model}.counts", "cat", "mat", "--interval", 95)
    assert refused.returncode == 2
    assert "95" in refused.stderr


def test_interval_needs_counts(tmp_path):
    HilbertMLE(SENTENCES, vector_size=3, min_count=2, epochs=1, solver="gibbs").save_pretrained(tmp_path / "gibbs")
    assert_one_sentence(run_here("pmi", tmp_path / "gibbs", "cat", "mat", "--interval", 0.9), "which --interval needs")


def test_a_gensim_model(gensim_model):
    (found,) = answer("neighbors", "--trust-pickle", gensim_model, "cat")
    assert len(found["similar"]) == 10
    assert "contexts" not in found
    assert_one_sentence(run_here("neighbors", "--trust-pickle", gensim_model, "cat", "--contexts"), "without covectors")
    assert_one_sentence(run_here("pmi", "--trust-pickle", gensim_model, "cat", "mat"), "PMI needs a saved HilbertMLE")
    facts = answer("info", "--trust-pickle", gensim_model)
    assert facts["class"] == "Word2Vec"
    assert facts["settings"]["negative"] == 5


def test_info_of_a_model(model, loaded):
    facts = answer("info", "--trust-pickle", model)
    assert facts["kind"] == "a saved model"
    assert (facts["class"], facts["words"], facts["vector_size"]) == ("HilbertMLE", len(loaded.wv), 10)
    assert facts["settings"]["temperature"] == 1.1
    assert facts["settings"]["vectors"] == "v"
    assert facts["settings"]["comment"] == "for tests"
    assert "negative" not in facts["settings"], "it has no effect"
    assert [event["event"] for event in facts["history"]][-2:] == ["train", "saving"]
    shown = run_here("info", "--trust-pickle", model).stdout
    assert shown.startswith(f"{model}: a saved model\n")
    for part in ("settings", "temperature", "history", "train"):
        assert part in shown
    assert facts["training"] == loaded.training_history
    last = facts["training"][-1]
    assert f"{last['passes']:.6g} {last['loss']:.6g}" in " ".join(shown.split())


def test_info_of_counts(model, loaded):
    facts = answer("info", f"{model}.counts")
    assert facts["kind"] == "pair counts"
    assert facts["fingerprint"] == loaded.counts.fingerprint
    assert facts["weights_left"] == [1, 0.8, 0.6, 0.4, 0.2]


@pytest.mark.parametrize("binary", [False, True])
def test_word2vec_files(binary, loaded, tmp_path):
    path = tmp_path / "vectors"
    loaded.wv.save_word2vec_format(str(path), binary=binary)
    (found,) = answer("neighbors", path, "cat", "--topn", 3)
    assert [near["word"] for near in found["similar"]] == [word for word, _ in loaded.wv.most_similar("cat", topn=3)]
    facts = answer("info", path)
    assert facts["kind"] == f"vectors in word2vec's {'binary' if binary else 'text'} format"
    assert (facts["words"], facts["vector_size"]) == (len(loaded.wv), 10)


@pytest.mark.parametrize("what", ["vectors", "covectors"])
def test_export(what, model, loaded, tmp_path):
    path = tmp_path / "vectors.bin"
    facts = answer("export", "--trust-pickle", model, "-o", path, "--format", "word2vec-binary", "--what", what)
    assert facts["words"] == len(loaded.wv)
    written = KeyedVectors.load_word2vec_format(str(path), binary=True)
    assert written.index_to_key == loaded.wv.index_to_key
    assert np.array_equal(written.vectors, loaded.wv.vectors if what == "vectors" else loaded.syn1neg)


def test_export_has_the_formats_and_options_of_the_python_call(tmp_path):
    vectors = KeyedVectors(2)
    vectors.add_vectors(["cat", "New York"], np.ones((2, 2), dtype=np.float32))
    vectors.save(str(tmp_path / "words"))
    refused = run_here("export", "--trust-pickle", tmp_path / "words", "-o", tmp_path / "v.vec")
    assert_one_sentence(refused, "leave such words out with skip_unfit=True (--skip-unfit)")
    done = run_here("export", "--trust-pickle", tmp_path / "words", "-o", tmp_path / "v.vec", "--skip-unfit")
    assert done.stdout == f"{tmp_path / 'v.vec'}: vectors of 1 word, 2 dimensions\n"
    options = ["--format", "model2vec", "--lowercase", "--split-punctuation", "--skip-unfit"]
    assert answer("export", "--trust-pickle", tmp_path / "words", "-o", tmp_path / "static", *options)["words"] == 1
    tokenizer = json.loads((tmp_path / "static" / "tokenizer.json").read_text())
    assert (tokenizer["normalizer"], tokenizer["pre_tokenizer"]) == ({"type": "Lowercase"}, {"type": "Whitespace"})
    wrong = run_here("export", "--trust-pickle", tmp_path / "words", "-o", tmp_path / "v.bin", "--lowercase")
    assert_one_sentence(wrong, "'word2vec-binary' has no option 'lowercase'")
    assert_one_sentence(run_here("export", "words", "-o", "v", "--format", "word3vec"), "'word3vec' is not one of", 2)


class RunsWhenLoaded:
    """A pickle of this makes a folder while it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("name", ["x.model", "vectors.vec", "vectors.bin"])
def test_no_verb_unpickles_what_the_user_does_not_trust(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(pickle.dumps(RunsWhenLoaded(tmp_path / "has-run")))
    for verb, *more in (
        ("info",),
        ("neighbors", "cat"),
        ("analogy", "a", "b", "c"),
        ("pmi", "a", "b"),
        ("export", "-o", tmp_path / "v.vec"),
        ("report", "-o", tmp_path / "report.html"),
        ("evaluate",),
    ):
        assert_one_sentence(run_here(verb, path, *more), "if you trust whoever wrote it, pass trust_pickle=True")
        assert os.listdir(tmp_path) == [name]
    assert_one_sentence(run_here("info", "--trust-pickle", path), "has no attribute")
    assert (tmp_path / "has-run").exists()


def test_errors_are_one_sentence(model, tmp_path):
    missing = "'catt' is not among the 73 words"
    assert_one_sentence(run("neighbors", "--trust-pickle", model, "catt"), missing)
    assert "did you mean cat" in run_here("analogy", "--trust-pickle", model, "cat", "catt", "mat").stderr
    assert_one_sentence(run_here("pmi", "--trust-pickle", model, "cat", "catt"), missing)
    assert_one_sentence(run_here("pmi", f"{model}.counts", "cat", "catt"), "catt")
    assert_one_sentence(run_here("neighbors", f"{model}.counts", "cat"), "holds pair counts, no vectors: train first")
    assert_one_sentence(run_here("info", tmp_path / "nowhere"), "nowhere does not exist")
    assert_one_sentence(run_here("neighbors", "--trust-pickle", model), "Missing argument 'WORD...'", code=2)
    damaged = tmp_path / "damaged.model"
    damaged.write_bytes(model.read_bytes()[:1000])
    assert_one_sentence(run_here("info", "--trust-pickle", damaged), "damaged.model")
