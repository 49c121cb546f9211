"""Runs one kind of task over all blocks of a corpus, on threads or on any other executor.

Threads share one iterator: each task draws blocks until it has had its share, so that no planning is needed and nobody
waits; a file that must be read in order is read ahead by a thread of its own. Other executors (processes, Dask, MPI)
are sent lists of blocks: ranges of files to read, or the data themselves where only this process has them.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from gensim_hilbert.corpus import Block, Corpus, TextCorpus

Result = TypeVar("Result")
READ_AHEAD = 4  # blocks
SENT = 1 << 24  # bytes of text sent to another process at once
POLL = 0.05  # seconds between looks at whether the work is still wanted
PATIENCE = 2.0  # seconds that cancelled tasks are waited for


class Cancelled(Exception):  # not an error: the work is not wanted any more
    """Raised in tasks whose work is not wanted any more."""


def default_workers(workers: int | None) -> int:
    """The number of workers: as given, or one for each core that this process may use."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if workers < 1:
        raise ValueError(f"workers must be 1 or more, got {workers}; leave it out to use every core")
    return workers


class ReadAhead:
    """The same blocks, read by a thread of its own."""

    def __init__(self, blocks: Iterator[Block]):
        self.waiting: queue.Queue[Block | BaseException | None] = queue.Queue(READ_AHEAD)
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._fill, args=[blocks], name="gensim_hilbert reader", daemon=True)
        self.thread.start()

    def _fill(self, blocks: Iterator[Block]) -> None:
        try:
            for block in blocks:
                if not self._put(block):
                    return
            self._put(None)
        except BaseException as error:  # handed over: raised where the blocks are used
            self._put(error)

    def _put(self, item: Block | BaseException | None) -> bool:
        while not self.stopped.is_set():
            try:
                self.waiting.put(item, timeout=POLL)
                return True
            except queue.Full:
                pass
        return False

    def __iter__(self) -> ReadAhead:
        return self

    def __next__(self) -> Block:
        while not self.stopped.is_set():
            try:
                item = self.waiting.get(timeout=POLL)
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


class Shared:
    """An iterator that many threads draw from."""

    def __init__(self, blocks: Iterator[Block]):
        self.blocks = blocks
        self.lock = threading.Lock()
        self.exhausted = False
        self.cancelled = False

    def __iter__(self) -> Shared:
        return self

    def __next__(self) -> Block:
        with self.lock:
            if self.cancelled:
                raise Cancelled
            if self.exhausted:
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


def reads_here(corpus: Corpus, workers: int, executor: Executor | None) -> bool:
    """Whether files that must be read in order are read by this process, for all workers.

    Not on other executors, whose workers read for themselves; nor where there are plenty of such files, one or more for
    each worker.
    """
    if executor is not None and not isinstance(executor, ThreadPoolExecutor):
        return False
    return sum(streamed_files(corpus)) < 2 * workers


def streamed_files(corpus: Corpus) -> list[bool]:
    """For each file of a corpus, whether it must be read in order."""
    return corpus.streamed if isinstance(corpus, TextCorpus) else [True]


def run(
    task: Callable[[Iterable[Block]], Result],
    corpus: Corpus,
    *,
    workers: int,
    executor: Executor | None,
    share: int,
    streams: bool,
    wanted: Callable[[Block], bool] = lambda block: True,
) -> Iterator[Result]:
    """The results of `task` over the wanted blocks of the corpus, about `share` bytes at a time, in any order."""
    blocks: Any = corpus.blocks(streams=streams)
    if executor is not None:
        share = min(share, share_of(corpus, workers))
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        if streams and any(streamed_files(corpus)):
            blocks = ReadAhead(blocks)
        return _run_threads(task, blocks, workers, executor, share, wanted)
    return in_parallel(task, portions(filter(wanted, blocks), share), 2 * workers, executor)


def _run_threads(
    task: Callable[[Iterable[Block]], Result],
    blocks: Any,
    workers: int,
    executor: ThreadPoolExecutor | None,
    share: int,
    wanted: Callable[[Block], bool],
) -> Iterator[Result]:
    shared = Shared(filter(wanted, blocks))
    pool = executor or ThreadPoolExecutor(workers, thread_name_prefix="gensim_hilbert")
    running: set[Future[Result]] = set()
    try:
        while True:
            while len(running) < workers and not shared.exhausted:
                running.add(pool.submit(task, shared.share(share)))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        shared.cancelled = True
        if isinstance(blocks, ReadAhead):
            blocks.close()
        late = wait(running, timeout=PATIENCE).not_done
        if executor is None:
            pool.shutdown(wait=not late, cancel_futures=True)


def in_parallel(
    task: Callable[[Any], Result], items: Iterable[Any], most: int, executor: Executor | None
) -> Iterator[Result]:
    """The results of a task over items, in any order, with at most so many under way at once."""
    pool = executor or ThreadPoolExecutor(most, thread_name_prefix="gensim_hilbert")
    running: set[Future[Result]] = set()
    waiting = iter(items)
    try:
        while True:
            while len(running) < most and (item := next(waiting, None)) is not None:
                running.add(pool.submit(task, item))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        for future in running:
            future.cancel()
        wait(running)  # or they would go on writing
        if executor is None:
            pool.shutdown()


def share_of(corpus: Corpus, workers: int) -> int:
    """Bytes for one task on an executor of the user's: a few tasks a worker, none too large to repeat."""
    return max(1 << 22, min(1 << 28, (corpus.total or 1 << 40) // (4 * workers)))


def text_bytes(block: Block, unknown: int) -> int:
    """How much text a block holds: of a compressed file a guess."""
    return block.stop - block.start if block.stop is not None else 4 * block.cost or unknown


def portions(blocks: Iterable[Block], share: int) -> Iterator[list[Block]]:
    """Lists of blocks of about `share` bytes each; fewer where the data travel with them."""
    portion: list[Block] = []
    size = 0
    for block in blocks:
        portion.append(block)
        size += text_bytes(block, share)
        if size >= (share if block.data is None else min(share, SENT)):
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
