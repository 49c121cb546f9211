"""How blocks are dealt out to tasks."""

from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.dispatch import MOST_SENT_BYTES, SharedBlocks, portions


def ranges(count, size, **options):
    return [Block(0, k * size, (k + 1) * size, "text", **options) for k in range(count)]


def files(count, cost):
    return [Block(k, 0, None, f"{k}.gz", cost=cost) for k in range(count)]


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
