"""Counting that is interrupted, also by SIGKILL, goes on to the same bytes."""

import gzip
import os
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers import assert_same_counts, contents, count
from shell import finish, signal_when, start
from table_files import rows_of, write_jsonl, write_parquet
from texts import pieces, write_gzip, zipf_text

from gensim_hilbert import PairCounts
from gensim_hilbert.counting.journal import Journal
from gensim_hilbert.counting.layout import JOURNAL


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A text that takes long enough to count that the process can be killed meanwhile."""
    path = tmp_path_factory.mktemp("large") / "corpus.txt"
    path.write_bytes(zipf_text(2_000_000, 5000, line=50))
    return path


def start_counting(corpus: Path, target: Path):
    """Start a process that counts with little memory, and so writes many small runs."""
    return start("count", corpus, "-o", target, "--window", 2, "--memory-gb", 0.02, "--workers", 2)


def kill_when(process, moment) -> bool:
    """Kill the process as soon as `moment` holds; False if it ended before."""
    killed = signal_when(process, moment, signal.SIGKILL)
    _, errors = process.communicate()
    assert killed or process.returncode == 0, errors
    return killed


def lines_of(journal: Path) -> list[bytes]:
    """Its whole lines."""
    return journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []


def packed(large: Path, path: Path) -> Path:
    """The same text as another kind of file."""
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(large.read_bytes(), 1))
    elif path.suffix == ".parquet":
        write_parquet(path, rows_of(large.read_bytes()), rows_per_group=1000)
    else:
        write_jsonl(path, rows_of(large.read_bytes()))
    return path


@pytest.mark.parametrize(
    "name", [None, *(pytest.param(f"corpus.{kind}", marks=pytest.mark.slow) for kind in ("gz", "parquet", "jsonl"))]
)
def test_killed_at_any_moment_the_same_command_completes_to_the_same_bytes(name, large, tmp_path):
    corpus = packed(large, tmp_path / name) if name else large
    whole = PairCounts.from_corpus(corpus, directory=tmp_path / "whole", window=2)
    target, partial = tmp_path / "counts", tmp_path / "counts.partial"
    journal = partial / JOURNAL
    moments = {
        "while the vocabulary is collected": lambda: partial.exists(),
        "after the vocabulary": lambda: len(lines_of(journal)) >= 1,
        "after some runs": lambda: len(lines_of(journal)) >= 4,
        "after more runs": lambda: len(lines_of(journal)) >= 8,
        "while shards are written": lambda: (partial / "shards" / "01.bin").exists(),
        "when the manifest is there": lambda: (partial / "manifest.json").exists(),
    }
    killed = []
    for name, moment in moments.items():
        before = len(lines_of(journal))
        if kill_when(start_counting(corpus, target), moment):
            killed.append(name)
            with pytest.raises(FileNotFoundError, match="interrupted"):
                PairCounts.open(target)
            finished = (partial / "manifest.json").exists() or "vocabulary" in name
            assert finished or len(lines_of(journal)) >= before, "work that was done was thrown away"
    assert len(killed) >= 4, killed
    code, _, errors = finish(start_counting(corpus, target), 60)
    assert code == 0, errors
    assert contents(target) == contents(tmp_path / "whole")
    assert not partial.exists()
    assert PairCounts.open(target).fingerprint == whole.fingerprint


def test_finished_splits_are_not_counted_again(large, tmp_path):
    journal = tmp_path / "counts.partial" / JOURNAL
    assert kill_when(start_counting(large, tmp_path / "counts"), lambda: len(lines_of(journal)) >= 4)
    lines = lines_of(journal)
    seen = []

    def grown() -> bool:
        seen[:] = lines_of(journal) or seen
        return len(seen) > len(lines)

    kill_when(start_counting(large, tmp_path / "counts"), grown)
    assert seen[: len(lines)] == lines


def test_another_request_or_a_changed_corpus_starts_anew(large, tmp_path):
    corpus, target = tmp_path / "corpus.txt", tmp_path / "counts"
    shutil.copy(large, corpus)
    journal = tmp_path / "counts.partial" / JOURNAL
    assert kill_when(start_counting(corpus, target), lambda: len(lines_of(journal)) >= 3)
    text = zipf_text(100_000, 300, seed=1)
    corpus.write_bytes(text)
    (tmp_path / "other.txt").write_bytes(text)
    counts = PairCounts.from_corpus(corpus, directory=target, window=2)
    assert counts.fingerprint == PairCounts.from_corpus(tmp_path / "other.txt", window=2).fingerprint


def test_two_processes_do_not_work_in_one_directory(large, tmp_path):
    target = tmp_path / "counts"
    first = start_counting(large, target)
    assert signal_when(first, (tmp_path / "counts.partial" / JOURNAL).exists, signal.SIGSTOP)
    try:
        with pytest.raises(RuntimeError, match="another process"):
            PairCounts.from_corpus(large, directory=target, window=2)
    finally:
        os.kill(first.pid, signal.SIGCONT)
    code, _, errors = finish(first, 60)
    assert code == 0, errors
    PairCounts.open(target).verify()


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
def test_files_spoilt_by_a_power_cut_are_counted_anew(name, damage, interrupted):
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


class Interrupting(ThreadPoolExecutor):
    """Stops like Ctrl-C once one task of the pairs has been journalled."""

    def __init__(self, workers: int, journal: Path):
        super().__init__(workers)
        self.journal = journal

    def submit(self, *args, **kwargs):
        if self.journal.exists() and self.journal.read_bytes().count(b"\n") >= 2:
            raise KeyboardInterrupt
        return super().submit(*args, **kwargs)


@pytest.mark.parametrize("then", [1, 2, 4])
def test_going_on_with_another_number_of_workers(then, tmp_path, expected, set_block_bytes):
    """Two workers read six compressed files on their own; four would have them read by one thread."""
    set_block_bytes(200)
    for k, piece in enumerate(pieces(6)):
        write_gzip(tmp_path / f"{k}.txt.gz", piece)
    target, work = tmp_path / "counts", tmp_path / "counts.partial"
    with Interrupting(2, work / JOURNAL) as executor, pytest.raises(KeyboardInterrupt):
        count(tmp_path / "*.gz", directory=target, executor=executor)
    assert work.exists()
    assert_same_counts(count(tmp_path / "*.gz", directory=target, workers=then), expected)
    assert not work.exists()
