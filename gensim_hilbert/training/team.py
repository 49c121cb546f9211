"""A team of threads that work on several shards at a time, one core for each shard.

By default torch splits each operation among all cores. But the operations of a shard take a millisecond or less, so
that cores would wait for each other, and then all for memory. If several shards are worked on at once, one computes
while another waits for memory. Each is computed by one thread, so that the result does not depend on the number of
threads.

A shard waits for those before it that share its rows or columns. In a Latin square that is rare: n shards in a row
share none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from threading import Condition
from typing import Any, TypeVar

import torch

from gensim_hilbert.training.device import threads
from gensim_hilbert.training.shards import Shards

Item = TypeVar("Item")
Result = TypeVar("Result")


class Queue:
    """Tasks on shards that threads take in order, and their results.

    A task waits for the last ones before it that have its rows or its columns. Threads are woken only where somebody
    waits for them: one wake-up per shard would cost a tenth of the time.
    """

    def __init__(self, tasks: list[tuple[Any, ...]], row: int):
        self.tasks, self.row = tasks, row
        self.results: list[Any] = [None] * len(tasks)
        self.is_done = [False] * len(tasks)
        self.left = [len(tasks[first : first + row]) for first in range(0, len(tasks), row)]  # Of each row of shards.
        self.error: BaseException | None = None
        self.is_stopped = False
        self.blocked = 0  # Threads that wait for earlier tasks.
        self.numbers = iter(range(len(tasks)))
        self.changed = Condition()
        self.earlier: list[list[int]] = []
        last: dict[tuple[str, int], int] = {}
        for number, ((i, j), *_) in enumerate(tasks):
            sides = ("rows", i), ("columns", j)
            self.earlier.append([last[side] for side in sides if side in last])
            last.update(dict.fromkeys(sides, number))

    def next_task(self) -> int | None:
        """Return the number of the next task, or None if there is nothing more to do."""
        with self.changed:
            return None if self.is_stopped else next(self.numbers, None)

    def wait_for_earlier(self, number: int) -> bool:
        """Wait for the tasks before this one that it depends on; return whether it is still to be done."""
        if not all(self.is_done[k] for k in self.earlier[number]):
            with self.changed:
                self.blocked += 1
                self.changed.wait_for(lambda: self.is_stopped or all(self.is_done[k] for k in self.earlier[number]))
                self.blocked -= 1
        return not self.is_stopped

    def wait_for_row(self, first: int) -> None:
        """Wait for the row of shards that begins with a task, or raise what a task has raised."""
        with self.changed:
            self.changed.wait_for(lambda: self.is_stopped or not self.left[first // self.row])
        if self.error is not None:
            raise self.error

    def finish(self, number: int, result: Any) -> None:
        """Keep the result of a task."""
        with self.changed:
            self.results[number], self.is_done[number] = result, True
            self.left[number // self.row] -= 1
            if self.blocked or not self.left[number // self.row]:
                self.changed.notify_all()

    def fail(self, error: BaseException) -> None:
        """Stop because a task has raised an error."""
        with self.changed:
            self.error = self.error or error
        self.stop()

    def stop(self) -> None:
        """Let threads take no more tasks."""
        with self.changed:
            self.is_stopped = True
            self.changed.notify_all()


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
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self.pool.shutdown(cancel_futures=True)
        finally:
            self.threads.__exit__(*error)

    def map(
        self, work: Callable[..., Result], order: Iterable[tuple[int, int]], *others: Iterable[Any]
    ) -> Iterator[Result]:
        """Yield `work(shard)` of each shard in this order; like the built-in, with more arguments if given."""
        tasks = list(zip(order, *others, strict=True))
        if self.workers == 1:
            for key, *more in tasks:
                yield self.do(work, self.shards[key], *more)
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
        """Work on one shard after the other until none is left or one has failed."""
        try:
            while (number := queue.next_task()) is not None:
                key, *more = queue.tasks[number]
                shard = self.shards[key]
                if queue.wait_for_earlier(number):
                    queue.finish(number, self.do(work, shard, *more))
        except BaseException as error:  # It is raised again where results are waited for.
            queue.fail(error)

    def do(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Work in one of the threads of this team."""
        with torch.inference_mode(self.is_inference):
            return work(*arguments)
