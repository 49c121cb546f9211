"""The report as people see it, in a real browser: nothing amiss, nothing cut off, in light and dark, on a phone."""

import numpy as np
import pytest
from browser import Browser
from pages import changed

from gensim_hilbert import HilbertMLE
from gensim_hilbert.report import report

VIEWS = {"desktop": (1100, 900, False), "phone": (360, 740, True)}
PICTURES = """[...document.querySelectorAll('svg')].map(svg => {
    const box = svg.getBoundingClientRect();
    return [svg.getAttribute('aria-label'), box.width, box.height, svg.querySelectorAll('path, circle, text').length];
})"""
# Text that reaches beyond its picture is cut off there; half a pixel is rounding.
CUT_OFF = """[...document.querySelectorAll('svg text')].filter(text => {
    const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
    return box.x < -.5 || box.y < -.5 || box.x + box.width > view.width + .5 || box.y + box.height > view.height + .5;
}).map(text => text.textContent)"""
# Of the map: the letters of one word must not reach into another, but the space around them may.
COVERED = """(() => {
    const boxes = [...document.querySelectorAll('#map svg text')].map(text => text.getBBox());
    let covered = 0;
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
        if (a.x + 1 < b.x + b.width && b.x + 1 < a.x + a.width
            && a.y + .25 * a.height < b.y + .75 * b.height && b.y + .25 * b.height < a.y + .75 * a.height) covered++;
    }));
    return covered;
})()"""
BEYOND = """[...document.querySelectorAll('body *')].filter(element =>
    !element.closest('.scroll') && element.getBoundingClientRect().right > innerWidth + .5
).map(element => element.outerHTML.slice(0, 100))"""


@pytest.fixture(scope="module")
def page(tmp_path_factory, news_model):
    model = changed(news_model)
    contexts, terms = model.fitted_counts.marginals
    biases = {"context_biases": np.log(contexts), "term_biases": np.log(terms)}
    model.__class__ = type("Biased", (HilbertMLE,), biases)
    path = tmp_path_factory.mktemp("report") / "report.html"
    report(model, path, title="a" * 100 + ".model")
    return path


@pytest.fixture(scope="module")
def browser():
    with Browser() as found:
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_picture_is_there_and_nothing_is_cut_off(browser, page, view, scheme):
    width, height, phone = VIEWS[view]
    browser.open(page, width=width, height=height, scheme=scheme, phone=phone)
    assert browser.complaints == []
    pictures = browser.ask(PICTURES)
    labels = [label for label, *_ in pictures]
    for label in ("The loss by", "The sum of", "Histograms of", "Fitted against", "Biases of", "A map of", "Google: "):
        assert any(found.startswith(label) for found in labels), labels
    for label, wide, high, parts in pictures:
        assert wide > 100, label
        assert high > 10, label
        assert parts > 3, label
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask(BEYOND) == []
    assert browser.ask(CUT_OFF) == []
    assert browser.ask(COVERED) == 0
    paper = browser.ask("getComputedStyle(document.body).backgroundColor")
    ink = browser.ask("getComputedStyle(document.querySelector('svg text:not(.muted)')).fill")
    dark_paper, dark_ink = (sum(map(int, colour[4:-1].split(","))) < 384 for colour in (paper, ink))
    assert (dark_paper, dark_ink) == ((True, False) if scheme == "dark" else (False, True))
