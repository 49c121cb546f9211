"""Damage anywhere in a compressed file is an error, also behind the first of several streams."""

import bz2
import gzip
import io
import lzma

import pytest
from texts import TEXT

from gensim_hilbert.corpus.decompression import MemberReader
from gensim_hilbert.corpus.sources import as_corpus

PARTS = [TEXT[:1000], TEXT[1000:2000], TEXT[2000:3000]]
PACKED = {suffix: [pack(part) for part in PARTS] for suffix, pack in
          ((".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress))}  # fmt: skip


@pytest.fixture
def read(tmp_path):
    def read(data, suffix):
        path = tmp_path / f"text{suffix}"
        path.write_bytes(data)
        return b"".join(block.data for block in as_corpus(path).blocks(streams=True))

    return read


@pytest.mark.parametrize("suffix", PACKED)
def test_one_flipped_byte_is_an_error_or_changes_nothing(suffix, read):
    data = b"".join(PACKED[suffix])
    assert read(data, suffix) == TEXT[:3000]
    messages = []
    for place in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[place] ^= 0x55
        try:
            assert read(damaged, suffix) == TEXT[:3000], place
        except OSError as error:
            messages.append(str(error))
    assert all(f"text{suffix} cannot be read past byte" in message for message in messages)
    assert len(messages) > len(data) // 7 * 0.9


@pytest.mark.parametrize("suffix", PACKED)
def test_an_early_end_is_an_error_except_between_two_streams(suffix, read):
    data = b"".join(PACKED[suffix])
    first = len(PACKED[suffix][0])
    for end in (*range(1, len(data), 7), len(data) - 1, first - 1, first + 1):
        if end not in (first, first + len(PACKED[suffix][1])):
            with pytest.raises(OSError, match="cannot be read past byte"):
                read(data[:end], suffix)
    assert read(data[:first], suffix) == PARTS[0]


@pytest.mark.parametrize("suffix", PACKED)
def test_streams_may_be_padded_with_zeros(suffix, read):
    assert read(bytes(8).join(PACKED[suffix]) + bytes(512), suffix) == TEXT[:3000]


def test_data_that_grow_much_are_given_out_in_pieces():
    reader = MemberReader(io.BytesIO(bz2.compress(bytes(10_000_000))), bz2.BZ2Decompressor)
    assert len(reader.read(1000)) == 1000
    assert sum(map(len, iter(lambda: reader.read(1 << 16), b""))) == 10_000_000 - 1000
