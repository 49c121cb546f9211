"""The process that serves: it ends at once, whatever it is doing, and shows the model that it was started with."""

import shutil
import signal
import socket
import time
import urllib.parse

import numpy as np
import pytest
from helpers import keyed
from shell import start

from gensim_hilbert import HilbertMLE
from gensim_hilbert.explore import answers
from gensim_hilbert.explore.words import ExploredModel
from gensim_hilbert.export import export

SECONDS = 5  # in which a process ends, on a machine that is busy with other tests


def test_ctrl_c_ends_it_at_once_whoever_waits(tmp_path):
    pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install 'gensim-hilbert[explore]'")
    path = tmp_path / "random.npy"
    # So many words that their layout is computed by another process, which has to end, too.
    export(keyed([f"w{k}" for k in range(3000)], np.random.default_rng(1).normal(size=(3000, 8))), path)
    process = start("explore", path, path, "--no-browser")
    try:
        parts = urllib.parse.urlsplit(process.stdout.readline().strip())
        end = f" HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode()
        clients = [socket.create_connection((parts.hostname, parts.port)) for _ in range(4)]
        ask = f"GET {parts.path}api/".encode()
        clients[0].sendall(ask + b"models" + end)  # stays open
        clients[1].sendall(ask + b"mod")  # never ends
        clients[2].sendall((ask + b"map" + end) * 200)  # is never read
        clients[3].sendall(ask + b"compare?model=0&other=1" + end)  # takes long
        clients[0].recv(100)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=4 * SECONDS)
        assert (process.returncode, stderr) == (0, "")
        assert time.monotonic() - begun < SECONDS
        for client in clients:
            client.close()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.mark.parametrize("how", ["replaced", "removed"])
def test_a_model_that_is_replaced_or_removed_is_shown_as_it_was(news_model, small_model, tmp_path, how):
    folder = tmp_path / "model"
    news_model.save_pretrained(folder)
    served, expected = (ExploredModel(HilbertMLE.from_pretrained(folder), "news") for _ in range(2))
    asked = [(word, 5) for word in served.texts[50:60]]
    before = [answers.word(expected, *question) for question in asked]
    if how == "replaced":
        small_model.save_pretrained(folder)
    else:
        shutil.rmtree(folder)
    assert [answers.word(served, *question) for question in asked] == before
    served.prepare()
    assert [answers.word(served, *question) for question in asked] == before
