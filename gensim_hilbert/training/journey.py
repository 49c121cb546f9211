"""How blocks of vectors travel between ranks while shards are computed.

A rank knows beforehand which blocks will be with it in which rows of shards, when each comes and from where, and when
it leaves and to where: a stay. A block leaves as soon as the last shard of its stay has been visited. Shards need not
be visited in the order of their rows: one can be visited once both of its blocks have met all that they have to meet
before. Among those a rank takes

- first the shards on which the next departure depends;
- among these, all that can be done with few blocks before it turns to others. In a nested order of offsets, half of the
  blocks of a rank do not meet the other half for a quarter of the pass, and so on. So one half leaves, and its
  successors arrive, while the other half is at work.

Blocks arrive in places that are free. There is room for a few (`Division.spare`) before others have left. A rank
expects as many blocks as it has begun to send, or more if it has nothing else to do; otherwise it might wait for
messages for so long that it would take another rank for dead. No rank waits for ever for a place: as many blocks are
under way from all ranks as are to all ranks, so that while one has no place, another one has.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import groupby
from typing import TYPE_CHECKING, Any

import torch

from gensim_hilbert.training.order import prime_factors

if TYPE_CHECKING:
    from gensim_hilbert.training.ring import Ring
    from gensim_hilbert.training.team import Team

NEVER = 1 << 62


@dataclass
class Stay:
    """A time that a block spends with this rank: from its row `first` to its row `last`."""

    block: int
    first: int
    last: int
    source: int | None  # The rank it comes from, unless it has been here before.
    target: int | None  # The rank it leaves for, unless it remains here.
    tasks: list[int] = field(default_factory=list)  # Its shards that are still to be visited.


class Journey:
    """The way of one rank through shards in the order of their rows, and at last to an offset, if one is given."""

    def __init__(self, ring: Ring, parts: list[torch.Tensor], order: list[tuple[int, int]], end: int | None = None):
        self.ring, self.parts, self.order = ring, parts, order
        offsets, self.rows = [ring.offset], []
        for number, (i, j) in enumerate(order):
            if (j - i) % ring.n != offsets[-1] or not number:
                offsets.append((j - i) % ring.n)
            self.rows.append(len(offsets) - 1)
        self.offsets = offsets if end is None else [*offsets, end]
        self.lock = threading.Lock()
        self.changed, self.told = threading.Condition(self.lock), threading.Condition(self.lock)
        self.error: BaseException | None = None
        self.done: list[tuple[int, Any]] = []
        self.free = sorted(set(range(len(parts[0]) if parts else 0)) - set(ring.slots.values()))
        self.sending = self.receiving = self.begun = self.expected = self.wanted = 0
        self.depths = self._depths()
        stays = self._stays()
        self._plan(stays)
        arriving = [stay for stay in stays if stay.source is not None]
        self.arriving = deque(sorted(arriving, key=self._departure_elsewhere))
        with self.lock:
            for stay in stays:
                if stay.source is None and not stay.tasks:
                    self._leave(stay)

    # ------------------------------------------------------------------ what is to be done

    def _stays(self) -> list[Stay]:
        """Return all stays of blocks with this rank."""
        ring, last, stays = self.ring, len(self.offsets) - 1, []
        for block in range(ring.n):
            ranks = [ring.owner_at(block, offset) for offset in self.offsets]
            for rank, group in groupby(range(last + 1), key=ranks.__getitem__):
                rows = list(group)
                if rank == ring.ranks.rank:
                    source, target = (ranks[row] if 0 <= row <= last else None for row in (rows[0] - 1, rows[-1] + 1))
                    stays.append(Stay(block, rows[0], rows[-1], source, target))
        return stays

    def _plan(self, stays: list[Stay]) -> None:
        """Find out what each shard has to wait for, and which of them come first."""
        own, later = set(self.ring.own), {block: deque[Stay]() for block in range(self.ring.n)}
        for stay in stays:
            later[stay.block].append(stay)
        self.stay_of: dict[int, Stay] = {}
        self.waiting: dict[int, int] = {}  # For how many things a shard has to wait.
        self.next: dict[int, list[int]] = {}  # Shards that wait for one.
        before: dict[int, int] = {}  # The last shard of each block that stays.
        for number, (i, j) in enumerate(self.order):
            if i not in own:
                continue
            while later[j][0].last < self.rows[number]:
                later[j].popleft()
            stay = self.stay_of[number] = later[j][0]
            earlier = {*stay.tasks[-1:], *([before[i]] if i in before else [])}
            self.waiting[number] = len(earlier) + (not stay.tasks and stay.source is not None)
            self.next[number] = []
            for one in earlier:
                self.next[one].append(number)
            stay.tasks.append(number)
            before[i] = number
        self.left = len(self.waiting)  # Shards that no thread has taken yet.
        deadlines: dict[int, int] = {}
        for number in reversed(self.waiting):
            stay = self.stay_of[number]
            deadline = NEVER if stay.target is None else stay.last
            deadlines[number] = min([deadline, *(deadlines[one] for one in self.next[number])])
        by_need = sorted(
            self.waiting, key=lambda number: (deadlines[number], self.depths(self.rows[number], self.order[number][0]))
        )
        self.priority = {number: priority for priority, number in enumerate(by_need)}
        self.ready = [(self.priority[number], number) for number in by_need if not self.waiting[number]]

    def _depths(self) -> Callable[[int, int], list[int]]:
        """Return what sorts shards, by row and block that stays, so that few blocks are in use at a time.

        For each digit of offsets and of blocks: all offsets that share it with one group of blocks, then with another.
        """
        groups, digits, size = [], [], 1
        for factor in prime_factors(self.ring.n):
            digits.append([block // size % factor for block in range(self.ring.n)])
            size *= factor
            changes = [0]
            for before, after in zip(self.offsets, self.offsets[1:], strict=False):
                changes.append(changes[-1] + (before % size != after % size))
            groups.append(changes)
        levels = list(zip(groups, digits, strict=True))
        return lambda row, block: [number for group, digit in levels for number in (group[row], digit[block])]

    def _departure_elsewhere(self, stay: Stay) -> tuple[int, list[int]]:
        """Return what sorts blocks about as they will arrive."""
        met = (stay.block - self.offsets[stay.first - 1]) % self.ring.n
        return stay.first, self.depths(stay.first - 1, met)

    # ------------------------------------------------------------------ on the way

    def visit(self, team: Team, work: Callable[[int], Any]) -> Iterator[tuple[int, Any]]:
        """Yield the results of work on the shards of this rank beside their numbers, as they come."""
        loops = [team.pool.submit(self._work_on, work) for _ in range(team.workers)]
        number, at_once, told = len(self.waiting), max(1, len(self.ring.own)), 0
        try:
            while told < number:
                with self.told:
                    self.wanted = min(number, told + at_once)
                    self.told.wait_for(lambda: self.error is not None or len(self.done) >= self.wanted)
                self._raise()
                yield from self.done[told : self.wanted]
                told = self.wanted
            self.arrive()
        finally:
            with self.lock:
                self.left = 0
                self.changed.notify_all()
            wait(loops)

    def arrive(self) -> None:
        """Wait until all blocks are where they have to be at last."""
        with self.told:
            self._expect(is_idle=True)
            self._wait(
                self.told, lambda: self.error is not None or not (self.arriving or self.sending or self.receiving)
            )
        self._raise()
        self.ring.offset = self.offsets[-1]

    def _wait(self, condition: threading.Condition, is_over: Callable[[], object]) -> None:
        """Wait for blocks, with nothing else to do."""
        since = time.perf_counter()
        condition.wait_for(is_over)
        self.ring.ranks.seconds_waited += time.perf_counter() - since

    def _raise(self) -> None:
        if self.error is not None:
            raise self.error

    def _work_on(self, work: Callable[[int], Any]) -> None:
        """Visit one shard after the other until none is left or something has failed."""
        try:
            while (number := self._take()) is not None:
                self._finish(number, work(number))
        except BaseException as error:  # It is raised again where results are waited for.
            self._fail(error)

    def _take(self) -> int | None:
        """Return the number of the next shard, or None if there is nothing more to do."""
        with self.changed:
            while self.left and self.error is None:
                if self.ready:
                    self.left -= 1
                    if not self.left:
                        self.changed.notify_all()
                    return heappop(self.ready)[1]
                self._expect(is_idle=True)
                self._wait(self.changed, lambda: self.ready or not self.left or self.error is not None)
        return None

    def _finish(self, number: int, result: Any) -> None:
        """Keep the result of a shard, and let go what has waited for it."""
        with self.lock:
            self.done.append((number, result))
            for one in self.next[number]:
                self._release(one)
            stay = self.stay_of[number]
            stay.tasks.remove(number)
            if not stay.tasks:
                self._leave(stay)
            if len(self.done) == self.wanted:
                self.told.notify_all()

    def _release(self, number: int) -> None:
        self.waiting[number] -= 1
        if not self.waiting[number]:
            heappush(self.ready, (self.priority[number], number))
            self.changed.notify()

    def _fail(self, error: BaseException) -> None:
        with self.lock:
            self.error = self.error or error
            self.changed.notify_all()
            self.told.notify_all()

    # ------------------------------------------------------------------ messages

    def _leave(self, stay: Stay) -> None:
        """Send a block away if it has to leave."""
        if stay.target is None:
            return
        self.begun += 1
        self.sending += 1
        slot = self.ring.slots.pop(stay.block)
        self._start(self._send, stay, slot)
        self._expect()

    def _expect(self, is_idle: bool = False) -> None:
        """Let blocks come for which there is a place."""
        while self.arriving and self.free and (is_idle or self.expected < self.begun):
            self.expected += 1
            self.receiving += 1
            self._start(self._receive, self.arriving.popleft(), self.free.pop())

    def _start(self, transfer: Callable[[Stay, int], None], stay: Stay, slot: int) -> None:
        """Let a thread of its own wait for a message."""

        def work() -> None:
            try:
                transfer(stay, slot)
            except BaseException as error:  # It is raised again where blocks are waited for.
                self._fail(error)

        threading.Thread(target=work, name="gensim_hilbert block", daemon=True).start()

    def _tag(self, block: int, row: int) -> int:
        """Return what tells a message from all others: the block, and the first row that it is needed for."""
        return (row * self.ring.n + block) * len(self.parts)

    def _send(self, stay: Stay, slot: int) -> None:
        assert stay.target is not None
        sent = [(part[slot], stay.target) for part in self.parts]
        self.ring.ranks.exchange(sent, [], self._tag(stay.block, stay.last + 1))[0].wait()
        with self.lock:
            self.sending -= 1
            self.free.append(slot)
            self._expect(is_idle=not self.ready)
            self.told.notify_all()

    def _receive(self, stay: Stay, slot: int) -> None:
        assert stay.source is not None
        received = [(part[slot], stay.source) for part in self.parts]
        self.ring.ranks.exchange([], received, self._tag(stay.block, stay.first))[1].wait()
        with self.lock:
            self.receiving -= 1
            self.ring.slots[stay.block] = slot
            if stay.tasks:
                self._release(stay.tasks[0])
            else:
                self._leave(stay)
            self._expect(is_idle=not self.ready)
            self.told.notify_all()
