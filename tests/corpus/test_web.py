"""Files on web servers that fail: they are read to their end and exactly once, or there is an error."""

import gzip
import time

import pytest
from faulty_server import (
    DATE,
    FaultyHandler,
    Site,
    cut,
    cut_chunked,
    cut_silently,
    end_chunked,
    reset,
    stall,
    status,
    then,
)
from helpers import assert_same_counts, count
from texts import TEXT, pieces

from gensim_hilbert import HilbertMLE
from gensim_hilbert.corpus import web
from gensim_hilbert.corpus.identity import CorpusChanged, FileFacts
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.corpus.web import TRIES, WebFile

MEMBERS = [gzip.compress(piece) for piece in pieces(3)]
FILES = {"text.txt": TEXT, "text.txt.gz": b"".join(MEMBERS)}
HALF = len(FILES["text.txt.gz"]) // 2
FAULTS = {
    "500": status(500),
    "502": status(502),
    "503": status(503),
    "429 with Retry-After": status(429, Retry_After="0"),
    "503 until a date": status(503, Retry_After=DATE),
    "closed at once": cut(0),
    "cut": cut(HALF),
    "cut after the first member": cut(len(MEMBERS[0])),
    "cut without a length": cut_silently(HALF),
    "cut without a length after the first member": cut_silently(len(MEMBERS[0])),
    "a chunk is missing": cut_chunked(HALF),
    "chunks end too early": end_chunked(len(MEMBERS[0])),
    "reset": reset(HALF),
}
SHOWN = ("500", "cut without a length", "cut without a length after the first member", "chunks end too early")
KINDS = {
    "strong": {"etag": '"1"', "modified": None},
    "time": {"etag": None, "modified": DATE},
    "weak and time": {"etag": 'W/"1"', "modified": DATE},
    "weak": {"etag": 'W/"1"', "modified": None},
    "nothing": {"etag": None, "modified": None},
}


@pytest.fixture(autouse=True)
def _files(site):
    site.files.update(FILES)


def text_at(uri: str) -> bytes:
    """The text of a file, decompressed, read once."""
    return b"".join(block.data for block in as_corpus(uri).blocks(streams=True))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_that_passes_changes_nothing(fault, site):
    for name in FILES:
        site.faults[name] = [FAULTS[fault]]
        assert text_at(f"{site.address}/{name}") == TEXT
        assert (len(site.requested("HEAD", name)), len(site.requested("GET", name))) == (1, 2)


def test_counts_do_not_depend_on_failures(site, expected):
    for name in FILES:
        site.faults[name] = [FAULTS[fault] for fault in ("500", "cut", "reset", "cut without a length", "503")]
        assert_same_counts(count(f"{site.address}/{name}"), expected)


@pytest.mark.parametrize("has_ranges", [True, False], ids=["ranges", "no ranges"])
@pytest.mark.parametrize("kind", KINDS)
def test_reading_goes_on_from_where_it_stopped(kind, has_ranges, site):
    vars(site).update(KINDS[kind], has_ranges=has_ranges)
    site.faults["text.txt.gz"] = (
        [cut(1000), cut_silently(1000), reset(1000)] if has_ranges else [cut(1000), reset(2000)]
    )
    assert text_at(f"{site.address}/text.txt.gz") == TEXT
    validator = {"strong": '"1"', "time": DATE, "weak and time": DATE}.get(kind)
    asked = [(request.range, request.if_range) for request in site.requested("GET") if request.range]
    places = [1000, 2000, 3000] if has_ranges else [1000, 2000]
    assert asked == ([(f"bytes={at}-", validator) for at in places] if validator else [])


@pytest.mark.parametrize("has_ranges", [True, False], ids=["ranges", "no ranges"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_has_changed_meanwhile_is_not_joined_to_what_was_read(kind, has_ranges, site):
    """The other text is as long, and differs before the place of the failure."""
    vars(site).update(KINDS[kind], has_ranges=has_ranges)

    def change(handler, headers, body):
        cut(3000)(handler, headers, body)
        site.files["text.txt"] = TEXT.upper()
        site.etag = site.etag and site.etag.replace("1", "2")
        site.modified = site.modified and "Sun, 02 Aug 2020 10:00:00 GMT"

    site.faults["text.txt"] = [change]
    with pytest.raises(CorpusChanged, match=r"text\.txt (has changed|was modified)"):
        text_at(f"{site.address}/text.txt")


@pytest.mark.parametrize(
    "fault",
    [fault if fault in SHOWN else pytest.param(fault, marks=pytest.mark.slow) for fault in FAULTS],
)
def test_a_failure_that_stays_is_an_error_that_names_the_file(fault, site):
    """Also where the answer looks complete, and HEAD alone has told the size."""
    name = "text.txt" if "member" not in fault and "early" not in fault else "text.txt.gz"
    site.has_ranges = False  # else each answer would bring a little more
    site.always[name] = FAULTS[fault]
    with pytest.raises(OSError, match=rf"{name} cannot be (read|opened)"):
        text_at(f"{site.address}/{name}")
    assert TRIES <= len(site.requested("GET")) <= TRIES + 1


def test_a_server_that_brings_a_little_each_time_is_given_up_some_day(site, monkeypatch):
    monkeypatch.setattr(web, "MOST_FAILURES", 20)
    site.always["text.txt"] = cut(1)
    with pytest.raises(OSError, match="after 20 failures"):
        text_at(f"{site.address}/text.txt")


def test_pauses_grow_and_the_server_may_ask_for_longer_ones(site, monkeypatch):
    monkeypatch.setattr(web, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(web, "LONGEST_PAUSE_SECONDS", 0.3)
    pauses = []
    sleep = time.sleep
    monkeypatch.setattr(web.time, "sleep", lambda seconds: (pauses.append(seconds), sleep(seconds)))
    site.faults["text.txt"] = [status(500)] * 4 + [status(503, Retry_After="3600")]
    text_at(f"{site.address}/text.txt")
    assert pauses == [pytest.approx(0.02 * 2**k, rel=0.25) for k in range(4)] + [0.3]


def test_a_server_that_is_silent_is_asked_again(site, expected):
    site.faults["text.txt"] = [stall(3000, 1.0)]
    started = time.monotonic()
    assert_same_counts(count(f"{site.address}/text.txt", transport_params={"timeout": 0.2}), expected)
    assert time.monotonic() - started < 1.0


def test_a_server_that_is_not_there(site, tmp_path):
    with pytest.raises(OSError, match=r"nowhere\.txt cannot be read: no answer"):
        count("http://127.0.0.1:9/nowhere.txt", directory=tmp_path / "counts")
    assert not list(tmp_path.glob("counts*"))
    with pytest.raises(ConnectionError, match="no answer"):
        HilbertMLE(corpus_file="http://127.0.0.1:9/nowhere.txt")


def test_other_errors_are_not_repeated(site):
    site.always["text.txt"] = status(403)
    with pytest.raises(OSError, match=r"text\.txt cannot be opened: 403 Forbidden"):
        text_at(f"{site.address}/text.txt")
    assert len(site.requested("GET")) == 1


def test_one_request_for_facts_and_one_for_each_reading(site, expected):
    assert_same_counts(count(f"{site.address}/text.txt"), expected)
    assert [request.method for request in site.log] == ["HEAD", "GET", "GET"]


def test_servers_without_head_tell_facts_by_get(site, expected):
    site.has_head = False
    assert_same_counts(count(f"{site.address}/text.txt"), expected)
    assert [(request.method, request.range) for request in site.log] == [
        ("HEAD", None), ("GET", "bytes=0-0"), ("GET", None), ("GET", None),
    ]  # fmt: skip


def test_an_empty_file_and_a_missing_end(site):
    site.files["empty.txt"] = b""
    assert WebFile(f"{site.address}/empty.txt", None, FileFacts()).readall() == b""
    site.faults["text.txt"] = [cut_chunked(len(TEXT))]  # all of it is there but the mark of the end
    file = WebFile(f"{site.address}/text.txt", None, FileFacts())
    assert file.readall() == TEXT
    assert file.read(1) == b""
    assert [request.range for request in site.requested("GET", "text.txt")] == [None, f"bytes={len(TEXT)}-"]


def test_a_long_reading_ends_with_another_look(site, monkeypatch):
    """A server that sends a file while somebody writes to it still tells its old ETag."""
    monkeypatch.setattr(web, "LONG_READING_SECONDS", 0)

    def change():
        site.etag = '"2"'

    site.faults["text.txt"] = [then(3000, change)]
    with pytest.raises(CorpusChanged, match='its ETag is "2" instead of "1"'):
        count(f"{site.address}/text.txt")


def test_credentials_and_headers_are_sent(serve):
    """Also with the first request, which asks for facts."""
    seen = []

    class Handler(FaultyHandler):
        def answer(self, method):
            seen.append((method, self.headers["Authorization"], self.headers["X-Key"]))
            super().answer(method)

    server = serve(Handler)
    server.site = Site(files=dict(FILES))
    params = {"user": "me", "password": "secret", "headers": {"X-Key": "7"}}
    count(f"http://127.0.0.1:{server.server_address[1]}/text.txt", transport_params=params)
    assert seen == [(method, "Basic bWU6c2VjcmV0", "7") for method in ("HEAD", "GET", "GET")]
