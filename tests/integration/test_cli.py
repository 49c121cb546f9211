"""The command line as a shell runs it."""

import fcntl
import gzip
import http.server
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

import pytest
from helpers import assert_nothing_left, assert_same, some_text
from shell import COMMAND, finish, run, start

from gensim_hilbert import PairCounts

TEXT = some_text().encode()


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT)
    return path


class TestCommands:
    def test_count(self, plain, tmp_path):
        out = tmp_path / "out.counts"
        done = run(
            "count", plain, "-o", out, "--window", "3", "--weights", "1,0.5,0.25", "--min-count", 2, "--workers", 2
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        expected = PairCounts.from_corpus(plain, window=3, weights=[1, 0.5, 0.25], min_count=2)
        assert_same(PairCounts.open(out), expected)
        assert len(done.stdout.splitlines()) == 1
        assert f"{len(expected):,} words, {expected.vocabulary.tokens:,} tokens" in done.stdout
        again = run("count", plain, "-o", out, "--window", "3", "--weights", "1,0.5,0.25", "--min-count", 2)
        assert (again.returncode, again.stdout) == (0, done.stdout)

    def test_merge_and_vocabulary(self, plain, tmp_path):
        first, second, total = (tmp_path / name for name in ("first", "second", "total"))
        assert run("count", plain, "-o", first, "--min-count", 1).returncode == 0
        packed = tmp_path / "other.txt.gz"
        packed.write_bytes(gzip.compress(some_text(seed=2).encode()))
        done = run("count", packed, "-o", second, "--vocabulary", first)
        assert done.returncode == 0, done.stderr
        done = run("merge", first, second, "-o", total)
        assert (done.returncode, done.stderr) == (0, "")
        a, b, c = map(PairCounts.open, (first, second, total))
        assert c.vocabulary.words == a.vocabulary.words == b.vocabulary.words
        assert abs(c.to_scipy() - a.to_scipy() - b.to_scipy()).max() < 1e-9
        done = run("merge", first, second, "-o", total)
        assert done.returncode == 1
        assert "exists" in done.stderr
        assert run("merge", first, second, "-o", total, "--overwrite").returncode == 0

    def test_help(self):
        done = run("--help")
        assert done.returncode == 0
        assert "count" in done.stdout
        assert "merge" in done.stdout
        done = run("count", "--help")
        assert done.returncode == 0
        for option in ("--window", "--weights", "--min-count", "--memory-gb", "--output"):
            assert option in done.stdout
        assert done.stderr == ""

    @pytest.mark.parametrize(
        "arguments",
        [
            ["count", "text.txt", "-o", "out", "--no-such-option"],
            ["count", "text.txt"],
            ["count", "text.txt", "-o", "out", "--window", "five"],
            ["count", "text.txt", "-o", "out", "--weights", "1,x"],
        ],
    )
    def test_wrong_options(self, arguments, tmp_path):
        done = run(*arguments, cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.getcwd()})
        assert done.returncode == 2
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert not list(tmp_path.iterdir())


class TestErrors:
    def check(self, done, message):
        assert done.returncode == 1
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert done.stderr.startswith("error: ")
        assert re.search(message, done.stderr), done.stderr

    def test_one_line_each(self, plain, tmp_path):
        out = tmp_path / "out"
        self.check(run("count", tmp_path / "missing.txt", "-o", out), r"no such file: .*missing\.txt")
        bad = tmp_path / "bad.txt"
        bad.write_bytes(b"a b \xff\n")
        self.check(run("count", bad, "-o", out), r"bad\.txt: invalid UTF-8 at byte 4")
        damaged = tmp_path / "bad.gz"
        damaged.write_bytes(gzip.compress(TEXT)[:-100])
        self.check(run("count", damaged, "-o", out), r"bad\.gz cannot be read past")
        self.check(run("merge", tmp_path / "nowhere", "-o", out), "nowhere does not exist")
        assert_nothing_left(out)

    def test_debug_shows_a_traceback(self, tmp_path):
        done = run("--debug", "count", tmp_path / "missing.txt", "-o", tmp_path / "out")
        assert done.returncode == 1
        assert "Traceback (most recent call last)" in done.stderr
        assert "FileNotFoundError: no such file" in done.stderr

    def test_a_bucket_that_is_not_there(self, s3_server, tmp_path):
        env = {
            **os.environ,
            "AWS_ENDPOINT_URL": s3_server,
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        for uri in ("s3://no-such-bucket/text.txt", "s3://no-such-bucket/part-*.txt"):
            self.check(run("count", uri, "-o", tmp_path / "out", env=env), "no-such-bucket")

    def test_a_page_that_is_not_there(self, http_folder, tmp_path):
        self.check(run("count", f"{http_folder[0]}/missing.txt", "-o", tmp_path / "out"), r"404.*missing\.txt")
        assert_nothing_left(tmp_path / "out")

    def test_output_into_a_closed_pipe(self, plain, tmp_path):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [*COMMAND, "count", plain, "-o", tmp_path / "out"],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
        os.close(writing)
        assert "Traceback" not in done.stderr
        PairCounts.open(tmp_path / "out").verify()


# ---------------------------------------------------------------------------------------------------- interruptions


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
def stalling():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stalling)
    server.daemon_threads = True
    server.state = {
        "requests": 0,
        "stalled": threading.Event(),
        "released": threading.Event(),
        "text": TEXT * 100,
        "tag": None,
    }
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.state["released"].set()
    server.shutdown()
    server.server_close()


class TestInterruption:
    def test_a_file(self, tmp_path):
        path, out, work = tmp_path / "text.txt", tmp_path / "out", tmp_path / "out.partial"
        arguments = ["count", path, "-o", out, "--window", 10, "--workers", 1, "--memory-gb", 0.05]
        repeats = 1500
        while True:
            path.write_bytes(TEXT * repeats)
            process = start(*arguments)
            while process.poll() is None and not (work / "vocabulary.jsonl").exists():
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            code, stdout, stderr = finish(process, 30)
            if code != 0 or repeats > 20_000:
                break
            repeats *= 3  # it was done before the signal came
            subprocess.run(["rm", "-rf", out], check=True)
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
        assert_same(PairCounts.open(out), PairCounts.from_corpus(path, window=10))

    def test_one_that_strikes_while_a_lock_is_taken(self, plain, tmp_path):
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
        command = [sys.executable, "-c", script, "count", plain, "-o", tmp_path / "out"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (130, "")
        assert "release unlocked lock" not in done.stderr
        assert "give the same command again to go on" in done.stderr

    def test_an_error_in_a_script_that_handles_one_is_still_that_error(self, tmp_path):
        empty = tmp_path / "empty.txt"
        empty.touch()
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            with pytest.raises(ValueError, match="the corpus is empty"):
                PairCounts.from_corpus(empty, directory=tmp_path / "out")
        assert [path.name for path in tmp_path.iterdir()] == ["empty.txt"]

    @pytest.mark.parametrize("tag", ["v1", None])
    def test_a_server_that_stalls(self, tag, stalling, tmp_path):
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
        assert_same(PairCounts.open(out), PairCounts.from_corpus(tmp_path / "text.txt"))


# ---------------------------------------------------------------------------------------------------- progress


class TestProgress:
    def test_nothing_unless_on_a_terminal(self, plain, tmp_path):
        done = run("count", plain, "-o", tmp_path / "out")
        assert (done.returncode, done.stderr) == (0, "")

    def test_a_bar_on_a_terminal(self, tmp_path):
        path = tmp_path / "text.txt"
        path.write_bytes(TEXT * 100)
        main, secondary = pty.openpty()
        fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        process = subprocess.Popen(
            [*COMMAND, "count", path, "-o", tmp_path / "out", "--window", "10"],
            stdout=subprocess.PIPE,
            stderr=secondary,
            env={**os.environ, "TQDM_MININTERVAL": "0"},  # it moves however fast the machine is
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
