"""Blocks are dealt out to tasks on any executor."""

import io
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from helpers import assert_same_counts, count
from reference import sentences_of
from texts import TEXT, pieces, write_gzip

from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.dispatch import MOST_SENT_BYTES, SharedBlocks, default_workers, portions


def ranges(count, size, **options):
    return [Block(0, k * size, (k + 1) * size, "text", **options) for k in range(count)]


def files(count, cost):
    return [Block(k, 0, None, f"{k}.gz", cost=cost) for k in range(count)]


def test_minus_one_worker_is_one_per_core():
    assert default_workers(-1) == default_workers(None) >= 1
    with ThreadPoolExecutor(3) as executor:
        assert default_workers(-1, executor) == default_workers(None, executor) == 3
    with pytest.raises(ValueError, match="workers must be 1 or more, got -2; -1 uses every core"):
        default_workers(-2)


def test_portions_hold_every_block_once_and_about_a_share():
    blocks = ranges(10, 100)
    dealt = list(portions(blocks, 300))
    assert [block for portion in dealt for block in portion] == blocks
    assert [len(portion) for portion in dealt] == [3, 3, 3, 1]


def test_small_compressed_files_share_a_task_and_those_of_unknown_size_do_not():
    assert [len(portion) for portion in portions(files(10, 10), 200)] == [5, 5]
    assert [len(portion) for portion in portions(files(3, 0), 200)] == [1, 1, 1]
    shared = SharedBlocks(iter(files(10, 10)))
    assert len(list(shared.share(200))) == 5


def test_data_travel_in_small_portions():
    blocks = ranges(64, 1 << 20, data=b"")
    assert {sum(block.stop - block.start for block in portion) for portion in portions(blocks, 1 << 28)} == {
        MOST_SENT_BYTES
    }


@pytest.mark.usefixtures("block_bytes")
def test_counts_on_threads(plain, expected):
    with ThreadPoolExecutor(3) as executor:
        for workers in (1, 3):
            assert_same_counts(count(plain, executor=executor, workers=workers), expected)


def test_counts_on_processes(tmp_path, plain, expected):
    for k, piece in enumerate(pieces(5)):
        write_gzip(tmp_path / f"{k}.txt.gz", piece)
    (tmp_path / "folder").mkdir()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        for corpus in (plain, [plain], tmp_path / "*.gz", sentences_of(TEXT), io.BytesIO(TEXT)):
            assert_same_counts(count(corpus, executor=executor), expected)
        bad = tmp_path / "folder" / "bad.txt"
        bad.write_bytes(b"a b\nc d \xff\n")
        with pytest.raises(UnicodeError, match=r"bad\.txt: invalid UTF-8 at byte 8"):
            count(bad, executor=executor, directory=tmp_path / "counts")
    assert not list(tmp_path.glob("counts*"))
