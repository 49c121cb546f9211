"""Counting and training that are interrupted or killed: the same command, or --resume, goes on to the same result."""

import http.server
import json
import shutil
import signal
import threading
import time

import pytest
from helpers import assert_same_counts, assert_same_vectors
from shell import assert_one_sentence, finish, run, run_here, run_python, signal_when, start
from texts import TEXT, zipf_text

from gensim_hilbert import HilbertMLE, PairCounts

# ---------------------------------------------------------------------------------------------------- count


def test_ctrl_c_while_a_file_is_counted(tmp_path):
    path, out, work = tmp_path / "text.txt", tmp_path / "out", tmp_path / "out.partial"
    arguments = ["count", path, "-o", out, "--window", 10, "--workers", 1, "--memory-gb", 0.05]
    repeats = 1500
    while True:
        path.write_bytes(TEXT * repeats)
        process = start(*arguments)
        signal_when(process, (work / "vocabulary.jsonl").exists, signal.SIGINT)
        code, stdout, stderr = finish(process, 30)
        if code != 0 or repeats > 20_000:
            break
        repeats *= 3  # it was done before the signal came
        shutil.rmtree(out)
    assert code == 130, stderr
    assert stdout == ""
    assert "Traceback" not in stderr
    assert "give the same command again to go on" in stderr
    assert str(work) in stderr
    assert work.is_dir()
    with pytest.raises(FileNotFoundError, match="interrupted: run the same count again"):
        PairCounts.open(out)
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert not work.exists()
    assert_same_counts(PairCounts.open(out), PairCounts.from_corpus(path, window=10))


def test_ctrl_c_while_modules_are_loaded(tmp_path):
    (tmp_path / "click.py").write_text(
        "import os, signal, sys\nos.kill(os.getpid(), signal.SIGINT)\nsys.exit('alive')\n"
    )
    program = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from gensim_hilbert.__main__ import main\n"
        "main()\n"
    )
    done = run_python(program, "info", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_ctrl_c_while_a_lock_is_taken(plain, tmp_path):
    """As it can in any `with lock:`, which then releases what it does not have."""
    script = (
        "import sys, threading\n"
        "from gensim_hilbert import cli\n"
        "from gensim_hilbert.counting import build\n"
        "def struck(*_):\n"
        "    try:\n"
        "        raise KeyboardInterrupt\n"
        "    finally:\n"
        "        threading.Lock().release()\n"
        "build.count_blocks = struck\n"
        "cli.main()\n"
    )
    done = run_python(script, "count", plain, "-o", tmp_path / "out")
    assert (done.returncode, done.stdout) == (130, "")
    assert "release unlocked lock" not in done.stderr
    assert "give the same command again to go on" in done.stderr


def test_an_error_in_a_script_that_handles_an_interruption_is_still_that_error(tmp_path):
    empty = tmp_path / "empty.txt"
    empty.touch()
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with pytest.raises(ValueError, match="the corpus is empty"):
            PairCounts.from_corpus(empty, directory=tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["empty.txt"]


class Stalling(http.server.BaseHTTPRequestHandler):
    """Serves a text; the second time it stops half-way until it is released."""

    def do_HEAD(self):  # the name is http.server's
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.state["text"])))
        if self.server.state["tag"]:
            self.send_header("ETag", self.server.state["tag"])
        self.end_headers()

    def do_GET(self):
        state = self.server.state
        state["requests"] += 1
        stall = state["requests"] == 2 and not state["released"].is_set()
        self.do_HEAD()
        half = len(state["text"]) // 2
        try:
            self.wfile.write(state["text"][:half])
            if stall:
                state["stalled"].set()
                state["released"].wait(60)
            self.wfile.write(state["text"][half:])
        except ConnectionError:
            pass

    def log_message(self, *args):
        pass


@pytest.fixture
def stalling(serve):
    server = serve(Stalling)
    released = threading.Event()
    server.state = {
        "requests": 0, "stalled": threading.Event(), "released": released, "text": TEXT * 100, "tag": None,
    }  # fmt: skip
    yield server
    released.set()


@pytest.mark.parametrize("tag", ["v1", None])
def test_ctrl_c_while_a_server_stalls(tag, stalling, tmp_path):
    """Counting goes on only where the server tells whether the file is still the same."""
    stalling.state["tag"] = tag
    out, work = tmp_path / "out", tmp_path / "out.partial"
    arguments = ["count", f"http://127.0.0.1:{stalling.server_address[1]}/text.txt", "-o", out]
    process = start(*arguments)
    if not stalling.state["stalled"].wait(30):
        process.kill()
        pytest.fail(f"no second request: {process.communicate()}")
    time.sleep(0.3)  # so that it waits for the rest
    process.send_signal(signal.SIGINT)
    code, _, stderr = finish(process, 10)
    assert code == 130, stderr
    assert ("give the same command again to go on" in stderr) == bool(tag)
    assert work.is_dir() == bool(tag)
    stalling.state["released"].set()
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert not work.exists()
    (tmp_path / "text.txt").write_bytes(stalling.state["text"])
    assert_same_counts(PairCounts.open(out), PairCounts.from_corpus(tmp_path / "text.txt"))


# ---------------------------------------------------------------------------------------------------- train


SOLVERS = {
    "factorization": {"epochs": 8},
    "gibbs": {"epochs": 8, "solver": "gibbs", "workers": 1},
}


@pytest.fixture(scope="module")
def long_text(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "text.txt"
    path.write_bytes(zipf_text(30_000, 300))
    return path


def command_of(text, model, options):
    options = {"vector_size": 10, "min_count": 1, **options}
    pairs = [(f"--{name.replace('_', '-')}", value) for name, value in options.items()]
    return ["train", text, "-o", model, *(part for pair in pairs for part in pair)]


def uninterrupted(text, options):
    return HilbertMLE(corpus_file=str(text), vector_size=10, min_count=1, **options)


def epochs_done(work):
    """As the checkpoint tells; it must be readable at any moment."""
    manifest = work / "training-1" / "checkpoint.json"
    return json.loads(manifest.read_text())["epochs"] if manifest.exists() else 0


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(SOLVERS["factorization"], id="factorization"),
        pytest.param(SOLVERS["gibbs"], id="gibbs", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_then_resume(options, long_text, tmp_path):
    model, work = tmp_path / "model", tmp_path / "model.checkpoint"
    process = start(*command_of(long_text, model, options))
    assert signal_when(process, lambda: epochs_done(work) >= 2, signal.SIGINT), process.communicate()
    code, out, err = finish(process, 30)
    assert (code, out) == (130, ""), err
    assert err.strip() == f"unfinished; to go on: gensim-hilbert train --resume -o {model}"
    assert not model.exists()
    assert_one_sentence(run_here("info", model), f"go on by `gensim-hilbert train --resume -o {model}`")
    told = run_here("info", work).stdout
    assert "an interrupted training" in told
    assert f"{epochs_done(work)} of {options['epochs']} epochs" in told
    other = run_here("train", long_text, "-o", model, "--vector-size", 7)
    assert_one_sentence(other, "go on with it by --resume, or start anew by --overwrite")
    done = run("train", "--resume", "-o", "model", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert_same_vectors(HilbertMLE.from_pretrained(model), uninterrupted(long_text, options))
    assert not work.exists()


def test_killed_while_it_writes_the_same_command_completes(long_text, tmp_path):
    options = SOLVERS["factorization"]
    model, work = tmp_path / "model", tmp_path / "model.checkpoint"
    command = command_of(long_text, model, options)
    process = start(*command)
    # A folder that the manifest does not name yet is just being written.
    assert signal_when(process, (work / "training-1" / "epoch-3").exists, signal.SIGKILL)
    process.communicate()
    assert epochs_done(work) >= 2
    assert not model.exists()
    done = run(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert_same_vectors(HilbertMLE.from_pretrained(model), uninterrupted(long_text, options))
    assert not work.exists()


def test_two_at_once_do_not_mix(long_text, tmp_path):
    model, work = tmp_path / "model", tmp_path / "model.checkpoint"
    command = command_of(long_text, model, SOLVERS["factorization"])
    process = start(*command)
    try:
        assert signal_when(process, (work / "command.json").exists, 0)
        assert_one_sentence(run_here(*command), "another process is working in")
    finally:
        process.kill()
        process.communicate()
