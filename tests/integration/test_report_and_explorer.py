"""A report and the explorer say the same about a model, and show its words at the same places."""

import numpy as np
import pytest
from pages import Page, numbers, text_of
from shell import run_here

from gensim_hilbert import HilbertMLE
from gensim_hilbert.explore.endpoints import Explorer
from gensim_hilbert.explore.maps import layout_beside
from gensim_hilbert.report.layout import place
from gensim_hilbert.report.sections import words as section


@pytest.fixture(scope="module")
def saved(news, tmp_path_factory):
    model = HilbertMLE(news, vector_size=8, min_count=5, max_final_vocab=250, workers=1)
    path = tmp_path_factory.mktemp("models") / "news.model"
    model.save_pretrained(path)
    return model, path


def test_neighbours_have_the_same_numbers(saved, tmp_path):
    model, path = saved
    run_here("report", path, "-o", tmp_path / "page.html", "--word", "police", "--word", "fire")
    articles = list(Page(tmp_path / "page.html").sections["neighbours"].iter("article"))
    explorer = Explorer([("news", model)])
    for word, article in zip(("police", "fire"), articles, strict=True):
        answer = explorer.answer("word", {"word": word, "n": "8"})
        lists = [[(text_of(item[0]), numbers(text_of(item[1]))[0]) for item in found] for found in article.iter("ol")]
        for shown, kind, score in zip(lists, ("like", "with_it"), ("cosine", "pmi"), strict=True):
            assert [name for name, _ in shown] == [near["word"] for near in answer[kind]]
            assert [value for _, value in shown] == pytest.approx([near[score] for near in answer[kind]], abs=0.0051)


def test_a_report_lays_words_out_as_the_explorer_has(saved, tmp_path, monkeypatch):
    _, path = saved
    laid_out = []
    monkeypatch.setattr(section, "place", lambda places, *rest: laid_out.append(places) or place(places, *rest))
    run_here("report", path, "-o", tmp_path / "alone.html")
    assert not layout_beside(path).exists()
    run_here("explore", path, "--export", tmp_path / "site")
    run_here("report", path, "-o", tmp_path / "page.html")
    known = np.load(layout_beside(path))["places"]
    alone, shown = laid_out
    assert {*map(tuple, shown.round(4))} <= {*map(tuple, known.astype(np.float64).round(4))}
    assert not np.allclose(alone, shown)
    page = Page(tmp_path / "page.html")
    assert "t-SNE of 8 dimensions" in text_of(page.sections["map"])
