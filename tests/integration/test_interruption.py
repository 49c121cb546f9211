"""Processes killed with SIGKILL: the same command then completes to the same bytes."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from text import zipf_text

from gensim_hilbert import PairCounts
from gensim_hilbert.counting.journal import Journal
from gensim_hilbert.counting.workspace import Destination, building

COUNT = """
import sys
from gensim_hilbert import PairCounts
PairCounts.from_corpus(sys.argv[1], directory=sys.argv[2], window=2, memory_gb=float(sys.argv[3]), workers=2)
"""
SMALL = "0.02"  # GB: many small runs


@pytest.fixture(scope="module", params=["corpus.txt", "corpus.txt.gz"])
def corpus(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / request.param
    text = zipf_text(2_000_000, 5000, line=50)
    if path.suffix == ".gz":
        import gzip

        text = gzip.compress(text, 1)
    path.write_bytes(text)
    return path


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def start(corpus: Path, directory: Path, memory: str) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", COUNT, corpus, directory, memory], stderr=subprocess.PIPE)


def kill_when(process: subprocess.Popen, moment) -> bool:
    """Kill the process as soon as `moment` holds; False if it ended before."""
    while process.poll() is None:
        if moment():
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            return True
        time.sleep(0.001)
    assert process.returncode == 0, process.stderr.read().decode()
    return False


def test_killed_at_any_moment_the_same_command_completes_to_the_same_bytes(corpus, tmp_path):
    whole = PairCounts.from_corpus(corpus, directory=tmp_path / "whole", window=2)
    target = tmp_path / "counts"
    partial = tmp_path / "counts.partial"
    journal = partial / "journal.jsonl"

    def lines() -> int:
        return journal.read_bytes().count(b"\n") if journal.exists() else 0

    moments = {
        "while the vocabulary is collected": lambda: partial.exists(),
        "after the vocabulary": lambda: lines() >= 1,
        "after some runs": lambda: lines() >= 4,
        "after more runs": lambda: lines() >= 8,
        "while shards are written": lambda: (partial / "shards" / "01.bin").exists(),
        "when the manifest is there": lambda: (partial / "manifest.json").exists(),
    }
    killed = []
    for name, moment in moments.items():
        before = lines()
        if kill_when(start(corpus, target, SMALL), moment):
            killed.append(name)
            with pytest.raises(FileNotFoundError, match="interrupted"):
                PairCounts.open(target)
            finished = (partial / "manifest.json").exists() or "vocabulary" in name
            assert finished or lines() >= before, "work that was done was thrown away"
    assert len(killed) >= 4, killed
    final = start(corpus, target, SMALL)
    assert final.wait() == 0, final.stderr.read().decode()
    assert contents(target) == contents(tmp_path / "whole")
    assert not partial.exists()
    assert PairCounts.open(target).fingerprint == whole.fingerprint


def test_finished_splits_are_not_counted_again(tmp_path):
    corpus, target = tmp_path / "corpus.txt", tmp_path / "counts"
    corpus.write_bytes(zipf_text(2_000_000, 5000, line=50))
    journal = tmp_path / "counts.partial" / "journal.jsonl"
    assert kill_when(start(corpus, target, SMALL), lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 4)
    lines = journal.read_bytes().split(b"\n")[:-1]
    again = start(corpus, target, SMALL)
    seen = []

    def grown() -> bool:
        seen[:] = journal.read_bytes().split(b"\n")[:-1] if journal.exists() else seen
        return len(seen) > len(lines)

    kill_when(again, grown)
    assert seen[: len(lines)] == lines


def test_another_request_or_a_changed_corpus_starts_anew(tmp_path):
    corpus, target = tmp_path / "corpus.txt", tmp_path / "counts"
    corpus.write_bytes(zipf_text(2_000_000, 5000, line=50))
    journal = tmp_path / "counts.partial" / "journal.jsonl"
    assert kill_when(start(corpus, target, SMALL), lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 3)
    text = zipf_text(100_000, 300, seed=1)
    corpus.write_bytes(text)
    (tmp_path / "other.txt").write_bytes(text)
    counts = PairCounts.from_corpus(corpus, directory=target, window=2)
    assert counts.fingerprint == PairCounts.from_corpus(tmp_path / "other.txt", window=2).fingerprint


def test_a_finished_store_is_the_answer_and_another_one_is_not_touched(tmp_path):
    corpus, target = tmp_path / "corpus.txt", tmp_path / "counts"
    corpus.write_bytes(zipf_text(20_000, 300))
    first = PairCounts.from_corpus(corpus, directory=target)
    times = {path: path.stat().st_mtime_ns for path in target.rglob("*")}
    assert PairCounts.from_corpus(corpus, directory=target).fingerprint == first.fingerprint
    assert {path: path.stat().st_mtime_ns for path in target.rglob("*")} == times
    with pytest.raises(FileExistsError, match="overwrite"):
        PairCounts.from_corpus(corpus, directory=target, window=2)
    assert PairCounts.open(target).fingerprint == first.fingerprint
    PairCounts.from_corpus(corpus, directory=target, window=2, overwrite=True)
    assert PairCounts.open(target).window.reach == 2


def test_two_processes_do_not_work_in_one_directory(tmp_path):
    corpus, target = tmp_path / "corpus.txt", tmp_path / "counts"
    corpus.write_bytes(zipf_text(2_000_000, 5000, line=50))
    journal = tmp_path / "counts.partial" / "journal.jsonl"
    first = start(corpus, target, SMALL)
    while not journal.exists() and first.poll() is None:
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGSTOP)
    try:
        with pytest.raises(RuntimeError, match="another process"):
            PairCounts.from_corpus(corpus, directory=target, window=2)
    finally:
        os.kill(first.pid, signal.SIGCONT)
    assert first.wait() == 0
    PairCounts.open(target).verify()


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: bytes([data[0] ^ 1]) + data[1:]])
def test_a_damaged_store_is_not_taken_for_the_answer(damage, tmp_path):
    corpus, target = tmp_path / "corpus.txt", tmp_path / "counts"
    corpus.write_bytes(zipf_text(20_000, 300))
    PairCounts.from_corpus(corpus, directory=target)
    whole = contents(target)
    shard = target / "shards" / "00.bin"
    shard.write_bytes(damage(shard.read_bytes()))
    with pytest.raises(FileExistsError, match="damaged"):
        PairCounts.from_corpus(corpus, directory=target)
    PairCounts.from_corpus(corpus, directory=target, overwrite=True)
    assert contents(target) == whole


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """(corpus, target, what remains) of a count that was stopped by Ctrl-C after its first part."""
    corpus, target = tmp_path / "corpus.txt", tmp_path / "counts"
    corpus.write_bytes(zipf_text(20_000, 300))
    add = Journal.add

    def add_and_stop(self, record):
        add(self, record)
        if record.runs:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "add", add_and_stop)
        with pytest.raises(KeyboardInterrupt):
            PairCounts.from_corpus(corpus, directory=target)
    return corpus, target, tmp_path / "counts.partial"


@pytest.mark.parametrize("name", ["journal.jsonl", "vocabulary.jsonl", "*.run"])
@pytest.mark.parametrize(
    "damage",
    [lambda data: b"", lambda data: b"\0" * len(data), lambda data: data[: len(data) // 2].rpartition(b"\n")[0]],
)
def test_what_a_power_cut_has_spoilt_is_counted_anew(name, damage, interrupted):
    corpus, target, partial = interrupted
    path = next(partial.glob(name))
    path.write_bytes(damage(path.read_bytes()))
    counts = PairCounts.from_corpus(corpus, directory=target)
    assert counts.fingerprint == PairCounts.from_corpus(corpus).fingerprint
    assert not partial.exists()


def test_once_all_pairs_are_counted_the_text_is_not_read_again(interrupted, monkeypatch):
    corpus, target, partial = interrupted
    monkeypatch.setattr("gensim_hilbert.counting.build.finish", lambda *a, **k: pytest.fail("later", pytrace=False))
    with pytest.raises(BaseException, match="later"):
        PairCounts.from_corpus(corpus, directory=target)
    monkeypatch.undo()
    assert partial.exists()
    monkeypatch.setattr("gensim_hilbert.counting.build.map_blocks", lambda *a, **k: pytest.fail("read again"))
    assert PairCounts.from_corpus(corpus, directory=target).total > 0


def test_what_cannot_go_on_leaves_nothing_behind(tmp_path):
    class Corpus:
        def __iter__(self):
            yield ["a", "b"]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PairCounts.from_corpus(Corpus(), directory=tmp_path / "counts")
    assert not list(tmp_path.iterdir())


def test_a_task_that_goes_on_writing_after_an_error_leaves_nothing_behind(tmp_path):
    work, done = tmp_path / "counts.partial", threading.Event()

    def write() -> None:
        for k in itertools.count():
            if done.is_set():
                return
            with contextlib.suppress(FileNotFoundError):
                (work / f"{k}.run").touch()

    def fail() -> None:
        with building(Destination(tmp_path / "counts"), resumable=True):
            writer.start()
            while not any(work.glob("*.run")):
                time.sleep(0.001)
            raise ArithmeticError

    writer = threading.Thread(target=write)
    try:
        with pytest.raises(ArithmeticError):
            fail()
    finally:
        done.set()
        writer.join()
    assert not list(tmp_path.iterdir())
