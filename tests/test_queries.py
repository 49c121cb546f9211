"""PMI, both kinds of neighbours, and probabilities."""

import pickle

import numpy as np
import pytest
from helpers import SMALL_OPTIONS

from gensim_hilbert import HilbertMLE


@pytest.mark.parametrize("name", ["news_model", "stream_model"])
def test_vectors_are_like_words_and_covectors_go_with_them(name, request):
    model = request.getfixturevalue(name)
    assert {"laden", "osama"} & {word for word, _ in model.wv.most_similar("bin", topn=3)}
    assert "laden" in [word for word, _ in model.most_cooccurring("bin", topn=3)]
    assert model.predict_output_word(["osama", "bin"])[0][0] == "laden"
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


def test_probabilities_are_those_of_the_counts_that_were_fitted(small_model):
    """A word's probability in a context is its frequency times the exponential of PMI, normalised."""
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
