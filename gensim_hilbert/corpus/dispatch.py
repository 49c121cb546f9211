"""Deals the blocks of a corpus out to workers, on threads or on any other executor.

Threads share one iterator: each task draws blocks until it has had its share, so that no planning is needed and nobody
waits. A file that must be read in order is read ahead by a thread of its own. Other executors (processes, Dask, MPI)
are sent lists of blocks: ranges of files to read, or the data themselves where only this process has them.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.executors import on_executor, workers_of
from gensim_hilbert.corpus.sources import Corpus

Result = TypeVar("Result")
READ_AHEAD_BLOCKS = 4
MOST_SENT_BYTES = 1 << 24  # text sent to another process at once
UNLIMITED_SHARE = 1 << 62  # bytes: a task draws blocks until there are none
POLL_SECONDS = 0.05  # between looks at whether the work is still wanted
PATIENCE_SECONDS = 2.0  # how long cancelled tasks are waited for
FINISH_SECONDS = 10.0  # how long others may take, after a failure, to finish what they have begun


class Cancelled(Exception):  # It is not called an error because it is none.
    """Raised in tasks whose work is not wanted any more."""


def default_workers(workers: int | None, executor: Executor | None = None) -> int:
    """Return the number of workers: as given, as the executor has, or one for each core that this process may use.

    As in `HilbertMLE`, -1 stands for the default.
    """
    workers = None if workers == -1 else workers
    if workers is None and executor is not None and (found := workers_of(executor)) is not None:
        return found
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if workers < 1:
        raise ValueError(f"workers must be 1 or more, got {workers}; -1 uses every core")
    return workers


class ReadAhead:
    """An iterator over blocks that a thread of its own reads in advance."""

    def __init__(self, blocks: Iterator[Block]):
        self.waiting: queue.Queue[Block | BaseException | None] = queue.Queue(READ_AHEAD_BLOCKS)
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._fill, args=[blocks], name="gensim_hilbert reader", daemon=True)
        self.thread.start()

    def _fill(self, blocks: Iterator[Block]) -> None:
        try:
            for block in blocks:
                if not self._put(block):
                    return
            self._put(None)
        except BaseException as error:  # It is handed over, to be raised where the blocks are used.
            self._put(error)

    def _put(self, item: Block | BaseException | None) -> bool:
        while not self.stopped.is_set():
            try:
                self.waiting.put(item, timeout=POLL_SECONDS)
                return True
            except queue.Full:
                pass
        return False

    def __iter__(self) -> ReadAhead:
        return self

    def __next__(self) -> Block:
        while not self.stopped.is_set():
            try:
                item = self.waiting.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            if item is None:
                raise StopIteration
            if isinstance(item, BaseException):
                raise item
            return item
        raise Cancelled

    def close(self) -> None:
        """Stop reading. A thread that hangs in a network read is left to itself."""
        self.stopped.set()
        self.thread.join(timeout=1)


class SharedBlocks:
    """An iterator over blocks that many threads draw from."""

    def __init__(self, blocks: Iterator[Block]):
        self.blocks = blocks
        self.lock = threading.Lock()
        self.exhausted = False
        self.cancelled = False  # Nobody wants what the tasks are doing.
        self.stopped = False  # They are to finish with the blocks that they have read.

    def __iter__(self) -> SharedBlocks:
        return self

    def __next__(self) -> Block:
        with self.lock:
            if self.cancelled:
                raise Cancelled
            if self.exhausted or self.stopped:
                raise StopIteration
            try:
                return next(self.blocks)
            except BaseException:
                self.exhausted = True
                raise

    def share(self, most: int) -> Iterator[Block]:
        """Draw blocks until they make up `most` bytes."""
        taken = 0
        while taken < most and (block := next(self, None)) is not None:
            taken += text_bytes(block, most)
            yield block

    def read(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Read blocks that were drawn, as long as they are wanted."""
        for block in blocks:
            for part in block.read():
                if self.cancelled:
                    raise Cancelled
                if self.stopped:
                    return
                yield part


def reads_here(corpus: Corpus, workers: int, executor: Executor | None) -> bool:
    """Tell whether files that must be read in order are read by this process, for all workers.

    They are not on other executors, whose workers read for themselves; nor if there are plenty of such files, two or
    more for each worker.
    """
    if executor is not None and not isinstance(executor, ThreadPoolExecutor):
        return False
    return corpus.streams < 2 * workers


def map_blocks(
    task: Callable[[Iterable[Block]], Result],
    corpus: Corpus,
    *,
    workers: int,
    executor: Executor | None,
    share: int,
    streams: bool,
    select: Callable[[Block], Block | None] = lambda block: block,
    failure: Callable[[Result], BaseException | None] = lambda result: None,
    retries: int = 0,
) -> Iterator[Result]:
    """Yield the results of `task` over the blocks of a corpus, about `share` bytes at a time, in any order.

    `select` is given each block, and returns what is wanted of it, or None; once a result has been used, it is asked
    what is left to be done. After an exception in a task, and after a result that has a `failure`, the others finish
    with the blocks that they have read. Their results are yielded, too, before the exception is raised. On the user's
    executor, a task is tried again `retries` times before that.
    """
    blocks: Any = selected(corpus.blocks(streams=False), select)
    if streams:
        blocks = in_order(blocks)
    if executor is not None:
        share = min(share, share_of(corpus, workers))
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        if streams and corpus.streams:
            blocks = ReadAhead(blocks)
        return _on_threads(task, blocks, workers, executor, share, failure)

    def remaining(portion: list[Block]) -> list[Block] | None:
        return list(selected(portion, select)) or None

    return on_executor(
        task,
        portions(blocks, share),
        2 * workers,
        executor,
        failure=failure,
        remaining=remaining,
        retries=retries,
    )


def selected(blocks: Iterable[Block], select: Callable[[Block], Block | None]) -> Iterator[Block]:
    """Yield the blocks, or the parts of them, that `select` returns."""
    return (part for block in blocks if (part := select(block)) is not None)


def in_order(blocks: Iterable[Block]) -> Iterator[Block]:
    """Read those of the blocks that are whole streams, and yield their parts."""
    for block in blocks:
        if block.stop is None:
            yield from block.read()
        else:
            yield block


def _on_threads(
    task: Callable[[Iterable[Block]], Result],
    blocks: Any,
    workers: int,
    executor: ThreadPoolExecutor | None,
    share: int,
    failure: Callable[[Result], BaseException | None],
) -> Iterator[Result]:
    shared = SharedBlocks(iter(blocks))
    pool = executor or ThreadPoolExecutor(workers, thread_name_prefix="gensim_hilbert")
    running: set[Future[Result]] = set()

    def submit() -> Future[Result] | None:
        if shared.exhausted or shared.stopped:
            return None
        return pool.submit(task, shared.read(shared.share(share)))

    def stop() -> None:
        shared.stopped = True

    try:
        yield from _results(submit, stop, workers, running, failure, FINISH_SECONDS)
    finally:
        shared.cancelled = True
        if isinstance(blocks, ReadAhead):
            blocks.close()
        late = wait(running, timeout=PATIENCE_SECONDS).not_done
        if executor is None:
            pool.shutdown(wait=not late, cancel_futures=True)


def in_parallel(
    task: Callable[[Any], Result],
    items: Iterable[Any],
    most: int,
    executor: Executor | None,
    *,
    retries: int = 0,
) -> Iterator[Result]:
    """Yield the results of a task over items, in any order, with at most `most` of them under way at once.

    After a failure, no task is begun any more; the results of those that have begun are yielded before it is raised.
    On the user's executor, a task is tried again `retries` times before that.
    """
    if executor is not None and not isinstance(executor, ThreadPoolExecutor):
        return on_executor(
            task,
            items,
            most,
            executor,
            failure=lambda result: None,
            remaining=lambda item: item,
            retries=retries,
        )
    return _items_on_threads(task, items, most, executor)


def _items_on_threads(
    task: Callable[[Any], Result], items: Iterable[Any], most: int, executor: Executor | None
) -> Iterator[Result]:
    pool = executor or ThreadPoolExecutor(most, thread_name_prefix="gensim_hilbert")
    running: set[Future[Result]] = set()
    waiting = iter(items)
    stopped = False

    def submit() -> Future[Result] | None:
        item = None if stopped else next(waiting, None)
        return None if item is None else pool.submit(task, item)

    def stop() -> None:
        nonlocal stopped
        stopped = True
        for future in running:
            future.cancel()

    try:
        yield from _results(submit, stop, most, running, lambda result: None)
    finally:
        for future in running:
            future.cancel()
        wait(running)  # or they would go on writing
        if executor is None:
            pool.shutdown()


def _results(
    submit: Callable[[], Future[Result] | None],
    stop: Callable[[], None],
    most: int,
    running: set[Future[Result]],
    failure: Callable[[Result], BaseException | None],
    patience: float | None = None,
) -> Iterator[Result]:
    """Yield results as they come, with at most `most` futures in `running`, until `submit` has no more.

    At the first failure `stop` is called; the results of others that end within `patience` seconds are yielded, too.
    """
    error: BaseException | None = None
    is_stopped = False
    until: float | None = None  # when nobody waits for the others any longer
    finished: queue.SimpleQueue[Future[Result]] = queue.SimpleQueue()  # `wait` would look at all futures each time.
    while True:
        try:
            while not is_stopped and len(running) < most and (future := submit()) is not None:
                running.add(future)
                future.add_done_callback(finished.put)
        except Exception as refusal:  # The executor is broken.
            error = error or refusal
        if error is not None and not is_stopped:
            is_stopped = True
            stop()
            until = None if patience is None else time.monotonic() + patience
        if not running:
            break
        try:
            future = finished.get(timeout=until and max(0.0, until - time.monotonic()))
        except queue.Empty:
            break
        running.remove(future)
        if future.cancelled():
            continue
        if (raised := future.exception()) is not None:
            error = error or raised
        else:
            result = future.result()
            yield result
            error = error or failure(result)
    if error is not None:
        raise error


def share_of(corpus: Corpus, workers: int) -> int:
    """Return the bytes for one task on the user's executor: a few tasks per worker, none too large to repeat."""
    return max(1 << 22, min(1 << 28, (corpus.total or 1 << 40) // (4 * workers)))


def text_bytes(block: Block, unknown: int) -> int:
    """Return how much text a block holds; for a compressed file that is a guess."""
    return block.stop - block.start if block.stop is not None else 4 * block.cost or unknown


def portions(blocks: Iterable[Block], share: int) -> Iterator[list[Block]]:
    """Yield lists of blocks of about `share` bytes each, and smaller ones where the data travel with them."""
    portion: list[Block] = []
    size = 0
    for block in blocks:
        portion.append(block)
        size += text_bytes(block, share)
        if size >= (share if block.data is None else min(share, MOST_SENT_BYTES)):
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
