"""`gensim-hilbert report`."""

import json
import os

from pages import Page, text_of
from shell import assert_one_sentence, run_here


def test_report(saved_news_model, news_model, news_page, tmp_path):
    target = tmp_path / "report.html"
    done = run_here(
        "report", "--trust-pickle", saved_news_model, "-o", target, "--word", "minister", "--word", "israeli", "--json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert facts == {"output": str(target), "words": len(news_model.wv), "bytes": target.stat().st_size}
    found = Page(target)
    assert text_of(found.root.find("body/header/h1")) == saved_news_model.name
    for name in ("pmi", "fit", "neighbours", "scores"):
        assert text_of(found.sections[name]) == text_of(news_page.sections[name])
    vectors = tmp_path / "vectors.txt"
    news_model.wv.save_word2vec_format(str(vectors))
    assert run_here("report", vectors, "-o", target).returncode == 0
    assert "Word vectors" in target.read_text(encoding="utf-8")


def test_errors_leave_the_old_page(saved_news_model, tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    for arguments, said, code in (
        ((saved_news_model, "-o", target, "--word", "ministre"), "did you mean minister", 1),
        ((tmp_path / "nowhere", "-o", target), "nowhere does not exist", 1),
        ((saved_news_model, "-o", target, "--data", tmp_path / "none"), "there are no data sets in", 1),
        ((f"{saved_news_model}.counts", "-o", target), "holds pair counts, no vectors", 1),
        ((saved_news_model, "-o", tmp_path / "nowhere" / "report.html"), "there is no folder", 2),
        ((saved_news_model,), "Missing option '-o' / '--output'", 2),
        ((saved_news_model, "-output", target), "-output is written --output", 2),
    ):
        assert_one_sentence(run_here("report", "--trust-pickle", *arguments), said, code)
        assert target.read_text() == "old"
        assert os.listdir(tmp_path) == ["report.html"]
