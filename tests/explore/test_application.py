"""The server as other programs on the machine see it: only the page's own requests are answered."""

import contextlib
import http.client
import json
import socket
import sys
import time
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


def test_odd_questions(address):
    words = ask(address, "complete", prefix="", n=100)[1]["words"]
    for expression, status in [
        (" + ".join(words), 200),
        (" + ".join([*words, *words]), 400),
        (" + ".join(["xyzzy"] * 50), 404),
        (" ", 400),
        ("+ " * 300, 400),
        ("\0", 404),
        ("<script>alert(1)</script>", 404),
    ]:
        found, answer = ask(address, "sum", expression=expression)
        assert found == status, answer
        assert ("error" in answer) == (status != 200)
    for sentence, status in [("", 400), ("?", 200), ("é" * 2000, 200), ("a" * 2001, 400)]:
        assert ask(address, "substitute", sentence=sentence, position=0)[0] == status
    assert ask(address, "complete", prefix="\ud800".encode("utf-8", "surrogatepass"))[0] == 200
    assert get(address, "api/word?word=police&n=3&n=x&&&=&%zz%ff")[0] == 400
    assert get(address, "api/word/../models")[0] in (403, 404)


def test_a_huge_query_is_refused(address):
    assert get(address, "api/word?word=" + "a" * 20_000)[0] == 414
    with contextlib.suppress(OSError):  # The connection may be closed before all is sent.
        assert get(address, "api/word?word=" + "a" * 1_000_000)[0] == 400
    assert ask(address, "word", word="police")[0] == 200


def test_clients_that_do_not_send_or_read_do_not_keep_others_waiting(address):
    parts = urllib.parse.urlsplit(address)
    request = f"GET {parts.path}api/map HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()
    others = [socket.create_connection((parts.hostname, parts.port)) for _ in range(60)]
    try:
        for k, other in enumerate(others):
            other.sendall(request[: len(request) // 2] if k % 2 else request * 30)  # and no answer is read
        for _ in range(5):
            start = time.monotonic()
            assert ask(address, "word", word="police")[0] == 200
            assert time.monotonic() - start < 5
    finally:
        for other in others:
            other.close()


def test_the_parts_of_an_answer_do_not_wait_for_each_other(address):
    parts, times = urllib.parse.urlsplit(address), []
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=20)
    for _ in range(20):
        start = time.monotonic()
        connection.request("GET", f"{parts.path}api/complete?prefix=po")
        connection.getresponse().read()
        times.append(time.monotonic() - start)
    connection.close()
    assert min(times) < 0.03  # With Nagle's algorithm, none takes less than 40 ms.


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
