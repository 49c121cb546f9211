"""Names and types of the files of a store."""

from pathlib import Path

import numpy as np
import pytest

from gensim_hilbert.counting import layout


@pytest.mark.parametrize(("size", "classes"), [(1, 1), (1024, 1), (1025, 2), (4096, 4), (65_536, 64), (10**9, 64)])
def test_classes_are_a_power_of_two_that_grows_with_the_vocabulary(size, classes):
    assert layout.classes_for(size) == classes


@pytest.mark.parametrize("size", [1, 1024, 65_536, 64 << 16, (64 << 16) + 1, 1 << 31])
def test_numbers_within_a_tile_fit_their_type(size):
    classes = layout.classes_for(size)
    number = layout.number_dtype(size, classes)
    assert (size - 1) // classes <= np.iinfo(number).max


@pytest.mark.parametrize("entries", range(10))
@pytest.mark.parametrize("width", layout.COUNT_WIDTHS)
def test_chunks_are_padded_to_where_any_count_is_aligned(entries, width):
    length = layout.chunk_bytes(entries, width, np.dtype("<u2"))
    assert (length + layout.padding(length)) % 8 == 0
    assert 0 <= layout.padding(length) < 8


def test_names():
    assert layout.shard_name(7) == "shards/07.bin"
    assert layout.partial_of(Path("a/counts")) == Path("a/counts.partial")
    assert layout.counts_beside("a/model.bin") == Path("a/model.bin.counts")
    assert layout.new_run("a") != layout.new_run("a")
