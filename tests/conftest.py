"""What tests ask for by name: the devices that are here, and real servers on loopback."""

from __future__ import annotations

import functools
import http.server
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

# Small products do not gain by threads, and lose much where a server or another test needs the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_generate_tests(metafunc):
    """A test that asks for `device` runs on all that are here."""
    if "device" in metafunc.fixturenames:
        import torch  # most tests do without

        here = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        metafunc.parametrize("device", [name for name, available in here.items() if available])


@pytest.fixture(scope="session")
def news() -> list[list[str]]:
    """A small corpus that comes with gensim."""
    from gensim.test.utils import datapath
    from gensim.utils import simple_preprocess

    with open(datapath("lee_background.cor"), encoding="utf-8") as file:
        return [simple_preprocess(line) for line in file]


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
def http_folder(tmp_path):
    """(address, folder): what lies in the folder is served."""
    folder = tmp_path / "served"
    folder.mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", folder
    server.shutdown()
    server.server_close()
    thread.join()


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
def s3(s3_server, monkeypatch, request):
    """(client, bucket): an empty bucket."""
    import boto3

    for name, value in (
        ("AWS_ACCESS_KEY_ID", "x"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=s3_server)
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
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "gcp_storage_emulator",
            "start",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--in-memory",
        ],
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
