"""A model with counts, vectors with odd words, and an explorer of both in a process of its own."""

import signal

import numpy as np
import pytest
from helpers import keyed
from shell import start

from gensim_hilbert.explore.endpoints import Explorer
from gensim_hilbert.export import export

SCRIPT = "<script>document.title='attacked'</script>"


@pytest.fixture(scope="session")
def odd_vectors():
    """Vectors without covectors, of words that are markup, or written from right to left."""
    random = np.random.default_rng(2)
    return keyed([SCRIPT, "<img/src=x/onerror=alert(1)>", "שלום", "plain", "Plains"], random.normal(size=(5, 4)))


@pytest.fixture(scope="session")
def explorer(news_model, odd_vectors):
    return Explorer([("news", news_model), ("odd", odd_vectors)])


@pytest.fixture(scope="session")
def address(saved_news_model, odd_vectors, tmp_path_factory):
    """The address of an explorer that a process serves; it must end well when it is interrupted."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install 'gensim-hilbert[explore]'")
    pytest.importorskip("starlette", reason="starlette is not installed: pip install 'gensim-hilbert[explore]'")
    odd = tmp_path_factory.mktemp("odd") / "odd.npy"
    export(odd_vectors, odd)
    process = start("explore", saved_news_model, odd, "--no-browser", "--trust-pickle")
    try:
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
        assert (process.returncode, stderr) == (0, "")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
