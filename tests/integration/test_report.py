"""The report: what it says is what the model holds; whatever the words, whatever the model."""

import copy
import itertools
import json
import logging
import math
import os
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from shell import assert_one_sentence, run_here

from gensim_hilbert import HilbertMLE
from gensim_hilbert.evaluation import analogies, find_data, similarity
from gensim_hilbert.report import report
from gensim_hilbert.report.svg import style_sheet
from gensim_hilbert.report.words import content_words

OPTIONS = {"vector_size": 20, "min_count": 10, "seed": 1, "workers": 1}
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


@pytest.fixture(scope="module")
def model(news):
    return HilbertMLE(news, **OPTIONS)


@pytest.fixture(scope="module")
def page(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    report(model, path, words=["minister", "israeli"], title="news")
    return Page(path)


class Page:
    """A page that is read as XML, which is stricter than HTML."""

    def __init__(self, path):
        self.source = path.read_text(encoding="utf-8")
        self.root = ET.fromstring(self.source)
        self.sections = {part.get("id"): part for part in self.root.iter("section")}

    def title(self, name):
        return text_of(self.sections[name].find("h2"))

    def rows(self, name):
        return [[text_of(cell) for cell in row] for row in self.sections[name].iter("tr")]


def text_of(element):
    return "".join(element.itertext()).replace("\u2212", "-")


def numbers(text):
    return [float(found.replace(",", "")) for found in re.findall(r"-?\d[\d,]*\.?\d*", text)]


def test_it_is_one_file_that_loads_and_runs_nothing(page):
    tags = {element.tag.rpartition("}")[2] for element in page.root.iter()}
    assert not tags & {"script", "link", "img", "iframe", "object", "image", "use"}
    for element in page.root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name not in ("src", "style")
            assert name != "href" or value[1:] in page.sections
    assert "url(" not in page.source
    assert "@import" not in page.source
    assert list(page.sections) == ["training", "pmi", "fit", "neighbours", "scores", "map", "settings"]


def test_sizes_settings_and_training(page, model):
    shown = {
        text_of(cell[0]): text_of(cell[1]) for cell in page.root.iter("div") if len(cell) == 2 and cell[0].tag == "dt"
    }
    assert shown["words"] == f"{len(model.wv):,}"
    assert shown["dimensions"] == shown["vector_size"] == "20"
    assert shown["tokens of text"] == f"{model.corpus_total_words:,}"
    assert shown["distinct pairs counted"] == f"{len(np.argwhere(np.triu(model.counts.to_scipy().toarray()))):,}"
    assert shown["temperature"] == "1.25"
    first, last = model.training_history[0], model.training_history[-1]
    assert numbers(page.title("training")) == [round(first["loss"], 3), round(last["loss"], 3), last["passes"]]
    assert f"{last['unitarity']:.3f}" in text_of(page.sections["training"])


def test_pmi_is_that_of_the_whole_table(page, model):
    table = model.fitted_counts.to_scipy().tocoo()
    contexts, terms = model.fitted_counts.marginals
    pmi = np.log(table.data * table.data.sum() / contexts[table.row] / terms[table.col])
    psi = np.einsum("kd,kd->k", model.syn1neg[table.row], model.wv.vectors[table.col])
    assert numbers(page.title("pmi")) == pytest.approx(np.percentile(pmi, [25, 75, 50]), abs=0.0051)
    assert numbers(page.title("fit")) == pytest.approx([np.corrcoef(pmi, psi)[0, 1]], abs=0.0051)
    assert f"all {table.nnz:,} pairs" in text_of(page.sections["fit"])
    _, counted, fitted = page.rows("pmi")
    for row, values in ((counted, pmi), (fitted, psi)):
        expected = [values.mean(), values.std(), *np.percentile(values, [5, 50, 95])]
        assert [float(cell) for cell in row[1:]] == pytest.approx(expected, abs=0.0051)
    occurrences = model.counts.vocabulary.counts
    rarer = np.minimum(occurrences[table.row], occurrences[table.col])
    rows = {(row[0], row[1]): row[2:] for row in page.rows("fit")}
    bands = [((rarer >= 10) & (rarer < 100), "10 – 100"), ((rarer >= 100) & (rarer < 1000), "100 – 1,000")]
    bands += [((table.data >= 1) & (table.data < 10), "1 – 10"), (table.data < 1, "under 1")]
    for mask, name in bands:
        difference = (psi - pmi)[mask]
        expected = [np.corrcoef(pmi[mask], psi[mask])[0, 1], difference.mean(), difference.std()]
        assert list(map(float, rows[name, f"{mask.sum():,}"])) == pytest.approx(expected, abs=0.0051)


def test_neighbours_are_the_models(page, model):
    cards = list(page.sections["neighbours"].iter("article"))
    assert [text_of(card.find("h3")) for card in cards] == ["minister", "israeli"]
    for word, card in zip(["minister", "israeli"], cards, strict=True):
        like, with_it = (
            [(text_of(item[0]), float(text_of(item[1]))) for item in items.iter("li")] for items in card.iter("ol")
        )
        assert like == [(near, pytest.approx(value, abs=0.0051)) for near, value in model.wv.most_similar(word, topn=8)]
        assert with_it == [(near, pytest.approx(v, abs=0.0051)) for near, v in model.most_cooccurring(word, topn=8)]


def test_scores_are_those_of_evaluation(page, model):
    rows = {row[0]: row[1:] for row in page.rows("scores")}
    data = find_data()
    for score in (score for score in similarity(model.wv, data) if np.isfinite(score.rho)):
        (row,) = (row for name, row in rows.items() if name.startswith(score.name))
        assert row == [
            f"{score.rho:.3f}",
            f"{score.low:.3f} – {score.high:.3f}",
            "",
            f"{score.covered:,}",
            f"{score.pairs:,}",
        ]
    for score in analogies(model.wv, data):
        (row,) = (row for name, row in rows.items() if name.startswith(score.name))
        assert row[0] == f"{score.accuracy:.3f}"
        assert row[-2:] == [f"{score.covered:,}", f"{score.questions:,}"]


def test_the_map_has_words_where_they_are_alike(page, model):
    places = {
        text_of(label): (float(label.get("x")), float(label.get("y")))
        for label in page.sections["map"].iter("{http://www.w3.org/2000/svg}text")
    }
    assert len(places) > 100
    assert all(word in model.wv for word in places)
    words = list(places)
    distance = {pair: math.dist(places[pair[0]], places[pair[1]]) for pair in itertools.combinations(words, 2)}
    alike = {pair: float(model.wv.similarity(*pair)) for pair in distance}
    most = sorted(alike, key=alike.get)[-len(words) :]
    assert np.median([distance[pair] for pair in most]) < 0.5 * np.median(list(distance.values()))


def test_the_same_model_gives_the_same_page(model, page, tmp_path):
    report(model, tmp_path / "again.html", words=["minister", "israeli"], title="news")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page.source


def test_content_words_are_those_with_long_vectors(model):
    words = [model.wv.index_to_key[k] for k in content_words(model.wv, 100)]
    assert len(words) == 100
    assert not {"the", "to", "of", "in", "and", "is", "that", "was"} & set(words)


def test_default_words_are_a_spread_of_content_words(model, tmp_path):
    report(model, tmp_path / "page.html")
    words = [text_of(card.find("h3")) for card in Page(tmp_path / "page.html").sections["neighbours"].iter("article")]
    assert 5 <= len(words) == len(set(words))
    assert not {"the", "of", "to", "and", "in"} & set(words)
    cosines = [model.wv.similarity(*pair) for pair in itertools.combinations(words, 2)]
    assert max(cosines) < 0.9


# ---------------------------------------------------------------------------------------------------- other models


def changed(model, **attributes):
    """A copy of a model with something else in it."""
    other = copy.copy(model)
    vars(other).update(vars(model) | attributes)  # a copy lacks its counts, as a pickle does
    return other


OTHERS = {
    "gibbs": (lambda news: HilbertMLE(news, **OPTIONS, solver="gibbs", epochs=3), 'solver="gibbs"', True),
    "sums": (lambda news: HilbertMLE(news, **OPTIONS, vectors="v+w"), 'vectors="v+w"', False),
    "moved": (None, "are not beside it", True),
    "word2vec": (lambda news: Word2Vec(news, **OPTIONS, sg=1), "A Word2Vec of gensim keeps no pair counts", True),
    "softmax": (lambda news: Word2Vec(news, **OPTIONS, hs=1, negative=0), "keeps no pair counts", False),
    "vectors": (lambda news: Word2Vec(news, **OPTIONS).wv, "A file of vectors keeps no pair counts", False),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_a_model_lacks_is_said_in_a_sentence(kind, model, news, tmp_path):
    make, reason, has_covectors = OTHERS[kind]
    model = make(news) if make else changed(model, counts=None)
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


def test_biases(model, tmp_path):
    contexts = model.fitted_counts.marginals.contexts
    expected = np.log(contexts) - 0.5 * np.log(contexts.sum())
    biases = expected + np.random.default_rng(1).normal(size=len(expected))
    model = changed(model)
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


def test_a_language_that_no_set_is_in(tmp_path):
    words = KeyedVectors(vector_size=3)
    words.add_vectors([f"слово{k}" for k in range(20)], np.random.default_rng(1).normal(size=(20, 3)))
    report(words, tmp_path / "page.html")
    assert "are these the vectors of English words?" in text_of(Page(tmp_path / "page.html").sections["scores"])
    folder = tmp_path / "data" / "eval" / "similarity"
    folder.mkdir(parents=True)
    (folder / "mine.tsv").write_text("слово1\tслово2\t3\nслово3\tслово4\t2\nслово5\tслово6\t1\n", encoding="utf-8")
    report(words, tmp_path / "page.html", data=tmp_path / "data")
    assert Page(tmp_path / "page.html").rows("scores")[1][0] == "mine"


def test_a_folder_without_sets_spoils_no_report_that_did_not_ask_for_it(model, tmp_path, monkeypatch):
    monkeypatch.setenv("GENSIM_HILBERT_DATA", str(tmp_path))
    report(model, tmp_path / "page.html")
    assert f"there are no data sets in {tmp_path}" in text_of(Page(tmp_path / "page.html").sections["scores"])
    with pytest.raises(FileNotFoundError, match="there are no data sets in"):
        report(model, tmp_path / "page.html", data=tmp_path)


# ---------------------------------------------------------------------------------------------------- command line


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "news <1>.model"
    model.save(str(path))
    return path


def test_the_verb(saved, model, page, tmp_path):
    target = tmp_path / "report.html"
    done = run_here("report", saved, "-o", target, "--word", "minister", "--word", "israeli", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert facts == {"output": str(target), "words": len(model.wv), "bytes": target.stat().st_size}
    found = Page(target)
    assert text_of(found.root.find("body/header/h1")) == saved.name
    for name in ("pmi", "fit", "neighbours", "scores"):
        assert text_of(found.sections[name]) == text_of(page.sections[name])
    vectors = tmp_path / "vectors.txt"
    model.wv.save_word2vec_format(str(vectors))
    assert run_here("report", vectors, "-o", target).returncode == 0
    assert "Word vectors" in target.read_text(encoding="utf-8")


def test_errors_leave_the_old_page(saved, tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    for arguments, said, code in (
        ((saved, "-o", target, "--word", "ministre"), "did you mean minister", 1),
        ((tmp_path / "nowhere", "-o", target), "nowhere does not exist", 1),
        ((saved, "-o", target, "--data", tmp_path / "none"), "there are no data sets in", 1),
        ((f"{saved}.counts", "-o", target), "holds pair counts, no vectors", 1),
        ((saved, "-o", tmp_path / "nowhere" / "report.html"), "No such file or directory", 1),
        ((saved,), "Missing option '-o' / '--output'", 2),
        ((saved, "-output", target), "-output is written --output", 2),
    ):
        assert_one_sentence(run_here("report", *arguments), said, code)
        assert target.read_text() == "old"
        assert os.listdir(tmp_path) == ["report.html"]


def test_a_page_that_cannot_be_written_whole_is_not_written(model, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        report(model, target)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


# ---------------------------------------------------------------------------------------------------- colours


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_paper(scheme):
    """By the contrast that WCAG 2 asks of text, 4.5."""
    light, dark = re.findall(r":root \{(.*?)\}", style_sheet("colours"), re.DOTALL)
    colours = dict(re.findall(r"--(\w+): #(\w{6})", light if scheme == "light" else dark))

    def luminance(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for text, paper in itertools.product(("ink", "muted", "counted", "fitted"), ("paper", "raised")):
        low, high = sorted(luminance(colours[name]) for name in (text, paper))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, paper)
