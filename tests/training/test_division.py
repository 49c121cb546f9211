"""Blocks of rows that are divided among ranks, and blocks that travel: each is on one rank, in a place of its own."""

from __future__ import annotations

import pytest
import torch

from gensim_hilbert.training.division import Division
from gensim_hilbert.training.order import reversed_digits
from gensim_hilbert.training.ranks import ALONE, Ranks
from gensim_hilbert.training.ring import Ring


def rank_of(rank: int, size: int) -> Ranks:
    """One of several ranks, as far as its number goes."""
    ranks = Ranks()
    ranks.rank, ranks.size = rank, size
    return ranks


@pytest.mark.parametrize("n", [1, 2, 5, 8, 64])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_every_block_has_one_owner_and_a_place_of_its_own(n, size):
    parts = [Division(rank_of(rank, size), n) for rank in range(size)]
    assert [block for part in parts for block in part.own] == reversed_digits(n), "sums do not depend on the ranks"
    for rank, part in enumerate(parts):
        assert sorted(part.numbers()) == sorted(part.own)
        assert [part.slot(block) for block in part.numbers()] == list(range(len(part.own)))
        assert [part.owner(block) for block in part.own] == [rank] * len(part.own)
        assert len(part.empty(2, 3)) - len(part.own) == part.spare
        assert bool(part.spare) == (size > 1 and bool(part.own)), "without room nothing could travel"


@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("size", [2, 3, 7])
def test_at_every_offset_blocks_that_meet_are_on_one_rank(n, size):
    for offset in range(n):
        rings = [Ring(rank_of(rank, size), n) for rank in range(size)]
        for ring in rings:
            ring.offset = offset
        assert sorted(block for ring in rings for block in ring.numbers()) == list(range(n))
        for rank, ring in enumerate(rings):
            for i in ring.own:
                assert ring.owner((i + offset) % n) == ring.owner_at((i + offset) % n, offset) == rank


def test_alone_blocks_do_not_travel():
    ring, blocks = Ring(ALONE, 3), torch.arange(3.0)
    ring.move_to(2, [blocks])
    ring.align(2, [blocks])
    assert (ring.offset, blocks.tolist()) == (0, [0.0, 1.0, 2.0])


def test_alone_nothing_is_moved_or_copied():
    division, blocks = Division(ALONE, 3), torch.arange(12.0).view(3, 2, 2)
    assert [block.data_ptr() for block in division.gathered(blocks.__getitem__, blocks[0])] == [
        block.data_ptr() for block in blocks
    ]
    assert division.select(blocks) is blocks
    assert torch.equal(division.sum_in_order(iter(blocks)), blocks.sum(dim=0))
    kept = {}
    division.scattered(blocks.__getitem__, kept.__setitem__, blocks[0])
    assert [torch.equal(kept[k], blocks[k]) for k in range(3)] == [True] * 3
