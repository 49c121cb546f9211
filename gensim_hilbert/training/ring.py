"""Training on several ranks: who has which blocks of rows when, and how blocks travel around a ring.

The table of pairs has n x n shards. In row t of a Latin square, block i of the covectors W meets block (i + t) mod n of
the vectors V; no two shards of a row share a block. Of N ranks each keeps n / N consecutive blocks of W for good
(`Division.own`), with Adam's moments, and reads only the shards of these rows. The blocks of V, with their moments,
travel. In row t a rank has those that its blocks of W meet. From one row to the next these are the same ones but for
one: the first is passed on to the rank before, and a new last one comes from the rank after. So

- a rank sends and receives one block per row of shards, n blocks in a pass: 3 x 4 x V x d bytes (rows and two moments
  in float32), whatever N is;
- a block is sent as soon as its shard, the first of the rank's row, has been visited, and is needed for the last shard
  of the next row: it travels while the shards between them are computed. With a single block per rank nothing is left
  to be computed meanwhile. On GPUs a row of shards is one step, and blocks travel between two steps;
- after n rows all blocks are where they were at first, V block i beside W block i.

A rank keeps 3 x V x d / N numbers of each side, and room for one more block. Nothing has V x d numbers on one rank,
except the result on rank 0, given vectors to start from, and what objectives keep of single words (V numbers).

Every shard is visited with the same numbers as by one process, so that the result has the same bits for any number of
ranks:

- the order of shards does not depend on N, and shards of a row can be visited in any order;
- sums over blocks are added in the order of blocks. Second moments (for the start, and to turn axes) are passed from
  rank to rank, each of which adds its own (`Division.sum_in_order`); one rank computes the eigenvectors for all;
- the losses of all shards are exchanged after each pass, or part of one, and added by each rank in the same order. So
  all ranks know the same losses, and agree on convergence and on divergence;
- the start (`spectral.py`) makes four sweeps over the shards. In two of them the right factor travels, in the others
  the sums, by the same ring;
- the level of the background is measured on shards of the diagonal, for which nothing has to travel.

Evaluating the loss takes one more round of the ring. Checkpoints and results are gathered by rank 0, one block at a
time: no other rank needs the folder. A checkpoint has one array per block, so that any number of ranks can go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import torch

from gensim_hilbert.training.division import Division
from gensim_hilbert.training.ranks import Pending, Ranks
from gensim_hilbert.training.shards import Shard
from gensim_hilbert.training.team import Team

Result = TypeVar("Result")


class Ring(Division):
    """Blocks that travel: block i of those that stay now meets block (i + moves) mod n of these.

    Parameters
    ----------
    ranks, n
        Among whom how many blocks travel.
    moves : int
        Number of rows of shards that have been visited before.
    """

    def __init__(self, ranks: Ranks, n: int, moves: int = 0):
        super().__init__(ranks, n)
        self.moves = moves
        self.travels = self.active > 1 and len(self.own) > 0
        self.before, self.after = (ranks.rank - 1) % self.active, (ranks.rank + 1) % self.active
        self.rooms: list[torch.Tensor] = []  # For the block that comes next, until the one that it replaces has left.
        self.leaving: Pending | None = None  # The first block of this row, if it is on its way already.
        self.left: Pending | None = None  # The first block of the row before.
        self.coming: Pending | None = None  # The last block of this row.

    def owner(self, block: int) -> int:
        """Return the rank that has a block now."""
        return super().owner((block - self.moves) % self.n)

    def slot(self, block: int) -> int:
        """Return where a block that is here stands in the arrays: a new one takes the place of the one that left."""
        return ((block - self.moves) % self.n - self.own.start + self.moves) % len(self.own)

    def numbers(self) -> list[int]:
        """Return the blocks that are here as they stand in the arrays."""
        return sorted(((i + self.moves) % self.n for i in self.own), key=self.slot)

    def map(
        self,
        team: Team,
        parts: list[torch.Tensor],
        work: Callable[..., Result],
        order: list[tuple[int, int]],
        *others: Iterable[Any],
    ) -> Iterator[tuple[int, Result]]:
        """Yield `work(shard, ...)` of the shards of this rank beside their numbers in `order`; let blocks travel.

        `order` begins in the present row of shards, and has the shards of each row in the order of their rows.
        `parts` are the arrays of what travels.
        """
        if self.ranks.size == 1:
            yield from enumerate(team.map(work, order, *others))
            return
        first = 0
        while first < len(order):
            i, _ = order[first]
            numbers = range(first, min(len(order), first + self.n - i))
            is_whole = numbers[-1] - first == self.n - 1 - i  # The row of shards ends here.
            visit = self._travelling(parts, work, is_whole)
            mine = [number for number in numbers if order[number][0] in self.own]
            more = [[other[number] for number in mine] for other in map(list, others)]
            yield from zip(mine, team.map(visit, [order[number] for number in mine], *more), strict=True)
            if is_whole:
                self.next_row(parts)
            first = numbers.stop
        self.settle(parts)

    def _travelling(self, parts: list[torch.Tensor], work: Callable[..., Result], is_whole: bool) -> Any:
        """Return the work on a shard, which waits for the block that comes, and passes on the one that leaves."""

        def visit(shard: Shard, *more: Any) -> Result:
            if shard.i == self.own[-1]:
                self.settle(parts)
            result = work(shard, *more)
            if shard.i == self.own[0] and is_whole and self.travels and parts[0].device.type == "cpu":
                self.leaving = self.ranks.exchange(self._first(parts), [])[0]
            return result

        return visit

    def _first(self, parts: list[torch.Tensor]) -> list[tuple[torch.Tensor, int]]:
        """Return the block of this row that is passed on, and to whom."""
        slot = self.slot((self.own[0] + self.moves) % self.n)
        return [(part[slot], self.before) for part in parts]

    def next_row(self, parts: list[torch.Tensor]) -> None:
        """Begin to receive the block that is new in the next row of shards, and send the one that leaves this row."""
        if self.travels:
            self.settle(parts)
            if [room.shape for room in self.rooms] != [part.shape[1:] for part in parts]:
                self.rooms = [torch.empty_like(part[0]) for part in parts]
            sent = [] if self.leaving else self._first(parts)
            leaving, self.coming = self.ranks.exchange(sent, [(room, self.after) for room in self.rooms])
            self.left, self.leaving = self.leaving or leaving, None
        self.moves += 1

    def settle(self, parts: list[torch.Tensor]) -> None:
        """Wait for the last block of this row, if it is still on its way."""
        if self.coming is not None and self.left is not None:
            self.coming.wait()
            self.left.wait()
            slot = self.slot((self.own[-1] + self.moves) % self.n)
            for part, room in zip(parts, self.rooms, strict=True):
                part[slot].copy_(room)
            self.coming = self.left = None

    def at_home(self, part: torch.Tensor) -> torch.Tensor:
        """Return an array of blocks that are back after a whole round, in the order of `own`."""
        assert self.moves % self.n == 0
        slots = [self.slot(k) for k in self.own]
        return part if slots == list(range(len(slots))) else part[slots]
