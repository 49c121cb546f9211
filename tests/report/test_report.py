"""The report: what it says is what the model holds."""

import itertools
import math
import os

import numpy as np
import pytest
from pages import Page, numbers, text_of

from gensim_hilbert.evaluation import analogies, find_data, similarity
from gensim_hilbert.report import report


def test_it_is_one_file_that_loads_and_runs_nothing(news_page):
    tags = {element.tag.rpartition("}")[2] for element in news_page.root.iter()}
    assert not tags & {"script", "link", "img", "iframe", "object", "image", "use"}
    for element in news_page.root.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name not in ("src", "style")
            assert name != "href" or value[1:] in news_page.sections
    assert "url(" not in news_page.source
    assert "@import" not in news_page.source
    assert list(news_page.sections) == ["training", "pmi", "fit", "neighbours", "scores", "map", "settings"]


def test_sizes_settings_and_training(news_page, news_model):
    shown = {
        text_of(cell[0]): text_of(cell[1])
        for cell in news_page.root.iter("div")
        if len(cell) == 2 and cell[0].tag == "dt"
    }
    assert shown["words"] == f"{len(news_model.wv):,}"
    assert shown["dimensions"] == shown["vector_size"] == "20"
    assert shown["tokens of text"] == f"{news_model.corpus_total_words:,}"
    assert shown["distinct pairs counted"] == f"{len(np.argwhere(np.triu(news_model.counts.to_scipy().toarray()))):,}"
    assert (shown["sample"], shown["temperature"]) == ("0.0", "1.1"), "what was chosen for this text"
    first, last = news_model.training_history[0], news_model.training_history[-1]
    assert numbers(news_page.title("training")) == [round(first["loss"], 3), round(last["loss"], 3), last["passes"]]
    assert f"{last['unitarity']:.3f}" in text_of(news_page.sections["training"])


def test_pmi_is_that_of_the_whole_table(news_page, news_model):
    table = news_model.fitted_counts.to_scipy().tocoo()
    contexts, terms = news_model.fitted_counts.marginals
    pmi = np.log(table.data * table.data.sum() / contexts[table.row] / terms[table.col])
    psi = np.einsum("kd,kd->k", news_model.syn1neg[table.row], news_model.wv.vectors[table.col])
    assert numbers(news_page.title("pmi")) == pytest.approx(np.percentile(pmi, [25, 75, 50]), abs=0.0051)
    assert numbers(news_page.title("fit")) == pytest.approx([np.corrcoef(pmi, psi)[0, 1]], abs=0.0051)
    assert f"all {table.nnz:,} pairs" in text_of(news_page.sections["fit"])
    _, counted, fitted = news_page.rows("pmi")
    for row, values in ((counted, pmi), (fitted, psi)):
        expected = [values.mean(), values.std(), *np.percentile(values, [5, 50, 95])]
        assert [float(cell) for cell in row[1:]] == pytest.approx(expected, abs=0.0051)
    occurrences = news_model.counts.vocabulary.counts
    rarer = np.minimum(occurrences[table.row], occurrences[table.col])
    rows = {(row[0], row[1]): row[2:] for row in news_page.rows("fit")}
    bands = [((rarer >= 10) & (rarer < 100), "10 – 100"), ((rarer >= 100) & (rarer < 1000), "100 – 1,000")]
    bands += [((table.data >= 1) & (table.data < 10), "1 – 10"), (table.data < 1, "under 1")]
    for mask, name in bands:
        difference = (psi - pmi)[mask]
        expected = [np.corrcoef(pmi[mask], psi[mask])[0, 1], difference.mean(), difference.std()]
        assert list(map(float, rows[name, f"{mask.sum():,}"])) == pytest.approx(expected, abs=0.0051)


def test_neighbours_are_the_models(news_page, news_model):
    cards = list(news_page.sections["neighbours"].iter("article"))
    assert [text_of(card.find("h3")) for card in cards] == ["minister", "israeli"]
    for word, card in zip(["minister", "israeli"], cards, strict=True):
        like, with_it = (
            [(text_of(item[0]), float(text_of(item[1]))) for item in items.iter("li")] for items in card.iter("ol")
        )
        assert like == [
            (near, pytest.approx(value, abs=0.0051)) for near, value in news_model.wv.most_similar(word, topn=8)
        ]
        assert with_it == [
            (near, pytest.approx(v, abs=0.0051)) for near, v in news_model.most_cooccurring(word, topn=8)
        ]


def test_scores_are_those_of_evaluation(news_page, news_model):
    rows = {row[0]: row[1:] for row in news_page.rows("scores")}
    data = find_data()
    for score in (score for score in similarity(news_model.wv, data) if np.isfinite(score.rho)):
        (row,) = (row for name, row in rows.items() if name.startswith(score.name))
        assert row == [
            f"{score.rho:.3f}",
            f"{score.low:.3f} – {score.high:.3f}",
            "",
            f"{score.covered:,}",
            f"{score.pairs:,}",
        ]
    for score in analogies(news_model.wv, data):
        (row,) = (row for name, row in rows.items() if name.startswith(score.name))
        assert row[0] == f"{score.accuracy:.3f}"
        assert row[-2:] == [f"{score.covered:,}", f"{score.questions:,}"]


def test_the_map_has_words_where_they_are_alike(news_page, news_model):
    places = {
        text_of(label): (float(label.get("x")), float(label.get("y")))
        for label in news_page.sections["map"].iter("{http://www.w3.org/2000/svg}text")
    }
    assert len(places) > 100
    assert all(word in news_model.wv for word in places)
    words = list(places)
    distance = {pair: math.dist(places[pair[0]], places[pair[1]]) for pair in itertools.combinations(words, 2)}
    alike = {pair: float(news_model.wv.similarity(*pair)) for pair in distance}
    most = sorted(alike, key=alike.get)[-len(words) :]
    assert np.median([distance[pair] for pair in most]) < 0.5 * np.median(list(distance.values()))


def test_the_same_model_gives_the_same_page(news_model, news_page, tmp_path):
    report(news_model, tmp_path / "again.html", words=["minister", "israeli"], title="news")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == news_page.source


def test_default_words_are_a_spread_of_content_words(news_model, tmp_path):
    report(news_model, tmp_path / "page.html")
    words = [text_of(card.find("h3")) for card in Page(tmp_path / "page.html").sections["neighbours"].iter("article")]
    assert 5 <= len(words) == len(set(words))
    assert not {"the", "of", "to", "and", "in"} & set(words)
    cosines = [news_model.wv.similarity(*pair) for pair in itertools.combinations(words, 2)]
    assert max(cosines) < 0.9


def test_a_page_that_cannot_be_written_whole_is_not_written(news_model, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        report(news_model, target)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]
