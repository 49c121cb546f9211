"""After an error counting goes on from what was finished, and gives the same bytes; the error says so."""

import contextlib
import errno
import gzip
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from faulty_server import cut, cut_chunked, cut_silently, reset, status, whole
from helpers import assert_nothing_left, assert_same_counts, assert_same_vectors, contents, count
from shell import assert_one_sentence, run_here
from table_files import rows_of, write_parquet
from texts import TEXT, pieces, zipf_text

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.corpus import dispatch, web
from gensim_hilbert.corpus.executors import ExecutorLost
from gensim_hilbert.counting import build
from gensim_hilbert.counting.journal import Journal, finished_runs
from gensim_hilbert.counting.layout import JOURNAL, partial_of
from gensim_hilbert.counting.recovery import is_full
from gensim_hilbert.counting.worker import TaskResult

KEPT = "what is finished is kept in .*counts.partial, and the same command goes on from there"


@pytest.fixture
def ten_files(site):
    """Addresses of TEXT in ten files."""
    site.files.update({f"{k}.txt": piece for k, piece in enumerate(pieces(10))})
    return [f"{site.address}/{k}.txt" for k in range(10)]


@pytest.mark.parametrize("workers", [1, 2, 6])
def test_a_connection_that_is_lost_at_the_last_of_ten_files(
    workers, ten_files, site, target, expected, set_block_bytes
):
    """With six workers one thread reads for all of them, else each reads its own files."""
    set_block_bytes(200)
    site.faults["9.txt"] = [whole, *[status(500)] * 6]
    with pytest.raises(OSError, match=rf"9\.txt cannot be opened: 500 .*; {KEPT}"):
        count(ten_files, directory=target, workers=workers)
    assert not target.exists()
    site.log.clear()
    assert_same_counts(count(ten_files, directory=target, workers=workers), expected)
    assert {request.name for request in site.requested("GET")} == {"9.txt"}
    assert not partial_of(target).exists()


def test_a_connection_that_is_lost_inside_a_file(site, target, expected, set_block_bytes):
    set_block_bytes(200)
    site.files["text.txt"] = TEXT
    site.faults["text.txt"] = [whole, cut(len(TEXT) // 2)]
    site.faults["text.txt"] += [status(500)] * 10
    with pytest.raises(OSError, match=rf"text\.txt cannot be read past byte \d+ .*; {KEPT}"):
        count(f"{site.address}/text.txt", directory=target)
    lines = (partial_of(target) / JOURNAL).read_text().splitlines()
    assert sum(json.loads(line)[1]["tokens"] for line in lines[1:]) > len(TEXT.split()) // 3
    site.faults.clear()
    assert_same_counts(count(f"{site.address}/text.txt", directory=target, workers=1), expected)


@pytest.mark.parametrize("rounds", [4, pytest.param(200, marks=pytest.mark.slow)])
def test_any_failures_at_any_time_change_nothing(rounds, site, tmp_path, expected, monkeypatch, set_block_bytes):
    """The same call, again and again, until it succeeds."""
    monkeypatch.setattr(web, "TRIES", 2)
    chance = random.Random(rounds)
    lock = threading.Lock()

    def fail_or_not(handler, headers, body):
        with lock:
            at = chance.randrange(len(body) + 1)
            faults = [status(500), status(503, Retry_After="0"), cut(at), cut_silently(at), cut_chunked(at), reset(at)]
            fault = chance.choice(faults) if chance.random() < often else whole
        fault(handler, headers, body)

    for number in range(rounds):
        set_block_bytes(chance.choice([200, 1 << 20]))
        site.has_ranges = chance.random() < 0.5
        parts = pieces(chance.choice([1, 4, 10]))
        site.files = {f"{k}.gz": gzip.compress(part) for k, part in enumerate(parts)}
        often = 0.3
        if number % 2:  # These are asked for in many small parts.
            often = 0.05
            site.files = {
                f"{k}.parquet": write_parquet(tmp_path / "table.parquet", rows_of(part)).read_bytes()
                for k, part in enumerate(parts)
            }
        site.always = dict.fromkeys(site.files, fail_or_not)
        options = {"directory": tmp_path / str(number), "workers": chance.choice([1, 2, 6])}
        for _ in range(1000):
            with contextlib.suppress(OSError):
                assert_same_counts(count([f"{site.address}/{name}" for name in site.files], **options), expected)
                break
        else:
            pytest.fail("it never succeeded")


def test_nothing_is_kept_in_a_temporary_directory(ten_files, site, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    site.faults["9.txt"] = [whole, *[status(500)] * 10]
    with pytest.raises(OSError, match="500") as caught:
        count(ten_files)
    assert "kept" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_errors_that_would_come_again_leave_nothing(tmp_path, target):
    (tmp_path / "text.txt").write_text("one\ntwo\n")
    with pytest.raises(ValueError, match="not a single pair") as caught:
        count(tmp_path / "text.txt", directory=target, min_count=1)
    assert "kept" not in str(caught.value)
    assert_nothing_left(target)


def test_a_killed_worker_of_a_pool(tmp_path, target, monkeypatch):
    """Its tasks are lost, and all others stay."""
    path = tmp_path / "text.txt"
    path.write_bytes(zipf_text(400_000, 2000))
    monkeypatch.setattr(dispatch, "share_of", lambda corpus, workers: 1 << 16)
    monkeypatch.setattr("gensim_hilbert.corpus.blocks.BLOCK_BYTES", 1 << 15)
    journal = partial_of(target) / JOURNAL

    def lines() -> list[str]:
        return journal.read_text().splitlines() if journal.exists() else []

    add = Journal.add
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as executor:

        def add_and_kill(self, result):
            add(self, result)
            if len(lines()) == 3:
                os.kill(next(iter(executor._processes)), signal.SIGKILL)

        monkeypatch.setattr(Journal, "add", add_and_kill)
        with pytest.raises(ExecutorLost, match=KEPT):
            count(path, directory=target, executor=executor)
    monkeypatch.setattr(Journal, "add", add)
    kept = lines()
    assert len(kept) >= 3
    runs: set[str] = set()
    for entry in (json.loads(line)[1] for line in kept[1:]):  # The last one may be of the pairs across cuts.
        runs |= {run[0] for run in entry.get("runs", [entry.get("run")])}
    assert {file.name for file in partial_of(target).glob("*.run")} == runs
    seen = []
    note_and_finish(monkeypatch, lambda: seen.extend(lines()))
    assert_same_counts(count(path, directory=target), count([path]))
    assert seen[: len(kept)] == kept


def note_and_finish(monkeypatch, note):
    """Have a note taken when all is counted."""
    finish = build.finish
    monkeypatch.setattr(build, "finish", lambda *arguments: (note(), finish(*arguments)))


@pytest.fixture
def disk(tmp_path):
    """A file system of its own, of one MB; `grow` gives it 64."""
    path = tmp_path / "disk"
    path.mkdir()

    def mount(options):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    if not shutil.which("mount") or not mount("size=1m"):
        pytest.skip("a small tmpfs cannot be mounted here")
    yield path, lambda: mount("remount,size=64m")
    subprocess.run(["umount", str(path)], check=True)


FULL = {  # text, memory, and how many lines the journal has when the disk is full
    "runs": (lambda: zipf_text(100_000, 600, exponent=0.5) * 4, 0.0105, 2),
    "shards": (lambda: zipf_text(140_000, 3000), 0.02, 3),
}


@pytest.mark.parametrize("stage", FULL)
def test_a_disk_that_is_full_while_something_is_written(stage, disk, tmp_path, monkeypatch):
    path, grow = disk
    make_text, memory_gb, entries = FULL[stage]
    (tmp_path / "text.txt").write_bytes(make_text())
    options = {"window": 2, "min_count": 1, "memory_gb": memory_gb, "workers": 1}
    target, work = path / "counts", path / "counts.partial"
    with pytest.raises(OSError, match=f"the disk is full; .*; {KEPT}") as caught:
        PairCounts.from_corpus(tmp_path / "text.txt", directory=target, **options)
    assert caught.value.errno == errno.ENOSPC
    kept = (work / JOURNAL).read_text().splitlines()
    assert len(kept) == entries
    assert {file.name for file in work.iterdir()} == finished_runs(work) | {JOURNAL, "lock", "vocabulary.jsonl"}
    assert grow()
    seen = []
    with monkeypatch.context() as patch:
        note_and_finish(patch, lambda: seen.extend((work / JOURNAL).read_text().splitlines()))
        PairCounts.from_corpus(tmp_path / "text.txt", directory=target, **options)
    assert seen[: len(kept)] == kept
    PairCounts.from_corpus(tmp_path / "text.txt", directory=tmp_path / "whole", **options)
    assert contents(target) == contents(tmp_path / "whole")
    assert os.listdir(path) == ["counts"]


def test_numpy_has_its_own_words_for_a_full_disk(disk):
    path, _ = disk
    with pytest.raises(OSError, match="written") as caught:
        np.save(path / "array.npy", np.zeros(1 << 20))
    assert is_full(caught.value)


def test_half_a_line_does_not_stay_in_the_journal(disk):
    path, _ = disk
    journal = Journal(path)
    journal._write({"request": 1})
    long = TaskResult(blocks=[(0, k) for k in range(300_000)])
    with pytest.raises(OSError, match="No space"):
        journal.add(long)
    assert [json.loads(line)[1] for line in (path / JOURNAL).read_text().splitlines()] == [{"request": 1}]
    journal.add(TaskResult())
    assert finished_runs(path) == set()
    assert len((path / JOURNAL).read_text().splitlines()) == 2


def test_the_commands_go_on(ten_files, site, tmp_path):
    out = tmp_path / "counts"
    site.faults["9.txt"] = [whole, *[status(500)] * 6]
    arguments = ["count", *ten_files, "-o", out, "--workers", 2]
    done = run_here(*arguments)
    assert_one_sentence(done, f"is kept in {out}.partial, and the same command goes on from there")
    assert run_here(*arguments).returncode == 0

    model = tmp_path / "model"
    site.faults["9.txt"] = [whole, *[status(500)] * 6]
    arguments = ["train", *ten_files, "-o", model, "--vector-size", 4, "--min-count", 3, "--epochs", 1]
    done = run_here(*arguments)
    assert done.returncode == 1
    assert "and the same command goes on from there" in done.stderr
    assert f"to go on: gensim-hilbert train --resume -o {model}" in done.stderr
    site.log.clear()
    assert run_here(*arguments).returncode == 0
    assert [request.name for request in site.requested("GET")] == ["9.txt"]
    direct = HilbertMLE(corpus_file=ten_files, vector_size=4, min_count=3, epochs=1)
    assert_same_vectors(HilbertMLE.from_pretrained(model), direct)
