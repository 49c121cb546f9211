"""Runs one kind of task over all blocks of a corpus, on threads or on any other executor.

Threads share one iterator: each task draws blocks until it has had its share, so that no planning is needed and nobody
waits; a file that must be read in order is read ahead by a thread of its own. Other executors (processes, Dask, MPI)
are sent lists of blocks: ranges of files to read, or the data themselves where only this process has them.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from gensim_hilbert.corpus import Block, Corpus

Result = TypeVar("Result")
READ_AHEAD = 4  # blocks


class Cancelled(Exception):  # not an error: the work is not wanted any more
    """Raised in tasks whose work is not wanted any more."""


def default_workers(workers: int | None) -> int:
    """The number of workers: as given, or one for each core that this process may use."""
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if workers < 1:
        raise ValueError(f"workers must be 1 or more, got {workers}; leave it out to use every core")
    return workers


def read_ahead(blocks: Iterator[Block]) -> Generator[Block]:
    """The same blocks, read by a thread of its own."""
    waiting: queue.Queue[Block | BaseException | None] = queue.Queue(READ_AHEAD)
    stopped = threading.Event()

    def put(item: Block | BaseException | None) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return True
            except queue.Full:
                pass
        return False

    def fill() -> None:
        try:
            for block in blocks:
                if not put(block):
                    return
            put(None)
        except BaseException as error:  # handed over: raised where the blocks are used
            put(error)

    thread = threading.Thread(target=fill, name="gensim_hilbert reader", daemon=True)
    thread.start()
    try:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
        thread.join()


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
            taken += block.stop - block.start if block.stop is not None else most
            yield block


def run(
    task: Callable[[Iterable[Block]], Result],
    corpus: Corpus,
    *,
    workers: int,
    executor: Executor | None,
    share: int,
    wanted: Callable[[Block], bool] = lambda block: True,
) -> Iterator[Result]:
    """The results of `task` over the wanted blocks of the corpus, about `share` bytes at a time, in any order."""
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        return _run_threads(task, corpus, workers, executor, share, wanted)
    return _run_elsewhere(task, corpus, workers, executor, share, wanted)


def _run_threads(
    task: Callable[[Iterable[Block]], Result],
    corpus: Corpus,
    workers: int,
    executor: ThreadPoolExecutor | None,
    share: int,
    wanted: Callable[[Block], bool],
) -> Iterator[Result]:
    # Where there are plenty of files that must be read in order, each worker reads its own.
    streamed = getattr(corpus, "streamed", [True])
    one_reader = any(streamed) and sum(streamed) < 2 * workers
    blocks = corpus.blocks(streams=one_reader)
    if one_reader:
        blocks = read_ahead(blocks)
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
        wait(running)
        blocks.close()
        if executor is None:
            pool.shutdown()


def _run_elsewhere(
    task: Callable[[Iterable[Block]], Result],
    corpus: Corpus,
    workers: int,
    executor: Executor,
    share: int,
    wanted: Callable[[Block], bool],
) -> Iterator[Result]:
    running: set[Future[Result]] = set()
    try:
        for portion in portions(filter(wanted, corpus.blocks(streams=False)), share):
            running.add(executor.submit(task, portion))
            if len(running) >= 2 * workers:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        for future in running:
            future.cancel()


def portions(blocks: Iterable[Block], share: int) -> Iterator[list[Block]]:
    """Lists of blocks of about `share` bytes each."""
    portion: list[Block] = []
    size = 0
    for block in blocks:
        portion.append(block)
        size += block.stop - block.start if block.stop is not None else share
        if size >= share:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
