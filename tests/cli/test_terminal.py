"""Standard output, terminals and shells: what is shown there, and what happens if it goes away."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios

import pytest
from shell import COMMAND, environment, run
from texts import TEXT, some_text

from gensim_hilbert import HilbertMLE, PairCounts


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "hilbert.model"
    HilbertMLE([line.split() for line in some_text().splitlines()], vector_size=4, min_count=2).save(str(path))
    return path


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only some systems have a device that is always full")
def test_standard_output_is_full(model):
    with open("/dev/full", "w") as full:
        done = run("neighbors", "--trust-pickle", model, "cat", stdout=full)
    assert done.returncode == 1
    assert done.stderr == "error: No space left on device\n"


def test_standard_output_is_closed(model):
    command = " ".join(map(str, COMMAND))
    done = subprocess.run(
        f"{command} pmi --trust-pickle {model} cat mat >&-", shell=True, capture_output=True, env=environment()
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_error_is_told_although_standard_output_is_closed(tmp_path):
    command = " ".join(map(str, COMMAND))
    done = subprocess.run(f"{command} info {tmp_path}/x >&-", shell=True, capture_output=True, env=environment())
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"error: ")
    assert done.stderr.count(b"\n") == 1


def test_a_reader_that_goes_away(model):
    words = ["cat", "mat", "sat"] * 300  # more than a pipe holds
    process = subprocess.Popen(
        [*COMMAND, "neighbors", "--trust-pickle", model, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout.readline().startswith("like cat")
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait(60)


@pytest.mark.parametrize(
    ("typed", "offered"), [("gensim-hilbert nei", "neighbors"), ("gensim-hilbert train --vec", "--vector-size")]
)
def test_completion(typed, offered, monkeypatch):
    monkeypatch.setenv("_GENSIM_HILBERT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    assert f"plain,{offered}\n" in run().stdout


def test_output_into_a_closed_pipe(plain, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    done = run("count", plain, "-o", tmp_path / "out", stdout=writing)
    os.close(writing)
    assert "Traceback" not in done.stderr
    PairCounts.open(tmp_path / "out").verify()


def test_a_bar_on_a_terminal(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT * 100)
    main, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, "count", path, "-o", tmp_path / "out", "--window", "10"],
        stdout=subprocess.PIPE,
        stderr=secondary,
        env={**environment(), "TQDM_MININTERVAL": "0"},  # it moves however fast the machine is
    )
    os.close(secondary)
    shown = b""
    try:
        while True:
            ready, _, _ = select.select([main], [], [], 60)
            if not ready:
                break
            try:
                data = os.read(main, 65536)
            except OSError:  # Linux says so at the end
                break
            if not data:
                break
            shown += data
    finally:
        os.close(main)
    assert process.wait(60) == 0
    assert process.stdout.read().count(b"\n") == 1
    process.stdout.close()
    text = shown.decode("utf-8", "replace")
    for part in ("words", "pairs", "tokens/s", "B/s", "%|"):
        assert part in text
