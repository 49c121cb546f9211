"""What a corpus can be: files, folders, file objects, lists of words, Gensim's own corpora; and what it cannot be."""

import gzip
import io
import logging
import os
import shutil
import threading

import numpy as np
import pytest
from gensim.models.word2vec import LineSentence, PathLineSentences, Text8Corpus
from gensim.utils import RULE_DEFAULT
from helpers import assert_same_counts, count, table_of
from reference import pairs_of, sentences_of
from texts import TEXT, halves, write_gzip

from gensim_hilbert import PairCounts
from gensim_hilbert.corpus import blocks, sources
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.word_scan import NothingToCount


@pytest.mark.usefixtures("block_bytes")
def test_str_path_and_file_uri(tmp_path, plain, expected):
    odd = tmp_path / "with blank, 100% [odd] ü*.txt"
    shutil.copy(plain, odd)
    for corpus in (str(plain), plain, f"file://{plain}", odd.as_uri(), str(odd), odd):
        assert_same_counts(count(corpus), expected)


@pytest.mark.usefixtures("block_bytes")
def test_many_files(tmp_path, expected):
    first, second = halves()
    (tmp_path / "a.txt").write_bytes(first)
    (tmp_path / "b.txt").write_bytes(second)
    (tmp_path / ".hidden.txt").write_bytes(b"this is not to be read\n" * 50)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "c.txt").write_bytes(b"nor is this\n" * 50)
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for corpus in (
        paths,
        tuple(map(str, paths)),
        tmp_path / "*.txt",
        str(tmp_path / "?.txt"),
        str(tmp_path / "[ab].txt"),
        tmp_path,
        str(tmp_path) + "/",
        tmp_path.as_uri(),
        f"file://{tmp_path}/?.txt",
    ):
        assert_same_counts(count(corpus), expected)


@pytest.mark.usefixtures("block_bytes")
def test_the_end_of_a_file_ends_its_last_sentence(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one two three\nfour five")
    (tmp_path / "b.txt").write_bytes(b"six seven")
    write_gzip(tmp_path / "c.txt.gz", b"eight nine")
    one = tmp_path / "one.txt"
    one.write_bytes(b"one two three\nfour five\nsix seven\neight nine\n")
    together = count([tmp_path / name for name in ("a.txt", "b.txt", "c.txt.gz")], min_count=1)
    assert_same_counts(together, count(one, min_count=1))


@pytest.mark.usefixtures("block_bytes")
def test_file_objects(tmp_path, plain, expected):
    with open(plain, "rb") as file:
        file.read(100)  # it is read from its beginning all the same
        assert_same_counts(count(file), expected)
    with open(plain, encoding="utf-8", newline="") as file:
        assert_same_counts(count(file), expected)
    with gzip.open(write_gzip(tmp_path / "text.gz", TEXT)) as file:
        assert_same_counts(count(file), expected)
    assert_same_counts(count(io.BytesIO(TEXT)), expected)
    assert_same_counts(count(io.StringIO(TEXT.decode(), newline="")), expected)


class Pipe(io.BytesIO):
    def seekable(self):
        return False

    def seek(self, *args):
        raise OSError("cannot seek")


@pytest.mark.usefixtures("block_bytes")
def test_a_stream_that_cannot_seek_is_read_with_a_vocabulary(expected):
    assert table_of(count(Pipe(TEXT), vocabulary=expected.vocabulary)) == table_of(expected)


class Texts:
    """Like gensim's own corpora: `get_texts()` gives the words, iterating gives something else."""

    def get_texts(self):
        return iter(sentences_of(TEXT))

    def __iter__(self):
        return iter([[(0, 1), (1, 2)]])


@pytest.mark.usefixtures("block_bytes")
def test_gensim_corpora(tmp_path, plain, expected):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, half in zip("ab", halves(), strict=True):
        (folder / name).write_bytes(half)
    for corpus in (LineSentence(str(plain)), PathLineSentences(str(folder)), Texts()):
        assert_same_counts(count(corpus), expected)


@pytest.mark.usefixtures("block_bytes")
def test_lists_and_tuples_and_what_yields_them(expected):
    sentences = sentences_of(TEXT)

    class Sentences:
        def __iter__(self):
            return (iter(sentence) for sentence in sentences)

    for corpus in (
        sentences,
        tuple(map(tuple, sentences)),
        Sentences(),
        [np.array(s, dtype=object) for s in sentences],
    ):
        assert_same_counts(count(corpus), expected)


@pytest.mark.usefixtures("block_bytes")
def test_text8_corpus(tmp_path):
    path = tmp_path / "text8"
    path.write_bytes(b" ".join(TEXT.split()))  # one line and no line end
    whole = count(path, min_count=1)
    assert whole.vocabulary.sentences == 1
    assert_same_counts(count(Text8Corpus(str(path), max_sentence_length=10**9), min_count=1), whole)
    cut = Text8Corpus(str(path), max_sentence_length=100)
    counts = count(cut, min_count=1)
    assert counts.vocabulary.sentences == len(list(cut))
    assert table_of(counts) == pairs_of(list(cut), counts.vocabulary.words, 4, 4, "dynamic")


@pytest.mark.usefixtures("block_bytes")
def test_words_may_hold_blanks_and_line_ends():
    sentences = [["New York", "a\nb", "", "c"], [], ["a\nb", "New York"]] * 2
    counts = count(sentences, min_count=1)
    assert set(counts.vocabulary.words) == {"New York", "a\nb", "", "c"}
    assert table_of(counts) == pairs_of(sentences, counts.vocabulary.words, 4, 4, "dynamic")


def test_a_list_of_file_objects():
    """They must not pass for token lists whose words are whole lines."""
    files = [io.StringIO("one two\nthree four\n"), io.StringIO("five six\n")]
    counts = PairCounts.from_corpus(files, min_count=1)
    words = [["one", "two"], ["three", "four"], ["five", "six"]]
    assert_same_counts(counts, PairCounts.from_corpus(words, min_count=1))


def test_a_str_as_a_sentence_is_taken_as_gensim_does_with_a_warning(caplog):
    class Lines:
        def __iter__(self):
            return iter(["abc", "abd"])

    with caplog.at_level(logging.WARNING):
        counts = PairCounts.from_corpus(Lines(), min_count=1)
    assert sorted(counts.vocabulary.words) == ["a", "b", "c", "d"]
    assert "should be a list of words" in caplog.text


def test_sentences_that_are_not_lists_of_words(refused):
    refused(TypeError, r"sentence 1 holds \[2\], of type list; words must be hashable", [["a", "b"], ["a", [2]]])
    refused(TypeError, r"sentence 2 holds {}, of type dict; words must be hashable", [["a"], [5], [5, {}]])
    refused(TypeError, "sentence 0 .*5.*int", [5, 6])
    refused(TypeError, "sentence 1 .*None", [["a", "b"], None])


@pytest.mark.parametrize("text", [b"", b" ", b"\n", b" \n\t\r\n\v\f\n", b"\xef\xbb\xbf", "\u3000\u00a0\n".encode()])
def test_files_without_a_word(text, tmp_path, refused):
    path = tmp_path / "blank.txt"
    path.write_bytes(text)
    refused(NothingToCount, r"the corpus is empty: no word in .*blank\.txt", path)
    refused(NothingToCount, "the corpus is empty", write_gzip(tmp_path / "text.txt.gz", text))
    refused(NothingToCount, "the corpus is empty", io.BytesIO(text))


@pytest.mark.parametrize("corpus", [[], (), [[]], [[], []]])
def test_lists_without_a_word(corpus, refused):
    refused(NothingToCount, "the corpus is empty", corpus)


def test_sentences_of_one_word(refused):
    refused(NothingToCount, "not a single pair", [["a"], ["b"]])


def test_generators_and_iterators(refused):
    refused(TypeError, "a generator can be read only once; pass a list", (line for line in [["a", "b"]]))
    refused(TypeError, "list_iterator can be read only once", iter([["a", "b"]]))
    refused(TypeError, "map can be read only once", map(str.split, ["a b"]))


def test_too_many_files(plain, refused, monkeypatch):
    assert blocks.MOST_SOURCES == 2**20
    monkeypatch.setattr(blocks, "MOST_SOURCES", 3)
    refused(ValueError, "4 files are too many: join some", [plain] * 4)


def test_what_is_not_a_corpus(refused):
    refused(TypeError, "a corpus is a path, .* got 5", 5)
    refused(TypeError, "a corpus is a path, .* got None", None)


def test_missing_files(tmp_path, plain, refused):
    refused(FileNotFoundError, r"no such file: .*missing\.txt", tmp_path / "missing.txt")
    refused(FileNotFoundError, r"no such file: .*missing\.txt", [plain, tmp_path / "missing.txt"])
    refused(FileNotFoundError, r"no file matches .*\*\.md", tmp_path / "*.md")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".hidden").write_bytes(TEXT)
    refused(FileNotFoundError, "the directory .*empty holds no files", tmp_path / "empty")
    (tmp_path / "nowhere.txt").symlink_to(tmp_path / "gone.txt")
    refused(FileNotFoundError, r"nowhere\.txt", tmp_path / "nowhere.txt")


def test_unreadable_file(plain, refused):
    if os.geteuid() == 0:
        pytest.skip("root may read every file")
    plain.chmod(0)
    refused(PermissionError, r"text\.txt", plain)


def test_a_corpus_that_changes_between_the_passes(refused):
    class Growing:
        passes = 0

        def __iter__(self):
            self.passes += 1
            return iter([["a", "b"]] * self.passes)

    refused(RuntimeError, "the corpus had 2 words when .* and 4 when", Growing())


def test_a_corpus_that_can_be_read_once_though_it_does_not_say_so(refused):
    class Once:
        def __init__(self):
            self.lines = iter([["a", "b"]] * 3)

        def __iter__(self):
            return iter(self.lines)

    refused(RuntimeError, "the corpus had 6 words when .* and 0 when", Once())


def test_a_file_that_shrinks(plain, refused):
    def shrink(word, number, min_count):
        os.truncate(plain, 100)
        return RULE_DEFAULT

    refused(OSError, r"text\.txt is shorter than it was", plain, trim_rule=shrink)


def test_a_stream_that_cannot_seek_is_refused_without_a_vocabulary(refused):
    refused(ValueError, "can be read only once, .* pass vocabulary=", Pipe(TEXT))


def test_a_fifo(tmp_path, plain, target, refused):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    refused(ValueError, r"fifo can be read only once, .* pass vocabulary=", path)
    expected = PairCounts.from_corpus(plain, min_count=1)
    writer = threading.Thread(target=lambda: path.write_bytes(TEXT), daemon=True)
    writer.start()
    counts = PairCounts.from_corpus(path, vocabulary=expected.vocabulary, directory=target)
    writer.join()
    assert table_of(counts) == table_of(expected)


class Counting:
    """A client of S3 that counts the requests for lists and for facts."""

    def __init__(self, client):
        self.client = client
        self.lists = self.heads = 0

    def get_paginator(self, name):
        self.lists += 1
        return self.client.get_paginator(name)

    def head_object(self, **options):
        self.heads += 1
        return self.client.head_object(**options)

    def __getattr__(self, name):
        return getattr(self.client, name)


def test_a_bucket_is_listed_once_and_its_objects_are_not_looked_up_one_by_one(s3):
    client, bucket = s3
    for k in range(3):
        client.put_object(Bucket=bucket, Key=f"part-{k}.txt", Body=b"one two three\n" * 10)
    counting = Counting(client)
    corpus = as_corpus(f"s3://{bucket}/part-*.txt", {"client": counting})
    PairCounts.from_corpus(corpus)
    assert (counting.lists, counting.heads) == (1, 0)
    one_by_one = as_corpus([f"s3://{bucket}/part-{k}.txt" for k in range(3)], {"client": counting})
    assert (counting.lists, counting.heads) == (1, 3)
    assert one_by_one.fingerprint == corpus.fingerprint
    assert one_by_one.total == corpus.total == 420


def test_a_resolved_corpus_is_taken_as_it_is(tmp_path, monkeypatch):
    path = tmp_path / "text.txt"
    path.write_text("one two three\n" * 10)
    corpus = as_corpus(tmp_path)
    monkeypatch.setattr(sources, "facts_of", None)
    assert as_corpus(corpus) is corpus
    assert PairCounts.from_corpus(corpus).vocabulary.tokens == 30
