"""The server as other programs on the machine see it: only the page's own requests are answered."""

import http.client
import json
import socket
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest
from shell import assert_one_sentence, run_here


def get(address, path="", **headers):
    """(status, headers, body) of a request; `path` is sent as it is."""
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    try:
        connection.putrequest(headers.pop("method", "GET"), parts.path + path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def ask(address, name, **query):
    status, _, body = get(address, f"api/{name}?{urllib.parse.urlencode(query)}")
    return status, json.loads(body)


def test_the_page_and_its_parts_are_served_with_a_strict_policy(address):
    for path, kind in [("", "text/html"), ("static/app.js", "javascript"), ("static/style.css", "text/css")]:
        status, headers, body = get(address, path)
        assert status == 200
        assert kind in headers["content-type"]
        assert headers["content-security-policy"].startswith("default-src 'self';")
        assert headers["x-content-type-options"] == "nosniff"
        assert b"http://" not in body.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"https://" not in body


def test_only_127_0_0_1_is_listened_on(address):
    port = urllib.parse.urlsplit(address).port
    with socket.socket() as other:
        assert other.connect_ex(("127.0.0.2", port)) != 0


@pytest.mark.parametrize("token", ["", "wrong", "%00", "x" * 5000, "../", "é"])
def test_a_wrong_token_is_refused(address, token):
    parts = urllib.parse.urlsplit(address)
    for path in ("", "/", "/api/models", "/static/app.js"):
        found = get(f"http://{parts.netloc}/", urllib.parse.quote(token, safe="/%.") + path)
        assert found[0] == 403
        assert b"Forbidden" in found[2]


def test_foreign_hosts_and_origins_are_refused(address):
    port = urllib.parse.urlsplit(address).port
    for own in (f"127.0.0.1:{port}", f"localhost:{port}"):
        assert get(address, "api/models", Host=own, Origin=f"http://{own}")[0] == 200
    for foreign in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", ""):
        assert get(address, "api/models", Host=foreign)[0] == 403
    for foreign in (
        "http://evil.example",
        f"https://127.0.0.1:{port}",
        "null",
        f"http://127.0.0.1:{port}.evil.example",
    ):
        assert get(address, "api/models", Origin=foreign)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "../",
        "../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "..%2f..%2fapplication.py",
        "../application.py",
        "/etc/passwd",
    ],
)
def test_no_file_outside_is_served(address, path):
    status, _, body = get(address, "static/" + path)
    assert status in (403, 404)
    assert b"root:" not in body
    assert b"import" not in body


def test_only_questions_are_answered(address):
    assert get(address, "api/models", method="POST")[0] == 405
    assert get(address, "api/nothing")[0] == 404


def test_every_endpoint_answers(address, explorer):
    questions = {
        "models": {},
        "complete": {"prefix": "po"},
        "word": {"word": "police"},
        "pair": {"context": "minister", "term": "prime"},
        "sum": {"expression": "israel - palestinian + australia"},
        "substitute": {"sentence": "the prime minister", "position": 1},
        "fitting": {"sentence": "the prime minister", "position": 1},
        "spelling": {"word": "policf"},
        "map": {},
        "paint": {"by": "pmi", "word": "police"},
        "compare": {"model": 0, "other": 1},
    }
    for name, query in questions.items():
        status, answer = ask(address, name, **query)
        assert status == 200, answer
        expected = explorer.answer(name, {key: str(value) for key, value in query.items()})
        assert answer.keys() == expected.keys()
    assert ask(address, "pair", **questions["pair"])[1]["pmi"] == pytest.approx(
        explorer.answer("pair", questions["pair"])["pmi"], abs=1e-5
    )


@pytest.mark.parametrize(
    ("name", "query", "status", "message"),
    [
        ("word", {}, 400, "the parameter word is missing"),
        ("word", {"word": "xyzzy"}, 404, "'xyzzy' is not among"),
        ("word", {"word": "police", "n": "0"}, 400, "n must be from 1 to 100, got 0"),
        ("word", {"word": "police", "n": "many"}, 400, "n must be a whole number, got 'many'"),
        ("word", {"word": "police", "model": "7"}, 400, "model must be from 0 to 1, got 7"),
        ("pair", {"context": "police"}, 400, "the parameter term is missing"),
        ("paint", {"by": "difference", "other": "-1"}, 400, "other must be from 0 to 1"),
        ("sum", {"expression": "a b"}, 400, "write + or - between"),
    ],
)
def test_mistakes_are_told_in_a_sentence(address, name, query, status, message):
    found, answer = ask(address, name, **query)
    assert found == status
    assert message in answer["error"]


def test_refusals_are_answers_where_the_page_prefers_that(address):
    """A browser would report other statuses on its console."""
    for name, query, status in [("word", "word=xyzzy", 404), ("word", "", 400), ("nothing", "", 404)]:
        refused = get(address, f"api/{name}?{query}")
        answered = get(address, f"api/{name}?{query}", Prefer="status=200")
        assert (refused[0], answered[0]) == (status, 200)
        assert refused[2] == answered[2]
    assert get(address, "api/models", Host="evil.example", Prefer="status=200")[0] == 403


def test_many_requests_at_once(address):
    words = ask(address, "complete", prefix="p", n=50)[1]["words"]
    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(lambda k: ask(address, "word", word=words[k % len(words)]), range(200)))
    assert [status for status, _ in found] == [200] * 200
    assert [answer["word"] for _, answer in found] == [words[k % len(words)] for k in range(200)]


def test_a_port_that_is_taken(address, saved_news_model):
    port = urllib.parse.urlsplit(address).port
    done = run_here("explore", saved_news_model, "--no-browser", "--port", port, "--trust-pickle")
    assert_one_sentence(done, f"cannot serve on port {port} of 127.0.0.1")


def test_without_the_extra_the_error_names_it(monkeypatch, saved_news_model):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = run_here("explore", saved_news_model)
    assert_one_sentence(done, "pip install 'gensim-hilbert[explore]'")
