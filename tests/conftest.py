"""Fixtures that several folders share: devices, corpora, trained models, and real servers on loopback."""

from __future__ import annotations

import functools
import http.server
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

# Small products do not gain by threads, and lose much where a server or another test needs the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import pytest
from faulty_server import FaultyHandler, Site
from helpers import (
    MIN_COUNT,
    NEWS_OPTIONS,
    SMALL_OPTIONS,
    STREAM_OPTIONS,
    assert_nothing_left,
    count,
    full_training,
    short_training,
    table_of,
)
from pages import Page
from reference import gensim_vocabulary, pairs_of, sentences_of
from subword_models import ODD_SENTENCES, SOLVERS, train_subwords
from texts import TEXT

import gensim_hilbert.corpus.blocks
import gensim_hilbert.corpus.web
from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.report import report

COMMON = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.function_scoped_fixture]}
hypothesis.settings.register_profile("few", max_examples=25, derandomize=True, **COMMON)
hypothesis.settings.register_profile("many", max_examples=250, **COMMON)


def pytest_configure(config):
    """A run of all tests, slow ones included, has hypothesis invent more examples, and others each time."""
    if config.getoption("--hypothesis-profile", None) is None:
        hypothesis.settings.load_profile("few" if config.option.markexpr else "many")


def pytest_generate_tests(metafunc):
    """Run a test that asks for `device` on every device that is available."""
    if "device" in metafunc.fixturenames:
        import torch  # most tests do without

        here = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        metafunc.parametrize("device", [name for name, available in here.items() if available])


@pytest.fixture(scope="module", name="short_training")
def _short_training():
    """Fewer updates: enough to see that a model learns."""
    with short_training():
        yield


# ---------------------------------------------------------------------------------------------------- corpora


@pytest.fixture
def plain(tmp_path):
    """TEXT as a plain file."""
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT)
    return path


@pytest.fixture(scope="session")
def expected(tmp_path_factory):
    """The counts of TEXT, which the oracle has checked."""
    path = tmp_path_factory.mktemp("plain") / "text.txt"
    path.write_bytes(TEXT)
    counts = count(path, workers=1)
    sentences = sentences_of(TEXT)
    words, numbers = gensim_vocabulary(sentences, min_count=MIN_COUNT)
    assert (counts.vocabulary.words, counts.vocabulary.counts.tolist()) == (words, numbers)
    assert table_of(counts) == pairs_of(sentences, words, 4, 4, "dynamic")
    return counts


@pytest.fixture
def target(tmp_path):
    """Where counts are to be written."""
    return tmp_path / "out" / "counts"


@pytest.fixture
def refused(target):
    """A function that checks that counting raises an error and leaves nothing behind."""

    def check(error, message, corpus, **options):
        with pytest.raises(error, match=message) as caught:
            PairCounts.from_corpus(corpus, directory=target, **{"min_count": 1, "workers": 2} | options)
        assert type(caught.value) is error or error in (OSError, UnicodeError)
        assert_nothing_left(target)
        return caught.value

    return check


@pytest.fixture
def set_block_bytes(monkeypatch):
    """A function that sets the size of blocks."""
    return functools.partial(monkeypatch.setattr, gensim_hilbert.corpus.blocks, "BLOCK_BYTES")


@pytest.fixture(params=[200, 1 << 20], ids=["small blocks", "one block"])
def block_bytes(request, set_block_bytes):
    """Run a test with text cut into small blocks, and with text in one block."""
    set_block_bytes(request.param)


@pytest.fixture(scope="session")
def news() -> list[list[str]]:
    """A small corpus that comes with gensim."""
    from gensim.test.utils import datapath
    from gensim.utils import simple_preprocess

    with open(datapath("lee_background.cor"), encoding="utf-8") as file:
        return [simple_preprocess(line) for line in file]


@pytest.fixture(scope="session")
def some_news(news) -> list[list[str]]:
    """Fewer of them."""
    return news[:120]


# ---------------------------------------------------------------------------------------------------- trained models


def for_reading(*arguments, **options) -> HilbertMLE:
    """A model that is trained as users train, and whose vectors no test can change for the next one."""
    with full_training():
        model = HilbertMLE(*arguments, **options)
    model.wv.vectors.flags.writeable = model.syn1neg.flags.writeable = False
    return model


@pytest.fixture(scope="session")
def news_model(news) -> HilbertMLE:
    """A model of the news, for reading only; copy it to train on."""
    return for_reading(news, **NEWS_OPTIONS, compute_loss=True)


@pytest.fixture(scope="session")
def small_model(some_news) -> HilbertMLE:
    """A model of some news, for reading only; copy it to train on."""
    return for_reading(some_news, **SMALL_OPTIONS)


@pytest.fixture(scope="session")
def stream_model(news) -> HilbertMLE:
    """A model of the news from the stream, for reading only; copy it to train on."""
    return for_reading(news, **STREAM_OPTIONS, epochs=20, compute_loss=True)


@pytest.fixture(scope="session", params=SOLVERS)
def subword_model(request, news) -> HilbertMLE:
    """A model with subwords by each solver, for reading only."""
    with short_training():
        return train_subwords(news[:150] + ODD_SENTENCES, request.param)


@pytest.fixture(scope="session")
def saved_news_model(news_model, tmp_path_factory) -> Path:
    """Where the model of the news is saved."""
    path = tmp_path_factory.mktemp("model") / "news <1>.model"
    news_model.save(str(path))
    return path


@pytest.fixture(scope="session")
def news_page(news_model, tmp_path_factory) -> Page:
    """The report of the model of the news, with the neighbours of two words."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    report(news_model, path, words=["minister", "israeli"], title="news")
    return Page(path)


# ---------------------------------------------------------------------------------------------------- servers


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port: int, process: subprocess.Popen, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"the server has ended with exit code {process.returncode}")
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port} after {seconds} s")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def serve():
    """A function that starts an HTTP server with a handler and returns it; it ends with the test."""
    servers = []

    def start(handler) -> http.server.ThreadingHTTPServer:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        servers.append((server, thread))
        return server

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def http_folder(serve, tmp_path):
    """(address, folder): what lies in the folder is served."""
    folder = tmp_path / "served"
    folder.mkdir()
    server = serve(functools.partial(QuietHandler, directory=str(folder)))
    return f"http://127.0.0.1:{server.server_address[1]}", folder


@pytest.fixture
def site(serve, monkeypatch):
    """What a server has that fails as it is told; `site.address` is where it is. Pauses between tries are short."""
    pytest.importorskip("requests", reason="requests is not installed: pip install 'gensim-hilbert[http]'")
    monkeypatch.setattr(gensim_hilbert.corpus.web, "PAUSE_SECONDS", 0.001)
    server = serve(FaultyHandler)
    server.site = Site()
    server.site.address = f"http://127.0.0.1:{server.server_address[1]}"
    return server.site


@pytest.fixture(scope="session")
def s3_server():
    """The address of moto's server, a process of its own."""
    pytest.importorskip("boto3", reason="boto3 is not installed: pip install 'gensim-hilbert[s3]'")
    pytest.importorskip("moto.server", reason="moto's server is not installed: pip install 'moto[server]'")
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"},
    )
    try:
        wait_for(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
def s3_environment(s3_server, monkeypatch):
    """Variables by which boto3, here and in processes that are started, talks to moto's server."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture
def s3(s3_environment, request):
    """(client, bucket): an empty bucket."""
    import boto3

    client = boto3.client("s3")
    bucket = "b" + str(abs(hash(request.node.nodeid)))
    client.create_bucket(Bucket=bucket)
    return client, bucket


@pytest.fixture
def gcs(monkeypatch):
    """(client, bucket) on an emulator of Google Cloud Storage, a process of its own."""
    storage = pytest.importorskip(
        "google.cloud.storage", reason="google-cloud-storage is missing: pip install 'gensim-hilbert[gcs]'"
    )
    pytest.importorskip(
        "gcp_storage_emulator", reason="the emulator is missing: pip install gcp-storage-emulator 'setuptools<80'"
    )
    from google.auth.credentials import AnonymousCredentials

    port = free_port()
    options = ["--host", "127.0.0.1", "--port", str(port), "--in-memory"]
    process = subprocess.Popen(
        [sys.executable, "-m", "gcp_storage_emulator", "start", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port, process)
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
        client = storage.Client(project="test", credentials=AnonymousCredentials())
        client.create_bucket("texts")
        yield client, "texts"
    finally:
        process.terminate()
        process.wait(10)
