"""Training on several ranks: who has which blocks of rows when, and how blocks travel.

The table of pairs has n x n shards. In a row of a Latin square, block i of the covectors W meets block (i + offset) mod
n of the vectors V, for one offset; no two shards of a row share a block. The offsets of a pass are in
random order: in their natural order, which would let blocks travel to the neighbour only, or with 0 always first,
analogies are worse (benchmarks/RESULTS.md). Of N ranks each keeps n / N consecutive blocks of W for good
(`Division.own`), with Adam's moments, and reads only the shards of these rows. The blocks of V, with their moments,
travel: in each row a rank has those that its blocks of W meet. So

- from one row to the next a block stays with its rank in about one of N cases. A rank sends and receives up to n / N
  blocks per row of shards, on average n x n / N x (1 - 1 / N) in a pass, of 12 x V / n x d bytes each (rows and two
  moments in float32);
- at the beginning of a pass all blocks are at home, V block i beside W block i.

A rank keeps 3 x V x d / N numbers of each side, and room for those that come, one array at a time. Nothing has V x d
numbers on one rank, except the result on rank 0, given vectors to start from, and what objectives keep of single words
(V numbers).

Every shard is visited with the same numbers as by one process, so that the result has the same bits for any number of
ranks:

- the order of shards does not depend on N, and shards of a row can be visited in any order;
- sums over blocks are added in the order of blocks. Second moments (for the start, and to turn axes) are passed from
  rank to rank, each of which adds its own (`Division.sum_in_order`); one rank computes the eigenvectors for all;
- the losses of all shards are exchanged after each pass, or part of one, and added by each rank in the same order. So
  all ranks know the same losses, and agree on convergence and on divergence;
- the start (`spectral.py`) makes four sweeps over the shards, with offsets in their natural order. In two of them the
  right factor travels, in the others the sums;
- the level of the background is measured on shards of the diagonal, when all blocks are at home.

Evaluating the loss takes one more round. Checkpoints and results are gathered by rank 0, one block at a time: no other
rank needs the folder. A checkpoint has one array per block, so that any number of ranks can go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import torch

from gensim_hilbert.training.division import Division
from gensim_hilbert.training.ranks import Pending, Ranks
from gensim_hilbert.training.team import Team

Result = TypeVar("Result")


class Ring(Division):
    """Blocks that travel: block i of those that stay now meets block (i + offset) mod n of these.

    With a single rank nothing travels, and blocks stand in their arrays by their numbers.
    """

    def __init__(self, ranks: Ranks, n: int):
        super().__init__(ranks, n)
        self.offset = 0

    def owner(self, block: int) -> int:
        """Return the rank that has a block now."""
        return super().owner((block - self.offset) % self.n)

    def slot(self, block: int) -> int:
        """Return where a block that is here stands in the arrays: where the block that it meets stands in its own."""
        return super().slot((block - self.offset) % self.n)

    def numbers(self) -> list[int]:
        """Return the blocks that are here as they stand in the arrays."""
        return [(i + self.offset) % self.n for i in self.own]

    def map(
        self,
        team: Team,
        parts: list[torch.Tensor],
        work: Callable[..., Result],
        order: list[tuple[int, int]],
        *others: Iterable[Any],
    ) -> Iterator[tuple[int, Result]]:
        """Yield `work(shard, ...)` of the shards of this rank beside their numbers in `order`; let blocks travel.

        `order` has the shards of each row in the order of their rows. `parts` are the arrays of what travels.
        """
        if self.ranks.size == 1:
            yield from enumerate(team.map(work, order, *others))
            return
        arguments = [list(other) for other in others]
        first = 0
        while first < len(order):
            i, j = order[first]
            self.move_to((j - i) % self.n, parts)
            numbers = range(first, min(len(order), first + self.n - i))  # to the end of the row of shards
            mine = [number for number in numbers if order[number][0] in self.own]
            more = [[argument[number] for number in mine] for argument in arguments]
            yield from zip(mine, team.map(work, [order[number] for number in mine], *more), strict=True)
            first = numbers.stop

    def move_to(self, offset: int, parts: list[torch.Tensor]) -> None:
        """Let all blocks travel to where block i of those that stay meets block (i + offset) mod n."""
        if self.ranks.size == 1 or offset == self.offset:
            return
        leaving = sorted((block, super(Ring, self).owner((block - offset) % self.n)) for block in self.numbers())
        coming = sorted(((i + offset) % self.n, i) for i in self.own)
        for part in parts if self.own else []:
            room = torch.empty_like(part)
            pending: list[Pending] = []
            for rank in range(self.active):
                sent = [(part[self.slot(block)], rank) for block, owner in leaving if owner == rank]
                received = [(room[i - self.own.start], rank) for block, i in coming if self.owner(block) == rank]
                if rank != self.ranks.rank and (sent or received):
                    pending += self.ranks.exchange(sent, received)
            for block, i in coming:
                if self.owner(block) == self.ranks.rank:
                    room[i - self.own.start].copy_(part[self.slot(block)])
            for one in pending:
                one.wait()
            part.copy_(room)
        self.offset = offset
