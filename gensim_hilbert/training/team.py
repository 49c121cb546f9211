"""A team of threads that work on several shards at a time, one core for each shard.

By default torch splits each operation among all cores. But the operations of a shard take a millisecond or less, so
that cores would wait for each other, and then all for memory. If several shards are worked on at once, one computes
while another waits for memory. Each is computed by one thread, so that the result does not depend on the number of
threads.

A shard waits for those before it that share its rows or columns. In a Latin square that is rare: n shards in a row
share none.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import starmap
from queue import SimpleQueue
from threading import Lock
from typing import Any, TypeVar

import torch

from gensim_hilbert.training.device import threads
from gensim_hilbert.training.shards import Shards

Item = TypeVar("Item")
Result = TypeVar("Result")


class Queue:
    """Tasks on shards that threads take as soon as they can be done, and their results.

    A task waits for the last ones before it that have its rows or its columns. Whoever finishes one hands out those
    that have waited for it, each of which wakes a single thread: if all that have nothing to do were woken to look, 64
    threads would be slower than 8.
    """

    def __init__(self, tasks: list[tuple[Any, ...]], row: int):
        self.tasks, self.row = tasks, row
        self.results: list[Any] = [None] * len(tasks)
        self.left = [len(tasks[first : first + row]) for first in range(0, len(tasks), row)]  # Of each row of shards.
        self.error: BaseException | None = None
        self.is_stopped = False
        self.lock = Lock()
        self.ready: SimpleQueue[int | None] = SimpleQueue()  # Tasks that wait for nothing any more, or None at the end.
        self.news: SimpleQueue[None] = SimpleQueue()  # One entry whenever a row of shards is done, or no more will be.
        self.later: list[list[int]] = [[] for _ in tasks]  # Tasks that wait for each.
        self.awaited = [0] * len(tasks)  # How many tasks each waits for.
        self.undone = len(tasks)
        last: dict[tuple[str, int], int] = {}
        for number, ((i, j), *_) in enumerate(tasks):
            sides = ("rows", i), ("columns", j)
            for before in {last[side] for side in sides if side in last}:
                self.later[before].append(number)
                self.awaited[number] += 1
            last.update(dict.fromkeys(sides, number))
        for number, awaited in enumerate(self.awaited):
            if not awaited:
                self.ready.put(number)

    def next_task(self) -> int | None:
        """Return the number of a task that can be done, or None if there is nothing more to do."""
        number = self.ready.get()
        if number is None or self.is_stopped:
            self.ready.put(None)  # for the next thread
            return None
        return number

    def wait_for_row(self, first: int) -> None:
        """Wait for the row of shards that begins with a task, or raise what a task has raised."""
        while self.left[first // self.row] and not self.is_stopped:
            self.news.get()
        if self.error is not None:
            raise self.error

    def finish(self, number: int, result: Any) -> None:
        """Keep the result of a task, and hand out those that have waited for it."""
        self.results[number] = result
        with self.lock:
            self.left[number // self.row] -= 1
            self.undone -= 1
            for later in self.later[number]:
                self.awaited[later] -= 1
                if not self.awaited[later]:
                    self.ready.put(later)
            if not self.left[number // self.row]:
                self.news.put(None)
            if not self.undone:
                self.ready.put(None)

    def fail(self, error: BaseException) -> None:
        """Stop because a task has raised an error."""
        with self.lock:
            self.error = self.error or error
        self.stop()

    def stop(self) -> None:
        """Let threads take no more tasks."""
        self.is_stopped = True
        self.ready.put(None)
        self.news.put(None)


class Team:
    """Threads that work on shards, as many as torch may use. To be used in a `with` block.

    On a GPU there is one thread, since the GPU is busy with one shard.

    Parameters
    ----------
    shards : Shards
        The shards to work on.
    several : bool
        Whether to work on several shards at once, or on one with all cores.
    """

    def __init__(self, shards: Shards, several: bool = True):
        self.shards, self.cores = shards, torch.get_num_threads()
        self.is_inference = torch.is_inference_mode_enabled()  # Each thread has to be told.
        several = several and shards.device.type == "cpu"
        self.workers = min(self.cores, shards.n) if several else 1
        each = 1 if several else self.cores
        self.threads = threads(each)
        self.pool = ThreadPoolExecutor(self.workers, "gensim_hilbert shards", torch.set_num_threads, (each,))

    def __enter__(self) -> Team:
        self.threads.__enter__()
        # Python's garbage collector goes through all objects of the process once per pass or so, 0.1 s in which no
        # other thread gets on. Those that are there now need not be looked at meanwhile.
        self.has_frozen = not gc.get_freeze_count()
        if self.has_frozen:
            gc.freeze()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self.pool.shutdown(cancel_futures=True)
        finally:
            if self.has_frozen:
                gc.unfreeze()
            self.threads.__exit__(*error)

    def map(
        self, work: Callable[..., Result], order: Iterable[tuple[int, int]], *others: Iterable[Any]
    ) -> Iterator[Result]:
        """Yield `work(shard)` of each shard in this order; like the built-in, with more arguments if given."""
        return self._all(lambda key, *more: work(self.shards[key], *more), list(zip(order, *others, strict=True)))

    def chains(self, work: Callable[[int, Item], Result], links: Iterable[tuple[int, Item]]) -> Iterator[Result]:
        """Yield `work(k, item)` of each link (k, item) in this order; those with the same k wait for each other."""
        tasks = [((k, number), item) for number, (k, item) in enumerate(links)]
        return self._all(lambda key, item: work(key[0], item), tasks)

    def _all(self, work: Callable[..., Result], tasks: list[tuple[Any, ...]]) -> Iterator[Result]:
        """Yield `work(key, ...)` of each task, n of them at a time; a key has numbers of rows and columns."""
        if self.workers == 1:
            yield from starmap(work, tasks)
            return
        queue = Queue(tasks, self.shards.n)
        loops = [self.pool.submit(self._work_on, queue, work) for _ in range(self.workers)]
        try:
            for first in range(0, len(tasks), self.shards.n):
                queue.wait_for_row(first)
                yield from queue.results[first : first + self.shards.n]
        finally:
            queue.stop()
            wait(loops)

    def each(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of work on other things than shards, in their order."""
        return self.pool.map(partial(self.do, work), items) if self.workers > 1 else map(work, items)

    def _work_on(self, queue: Queue, work: Callable[..., Any]) -> None:
        """Do one task after the other until none is left or one has failed."""
        try:
            with torch.inference_mode(self.is_inference):
                while (number := queue.next_task()) is not None:
                    queue.finish(number, work(*queue.tasks[number]))
        except BaseException as error:  # It is raised again where results are waited for.
            queue.fail(error)

    def do(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Work in one of the threads of this team."""
        with torch.inference_mode(self.is_inference):
            return work(*arguments)
