"""The explorer as people see it, in a real browser."""

import functools
import http.server
import threading

import pytest
from browser import Browser
from conftest import QuietHandler

from gensim_hilbert.explore.export import write_explorer

VIEWS = {"desktop": (1200, 900, False), "phone": (360, 740, True)}
SHOWN = "document.getElementById('view-title').textContent"
BEYOND = """[...document.querySelectorAll('body *')].filter(element =>
    !element.closest('.scroll, .hidden, .skip') && element.getBoundingClientRect().right > innerWidth + .5
).map(element => element.outerHTML.slice(0, 100))"""
NAMELESS = """[...document.querySelectorAll('a, button, input, select, canvas')].filter(element =>
    !(element.textContent.trim() || element.getAttribute('aria-label') || element.labels?.length)
).map(element => element.outerHTML)"""


@pytest.fixture(scope="module")
def browser(address):
    with Browser() as found:
        yield found


def show(browser, page, view="desktop", scheme="light"):
    width, height, phone = VIEWS[view]
    browser.open("about:blank", width=width, height=height, scheme=scheme, phone=phone)
    browser.open(page, width=width, height=height, scheme=scheme, phone=phone)
    browser.wait_for("document.querySelector('#legend .ramp')")


def rows(browser, number):
    """The words of one of the tables."""
    return browser.ask(
        f"[...document.querySelectorAll('#view table')[{number}].querySelectorAll('tbody th')].map(e => e.textContent)"
    )


def type_text(browser, text):
    browser.ask("document.getElementById('query').focus(), document.getElementById('query').select()")
    browser.call("Input.insertText", text=text)


def press(browser, key):
    for kind in ("keyDown", "keyUp"):
        text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
        code = {"Enter": 13, "ArrowDown": 40}[key]
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)


@pytest.mark.parametrize(
    ("view", "scheme"),
    [
        ("desktop", "light"),
        ("phone", "dark"),
        pytest.param("desktop", "dark", marks=pytest.mark.slow),
        pytest.param("phone", "light", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_amiss(browser, address, view, scheme):
    show(browser, address + "#word=police", view, scheme)
    assert browser.complaints == []
    assert browser.ask(SHOWN) == "police"
    assert browser.ask("document.documentElement.scrollWidth") <= VIEWS[view][0]
    assert browser.ask(BEYOND) == []
    assert browser.ask(NAMELESS) == []
    paper = browser.ask("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) < 384) == (scheme == "dark")
    painted = """(() => { const canvas = document.getElementById('canvas');
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        return data.filter((value, k) => k % 4 === 3 && value).length })()"""
    browser.wait_for(f"{painted} > 500")


def test_a_click_leads_on_and_the_back_button_back(browser, address, news_model):
    show(browser, address + "#word=police")
    expected = [word for word, _ in news_model.wv.most_similar("police", topn=20)]
    assert rows(browser, 0) == expected
    assert rows(browser, 1) == [word for word, _ in news_model.most_cooccurring("police", topn=20)]
    browser.ask("document.querySelector('#view tbody a').click()")
    browser.wait_for(f"{SHOWN} === '{expected[0]}'")
    assert browser.ask("location.hash") == f"#word={expected[0]}"
    browser.ask("document.querySelector('table.with td a').click()")
    browser.wait_for("document.querySelector('.sentence')")
    said = browser.ask("document.querySelector('.sentence').textContent")
    assert f"near {expected[0]}" in said
    for title in (expected[0], "police"):
        browser.ask("history.back()")
        browser.wait_for(f"{SHOWN} === '{title}'")
    assert rows(browser, 0) == expected
    assert browser.complaints == []


def test_a_word_is_found_by_keyboard_alone(browser, address, news_model):
    show(browser, address)
    type_text(browser, "pol")
    browser.wait_for("document.querySelectorAll('#completions li').length")
    first = next(word for word in news_model.wv.index_to_key if word.startswith("pol"))
    press(browser, "ArrowDown")
    assert browser.ask("document.querySelector('#completions [aria-selected=true]').textContent") == first
    press(browser, "Enter")
    browser.wait_for(f"{SHOWN} === '{first}'")
    type_text(browser, "israel - palestinian + australia")
    press(browser, "Enter")
    browser.wait_for(f"{SHOWN}.startsWith('israel -')")
    assert rows(browser, 0)[0] == news_model.wv.most_similar(["israel", "australia"], ["palestinian"])[0][0]


def test_markup_in_a_word_is_text(browser, address):
    show(browser, address + "#model=1&word=plain")
    script = next(word for word in rows(browser, 0) if word.startswith("<script>"))
    assert "<img/src=x/onerror=alert(1)>" in rows(browser, 0)
    browser.ask("[...document.querySelectorAll('#view a')].find(a => a.textContent.startsWith('<script>')).click()")
    browser.wait_for(f"{SHOWN}.startsWith('<script>')")
    assert browser.ask(SHOWN).startswith(script.removesuffix("…"))
    assert browser.ask("document.title") != "attacked"
    assert browser.ask("document.querySelectorAll('main script, main img').length") == 0
    assert browser.complaints == []


@pytest.mark.parametrize(
    ("state", "selector"),
    [
        ("sentence=the+prime+minister+of+australia&position=2", "table"),
        ("compare=&other=1", "table"),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in [("context=&term=", "form"), ("sum=", "form")]),
        ("", ".words a"),
    ],
)
def test_every_view_has_its_address(browser, address, state, selector):
    show(browser, address + "#" + state)
    browser.wait_for(f"document.querySelector('#view {selector}')")
    assert browser.complaints == []


def test_an_unknown_word_is_said_to_be_one(browser, address):
    show(browser, address + "#word=policf")
    assert "'policf' is not among the" in browser.ask("document.querySelector('[role=alert]').textContent")
    assert "police" in browser.ask("[...document.querySelectorAll('.words a')].map(a => a.textContent)")


@pytest.fixture(scope="module")
def exported(explorer, tmp_path_factory):
    """The address of an exported explorer on an ordinary web server."""
    folder = tmp_path_factory.mktemp("site") / "explorer"
    write_explorer(explorer, folder, words=10_000)
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "state",
    [
        "word=police",
        "context=minister&term=prime",
        *(
            pytest.param(state, marks=pytest.mark.slow)
            for state in (
                "sum=israel+-+palestinian+%2B+australia",
                "sentence=the+prime+minister+of+australia&position=2",
                "word=plain&model=1",
            )
        ),
    ],
)
def test_an_exported_explorer_says_the_same(browser, address, exported, state):
    text = "document.getElementById('view').innerText"
    show(browser, address + "#" + state)
    served = browser.ask(text)
    show(browser, exported + "#" + state)
    assert browser.ask(text) == served
    assert browser.complaints == []
