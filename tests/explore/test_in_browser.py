"""The explorer as people see it, in a real browser."""

import json
import os
from pathlib import Path
from urllib.parse import parse_qs

import pytest

VIEWS = {"desktop": (1200, 900, False), "phone": (360, 740, True)}
SHOWN = "document.getElementById('view-title').textContent"
BEYOND = """[...document.querySelectorAll('body *')].filter(element =>
    !element.closest('.hidden, .skip') && element.getBoundingClientRect().right > innerWidth + .5
).map(element => element.outerHTML.slice(0, 100))"""
NAMELESS = """[...document.querySelectorAll('a, button, input, select, canvas:not([aria-hidden])')].filter(element =>
    !(element.textContent.trim() || element.getAttribute('aria-label') || element.labels?.length)
).map(element => element.outerHTML)"""
FOCUSED = "document.activeElement.id"
KEYS = {"Enter": 13, "ArrowDown": 40, "ArrowRight": 39, "Tab": 9}
ALL_STATES = [
    "", "word=police", "word=policf", "context=minister&term=prime", "context=&term=police", "sum=", "sum=police+-",
    "sum=israel+-+palestinian+%2B+australia", "sentence=", "sentence=the+prime+minister+of+xyzzy&position=2",
    "compare=", "compare=police", "word=plain&model=1",
]  # fmt: skip


def show(browser, page, view="desktop", scheme="light"):
    width, height, phone = VIEWS[view]
    browser.open("about:blank", width=width, height=height, scheme=scheme, phone=phone)
    browser.open(page, width=width, height=height, scheme=scheme, phone=phone)
    browser.wait_for("document.querySelector('#legend .ramp')")


def lead_to(browser, state):
    """Change the state of the page, as a link does."""
    before = browser.ask(SHOWN)
    browser.ask(f"location.hash = {json.dumps('#' + state)}")
    browser.wait_for(f"{SHOWN} !== {json.dumps(before)}")


def texts(browser, selector):
    return browser.ask(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")


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
        text = {"text": "\r" if key == "Enter" else key} if key not in KEYS or key == "Enter" else {}
        code = KEYS.get(key, ord(key[0]))
        text = text if kind == "keyDown" else {}
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)


def go_offline(browser, offline):
    """Let all requests of the page fail, as they do when the server has ended."""
    limits = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.call("Network.emulateNetworkConditions", offline=offline, **limits)


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
    for canvas in ("points", "canvas"):  # points, and the labels over them
        painted = f"""(() => {{ const canvas = document.getElementById('{canvas}');
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            return data.filter((value, k) => k % 4 === 3 && value).length }})()"""
        browser.wait_for(f"{painted} > 500")


def test_the_first_page_offers_words_and_questions(browser, address, explorer):
    show(browser, address, "phone")
    assert texts(browser, "#view .card h3") == ["Like it", "Goes with it"]
    chips = texts(browser, "#view .chips a")
    assert set(explorer.models[0].facts()["examples"][:3]) <= set(chips)
    assert all(chip in explorer.models[0].rows for chip in chips)
    first = explorer.answer("word", {"word": chips[0]})["like"][0]["word"]
    assert texts(browser, "#view .card a")[0] == first
    assert "compare them" in texts(browser, "#view .asked a")


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


def test_what_is_typed_is_understood(browser, address, news_model):
    show(browser, address)
    browser.ask("document.activeElement.blur()")
    press(browser, "/")
    assert browser.ask(FOCUSED) == "query"
    browser.call("Input.insertText", text="pol")
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
    for text, state in [("prime minister", "context=prime&term=minister"), ("in the city", "sentence=in+the+city")]:
        type_text(browser, text)
        press(browser, "Enter")
        browser.wait_for(f"location.hash === '#{state}'")
    assert browser.complaints == []


def test_the_map_is_used_by_keyboard_alone(browser, address, explorer):
    show(browser, address + "#word=police")
    browser.ask("document.getElementById('paint').focus()")
    press(browser, "ArrowDown")
    browser.wait_for("location.hash.includes('paint=similarity')")
    browser.wait_for("document.querySelector('#legend .likeness')")
    assert browser.ask(FOCUSED) == "paint"  # who changes colours goes on changing them
    for _ in range(4):
        press(browser, "Tab")
    assert browser.ask(FOCUSED) == "canvas"
    press(browser, "+")
    press(browser, "ArrowRight")
    word, _, value = browser.ask("document.getElementById('status').textContent").partition(" · cosine ")
    cosine = explorer.models[0].vectors.similarity(word, "police")
    assert float(value.replace("−", "-")) == pytest.approx(cosine, abs=0.006)
    press(browser, "Enter")
    browser.wait_for(f"{SHOWN} === {json.dumps(word)}")
    assert browser.complaints == []


def test_odd_words_are_text_and_have_addresses(browser, address, odd_vectors):
    show(browser, address + "#model=1&word=plain", "phone")
    others = [word for word in odd_vectors.index_to_key if word != "plain"]
    assert len(rows(browser, 0)) == len(others)
    assert "<img/src=x/onerror=alert(1)>" in rows(browser, 0)
    for word in others:
        link = "a => new URLSearchParams(a.hash.slice(1)).get('word') === " + json.dumps(word)
        browser.ask(f"[...document.querySelectorAll('#view tbody a')].find({link}).click()")
        browser.wait_for(f"{SHOWN} === {json.dumps(word)}")
        assert parse_qs(browser.ask("location.hash")[1:])["word"] == [word]
        assert browser.ask(BEYOND) == []
        browser.ask("history.back()")
        browser.wait_for(f"{SHOWN} === 'plain'")
    assert browser.ask("document.title") != "attacked"
    assert browser.ask("document.querySelectorAll('main script, main img').length") == 0
    assert browser.complaints == []


def test_every_view_has_its_address(browser, address):
    show(browser, address)
    for state, selector in [
        ("sentence=the+prime+minister+of+australia&position=2", "table"),
        ("compare=&other=1", ".note"),
        ("context=&term=", "form"),
        ("sum=", "form"),
        ("", ".chips a"),
    ]:
        lead_to(browser, state)
        browser.wait_for(f"document.querySelector('#view {selector}')")
    assert browser.complaints == []


def test_an_address_with_mistakes_shows_what_is_right_in_it(browser, address):
    show(browser, address + "#model=length&other=-1&paint=constructor&word=Police&nothing=1&__proto__=2")
    assert browser.ask(SHOWN) == "police"
    assert browser.ask("document.getElementById('paint').value") == "pmi"
    assert browser.complaints == []


def test_an_unknown_word_is_said_to_be_one_and_can_be_mended(browser, address):
    show(browser, address + "#word=policf")
    assert "'policf' is not among the" in browser.ask("document.querySelector('[role=alert]').textContent")
    assert "police" in texts(browser, ".chips a")
    lead_to(browser, "sum=policf+-+israel+%2B+austrlia")
    browser.wait_for("document.querySelectorAll('.chips').length === 2")
    browser.ask("[...document.querySelectorAll('.chips a')].find(a => a.textContent === 'australia').click()")
    browser.wait_for("location.hash === '#sum=policf+-+israel+%2B+australia'")
    browser.wait_for("document.querySelectorAll('.chips').length === 1")
    assert browser.ask("document.querySelector('#view input').value") == "policf - israel + australia"
    assert browser.complaints == []


def test_a_server_that_has_ended_is_said_to_have_ended(browser, address):
    show(browser, address + "#word=police")
    go_offline(browser, True)
    try:
        browser.ask("document.querySelector('#view tbody a').click()")
        browser.wait_for("document.querySelector('[role=alert]')")
        assert "The explorer has ended" in browser.ask("document.querySelector('[role=alert]').textContent")
    finally:
        go_offline(browser, False)
    assert [told for told in browser.complaints if "exceptionThrown" in told or "Uncaught" in told] == []
    browser.ask("history.back()")
    browser.wait_for(f"{SHOWN} === 'police' && document.querySelector('#view table')")


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, address, view, scheme):
    path = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))
    if not path.is_file():
        pytest.skip("axe-core is not installed: npm install --no-save axe-core, or name its axe.min.js in AXE_CORE")
    for state in ALL_STATES:
        show(browser, address + "#" + state, view, scheme)
        browser.ask(path.read_text(encoding="utf-8") + "; 0")
        assert browser.ask("axe.run().then(found => found.violations.map(one => [one.id, one.nodes[0].html]))") == []
        assert browser.ask(BEYOND) == []
        assert browser.complaints == []
