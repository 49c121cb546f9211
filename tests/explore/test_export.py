"""The exported explorer: what its page computes is what the server answers."""

import functools
import http.server
import json
import threading

import pytest
from conftest import QuietHandler

from gensim_hilbert import HilbertMLE
from gensim_hilbert.explore.endpoints import Explorer
from gensim_hilbert.explore.export import write_explorer


@pytest.fixture(scope="module")
def three(explorer, news, saved_news_model, odd_file):
    """The models of the other tests, and one that shares some words with the first."""
    texts = [[word.replace("st", "sst") for word in text] for text in news[:60]]
    early = HilbertMLE(texts, vector_size=8, max_final_vocab=300, workers=1, seed=3)
    models = [(model.name, model.model) for model in explorer.models]
    return Explorer([*models, ("early", early)], [saved_news_model, odd_file, None])


@pytest.fixture(scope="module")
def page(browser, three, tmp_path_factory):
    """The browser at an exported explorer on an ordinary web server."""
    folder = tmp_path_factory.mktemp("site") / "explorer"
    write_explorer(three, folder, words=10_000)
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}/#word=police"
        for here in ("about:blank", address):  # so that no request of an earlier page comes late
            browser.open(here, width=1200, height=900, scheme="light")
        browser.wait_for("document.querySelector('#legend .ramp')")
        yield browser
        server.shutdown()
        thread.join()


def asked(page, name, query):
    """The answer of the page, or the message of its refusal."""
    asking = f"api.ask({json.dumps(name)}, {json.dumps(query)})"
    return page.ask(
        f"import('./static/api.js').then(({{ api }}) => {asking}).catch(error => ({{ error: error.message }}))"
    )


def assert_same(found, expected):
    """Numbers may differ in the last digits; the order of words may not."""
    if isinstance(expected, dict):
        assert found.keys() >= expected.keys()
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-3, abs=6e-4)
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("word", {"word": "police"}),
        ("word", {"word": "Police", "n": "3"}),
        ("word", {"word": "plain", "model": "1"}),
        ("pair", {"context": "minister", "term": "prime"}),
        ("pair", {"context": "plain", "term": "Plains", "model": "1"}),
        ("sum", {"expression": "israel - palestinian + australia"}),
        ("substitute", {"sentence": "The prime xyzzy of Australia", "position": "2"}),
        ("substitute", {"sentence": "plain words", "position": "0", "model": "1"}),
        ("fitting", {"sentence": "the prime minister of australia", "position": "2"}),
        ("complete", {"prefix": "po"}),
        ("spelling", {"word": "policf"}),
        ("spelling", {"word": "police"}),
        ("paint", {"by": "pmi", "word": "police"}),
        ("paint", {"by": "similarity", "word": "police"}),
        ("paint", {"by": "frequency"}),
        ("paint", {"by": "frequency", "model": "1"}),
        ("paint", {"by": "difference", "other": "2"}),
        ("map", {"model": "2"}),
        ("compare", {"other": "2"}),
        ("compare", {"model": "2", "other": "0", "word": "police"}),
        ("compare", {"model": "0", "other": "2", "word": "police"}),
    ],
)
def test_the_page_answers_as_the_server_does(page, three, name, query):
    expected = json.loads(json.dumps(three.answer(name, query)))
    assert_same(asked(page, name, query), expected)
    assert page.complaints == []


def test_neighbours_are_compared_among_shared_words(page, three):
    found = asked(page, "compare", {"model": "0", "other": "2", "word": "police"})
    shared = three.models[0].rows.keys() & three.models[2].rows.keys()
    listed = [near["word"] for kind in ("like", "with_it") for part in ("lost", "gained") for near in found[part][kind]]
    assert listed
    assert set(listed) <= shared
    assert found["shared"] == len(shared) < len(three.models[2])


def test_a_pair_that_was_never_seen_is_said_to_be_one(page, three):
    contexts = three.answer("word", {"word": "police"})["with_it"] + three.answer("word", {"word": "israel"})["with_it"]
    words = [(item["word"], term) for item, term in zip(contexts, ["police"] * 20 + ["israel"] * 20, strict=True)]
    unseen = [pair for item, pair in zip(contexts, words, strict=True) if item["count"] == 0]
    assert unseen
    for context, term in unseen:
        query = {"context": context, "term": term}
        found = asked(page, "pair", query)
        assert found["sentence"] == f"{context} was never seen near {term}."
        assert_same(found, json.loads(json.dumps(three.answer("pair", query))))


@pytest.mark.parametrize(
    ("name", "query", "message"),
    [
        ("word", {"word": "xyzzy"}, "'xyzzy' is not among the 889 words of this page."),
        ("sum", {"expression": "israel -"}, "has no word at its end"),
        ("sum", {"expression": "israel palestinian"}, "write + or - between"),
        ("sum", {"expression": "israel - - palestinian"}, "a word must stand between"),
        ("substitute", {"sentence": "the city", "position": "2"}, "position must be from 0 to 1, got 2"),
    ],
)
def test_mistakes_are_told_in_a_sentence(page, name, query, message):
    assert message in asked(page, name, query)["error"]


@pytest.mark.parametrize("words", [100, 5])
def test_few_words_are_written_whole(three, tmp_path, words):
    size = write_explorer(three, tmp_path / "site", words=words)
    written = json.loads((tmp_path / "site/data/0/words.json").read_text())
    assert written["words"] == three.models[0].texts[:words]
    assert len(written["map"]["x"]) == len(written["evidence"]) == words
    assert (tmp_path / "site/data/0/vectors.bin").stat().st_size == 4 * words * written["size"]
    assert size == sum(path.stat().st_size for path in (tmp_path / "site").rglob("*") if path.is_file())


def test_a_folder_that_cannot_be_made_is_named_as_it_was_asked_for(three, tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        write_explorer(three, tmp_path / "nowhere" / "site")
    assert error.value.filename == str(tmp_path / "nowhere" / "site")
