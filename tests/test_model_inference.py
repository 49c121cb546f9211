"""Vectors of what a model has not been trained on, in the space that its covectors span."""

import logging
from collections import Counter

import numpy as np
import pytest
from helpers import full_training
from scipy import sparse

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.model_inference import losses_of, metric_of, space_of

OPTIONS = {"vector_size": 6, "min_count": 1, "window": 3, "workers": 1, "sample": 0, "seed": 1}
TOPICS = (
    ("cat", "dog", "cow", "hen", "pig", "bee", "fox", "ant", "elk", "owl"),
    ("car", "bus", "tram", "ship", "bike", "van", "boat", "taxi", "jet", "cart"),
    ("red", "blue", "green", "grey", "pink", "black", "white", "brown", "gold", "beige"),
)


def sentences(seed, number=2500):
    """Sentences about one topic each."""
    random = np.random.default_rng(seed)
    drawn = ([*random.choice(TOPICS[random.integers(3)], 5), "the"] for _ in range(number))
    return [[str(word) for word in random.permutation(sentence)] for sentence in drawn]


@pytest.fixture(scope="module")
def model():
    with full_training():
        return HilbertMLE(sentences(0), **OPTIONS, passes=600)


def cosine(x, y):
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


def row_of(model, word):
    """The contexts of a word in the counts of a model, by name."""
    column = model.fitted_counts.to_scipy()[:, [model.wv.key_to_index[word]]].toarray()[:, 0]
    return {model.wv.index_to_key[row]: column[row] for row in np.flatnonzero(column)}


def test_a_known_word_gets_its_own_vector_from_its_own_contexts(model):
    for word in model.wv.index_to_key:
        found = model.infer_vector(row_of(model, word), thinned=True)
        assert found.shape == (6,)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, model.wv[word], atol=0.02 * np.linalg.norm(model.wv[word]))


def test_the_gradient_of_the_loss_of_training_is_zero(model):
    counts = {"cat": 5, "dog": 3.5, "red": 1}
    vector = model.infer_vector(counts, tolerance=1e-10).astype(np.float64)
    objective = model.objective.bind(model.counts)
    losses, total = losses_of(model), model.counts.total
    metric = metric_of(model, losses)
    tau = model.temperature
    mean = ((model.counts.marginals.terms / total) ** (1 / tau)).mean()
    b = (sum(counts.values()) / total) ** (1 / tau) / mean
    slope = (objective.contexts * b * np.exp(model.syn1neg @ vector)) @ model.syn1neg
    for word, number in counts.items():
        row = model.wv.key_to_index[word]
        factor = (sum(counts.values()) / total) ** (1 / tau - 1) / mean
        slope -= number * objective.factors[0][row] * factor * model.syn1neg[row]
    prior = len(model.wv) * min(40 * 0.06**0.5 / (total / len(model.wv)), 0.2) * b**0.5
    slope += prior * np.linalg.solve(metric, vector)
    assert np.abs(slope).max() < 1e-5 * b


def test_new_words_are_near_words_with_the_same_contexts(model):
    vector = model.infer_vector({"cat": 40, "dog": 40, "cow": 40, "the": 30, "unheard-of": 9})
    assert {word for word, _ in model.wv.similar_by_vector(vector, topn=10)} == {*TOPICS[0]}
    few, many = (model.infer_vector({"cat": number, "dog": number}) for number in (1, 1000))
    assert np.linalg.norm(few) < np.linalg.norm(many)


def test_all_forms_of_contexts_mean_the_same(model):
    text = ["cat", "dog", "cat", "nothing"]
    expected = model.infer_vector({"cat": 2, "dog": 1})
    for same in (text, tuple(text), iter(text), Counter(text)):
        np.testing.assert_array_equal(model.infer_vector(same), expected)
    table = sparse.lil_array((2, len(model.wv)))
    table[0, model.wv.key_to_index["cat"]], table[0, model.wv.key_to_index["dog"]] = 2, 1
    table[1, model.wv.key_to_index["red"]] = 4
    other = model.infer_vector(["red"] * 4)
    for several in ([text, ["red"] * 4], [Counter(text), {"red": 4}], table):
        np.testing.assert_allclose(model.infer_vector(several), [expected, other], atol=1e-6)
    assert model.infer_vector([["cat"]]).shape == (1, 6)


def test_without_known_contexts_the_vector_is_zero_and_the_log_says_so(model, caplog):
    with caplog.at_level(logging.WARNING):
        found = model.infer_vector([["never", "seen"], ["cat"], []])
    assert not found[[0, 2]].any()
    assert found[1].any()
    assert "2 of 3 vectors are zero" in caplog.text
    assert not model.infer_vector([]).any()


def test_frequent_words_are_thinned_as_in_training():
    texts = sentences(0, number=300)
    model = HilbertMLE(texts, **{**OPTIONS, "sample": 5e-3}, passes=5)
    keep = dict(zip(model.wv.index_to_key, model._vocabulary().keep_probability(5e-3), strict=True))
    assert keep["the"] < keep["cat"] < 1
    counts = {"the": 50.0, "cat": 20.0}
    thinned = {word: number * keep[word] for word, number in counts.items()}
    np.testing.assert_allclose(model.infer_vector(counts), model.infer_vector(thinned, thinned=True), atol=1e-6)


@pytest.mark.parametrize(
    ("contexts", "error", "why"),
    [
        ("cat dog", TypeError, "'cat dog'; split a text first"),
        ([["cat"], "dog cow"], TypeError, "'dog cow'; split a text first"),
        (None, TypeError, "a list of words, got None"),
        ({"cat": -1}, ValueError, "not negative, got -1"),
        ({"cat": float("nan")}, ValueError, "finite and not negative, got nan"),
        (sparse.csr_array((1, 3)), ValueError, r"one column per word, 31, got the shape \(1, 3\)"),
    ],
)
def test_wrong_contexts_are_refused(model, contexts, error, why):
    with pytest.raises(error, match=why):
        model.infer_vector(contexts)


@pytest.mark.parametrize(
    ("options", "why"),
    [({"objective": "glove"}, "needs objective='hilbert'"), ({"vectors": "v+w"}, "train with vectors='v'")],
)
def test_models_without_a_convex_loss_are_refused(options, why):
    other = HilbertMLE(sentences(0, number=20), **OPTIONS, **options, passes=1)
    with pytest.raises(ValueError, match=why):
        other.infer_vector(["cat"])
    with pytest.raises(ValueError, match=why):
        HilbertMLE(covectors=other)
    with pytest.raises(ValueError, match="train it first"):
        HilbertMLE().infer_vector(["cat"])


def test_without_its_counts_a_model_infers_nearly_the_same(model, tmp_path):
    model.save_pretrained(tmp_path / "model", counts=False)
    lighter = HilbertMLE.from_pretrained(tmp_path / "model")
    contexts = row_of(model, "cat")
    assert cosine(lighter.infer_vector(contexts), model.infer_vector(contexts)) > 0.99


def test_a_model_that_has_changed_infers_anew(model):
    changed = HilbertMLE.from_counts(model.counts, vector_size=6, workers=1, passes=3)
    first = changed.infer_vector(["cat", "dog"])
    np.testing.assert_array_equal(changed.infer_vector(["cat", "dog"]), first)
    changed.syn1neg *= 2
    assert not np.allclose(changed.infer_vector(["cat", "dog"]), first)
    changed.syn1neg /= 2
    np.testing.assert_allclose(changed.infer_vector(["cat", "dog"]), first, rtol=1e-5)


def test_a_model_of_the_stream_infers_too():
    model = HilbertMLE(sentences(0), **OPTIONS, solver="gibbs", epochs=40)
    vector = model.infer_vector({"cat": 40, "dog": 40, "cow": 40, "the": 30})
    assert {word for word, _ in model.wv.similar_by_vector(vector, topn=10)} == {*TOPICS[0]}


@pytest.mark.parametrize(("solver", "counts"), [("factorization", 40), ("gibbs", 25)])
def test_new_words_have_the_prior_of_training(solver, counts, monkeypatch):
    monkeypatch.setattr("gensim_hilbert.training.prior.STRONGEST_PRIOR", np.inf)
    model = HilbertMLE(sentences(0, 300), **OPTIONS, solver=solver, epochs=1)
    losses = losses_of(model)
    in_counts = losses.prior * losses.total / len(model.wv) ** 2
    assert in_counts == pytest.approx(counts * np.sqrt(OPTIONS["vector_size"] / 100))


# ---------------------------------------------------------------------------------------------------- covectors=


def test_the_same_text_gives_the_same_vectors(model):
    again = HilbertMLE.from_counts(model.counts, covectors=model, workers=1)
    np.testing.assert_array_equal(again.syn1neg, model.syn1neg)
    for word in model.wv.index_to_key:
        inferred = model.infer_vector(row_of(model, word), thinned=True)
        np.testing.assert_allclose(again.wv[word], inferred, atol=1e-5 * np.linalg.norm(inferred))
    assert again.training_history[-1]["gradient"] < 1e-6
    assert again.pmi("cat", "dog") == pytest.approx(model.pmi("cat", "dog"), abs=0.05)


def test_vectors_of_two_texts_show_which_word_has_changed():
    def text(seed, topic_of_cell):
        random = np.random.default_rng(seed)
        drawn = ((random.integers(6), random.integers(30, size=8)) for _ in range(3000))
        return [["cell" if (t, k) == (topic_of_cell, 0) else f"{t}-{k}" for k in words] for t, words in drawn]

    options = {**OPTIONS, "vector_size": 10, "window": 5}
    texts = text(1, topic_of_cell=0), text(2, topic_of_cell=1)
    whole = HilbertMLE(texts[0] + texts[1], **options)
    before, after = (HilbertMLE(text, **options, covectors=whole) for text in texts)
    shared = [word for word in before.wv.index_to_key if word in after.wv]
    likeness = {word: cosine(before.wv[word], after.wv[word]) for word in shared}
    assert min(likeness, key=likeness.get) == "cell"
    assert likeness["cell"] < 0.7 < 0.9 < np.median([*likeness.values()])
    assert all(near.startswith("0-") for near, _ in before.wv.most_similar("cell", topn=5))
    assert all(near.startswith("1-") for near, _ in before.wv.similar_by_vector(after.wv["cell"], topn=5))


def test_the_words_are_those_of_the_text_and_unknown_contexts_are_ignored(model):
    text = sentences(1, number=400)
    more = [[*sentence, f"new{k % 2}"] for k, sentence in enumerate(text)]
    plain = HilbertMLE(text, **OPTIONS, covectors=model)
    other = HilbertMLE(more, **OPTIONS, covectors=model)
    assert {*other.wv.index_to_key} == {*plain.wv.index_to_key, "new0", "new1"}
    row = other.wv.key_to_index["new0"]
    assert not other.syn1neg[row].any()
    assert other.wv["new0"].any()
    # As if the counts had never had these contexts: only how many words there are differs, and the prior with it.
    table, words = other.counts.to_scipy().tolil(), other.wv.index_to_key
    for word in ("new0", "new1"):
        table[other.wv.key_to_index[word], :] = 0
    cut = HilbertMLE.from_counts(PairCounts.from_scipy(table.tocsr(), words), covectors=model, workers=1)
    np.testing.assert_allclose(cut.wv.vectors, other.wv.vectors, atol=1e-5)


def test_several_shards_give_the_same_as_one(model, monkeypatch):
    whole = HilbertMLE.from_counts(model.counts, covectors=model)
    monkeypatch.setattr("gensim_hilbert.counting.layout.WORDS_PER_CLASS", 8)
    counts = PairCounts.from_corpus(sentences(0), window=3, min_count=1, workers=1)
    assert counts.manifest["classes"] == 4
    sharded = HilbertMLE.from_counts(counts, covectors=model)
    np.testing.assert_allclose(sharded.wv.vectors, whole.wv.vectors, atol=1e-5)


def test_training_goes_on_in_the_same_space(model, tmp_path):
    first, second = sentences(1, number=200), sentences(2, number=200)
    both = HilbertMLE(first + second, **OPTIONS, covectors=model)
    other = HilbertMLE(first, **OPTIONS, covectors=model)
    other.save(str(tmp_path / "saved"))
    for growing in (other, HilbertMLE.load(str(tmp_path / "saved"))):
        growing.train(second, total_examples=200, epochs=1)
        for word in both.wv.index_to_key:
            np.testing.assert_allclose(growing.wv[word], both.wv[word], atol=1e-4)
    other.save_pretrained(tmp_path / "folder")
    loaded = HilbertMLE.from_pretrained(tmp_path / "folder")
    np.testing.assert_array_equal(loaded.wv.vectors, other.wv.vectors)
    with pytest.raises(ValueError, match="trained with covectors=, which its folder does not keep"):
        loaded.train(second[:50], total_examples=50, epochs=1)


def test_locked_words_stay_and_checkpoints_know_the_space(model, tmp_path):
    other = HilbertMLE(**OPTIONS, covectors=model)
    other.build_vocab(sentences(1, number=100))
    other.wv.vectors_lockf = np.ones(len(other.wv), dtype=np.float32)
    other.wv.vectors_lockf[0] = 0
    before = other.wv.vectors.copy()
    other.train(sentences(1, number=100), total_examples=100, epochs=1)
    np.testing.assert_array_equal(other.wv.vectors[0], before[0])
    assert not np.allclose(other.wv.vectors[1], before[1])
    texts = {"sentences": sentences(1, number=100), "checkpoint": tmp_path / "checkpoint"}
    expected = HilbertMLE(**texts, **OPTIONS, covectors=model).wv.vectors
    np.testing.assert_array_equal(HilbertMLE(**texts, **OPTIONS, covectors=model).wv.vectors, expected)
    stranger = HilbertMLE(sentences(3), **OPTIONS, passes=1)
    with pytest.raises(ValueError, match="covectors"):
        HilbertMLE(**texts, **OPTIONS, covectors=stranger)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"solver": "gibbs"}, "solver='gibbs' does not go with covectors="),
        ({"subwords": True}, "subwords=True does not go with covectors="),
        ({"objective": "sgns"}, "objective=.* does not go with covectors="),
        ({"vector_size": 7}, "vector_size=7 does not fit covectors= of 6 dimensions"),
        ({"vectors": "v+w"}, "does not go with covectors="),
    ],
)
def test_what_does_not_go_with_covectors_is_refused(model, options, why):
    with pytest.raises(ValueError, match=why):
        HilbertMLE(covectors=model, **options)


def test_other_things_are_no_covectors(model):
    with pytest.raises(TypeError, match="must be a HilbertMLE that has been trained, got WordVectors"):
        HilbertMLE(covectors=model.wv)
    with pytest.raises(ValueError, match="give only one of them"):
        HilbertMLE.from_counts(model.counts, covectors=model, like=model)
    with pytest.raises(ValueError, match="none of the contexts"):
        HilbertMLE([["x", "y", "z"]] * 5, **OPTIONS, covectors=model)


def test_a_space_is_recognised_by_what_is_in_it(model):
    space = space_of(model)
    assert space.fingerprint == space_of(model).fingerprint != space_of(HilbertMLE(sentences(3), **OPTIONS)).fingerprint
