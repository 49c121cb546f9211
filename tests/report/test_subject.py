"""A report of any model: what it lacks is said, whatever its words are."""

import logging

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from helpers import NEWS_OPTIONS
from pages import Page, changed, numbers, text_of

from gensim_hilbert import HilbertMLE
from gensim_hilbert.report import report

pytestmark = pytest.mark.usefixtures("short_training")
GENSIM = {**NEWS_OPTIONS, "epochs": 1}
ODD = [
    "<b>bold</b>",
    "&amp;",
    '"',
    "'",
    "x" * 500,
    "👩‍👩‍👧",
    "日本語",
    "a b",
    "\x07bell",
    "\ud800",
    "\u202eturned",
    "]]>",
    "שלום",
]
OTHERS = {
    "gibbs": (None, 'solver="gibbs"', True),
    "moved": (None, "are not beside it", True),
    "sums": (lambda news: HilbertMLE(news, **NEWS_OPTIONS, vectors="v+w"), 'vectors="v+w"', False),
    "word2vec": (lambda news: Word2Vec(news, **GENSIM, sg=1), "A Word2Vec of gensim keeps no pair counts", True),
    "softmax": (lambda news: Word2Vec(news, **GENSIM, hs=1, negative=0), "keeps no pair counts", False),
    "vectors": (lambda news: Word2Vec(news, **GENSIM).wv, "This set of vectors keeps no pair counts", False),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_a_model_lacks_is_told_in_one_sentence(kind, news_model, stream_model, news, tmp_path):
    make, reason, has_covectors = OTHERS[kind]
    given = {"gibbs": stream_model, "moved": changed(news_model, counts=None)}
    model = given[kind] if kind in given else make(news)
    report(model, tmp_path / "page.html", words=["minister"])
    page = Page(tmp_path / "page.html")
    for name in ("pmi", "fit"):
        (sentence,) = (text_of(part) for part in page.sections[name].iter("p") if part.get("class") == "why")
        assert reason in sentence
        assert sentence.count(". ") == 0
    lists = list(page.sections["neighbours"].iter("ol"))
    assert len(lists) == 1 + has_covectors
    vectors = getattr(model, "wv", model)
    assert text_of(lists[0][0][0]) == vectors.most_similar("minister", topn=1)[0][0]
    if has_covectors:
        best = vectors.index_to_key[int(np.argmax(model.syn1neg @ vectors.get_vector("minister")))]
        assert text_of(lists[1][0][0]) == best
    assert ("settings" in page.sections) == (kind != "vectors")
    has_curve = kind in ("gibbs", "sums", "moved")
    assert bool(list(page.sections["training"].iter("{http://www.w3.org/2000/svg}svg"))) == has_curve
    if kind == "gibbs":
        assert numbers(page.title("training"))[-1] == model.training_history[-1]["words"]


def test_biases_are_compared_with_frequencies(news_model, tmp_path):
    contexts = news_model.fitted_counts.marginals.contexts
    expected = np.log(contexts) - 0.5 * np.log(contexts.sum())
    biases = expected + np.random.default_rng(1).normal(size=len(expected))
    model = changed(news_model)
    attributes = {"context_biases": biases, "term_biases": expected - 0.25}
    model.__class__ = type("Biased", (HilbertMLE,), attributes)
    report(model, tmp_path / "page.html")
    page = Page(tmp_path / "page.html")
    first = np.corrcoef(expected, biases)[0, 1]
    assert numbers(page.title("biases")) == [round(first, 2), 1.0]
    captions = [text_of(caption) for caption in page.sections["biases"].iter("figcaption")]
    assert "mean difference -0.25" in captions[1]
    model.counts = None
    report(model, tmp_path / "page.html")
    assert "are not beside it" in text_of(Page(tmp_path / "page.html").sections["biases"])


@pytest.mark.parametrize("sentences", [[["a", "b"]] * 40, [["a"] * 40] * 3, [ODD] * 40])
def test_small_and_odd_models(sentences, tmp_path):
    model = HilbertMLE(sentences, vector_size=3, min_count=1, workers=1)
    report(model, tmp_path / "page.html")
    Page(tmp_path / "page.html")


def test_words_are_words_and_nothing_else(tmp_path, caplog):
    model = HilbertMLE([ODD] * 40, vector_size=3, min_count=1, workers=1)
    with caplog.at_level(logging.CRITICAL):
        report(model, tmp_path / "page.html", words=ODD, title="<i>&\x00title")
    page = Page(tmp_path / "page.html")
    assert text_of(page.root.find("body/header/h1")) == "<i>&\ufffdtitle"
    assert not {"b", "i"} & {element.tag for element in page.root.iter()}
    shown = [text_of(card.find("h3")) for card in page.sections["neighbours"].iter("article")]
    fixed = {"x" * 500: "x" * 39 + "…", "\x07bell": "\ufffdbell", "\ud800": "\ufffd", "\u202eturned": "\ufffdturned"}
    assert shown == [fixed.get(word, word) for word in ODD]


def test_models_without_words_are_refused(tmp_path):
    with pytest.raises(ValueError, match="train the model first"):
        report(HilbertMLE(), tmp_path / "page.html")
    with pytest.raises(TypeError, match="got dict"):
        report({}, tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_words_of_a_language_without_data_sets(tmp_path):
    words = KeyedVectors(vector_size=3)
    words.add_vectors([f"слово{k}" for k in range(20)], np.random.default_rng(1).normal(size=(20, 3)))
    report(words, tmp_path / "page.html")
    assert "are these the vectors of English words?" in text_of(Page(tmp_path / "page.html").sections["scores"])
    folder = tmp_path / "data" / "eval" / "similarity"
    folder.mkdir(parents=True)
    (folder / "mine.tsv").write_text("слово1\tслово2\t3\nслово3\tслово4\t2\nслово5\tслово6\t1\n", encoding="utf-8")
    report(words, tmp_path / "page.html", data=tmp_path / "data")
    assert Page(tmp_path / "page.html").rows("scores")[1][0] == "mine"


def test_a_folder_without_data_sets_is_an_error_only_where_it_is_named(news_model, tmp_path, monkeypatch):
    monkeypatch.setenv("GENSIM_HILBERT_DATA", str(tmp_path))
    report(news_model, tmp_path / "page.html")
    assert f"there are no data sets in {tmp_path}" in text_of(Page(tmp_path / "page.html").sections["scores"])
    with pytest.raises(FileNotFoundError, match="there are no data sets in"):
        report(news_model, tmp_path / "page.html", data=tmp_path)
