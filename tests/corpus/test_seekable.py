"""Remote files that are read at any place: the same bytes as in memory, in spite of failures."""

import io
import random

import pytest
from faulty_server import cut, reset, status

from gensim_hilbert.corpus import seekable
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.identity import CorpusChanged
from gensim_hilbert.corpus.opening import facts_of
from gensim_hilbert.corpus.seekable import has_ranges, opened_seekable

DATA = random.Random(1).randbytes(50_000)


def block_of(uri: str) -> Block:
    return Block(0, 0, None, uri, facts=facts_of(uri, None))


def assert_reads_like_memory(uri: str) -> None:
    chance, memory = random.Random(2), io.BytesIO(DATA)
    with opened_seekable(block_of(uri)) as file:
        for _ in range(50):
            whence = chance.choice([0, 1, 2])
            offset = chance.randrange(100) if whence == 1 else chance.randrange(len(DATA)) * (-1 if whence else 1)
            assert file.seek(offset, whence) == memory.seek(offset, whence)
            wanted = chance.choice([1, 100, 20_000])
            assert file.read(wanted) == memory.read(wanted)
            assert file.tell() == memory.tell()


@pytest.mark.parametrize("with_ranges", [True, False])
def test_on_the_web(with_ranges, site, monkeypatch):
    monkeypatch.setattr(seekable, "BUFFER_BYTES", 1000)
    site.files["data"], site.has_ranges = DATA, with_ranges
    site.faults["data"] = [status(503), cut(10), reset(1000), status(500)]
    assert_reads_like_memory(f"{site.address}/data")
    assert has_ranges(block_of(f"{site.address}/data")) == with_ranges


def test_in_a_bucket(s3):
    client, bucket = s3
    client.put_object(Bucket=bucket, Key="data", Body=DATA)
    assert_reads_like_memory(f"s3://{bucket}/data")
    block = block_of(f"s3://{bucket}/data")
    client.put_object(Bucket=bucket, Key="data", Body=DATA[::-1])
    with pytest.raises(CorpusChanged, match="data has changed"), opened_seekable(block) as file:
        file.read(10)


def test_a_page_that_changes_or_vanishes(site):
    site.files["data"] = DATA
    block = block_of(f"{site.address}/data")
    site.files["data"], site.etag = DATA[::-1], '"2"'
    with pytest.raises(CorpusChanged, match="data has changed"), opened_seekable(block) as file:
        file.read(10)
    del site.files["data"]
    with pytest.raises(OSError, match=r"data cannot be read: 404"), opened_seekable(block) as file:
        file.read(10)
