"""Which rank has which blocks of rows, and sums and copies of blocks over all ranks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import Any, TypeVar
from zlib import crc32

import torch

from gensim_hilbert.training.order import divided, reversed_digits
from gensim_hilbert.training.ranks import RankFailed, Ranks

ALIGNMENT = 16  # Numbers in float32: 64 bytes.
SPARE = 8  # Blocks of a rank for which there is room for one more.

Value = TypeVar("Value")


class Division:
    """How n blocks are divided among ranks; the last ranks have none if blocks are few.

    Each rank has blocks that follow each other in the order of their reversed digits (`order.py`), `own`. They stand in
    its arrays in this order. Alone, a rank has all blocks, and they stand in its arrays by their numbers.
    """

    def __init__(self, ranks: Ranks, n: int):
        self.ranks, self.n, self.active = ranks, n, min(ranks.size, n)
        blocks, self.bounds = reversed_digits(n), divided(n, self.active)
        self.positions = {block: position for position, block in enumerate(blocks)}
        bounds = self.bounds[ranks.rank : ranks.rank + 2]
        self.own = blocks[slice(*bounds)] if ranks.rank < self.active else []
        self.spare = max(1, len(self.own) // SPARE) if ranks.size > 1 and self.own else 0

    def owner(self, block: int) -> int:
        """Return the rank that has a block."""
        return bisect_right(self.bounds, self.positions[block]) - 1

    def slot(self, block: int) -> int:
        """Return where a block of this rank stands in its arrays."""
        return block if self.ranks.size == 1 else self.positions[block] - self.bounds[self.ranks.rank]

    def numbers(self) -> list[int]:
        """Return the blocks of this rank as they stand in its arrays."""
        return list(range(self.n)) if self.ranks.size == 1 else self.own

    def empty(self, *shape: int) -> torch.Tensor:
        """Return an array for the blocks of this rank, with room for some that come before others have left.

        Every block begins at an aligned address: torch rounds products otherwise, depending on where a block stands.
        """
        number, size = len(self.own) + self.spare, prod(shape)
        padded = -(-size // ALIGNMENT) * ALIGNMENT
        return torch.empty(number, padded)[:, :size].view(number, *shape)

    def sum_in_order(
        self, parts: Iterable[torch.Tensor], finish: Callable[[torch.Tensor], Any] = lambda total: total
    ) -> Any:
        """Return the sum of one tensor per block, or what `finish` makes of it.

        `parts` are those of this rank, in the order of `own`, in which they are added, those of rank 0 first. The last
        rank that has blocks calls `finish`.
        """
        if self.ranks.size == 1:
            return finish(added(parts))
        mine, found = list(parts), None  # All ranks compute theirs at once, before they wait for each other.
        if mine:
            if self.ranks.rank:
                before = torch.empty_like(mine[0])
                self.ranks.exchange([], [(before, self.ranks.rank - 1)])[1].wait()
                mine.insert(0, before)
            total = added(mine)
            if self.ranks.rank + 1 < self.active:
                self.ranks.exchange([(total, self.ranks.rank + 1)], [])[0].wait()
            else:
                found = finish(total)
        return self.ranks.from_rank(self.active - 1, found)

    def by_block(self, values: list[tuple[int, Value]]) -> list[Value]:
        """Return one value per block in the order of blocks; `values` are those of this rank with their blocks."""
        return [value for _, value in sorted(self.ranks.all_of(values), key=lambda one: one[0])]

    def gathered(self, block: Callable[[int], torch.Tensor], like: torch.Tensor) -> Iterator[torch.Tensor]:
        """Yield all blocks in their order on rank 0; elsewhere, send those of this rank, and yield nothing.

        `block` returns a block of this rank, `like` is an example of one. At the end all ranks are still there, and
        have sent what rank 0 has received; otherwise an error is raised.
        """
        room = torch.empty_like(like, device="cpu") if self.ranks.rank == 0 and self.ranks.size > 1 else like
        sent: list[tuple[int, int]] = []
        received: list[int] = []
        for number in range(self.n):
            owner = self.owner(number)
            if self.ranks.rank == owner == 0:
                yield block(number)
            elif self.ranks.rank == owner:
                mine = block(number).cpu().contiguous()
                self.ranks.exchange([(mine, 0)], [])[0].wait()
                sent.append((number, crc32(mine.numpy().data)))
            elif self.ranks.rank == 0:
                self.ranks.exchange([], [(room, owner)])[1].wait()
                received.append(crc32(room.numpy().data))
                yield room
        if self.by_block(sent) != received and self.ranks.rank == 0:
            raise RankFailed("blocks from other ranks are not as they were sent; start all ranks again to go on")

    def scattered(
        self, read: Callable[[int], torch.Tensor], keep: Callable[[int, torch.Tensor], None], like: torch.Tensor
    ) -> None:
        """Let rank 0 read all blocks, and each rank keep its own; `like` is an example of one."""
        room = torch.empty_like(like, device="cpu")
        for number in range(self.n):
            owner = self.owner(number)
            if self.ranks.rank == owner == 0:
                keep(number, read(number))
            elif self.ranks.rank == 0:
                self.ranks.exchange([(read(number).contiguous(), owner)], [])[0].wait()
            elif self.ranks.rank == owner:
                self.ranks.exchange([], [(room, 0)])[1].wait()
                keep(number, room)

    def select(self, x: torch.Tensor) -> torch.Tensor:
        """Return what a tensor has for the blocks of this rank, as they stand in its arrays."""
        return x if self.ranks.size == 1 else x[self.numbers()]


def added(parts: Iterable[torch.Tensor]) -> torch.Tensor:
    """Return the sum of tensors, added in their order."""
    each = iter(parts)
    total = next(each) + 0  # A new tensor.
    for part in each:
        total += part
    return total
