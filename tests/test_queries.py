"""PMI, both kinds of neighbours, and probabilities."""

import pickle

import numpy as np
import pytest
from gensim.models import Word2Vec
from helpers import SMALL_OPTIONS

from gensim_hilbert import HilbertMLE
from gensim_hilbert import queries as queries_module
from gensim_hilbert.queries import Queries, similar


@pytest.mark.parametrize("name", ["news_model", "stream_model"])
def test_vectors_are_like_words_and_covectors_go_with_them(name, request):
    model = request.getfixturevalue(name)
    assert {"laden", "osama"} & {word for word, _ in model.wv.most_similar("bin", topn=3)}
    assert "laden" in [word for word, _ in model.most_cooccurring("bin", topn=3)]
    given = ["osama", "bin"]
    assert next(word for word, _ in model.predict_output_word(given) if word not in given) == "laden"
    sentence, nonsense = model.score([["osama", "bin", "laden"], ["laden", "cricket", "interest"]])
    assert sentence > nonsense


def test_psi_follows_the_counted_pmi(news_model):
    table = news_model.counts.to_scipy().tocoo()
    often = table.data >= 10
    rows, columns = table.row[often], table.col[often]
    contexts, terms = news_model.counts.marginals
    pmi = np.log(table.data[often] * news_model.counts.total / contexts[rows] / terms[columns])
    psi = np.einsum("kd,kd->k", news_model.syn1neg[rows], news_model.wv.vectors[columns])
    assert np.corrcoef(pmi, psi)[0, 1] > 0.8


def test_probabilities_are_those_of_the_counts_that_were_fitted(some_news):
    """A word's probability in a context is its frequency times the exponential of PMI, normalised."""
    small_model = HilbertMLE(some_news, **SMALL_OPTIONS, sample=1e-3)
    fitted = small_model.fitted_counts.marginals.terms
    assert not np.allclose(fitted, small_model.counts.marginals.terms), "frequent words count less"
    words = small_model.wv.index_to_key
    expected = fitted * np.exp([small_model.pmi("said", word) for word in words])
    found = dict(small_model.predict_output_word(["said"], topn=len(words)))
    np.testing.assert_allclose([found[word] for word in words], expected / expected.sum(), rtol=1e-4)
    without_counts = dict(pickle.loads(pickle.dumps(small_model)).predict_output_word(["said"], topn=len(words)))
    assert without_counts == {word: pytest.approx(chance, abs=0.01) for word, chance in found.items()}


def test_words_without_pairs_have_a_pmi_near_zero(some_news):
    model = HilbertMLE([*some_news, *[["lonely"]] * 10], **SMALL_OPTIONS, objective="sgns")
    assert abs(model.pmi("lonely", "the")) < 5  # noise has moved it, but it is no outlier
    model.build_vocab([["newcomer"] * 10], update=True)
    assert model.pmi("newcomer", "the") == pytest.approx(0, abs=1e-6)


@pytest.fixture(scope="module", params=[{}, {"objective": "sgns"}, {"subwords": True, "bucket": 500}], ids=str)
def model(news, request):
    return HilbertMLE(news[:150], vector_size=8, min_count=5, epochs=1, seed=1, **request.param)


@pytest.fixture
def few_at_a_time(monkeypatch):
    monkeypatch.setattr(queries_module, "PAIRS_AT_A_TIME", 7)
    monkeypatch.setattr(queries_module, "SCORES_AT_A_TIME", 2000)


@pytest.mark.usefixtures("few_at_a_time")
def test_the_pmi_of_many_pairs(model):
    words = model.wv.index_to_key[:40]
    contexts, terms = words[:20], words[20:]
    if model.subwords:
        terms = [*terms[:-1], "neverseen"]
    many = model.pmi(contexts, terms)
    assert many == pytest.approx([model.pmi(*pair) for pair in zip(contexts, terms, strict=True)], abs=1e-5)
    with pytest.raises(ValueError, match="as many contexts as terms, got 20 and 1"):
        model.pmi(contexts, terms[:1])
    with pytest.raises(KeyError):
        model.pmi(["neverseen"], ["the"])


def test_pmi_is_the_product_minus_what_the_objective_adds(model):
    i, j = 3, 5
    expected = float(model.syn1neg[i] @ model.wv.vectors[j]) - model.psi_offset
    if model.offsets is not None:
        expected -= model.offsets[0][i] + model.offsets[1][j]
    context, term = model.wv.index_to_key[i], model.wv.index_to_key[j]
    assert model.pmi(context, term) == pytest.approx(expected, abs=1e-6)


@pytest.mark.usefixtures("few_at_a_time")
def test_what_goes_with_many_words(model):
    words = model.wv.index_to_key[:12]
    many = model.most_cooccurring(words, topn=5)
    for word, found in zip(words, many, strict=True):
        alone = model.most_cooccurring(word, topn=5)
        assert [context for context, _ in found] == [context for context, _ in alone]
        for context, pmi in found:
            assert pmi == pytest.approx(model.pmi(context, word), abs=1e-5)
        everything = model.pmi(model.wv.index_to_key, [word] * len(model.wv))
        assert found[0][1] == pytest.approx(everything.max(), abs=1e-5)
    assert {context for context, _ in model.most_cooccurring(words[0], restrict_vocab=6)} == set(words[:6])


@pytest.mark.usefixtures("few_at_a_time")
def test_similar_words_are_those_that_gensim_finds(model):
    words = model.wv.index_to_key[:12] + (["neverseen"] if model.subwords else [])
    for word, found in zip(words, model.queries.similar(words, topn=6), strict=True):
        expected = model.wv.most_similar(word, topn=6)
        assert [other for other, _ in found] == [other for other, _ in expected]
        assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in expected], abs=1e-6)


def test_a_model_of_gensim_can_be_asked_too(news):
    theirs = Word2Vec(news[:50], vector_size=6, min_count=5, sg=1, seed=1, workers=1)
    found = Queries(theirs.wv, theirs.syn1neg).cooccurring(["the"], topn=3)[0]
    products = theirs.syn1neg @ theirs.wv["the"]
    assert [theirs.wv.key_to_index[word] for word, _ in found] == np.argsort(-products)[:3].tolist()
    assert similar(theirs.wv, [0], 2)[0][0][0] == theirs.wv.most_similar(theirs.wv.index_to_key[0])[0][0]


@pytest.mark.usefixtures("few_at_a_time")
def test_the_probability_of_a_sentence_by_its_definition(model):
    words = [word for word in ("the", "police", "in", "of", "the", "to", "and") if word in model.wv.key_to_index]
    rows = [model.wv.key_to_index[word] for word in words]
    log_p = np.log(model.term_frequencies())
    table = np.array([model.pmi(model.wv.index_to_key, [term] * len(model.wv)) for term in model.wv.index_to_key]).T
    expected = 0.0
    for place, term in enumerate(rows):
        near = rows[max(0, place - model.window) : place] + rows[place + 1 : place + 1 + model.window]
        logits = log_p + table[near].sum(axis=0)
        expected += logits[term] - np.log(np.exp(logits).sum())
    assert model.score([[*words, "neverseen"]])[0] == pytest.approx(expected, rel=1e-4)
    found = model.predict_output_word(words[:2], topn=3)
    logits = log_p + table[rows[:2]].sum(axis=0)
    share = np.exp(logits) / np.exp(logits).sum()
    assert [model.wv.key_to_index[word] for word, _ in found] == np.argsort(-share)[:3].tolist()
    assert [value for _, value in found] == pytest.approx(np.sort(share)[:-4:-1].tolist(), rel=1e-4)
