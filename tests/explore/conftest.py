"""A model with counts, vectors with odd words, an explorer of both in its own process, and a browser to look at it."""

import signal

import numpy as np
import pytest
from browser import Browser
from helpers import keyed
from shell import start

from gensim_hilbert.explore.endpoints import Explorer
from gensim_hilbert.export import export

SCRIPT = "<script>document.title='attacked'</script>"
ODD_WORDS = [
    SCRIPT,
    "<img/src=x/onerror=alert(1)>",
    "שלום",
    "plain",
    "Plains",
    "a/b?c#d%e&f=g+h",
    "🙂🏳️‍🌈",
    "long" * 75,
    "../up",
]


@pytest.fixture(scope="session")
def odd_vectors():
    """Vectors without covectors, of words that are markup, long, written from right to left, or part of addresses."""
    random = np.random.default_rng(2)
    return keyed(ODD_WORDS, random.normal(size=(len(ODD_WORDS), 4)))


@pytest.fixture(scope="session")
def odd_file(odd_vectors, tmp_path_factory):
    path = tmp_path_factory.mktemp("odd") / "odd.npy"
    export(odd_vectors, path)
    return path


@pytest.fixture(scope="session")
def explorer(news_model, odd_vectors, saved_news_model, odd_file):
    """An explorer of both models; it keeps their layouts for all others that need them."""
    return Explorer([("news", news_model), ("odd", odd_vectors)], [saved_news_model, odd_file])


@pytest.fixture(scope="session")
def address(explorer, saved_news_model, odd_file):
    """The address of an explorer that a process serves; it must end well when it is interrupted."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install 'gensim-hilbert[explore]'")
    pytest.importorskip("starlette", reason="starlette is not installed: pip install 'gensim-hilbert[explore]'")
    process = start("explore", saved_news_model, odd_file, "--no-browser", "--trust-pickle")
    try:
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
        assert (process.returncode, stderr) == (0, "")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def browser():
    with Browser() as found:
        yield found
