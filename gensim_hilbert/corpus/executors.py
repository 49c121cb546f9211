"""Runs tasks on the user's executor: processes, Dask, MPI, or anything else with the interface of concurrent.futures.

A task that fails for a reason that may pass, such as the death of its worker, is tried again. No wait is without end:
while tasks are under way the executor is looked at every second, and work that makes no progress at all for an hour is
given up.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Any, TypeVar

from gensim_hilbert.corpus.identity import CorpusChanged

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")
RETRIES = 3  # of a task, unless the user says otherwise
LOOK_SECONDS = 1.0  # between two looks at whether the executor is still there
LOST_SECONDS = 30.0  # for how long a scheduler may be out of reach
UNMANNED_SECONDS = 300.0  # for how long a scheduler may have no worker
STALL_SECONDS = 3600.0  # for how long no task may end
FINISH_SECONDS = 60.0  # how long others may take, after a failure, to finish what they have begun
# What would fail again, however often it is tried.
HOPELESS = (CorpusChanged, ArithmeticError, AttributeError, ImportError, MemoryError, TypeError, ValueError)


class ExecutorLost(RuntimeError):
    """Raised if the executor that was to do the work is broken, or out of reach."""


class DaskExecutor(Executor):
    """The workers of a `dask.distributed.Client`."""

    def __init__(self, client: Any):
        self.client = client
        self.workers = max(1, sum(client.nthreads().values()))
        self.address = str(client.scheduler_info(n_workers=0)["address"])
        self._executor = client.get_executor(pure=False)
        self._lost_since: float | None = None
        self._manned_at = time.monotonic()  # when it was last seen to have workers

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Have a worker do something."""
        future: Future[Any] = self._executor.submit(task, *arguments, **options)
        return future

    def refuse_lost(self) -> None:
        """Raise an error if the scheduler has been out of reach for too long, or without workers."""
        now = time.monotonic()
        if self.client.status == "running":
            self._lost_since = None
            self._refuse_unmanned(now)
            return
        self._lost_since = self._lost_since or now
        if self.client.status == "closed" or now - self._lost_since > LOST_SECONDS:
            raise ExecutorLost(f"the Dask scheduler at {self.address} is out of reach; start it again")

    def _refuse_unmanned(self, now: float) -> None:
        if now - self._manned_at < LOST_SECONDS:
            return
        if self.client.nthreads():
            self._manned_at = now
        elif now - self._manned_at > UNMANNED_SECONDS:
            raise ExecutorLost(
                f"the Dask scheduler at {self.address} has had no worker for {UNMANNED_SECONDS:.0f} seconds; start some"
            )


def as_executor(executor: Any) -> Executor | None:
    """Return the executor that the user means, who may also give a client of Dask."""
    client = executor if hasattr(executor, "get_executor") else getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        return DaskExecutor(client)
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(
            f"executor must be a concurrent.futures.Executor or a dask.distributed.Client, got {executor!r}; leave it "
            "out to work on threads"
        )
    return executor


def workers_of(executor: Executor) -> int | None:
    """Return how many tasks an executor runs at once, if it tells."""
    for name in ("workers", "num_workers", "_max_workers"):  # of ours, of mpi4py's, of the standard library's
        number = getattr(executor, name, None)
        if isinstance(number, int) and number > 0:
            return number
    return None


def on_executor(
    task: Callable[[Item], Result],
    items: Iterable[Item],
    most: int,
    executor: Executor,
    *,
    failure: Callable[[Result], BaseException | None],
    remaining: Callable[[Item], Item | None],
    retries: int,
) -> Iterator[Result]:
    """Yield the results of a task over items, in any order, with at most `most` of them under way at once.

    A result may tell of a failure, too. What is left of its item after the result has been used, by `remaining`, is
    then tried again, and so is the item of a task that raises an error. After the last attempt no task is begun any
    more; the results of those that have begun are yielded before the error is raised.
    """
    waiting = iter(items)
    again: deque[tuple[Item, int]] = deque()
    running: dict[Future[Result], tuple[Item, int]] = {}
    error: BaseException | None = None
    until = time.monotonic() + STALL_SECONDS
    try:
        while True:
            while error is None and len(running) < most:
                item, attempt = again.popleft() if again else (next(waiting, None), 1)
                if item is None:
                    break
                try:
                    running[executor.submit(task, item)] = item, attempt
                except Exception as refusal:
                    error = lost(executor, refusal)
            if not running:
                break
            done = wait(running, LOOK_SECONDS, return_when=FIRST_COMPLETED).done
            if not done:
                reason = problem(executor, until)
                if reason is not None:
                    error = error or reason
                    break
            for future in done:
                item, attempt = running.pop(future)
                found = outcome(future, executor)
                if not isinstance(found, BaseException):
                    yield found
                    until = time.monotonic() + STALL_SECONDS
                    reason = failure(found)
                    rest = None if reason is None else remaining(item)
                    if reason is None or rest is None:
                        continue
                    item = rest
                else:
                    reason = found
                if error is None and attempt <= retries and not isinstance(reason, (*HOPELESS, ExecutorLost)):
                    logger.warning("attempt %d of a task has failed, and it is tried again: %s", attempt, reason)
                    again.append((item, attempt + 1))
                elif error is None:
                    error = reason
                    until = time.monotonic() + FINISH_SECONDS
                    if attempt > 1:
                        error.add_note(f"The task was tried {attempt} times.")
                    for other in running:
                        other.cancel()
    finally:
        for future in running:
            future.cancel()
        wait(running, 0 if isinstance(error, ExecutorLost) else FINISH_SECONDS)  # or they would go on writing
    if error is not None:
        raise error


def outcome(future: Future[Result], executor: Executor) -> Result | BaseException:
    """Return the result of a task that has ended, or what it has raised."""
    try:
        return future.result(timeout=0)
    except (CancelledError, BrokenExecutor) as error:
        return lost(executor, error)
    except BaseException as error:
        return error


def lost(executor: Executor, error: BaseException) -> BaseException:
    """Return the error that tells the user that an executor takes no tasks any more."""
    if isinstance(error, HOPELESS):  # A task cannot be pickled, say.
        return error
    what = f"{type(executor).__name__}: {error}" if str(error) else type(executor).__name__
    if isinstance(executor, DaskExecutor):
        what = f"the Dask scheduler at {executor.address} is gone"
    found = ExecutorLost(f"the executor does not work any more ({what}); make a new one")
    found.__cause__ = error
    return found


def problem(executor: Executor, until: float) -> BaseException | None:
    """Return why nobody should wait for an executor any longer, if there is a reason."""
    if isinstance(executor, DaskExecutor):
        try:
            executor.refuse_lost()
        except ExecutorLost as error:
            return error
    if time.monotonic() > until:
        return ExecutorLost(f"no task has ended for {STALL_SECONDS:.0f} seconds; look at what the workers are doing")
    return None
