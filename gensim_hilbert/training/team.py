"""A team of threads that work on several shards at a time, one core for each shard.

By default torch splits each operation among all cores. But the operations of a shard take a millisecond or less, so
that cores would wait for each other, and then all for memory. If several shards are worked on at once, one computes
while another waits for memory. Each is computed by one thread, so that the result does not depend on the number of
threads.

A shard waits for those before it that share its rows or columns. In a Latin square that is rare: n shards in a row
share none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

import torch

from gensim_hilbert.training.device import threads
from gensim_hilbert.training.shards import Shards

Item = TypeVar("Item")
Result = TypeVar("Result")


class Team:
    """Threads that work on shards, as many as torch may use. To be used in a `with` block.

    On a GPU there is one thread, since the GPU is busy with one shard.

    Parameters
    ----------
    shards : Shards
        The shards to work on.
    make_room : callable, optional
        Makes the buffers of one thread, which `map` passes to the work.
    several : bool
        Whether to work on several shards at once, or on one with all cores.
    """

    def __init__(self, shards: Shards, make_room: Callable[[], Any] = lambda: None, several: bool = True):
        self.shards, self.cores = shards, torch.get_num_threads()
        self.is_inference = torch.is_inference_mode_enabled()  # Each thread has to be told.
        several = several and shards.device.type == "cpu"
        workers = min(self.cores, shards.n) if several else 1
        self.has_several = workers > 1
        self.rooms: SimpleQueue[Any] = SimpleQueue()
        for _ in range(workers):
            self.rooms.put(make_room())
        each = 1 if several else self.cores
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
        """Yield `work(shard, room)` of each shard in this order; like the built-in, with more arguments if given."""
        tasks = list(zip(order, *others, strict=True))
        if not self.has_several:
            for task in tasks:
                yield self._visit(work, task, [])
            return
        last: dict[tuple[str, int], Future[Result]] = {}  # The last task that has these rows, or these columns.
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
        """Yield the results of work on other things than shards, in their order."""
        return self.pool.map(partial(self._do, work), items) if self.has_several else map(work, items)

    def _visit(self, work: Callable[..., Result], task: tuple[Any, ...], before: list[Future[Result]]) -> Result:
        key, *more = task
        shard = self.shards[key]
        if any(future.exception() for future in before):
            raise CancelledError
        room = self.rooms.get()
        try:
            return self._do(work, shard, room, *more)
        finally:
            self.rooms.put(room)

    def _do(self, work: Callable[..., Result], *arguments: Any) -> Result:
        with torch.inference_mode(self.is_inference):
            return work(*arguments)
