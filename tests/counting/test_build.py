"""Counting a corpus into a folder: what is refused, what is replaced, and what a full disk leaves behind."""

import contextlib
import functools
import itertools
import os
import resource
import shutil
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from gensim.utils import RULE_DEFAULT, RULE_DISCARD
from helpers import assert_same_counts, contents
from texts import zipf_text

from gensim_hilbert import PairCounts, Vocabulary
from gensim_hilbert.counting import build, worker
from gensim_hilbert.counting.plan import Plan
from gensim_hilbert.counting.workspace import Destination, building


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, "window must be a size of 1 or more"),
        ({"weights": "linear"}, "weights must be one of"),
        ({"workers": 0}, "workers must be 1 or more, got 0"),
        ({"workers": -2}, "workers must be 1 or more, got -2"),
        ({"min_count": -1}, "min_count must be a whole number from 0 to 4294967295, got -1"),
        ({"errors": "xmlcharref"}, "errors must be one of .*'xmlcharref'"),
        ({"oov": "keep"}, "oov must be one of remove, gap, got 'keep'"),
        ({"max_vocab_size": -1}, "max_vocab_size must be a whole number from 0 to 4294967295, got -1"),
        ({"max_final_vocab": -1}, "max_final_vocab must be a whole number from 0 to 4294967295, got -1"),
        ({"sample": -1e-3}, "sample must be a number of 0 or more, got -0.001"),
        ({"sample": float("nan")}, "sample must be a number of 0 or more, got nan"),
        ({"sample": float("inf")}, "sample must be a number of 0 or more, got inf"),
        ({"memory_gb": 0.0001}, r"memory_gb=0\.0001 is too small for \d+ words: 0\.\d+ is the least"),
        ({"memory_gb": 0}, "memory_gb must be a number of gigabytes above 0 and up to 1000000, got 0"),
        ({"memory_gb": -1}, "memory_gb must be a number of gigabytes above 0 and up to 1000000, got -1"),
        ({"memory_gb": float("nan")}, "memory_gb must be a number of gigabytes above 0 and up to 1000000, got nan"),
        ({"seed": -1, "sample": 1e-3}, "seed must be"),
    ],
)
def test_bad_arguments_leave_nothing_behind(options, message, plain, refused):
    refused(ValueError, message, plain, **options)


def test_numbers_of_numpy(plain):
    assert_same_counts(
        PairCounts.from_corpus(plain, window=np.int64(3), min_count=np.int64(2)),
        PairCounts.from_corpus(plain, window=3, min_count=2),
    )
    assert_same_counts(
        PairCounts.from_corpus(plain, window=2, weights=np.array([1, 0.5], dtype=np.float32)),
        PairCounts.from_corpus(plain, window=2),
    )


def test_numbers_of_numpy_are_not_mistaken_for_each_other(plain, target):
    PairCounts.from_corpus(plain, sample=np.float32(0.25), directory=target)
    with pytest.raises(FileExistsError):
        PairCounts.from_corpus(plain, sample=np.float32(0.125), directory=target)


def test_an_existing_directory(tmp_path, plain):
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "letter.txt").write_text("dear")
    with pytest.raises(FileExistsError, match=r"taken exists .*overwrite=True"):
        PairCounts.from_corpus(plain, directory=taken, min_count=1)
    assert [path.name for path in taken.iterdir()] == ["letter.txt"]
    assert not (tmp_path / "taken.partial").exists()
    with pytest.raises(FileExistsError, match=r"taken is not replaced, because .* no manifest\.json"):
        PairCounts.from_corpus(plain, directory=taken, min_count=1, overwrite=True)
    assert (taken / "letter.txt").read_text() == "dear"
    (taken / "letter.txt").unlink()
    first = PairCounts.from_corpus(plain, directory=taken, min_count=1, overwrite=True)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        PairCounts.from_corpus(plain, directory=taken, min_count=2)
    assert_same_counts(PairCounts.open(taken), first)


def test_another_rule_of_the_same_name_is_another_count(plain, target):
    def rule(least):
        return lambda word, number, min_count: RULE_DEFAULT if len(word) >= least else RULE_DISCARD

    PairCounts.from_corpus(plain, directory=target, min_count=1, trim_rule=rule(1))
    counts = PairCounts.from_corpus(plain, directory=target, min_count=1, trim_rule=rule(3), overwrite=True)
    assert min(map(len, counts.vocabulary.words)) == 3


def test_a_rule_without_a_name(plain, target):
    def rule(word, number, min_count, least):
        return RULE_DEFAULT if len(word) >= least else RULE_DISCARD

    counts = PairCounts.from_corpus(plain, directory=target, min_count=1, trim_rule=functools.partial(rule, least=3))
    assert min(map(len, counts.vocabulary.words)) == 3


def test_another_vocabulary_with_the_same_words_is_another_count(plain, target):
    """Subsampling goes by the counts of the vocabulary."""
    first, second = Vocabulary(["the", "of", "and"], [1, 1, 1]), Vocabulary(["the", "of", "and"], [1000, 10, 1])
    PairCounts.from_corpus(plain, directory=target, vocabulary=first, sample=1e-3)
    counts = PairCounts.from_corpus(plain, directory=target, vocabulary=second, sample=1e-3, overwrite=True)
    assert_same_counts(counts, PairCounts.from_corpus(plain, vocabulary=second, sample=1e-3))


def test_a_finished_store_is_returned_and_another_one_is_not_touched(tmp_path):
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


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: bytes([data[0] ^ 1]) + data[1:]])
def test_a_damaged_store_is_not_returned(damage, tmp_path):
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


def test_counting_that_cannot_be_resumed_leaves_nothing_behind(tmp_path):
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


WIDE = """
    import os, sys
    import numpy as np
    from gensim_hilbert import PairCounts
    numbers = np.random.default_rng(1).integers(0, 3000, 200_000)
    with open({text!r}, "w") as file:
        for line in numbers.reshape(-1, 50):
            print(*line, file=file)
    {limit}
    try:
        PairCounts.from_corpus({text!r}, directory={target!r}, min_count=1)
    except OSError as error:
        sys.exit(f"{{error.errno}} {{error}}")
"""


def count_in_process(**values) -> subprocess.CompletedProcess:
    program = textwrap.dedent(WIDE).format(**values)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)


def test_a_small_file_system(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if (
        not shutil.which("mount")
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("a small tmpfs cannot be mounted here")
    try:
        done = count_in_process(text=str(tmp_path / "text.txt"), target=str(disk / "counts"), limit="")
        assert done.returncode == 1
        assert done.stderr.startswith("28 "), done.stderr
        assert "the disk is full" in done.stderr
        assert sorted(os.listdir(disk / "counts.partial")) == ["journal.jsonl", "lock", "vocabulary.jsonl"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_limit_on_the_size_of_files(tmp_path):
    limit = (
        f"import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, {resource.RLIM_INFINITY}))"
    )
    done = count_in_process(text=str(tmp_path / "text.txt"), target=str(tmp_path / "counts"), limit=limit)
    assert done.returncode == 1
    assert done.stderr.startswith("27 "), done.stderr  # EFBIG
    assert sorted(os.listdir(tmp_path / "counts.partial")) == ["journal.jsonl", "lock", "vocabulary.jsonl"]


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_bytes(zipf_text(60_000, 3000))
    return PairCounts.from_corpus(path, window=3, min_count=1)


class Failing:
    """Token lists that fail when they are read for their pairs."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        yield ["a", "b"]
        if self.passes > 1:
            raise ArithmeticError


def test_the_vocabulary_is_forgotten_also_after_an_error():
    with pytest.raises(ArithmeticError):
        PairCounts.from_corpus(Failing(), min_count=1)
    assert not worker._loaded_words
    PairCounts.from_corpus([["a", "b"]], min_count=1)
    assert not worker._loaded_words


def test_merging_uses_what_it_is_granted(counts, monkeypatch):
    made = []
    make = Plan.make
    monkeypatch.setattr(Plan, "make", lambda *arguments: made.append(arguments) or make(*arguments))
    both = PairCounts.merge([counts, counts], workers=3, memory_gb=0.5)
    assert [arguments[2:4] for arguments in made] == [(3, 0.5)]
    assert both.total == 2 * counts.total
    with pytest.raises(ValueError, match=r"memory_gb=0\.001 is too small"):
        PairCounts.merge([counts], memory_gb=0.001)
    with pytest.raises(ValueError, match="workers must be 1 or more"):
        PairCounts.merge([counts], workers=0)


@pytest.mark.parametrize("most", [1, 100, 5000, 10**9])
def test_sums_do_not_depend_on_how_many_entries_are_sorted_at_once(most, counts, monkeypatch):
    expected = PairCounts.merge([counts, counts, counts]).fingerprint
    monkeypatch.setattr(Plan, "sorted_entries", most)
    assert PairCounts.merge([counts, counts, counts], workers=2).fingerprint == expected


def test_entries_come_in_order_and_about_as_many_as_asked_for(counts):
    store = counts._store
    for row_class in range(8):  # twice the classes of the store
        parts = list(build.sorted_entries(store, row_class, 8, 500))
        rows, columns, _ = (np.concatenate(part) for part in zip(*parts, strict=True))
        assert (rows % 8 == row_class).all()
        assert (np.diff(rows * store.size + columns) > 0).all()
        heaviest = np.bincount(rows).max()
        assert max(len(part[0]) for part in parts) < 500 + heaviest
    assert len(parts) > 3


def test_a_store_that_has_appeared_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    target = tmp_path / "counts"
    finish = build.finish

    def finish_late(*arguments):
        target.mkdir()
        (target / "letter").write_text("dear")
        finish(*arguments)

    monkeypatch.setattr(build, "finish", finish_late)
    with pytest.raises(FileExistsError, match="counts exists"):
        PairCounts.from_corpus([["a", "b"]], min_count=1, directory=target)
    assert (target / "letter").read_text() == "dear"
    assert [path.name for path in tmp_path.iterdir()] == ["counts"]
