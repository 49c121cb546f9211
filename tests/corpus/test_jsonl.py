"""JSON lines: what the lines may hold, and what is told of those that cannot be read."""

import gzip
import json

import pytest
from helpers import assert_same_counts, count

from gensim_hilbert import PairCounts
from gensim_hilbert.corpus.rows import TableError
from gensim_hilbert.corpus.sources import as_corpus


@pytest.fixture
def write(tmp_path):
    """A function that writes a file, or the same compressed."""

    def write(data: bytes, name: str = "table.jsonl"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def text_of(path, **options) -> bytes:
    corpus = as_corpus(path, **options)
    return b"".join(part.data for block in corpus.blocks(streams=False) for part in block.read())


NAMES = ["table.jsonl", "table.jsonl.gz"]


@pytest.mark.parametrize("name", NAMES)
def test_lines_of_all_sorts(name, write, set_block_bytes):
    data = '\ufeff{"text": "one"}\r\n\n  \n{"other": 1}\n{"text": null}\n{"other": 2, "text": "two\\nthree \\u00e9"}\n'
    data += '{"text": ""}\n{"text": "last"}'
    for size in (1, 40, 1 << 20):
        set_block_bytes(size)
        assert text_of(write(data.encode(), name)).decode().split("\n") == ["one", "two", "three é", "", "last", ""]


@pytest.mark.parametrize("name", NAMES)
def test_a_line_that_is_longer_than_a_block(name, write, set_block_bytes):
    set_block_bytes(1 << 12)
    long = "word " * 60_000
    data = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in ("a b", long, "c d"))
    assert text_of(write(data, name)) == f"a b\n{long}\nc d\n".encode()


def test_lists_of_words(write, set_block_bytes):
    set_block_bytes(30)
    sentences = [["New York", "a\nb", ""], [], ["a\nb", "é"], ["\ud800"]] * 3
    path = write("".join(json.dumps({"words": sentence}) + "\n" for sentence in sentences).encode())
    assert_same_counts(count(path, min_count=1), count(sentences, min_count=1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"text": "a', "at byte 16000 is not JSON: Unterminated string"),
        ("[1, 2]", r"at byte 16000 is '\[1, 2\]' and not a JSON object"),
        ('{"text": 5}', "at byte 16000 holds 5 as 'text', which is not text"),
        ('{"text": ["a"]}', "which is not text"),
        ('{"text": ' + "[" * 100_000, "is not JSON: its JSON is nested too deeply"),
    ],
)
def test_what_is_wrong_with_a_line_and_where(name, line, why, write, refused, set_block_bytes):
    set_block_bytes(500)
    good = b'{"text": "a b"}\n' * 1000
    refused(TableError, rf"{name}: the line {why}" if "byte" in why else why, write(good + line.encode(), name))


def test_malformed_lists_of_words(write, refused):
    path = write(b'{"words": ["one", "two"]}\n{"words": ["\xff"]}\n')
    refused(UnicodeError, r"table\.jsonl: invalid UTF-8 at byte 38", path)


def test_halves_of_surrogate_pairs_are_malformed_text(write, refused):
    path = write(b'{"text": "one \\ud800 two"}\n' * 9)
    refused(UnicodeError, "invalid UTF-8 at byte 4", path)
    assert PairCounts.from_corpus(path, errors="ignore").vocabulary.tokens == 18
