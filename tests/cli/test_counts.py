"""`gensim-hilbert count` and `merge`."""

import gzip
import os

import pytest
from helpers import assert_nothing_left, assert_same_counts
from shell import assert_one_sentence, run, run_here
from texts import TEXT, some_text, write_gzip

from gensim_hilbert import PairCounts


def test_count(plain, tmp_path):
    out = tmp_path / "out.counts"
    command = ["count", plain, "-o", out, "--window", "3", "--weights", "1,0.5,0.25", "--min-count", 2]
    done = run(*command, "--workers", 2)
    assert (done.returncode, done.stderr) == (0, "")
    expected = PairCounts.from_corpus(plain, window=3, weights=[1, 0.5, 0.25], min_count=2)
    assert_same_counts(PairCounts.open(out), expected)
    assert len(done.stdout.splitlines()) == 1
    assert f"{len(expected):,} words, {expected.vocabulary.tokens:,} tokens" in done.stdout
    again = run_here(*command)
    assert (again.returncode, again.stdout) == (0, done.stdout)


def test_merge_and_vocabulary(plain, tmp_path):
    first, second, total = (tmp_path / name for name in ("first", "second", "total"))
    assert run_here("count", plain, "-o", first, "--min-count", 1).returncode == 0
    packed = write_gzip(tmp_path / "other.txt.gz", some_text(seed=2).encode())
    done = run_here("count", packed, "-o", second, "--vocabulary", first)
    assert done.returncode == 0, done.stderr
    done = run_here("merge", first, second, "-o", total)
    assert (done.returncode, done.stderr) == (0, "")
    a, b, c = map(PairCounts.open, (first, second, total))
    assert c.vocabulary.words == a.vocabulary.words == b.vocabulary.words
    assert abs(c.to_scipy() - a.to_scipy() - b.to_scipy()).max() < 1e-9
    assert_one_sentence(run_here("merge", first, second, "-o", total), "exists")
    assert run_here("merge", first, second, "-o", total, "--overwrite").returncode == 0


def test_help():
    done = run_here("--help")
    assert done.returncode == 0
    assert "count" in done.stdout
    assert "merge" in done.stdout
    done = run_here("count", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    for option in ("--window", "--weights", "--min-count", "--memory-gb", "--output"):
        assert option in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out", "--no-such-option"], "No such option '--no-such-option'"),
        ([], "Missing option '-o'"),
        (["-o", "out", "--window", "five"], "five"),
        (["-o", "out", "--weights", "1,x"], "1,x"),
    ],
)
def test_wrong_options(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_one_sentence(run_here("count", "text.txt", *arguments), message, code=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--window", "100000000", "window=100000000 is too wide"),
        ("--window", "5,100000000", "window=(5, 100000000) is too wide"),
        ("--window", "-5", "window must be a size of 1 or more"),
        ("--memory-gb", "inf", "memory_gb must be a number of gigabytes above 0 and up to 1000000, got inf"),
        ("--memory-gb", "nan", "got nan"),
        ("--memory-gb", "-1", "got -1"),
        ("--min-count", "-4", "min_count must be a whole number from 0 to 4294967295, got -4"),
        ("--max-final-vocab", "-3", "max_final_vocab must be a whole number from 0 to 4294967295, got -3"),
        ("--max-vocab-size", "-3", "max_vocab_size must be a whole number from 0"),
        ("--max-vocab-size", str(10**30), "max_vocab_size must be a whole number from 0"),
        ("--sample", "nan", "sample must be a number of 0 or more, got nan"),
        ("--seed", "-1", "seed must be from 0 to"),
        ("--workers", "0", "workers must be 1 or more, got 0"),
        ("--weights", "nan,1,1,1,1", "a weight must be a number of 0 or more, got nan"),
    ],
)
def test_bad_requests_are_refused_before_any_work(option, value, message, plain, tmp_path):
    assert_one_sentence(run_here("count", plain, "-o", tmp_path / "out", option, value), message)
    assert os.listdir(tmp_path) == [plain.name]


@pytest.mark.parametrize("value", ["inf", "nan", "0"])
def test_merging_with_an_odd_memory(value, expected, tmp_path):
    done = run_here("merge", expected.directory, "-o", tmp_path / "out", "--memory-gb", value)
    assert_one_sentence(done, "memory_gb must be a number of gigabytes above 0")
    assert not os.listdir(tmp_path)


def test_errors_are_one_sentence(tmp_path):
    out, bad, damaged = tmp_path / "out", tmp_path / "bad.txt", tmp_path / "bad.gz"
    assert_one_sentence(run("count", tmp_path / "missing.txt", "-o", out), "no such file: ")
    bad.write_bytes(b"a b \xff\n")
    assert_one_sentence(run_here("count", bad, "-o", out), "bad.txt: invalid UTF-8 at byte 4")
    damaged.write_bytes(gzip.compress(TEXT)[:-100])
    assert_one_sentence(run_here("count", damaged, "-o", out), "bad.gz cannot be read past")
    assert_one_sentence(run_here("merge", tmp_path / "nowhere", "-o", out), "nowhere does not exist")
    assert_nothing_left(out)


def test_debug_shows_a_traceback(tmp_path):
    done = run("--debug", "count", tmp_path / "missing.txt", "-o", tmp_path / "out")
    assert done.returncode == 1
    assert "Traceback (most recent call last)" in done.stderr
    assert "FileNotFoundError: no such file" in done.stderr


@pytest.mark.usefixtures("s3_environment")
def test_a_bucket_that_does_not_exist(tmp_path):
    for uri in ("s3://no-such-bucket/text.txt", "s3://no-such-bucket/part-*.txt"):
        assert_one_sentence(run_here("count", uri, "-o", tmp_path / "out"), "no-such-bucket")


def test_a_page_that_does_not_exist(http_folder, tmp_path):
    done = run_here("count", f"{http_folder[0]}/missing.txt", "-o", tmp_path / "out")
    assert_one_sentence(done, "404")
    assert "missing.txt" in done.stderr
    assert_nothing_left(tmp_path / "out")


def test_raw_text_is_counted_by_a_tokenizer(tmp_path):
    raw = tmp_path / "raw.txt"
    raw.write_text("The cat. THE dog! A cat, the dog\n" * 5)
    out = tmp_path / "out.counts"
    command = ["count", raw, "-o", out, "--tokenizer", "words(numbers=fold)", "--sentence-ends", "punctuation"]
    done = run_here(*command, "--min-count", 1)
    assert (done.returncode, done.stderr) == (0, "")
    options = {"tokenizer": "words(numbers=fold)", "sentence_ends": "punctuation", "min_count": 1}
    assert_same_counts(PairCounts.open(out), PairCounts.from_corpus(raw, **options))
    assert "Words(case='fold'" in run_here("info", out).stdout
    assert_one_sentence(run_here("count", raw, "-o", tmp_path / "x", "--tokenizer", "word"), "tokenizer must be")
    model = tmp_path / "model"
    done = run_here("train", "--counts", out, "-o", model, "--vector-size", 2, "--passes", 1)
    assert done.returncode == 0, done.stderr
    assert "like cat" in run_here("neighbors", model, "CAT", "--topn", 1).stdout
    assert run_here("pmi", model, "The", "Dog").returncode == 0
    assert "Words(case='fold'" in run_here("info", model).stdout
    other = run_here("train", "--counts", out, "-o", tmp_path / "y", "--tokenizer", "words")
    assert "the counts were made with their own tokenizer" in other.stderr
