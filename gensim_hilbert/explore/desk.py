"""The desk where requests queue: those that arrive while others are computed are answered together, by one product."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from gensim_hilbert.explore.endpoints import Explorer, Query
from gensim_hilbert.explore.refusals import BusyError

MOST_TOGETHER = 64  # requests that are answered together
MOST_WAITING = 2000  # requests; more are refused at once
MOST_LONG_WAITING = 50  # requests for answers that take seconds
ANSWERS_REMEMBERED = 2048
LONGEST_REMEMBERED = 1 << 14  # bytes
INSTANT = ("complete", "map", "models")  # answers that take less time than it takes to have them computed elsewhere
Key = tuple[str, tuple[tuple[str, str], ...]]


class Request(NamedTuple):
    """A question, and where its answer goes."""

    name: str
    query: Query
    answer: asyncio.Future[bytes]


class Desk:
    """Takes requests in the event loop, and has a thread compute the answers, so that the loop never waits.

    Parameters
    ----------
    explorer : Explorer
        The models.
    """

    def __init__(self, explorer: Explorer):
        self.explorer = explorer
        self._waiting: list[Request] = []
        self._is_working = False
        self._worker, self._slow_worker = Worker("answers"), Worker("long answers")
        self._long: dict[Key, asyncio.Future[bytes]] = {}  # answers that take seconds and are being computed
        self._remembered: OrderedDict[Key, bytes] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, name: str, query: Query) -> bytes:
        """Return an answer as JSON; raises what the explorer raises, or a BusyError."""
        key = name, tuple(sorted(query.items()))
        if (remembered := self._remembered.get(key)) is not None:
            self._remembered.move_to_end(key)
            return remembered
        if name in INSTANT and self.explorer.is_prepared:
            return self.explorer.encoded(name, query)
        if self.explorer.takes_long(name, query):
            return await self._ask_for_long(key, query)
        if len(self._waiting) >= MOST_WAITING:
            raise BusyError(f"{MOST_WAITING:,} requests are waiting already; ask again in a second")
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.append(Request(name, query, answer))
        if not self._is_working:
            self._is_working = True
            task = asyncio.create_task(self._work())
            self._tasks.add(task)  # The loop itself would not keep it.
            task.add_done_callback(self._tasks.discard)
        body = await answer
        if name != "map" and len(body) <= LONGEST_REMEMBERED:  # The map can still change.
            self._remembered[key] = body
            if len(self._remembered) > ANSWERS_REMEMBERED:
                self._remembered.popitem(last=False)
        return body

    async def _ask_for_long(self, key: Key, query: Query) -> bytes:
        """Return an answer that takes seconds, computed by a thread of its own, once for all who wait for it."""
        if key not in self._long:
            if len(self._long) >= MOST_LONG_WAITING:
                raise BusyError(f"{MOST_LONG_WAITING} comparisons are computed already; ask again in a second")
            future = self._long[key] = self._slow_worker.call(self.explorer.encoded, key[0], query)
            future.add_done_callback(lambda _: self._long.pop(key))  # The explorer itself remembers comparisons.
        return await asyncio.shield(self._long[key])

    async def _work(self) -> None:
        """Have the thread answer requests until none are left."""
        while self._waiting:
            requests = self._waiting[:MOST_TOGETHER]
            del self._waiting[:MOST_TOGETHER]
            questions = [(request.name, request.query) for request in requests]
            found: Sequence[bytes | Exception]
            try:
                found = await self._worker.call(self.explorer.encoded_together, questions)
            except Exception as error:  # given to all who have asked
                found = [error] * len(requests)
            for request, body in zip(requests, found, strict=True):
                set_answer(request.answer, body)
        self._is_working = False


class Worker:
    """A thread that calls functions for the event loop. It does not keep the process from ending."""

    def __init__(self, name: str):
        self._calls: queue.SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...], asyncio.Future[Any]]]
        self._calls = queue.SimpleQueue()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def call(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Have a function called; the future has its result."""
        future = asyncio.get_running_loop().create_future()
        self._calls.put((function, arguments, future))
        return future

    def _work(self) -> None:
        while True:
            function, arguments, future = self._calls.get()
            loop = future.get_loop()
            try:
                result = function(*arguments)
            except Exception as error:  # raised where the future is awaited
                result = error
            with suppress(RuntimeError):  # The loop may have been closed meanwhile.
                loop.call_soon_threadsafe(set_answer, future, result)


def set_answer(future: asyncio.Future[Any], answer: Any) -> None:
    """Give a future its result or its error, unless whoever has waited for it is gone."""
    if future.done():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
