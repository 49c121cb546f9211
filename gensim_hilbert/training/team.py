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
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from functools import partial
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


def torch_threads(shards: Shards) -> int:
    """How many torch may use for one operation."""
    several = shards.device.type == "cpu" and len(shards.a[0]) <= LARGE
    return 1 if several else torch.get_num_threads()


class Team:
    """Threads that work on shards, as many as torch may use, and one that reads ahead. To be used in a `with` block.

    On a GPU, which is busy with one, they take turns.

    Parameters
    ----------
    shards : Shards
        To be worked on.
    width : int
        Of the rows for slopes in a room.
    """

    def __init__(self, shards: Shards, width: int = 0):
        self.shards, self.cores = shards, torch.get_num_threads()
        self.is_inference = torch.is_inference_mode_enabled()  # which each thread would have to be told
        rows, each = len(shards.a[0]), torch_threads(shards)
        workers = at_once(rows, shards.n, self.cores) if shards.device.type == "cpu" else 1
        self.has_several = workers > 1
        self.rooms: SimpleQueue[Room] = SimpleQueue()
        for _ in range(workers):
            psi, to_w, to_v = (torch.empty(rows, k, device=shards.device) for k in (rows, width, width))
            self.rooms.put(Room(psi.view(-1), to_w, to_v))
        self.threads = threads(each)
        self.pool = ThreadPoolExecutor(workers + 1, "gensim_hilbert shards", torch.set_num_threads, (each,))

    def __enter__(self) -> Team:
        self.threads.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self.pool.shutdown(cancel_futures=True)
        finally:
            self.threads.__exit__(*error)

    def map(
        self, work: Callable[..., Result], order: Iterable[tuple[int, int]], *others: Iterable[Any]
    ) -> Iterator[Result]:
        """`work(shard, room)` of each shard, in that order; like the built-in, for more arguments too."""
        tasks = list(zip(order, *others, strict=True))
        if len(tasks) == 1:  # to hand it over would take longer than many a small one
            yield self._visit(work, tasks[0], [])
            return
        last: dict[tuple[str, int], Future[Result]] = {}  # of those that share rows, or columns
        futures = deque[Future[Result]]()
        for task in tasks:
            i, j = task[0]
            before = [last[side] for side in (("rows", i), ("columns", j)) if side in last]
            future = self.pool.submit(self._visit, work, task, before)
            last["rows", i] = last["columns", j] = future
            futures.append(future)
        try:
            while futures:
                yield futures.popleft().result()
        finally:
            wait([future for future in futures if not future.cancel()])

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """What becomes of other things than shards, in their order."""
        return self.pool.map(partial(self._do, work), items) if self.has_several else map(work, items)

    def _visit(self, work: Callable[..., Result], task: tuple[Any, ...], before: list[Future[Result]]) -> Result:
        key, *more = task
        entries = self.shards.read(*key)
        if any(future.exception() for future in before):
            raise CancelledError
        room = self.rooms.get()
        try:
            return self._do(work, self.shards.made_of(entries, *key), room, *more)
        finally:
            self.rooms.put(room)

    def _do(self, work: Callable[..., Result], *arguments: Any) -> Result:
        with torch.inference_mode(self.is_inference):
            return work(*arguments)
