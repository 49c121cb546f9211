"""Blocks that travel between ranks: every shard is visited once, and each block meets others in the given order.

The ranks of these tests are threads of one process, whose messages go through queues: they may be many, and slow.
"""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, Queue
from types import SimpleNamespace

import pytest
import torch

from gensim_hilbert.training.division import Division
from gensim_hilbert.training.journey import Journey
from gensim_hilbert.training.order import offsets_of_pass, reversed_digits
from gensim_hilbert.training.ranks import Ranks
from gensim_hilbert.training.ring import Ring

LIMIT = 100  # Seconds after which a message will not come any more.
Order = list[tuple[int, int]]


class Queues:
    """One queue for each kind of message, made when somebody asks for it."""

    def __init__(self) -> None:
        self.lock, self.made = threading.Lock(), defaultdict[tuple, Queue](Queue)

    def __getitem__(self, key: tuple) -> Queue:
        with self.lock:
            return self.made[key]


class ThreadRanks(Ranks):
    """One of several ranks in threads. A message has been sent when it has been received, as with gloo."""

    def __init__(self, queues: Queues, rank: int, size: int):
        self.queues, self.rank, self.size = queues, rank, size

    def exchange(self, sent, received, tag=0):
        for k, (tensor, to) in enumerate(sent, tag):
            self.queues[self.rank, to, k].put(tensor)

        def wait_for_receivers() -> None:
            for k, (_, to) in enumerate(sent, tag):
                self.queues[to, self.rank, k, "received"].get(timeout=LIMIT)

        def receive() -> None:
            for k, (tensor, source) in enumerate(received, tag):
                tensor.copy_(self.queues[source, self.rank, k].get(timeout=LIMIT))
                self.queues[self.rank, source, k, "received"].put(None)

        receiver = ThreadPoolExecutor(1)
        arrival = receiver.submit(receive)
        receiver.shutdown(wait=False)
        return SimpleNamespace(wait=wait_for_receivers), SimpleNamespace(wait=arrival.result)


class Shards:
    def __getitem__(self, key: tuple[int, int]) -> tuple[int, int]:
        return key


def meet_(w: torch.Tensor, v: torch.Tensor) -> None:
    """Change two blocks in a way that depends on both, and on the order of meetings."""
    before = w.clone()
    w.mul_(31).add_(17 * v + 1).remainder_(10007)
    v.mul_(29).add_(13 * before + 2).remainder_(10007)


def travel(size: int, n: int, legs: list[tuple[Order, int | None]], workers: int = 1, meet: Callable = meet_):
    """Return what is visited by all ranks on each leg, and the blocks of both sides at the end."""
    queues = Queues()
    visited: list[list[tuple[int, int]]] = [[] for _ in legs]
    blocks: list[dict[int, list[int]]] = [{}, {}, {}]

    def live(rank: int) -> None:
        ranks = ThreadRanks(queues, rank, size)
        division, ring = Division(ranks, n), Ring(ranks, n)
        w, *parts = (torch.zeros(len(division.own) + division.spare, 2, dtype=torch.int64) for _ in range(3))
        for block in division.own:
            for number, part in enumerate((w, *parts)):
                part[division.slot(block)] = number * n + block

        def work(shard: tuple[int, int], number: int) -> int:
            for part in parts:
                meet(w[division.slot(shard[0])], part[ring.slot(shard[1])])
            return number

        with ThreadPoolExecutor(workers) as pool:
            team = SimpleNamespace(pool=pool, workers=workers, shards=Shards(), do=lambda work, *more: work(*more))
            for (order, end), seen in zip(legs, visited, strict=True):
                for number, result in ring.map(team, parts, work, order, range(len(order))):
                    assert number == result
                    seen.append(order[number])
                if end is not None:
                    ring.move_to(end, parts)
                    assert all(ring.owner(block) == rank for block in ring.slots)
        assert sorted(ring.numbers()) == sorted(ring.slots)
        for block in ring.own:
            blocks[0][block] = w[division.slot(block)].tolist()
        for part, found in zip(parts, blocks[1:], strict=True):
            found.update({block: part[slot].tolist() for block, slot in ring.slots.items()})

    with ThreadPoolExecutor(size) as pool:
        for rank in [pool.submit(live, rank) for rank in range(size)]:
            rank.result(LIMIT)
    return visited, blocks


def by_one(n: int, legs: list[tuple[Order, int | None]]) -> list[dict[int, list[int]]]:
    """Return the blocks of both sides after all meetings, one after the other."""
    w, *parts = (torch.arange(k * n, (k + 1) * n)[:, None].repeat(1, 2) for k in range(3))
    for order, _ in legs:
        for i, j in order:
            for part in parts:
                meet_(w[i], part[j])
    return [dict(enumerate(side.tolist())) for side in (w, *parts)]


def latin(n: int, offsets: list[int]) -> Order:
    return [(i, (i + offset) % n) for offset in offsets for i in range(n)]


@pytest.mark.parametrize(
    ("size", "n", "workers"),
    [(2, 1, 1), (2, 8, 1), (2, 8, 3), (3, 5, 3), (3, 6, 1), (3, 8, 1), (3, 12, 3), (4, 8, 3), (7, 5, 1), (7, 8, 3)],
)
def test_blocks_meet_in_the_given_order_wherever_they_are(size, n, workers):
    cut = n * n // 3
    first, second = (latin(n, offsets_of_pass(n, 1, number)) for number in range(2))
    disorder = latin(n, random.Random(size).sample(range(n), n))
    legs = [(first[:cut], None), (first[cut:], 0), (second, n - 1), (latin(n, list(range(n))), None), (disorder, 0)]
    visited, blocks = travel(size, n, legs, workers)
    assert [sorted(seen) for seen in visited] == [sorted(order) for order, _ in legs]
    assert blocks == by_one(n, legs)


def test_aligned_blocks_stand_as_those_that_they_meet():
    queues = Queues()
    rings = [Ring(ThreadRanks(queues, rank, 3), 8) for rank in range(3)]

    def live(ring: Ring) -> list[list[int]]:
        part = torch.zeros(len(ring.own) + ring.spare, dtype=torch.int64)
        part[: len(ring.own)] = torch.tensor(ring.own)
        found = []
        for offset in (3, 3, 6, 0):
            ring.align(offset, [part])
            found.append(((part[: len(ring.own)] - torch.tensor(ring.own)) % 8).tolist())
            assert ring.numbers() == part[: len(ring.own)].tolist()
        return found

    with ThreadPoolExecutor(3) as pool:
        for ring, found in zip(rings, pool.map(live, rings), strict=True):
            assert found == [[offset] * len(ring.own) for offset in (3, 3, 6, 0)]


def test_blocks_leave_one_half_after_the_other():
    """With two ranks, half of the blocks have left long before the other half has met all that it has to meet."""
    n, ring = 16, Ring(ThreadRanks(Queues(), 0, 2), 16)
    parts = [torch.zeros(len(ring.own) + ring.spare, 1)]
    journey = Journey(ring, parts, latin(n, reversed_digits(n)))
    first_half = [number for number in journey.waiting if journey.rows[number] <= n // 2]
    in_order = sorted(first_half, key=journey.priority.__getitem__)
    assert in_order == sorted(journey.waiting, key=journey.priority.__getitem__)[: len(in_order)], "they leave first"
    left = {journey.order[number][1] for number in in_order} - {journey.order[number][1] for number in in_order[-16:]}
    assert len(left) == n // 4


def test_an_error_of_a_rank_is_raised_there_and_others_do_not_wait_for_ever(monkeypatch):
    monkeypatch.setitem(globals(), "LIMIT", 1)

    def fail(w: torch.Tensor, v: torch.Tensor) -> None:
        if int(w[0]) == 1:
            raise OSError(28, "No space left on device")

    before = threading.active_count()
    with pytest.raises((OSError, Empty)):
        travel(2, 8, [(latin(8, reversed_digits(8)), 0)], meet=fail)
    until = time.monotonic() + 3
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.05)
    assert threading.active_count() <= before, "no thread is left"
