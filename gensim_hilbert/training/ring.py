"""Training on several ranks: who has which blocks of rows when.

The table of pairs has n x n shards. In a row of a Latin square, block i of the covectors W meets block (i + offset) mod
n of the vectors V, for one offset; no two shards of a row share a block. Of N ranks each keeps about n / N blocks of W
for good (`Division.own`), with Adam's moments, and reads only the shards of these rows. The blocks of V, with their
moments, travel: in each row a rank has those that its blocks of W meet.

Every rank has to see every block of V, so that (N - 1) x n times in a pass, at least, a block has to travel, with 12 x
V / n x d bytes (rows and two moments in float32). The order of offsets and the division of blocks (`order.py`) are such
that for n = 64 it is no more if N is 2, 4 or 8. For 16 ranks it is 1.04 times as much, for other numbers of ranks 1.5
to 3.2 times. `journey.py` has blocks travel while shards are computed.

A rank keeps 3 x V x d / N numbers of each side, and room for an eighth more blocks of V. Nothing has V x d numbers on
one rank, except the result on rank 0, given vectors to start from, and what objectives keep of single words (V
numbers).

Every shard is visited with the same numbers as by one process, so that the result has the same bits for any number of
ranks:

- the order of shards does not depend on N. A rank may visit its shards in another order, but each block meets its
  blocks of the other side in that order;
- sums over blocks are added in the order in which blocks are divided, which does not depend on N. Second moments (for
  the start, and to turn axes) are passed from rank to rank, each of which adds its own (`Division.sum_in_order`); one
  rank computes the eigenvectors for all;
- the losses of all shards are exchanged after each pass, or part of one, and added by each rank in the same order. So
  all ranks know the same losses, and agree on convergence and on divergence;
- the start (`spectral.py`) makes four sweeps over the shards, in the order of reversed digits. In two of them the right
  factor travels, in the others the sums;
- axes are turned, and the level of the background is measured, where blocks are at the end of the pass before.

Evaluating the loss takes one more round. Checkpoints and results are gathered by rank 0, one block at a time: no other
rank needs the folder. A checkpoint has one array per block, so that any number of ranks can go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import torch

from gensim_hilbert.training.division import Division
from gensim_hilbert.training.journey import Journey
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
        self.slots = {block: slot for slot, block in enumerate(self.numbers())}

    def owner(self, block: int) -> int:
        """Return the rank that has a block now."""
        return self.owner_at(block, self.offset)

    def owner_at(self, block: int, offset: int) -> int:
        """Return the rank that has a block at an offset."""
        return super().owner((block - offset) % self.n)

    def slot(self, block: int) -> int:
        """Return where a block that is here stands in the arrays."""
        return self.slots[block]

    def numbers(self) -> list[int]:
        """Return the blocks that are here; after `align`, as they stand in the arrays."""
        return [(i + self.offset) % self.n for i in super().numbers()]

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
        tasks = list(zip(order, *others, strict=True))

        def visit(number: int) -> Result:
            key, *more = tasks[number]
            return team.do(work, team.shards[key], *more)

        yield from Journey(self, parts, order).visit(team, visit)

    def move_to(self, offset: int, parts: list[torch.Tensor]) -> None:
        """Let all blocks travel to where block i of those that stay meets block (i + offset) mod n."""
        if self.ranks.size == 1 or offset == self.offset:
            return
        if parts and parts[0].device.type != "cpu":
            self.align(offset, parts)
        else:
            Journey(self, parts, [], offset).arrive()

    def align(self, offset: int, parts: list[torch.Tensor]) -> None:
        """Do the same as `move_to` on any device; blocks then stand in the arrays as those do that they meet."""
        target = {(i + offset) % self.n: slot for slot, i in enumerate(self.own)}
        if self.ranks.size == 1 or (offset == self.offset and target == self.slots):
            return
        leaving = sorted((block, self.owner_at(block, offset)) for block in self.slots)
        coming = sorted(target.items())
        for part in parts if self.own else []:
            room = torch.empty_like(part)
            pending: list[Pending] = []
            for rank in range(self.active):
                sent = [(part[self.slots[block]], rank) for block, owner in leaving if owner == rank]
                received = [(room[slot], rank) for block, slot in coming if self.owner(block) == rank]
                if rank != self.ranks.rank and (sent or received):
                    pending += self.ranks.exchange(sent, received)
            for block, slot in coming:
                if self.owner(block) == self.ranks.rank:
                    room[slot].copy_(part[self.slots[block]])
            for one in pending:
                one.wait()
            part.copy_(room)
        self.offset, self.slots = offset, target
