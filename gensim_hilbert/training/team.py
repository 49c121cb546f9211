"""Several shards at a time, a core each.

Torch would share each operation out among cores instead. But those of a shard take a millisecond or less: cores would
wait for each other, and then all for memory. Of shards worked on at once, one computes while another waits for memory;
and each is computed by one thread, so that the result is the same for any number of them. Large shards, of which
several might not fit into memory, are worked on one by one, as torch does it.

A shard waits for those before it that share its rows or columns. In a Latin square that is seldom: n shards in a row
share none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

import torch

from gensim_hilbert.training.device import threads
from gensim_hilbert.training.shards import Shard, Shards

Item = TypeVar("Item")
Result = TypeVar("Result")
LARGE = 2048  # rows


class Room(NamedTuple):
    """Memory for one shard after the other; to ask for new memory would take longer than some of the work."""

    psi: torch.Tensor
    to_w: torch.Tensor
    to_v: torch.Tensor

    def psi_of(self, shard: Shard) -> torch.Tensor:
        """For a number a cell."""
        return self.psi[: shard.cells].view(len(shard.a), len(shard.b))


def at_once(rows: int, n: int, cores: int) -> int:
    """How many shards to work on at a time, of n a side that have so many rows."""
    return min(cores, n) if rows <= LARGE else 1


class Team:
    """Threads that work on shards, as many as torch may use, and one that reads ahead. To be used in a `with` block.

    Parameters
    ----------
    shards : Shards
        To be worked on.
    width : int
        Of the rows for slopes in a room.
    """

    def __init__(self, shards: Shards, width: int = 0):
        self.shards = shards
        rows, number = len(shards.a[0]), torch.get_num_threads()
        workers = at_once(rows, shards.n, number) if shards.device.type == "cpu" else 1
        each = 1 if rows <= LARGE else number
        self.torch_threads = threads(each)
        self.rooms: SimpleQueue[Room] = SimpleQueue()
        for _ in range(workers):
            psi, to_w, to_v = (torch.empty(rows, k, device=shards.device) for k in (rows, width, width))
            self.rooms.put(Room(psi.view(-1), to_w, to_v))
        self.pool = ThreadPoolExecutor(workers + 1, "gensim_hilbert shards", torch.set_num_threads, (each,))

    def __enter__(self) -> Team:
        self.torch_threads.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.pool.shutdown(cancel_futures=True)
        self.torch_threads.__exit__(*error)

    def map(
        self, work: Callable[..., Result], order: Iterable[tuple[int, int]], *others: Iterable[Any]
    ) -> Iterator[Result]:
        """`work(shard, room)` of each shard, in that order; like the built-in, for more arguments too."""
        last: dict[tuple[str, int], Future[Result]] = {}  # of those that share rows, or columns
        futures = deque[Future[Result]]()
        tasks = list(zip(order, *others, strict=True))
        if len(tasks) == 1:  # to hand it over would take longer than many a small one
            yield self._visit(work, tasks[0][0], tasks[0][1:], [])
            return
        for key, *more in tasks:
            sides = ("rows", key[0]), ("columns", key[1])
            before = [last[side] for side in sides if side in last]
            future = self.pool.submit(self._visit, work, key, more, before)
            last |= dict.fromkeys(sides, future)
            futures.append(future)
        try:
            while futures:
                yield futures.popleft().result()
        finally:
            wait([future for future in futures if not future.cancel()])

    def _visit(
        self, work: Callable[..., Result], key: tuple[int, int], more: Iterable[Any], before: list[Future[Result]]
    ) -> Result:
        shard = self.shards[key]
        for future in before:
            future.result()  # what has failed there, fails here
        room = self.rooms.get()
        try:
            return work(shard, room, *more)
        finally:
            self.rooms.put(room)

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """What becomes of other things than shards, in their order."""
        return self.pool.map(work, items) if self.shards.n > 1 else map(work, items)
