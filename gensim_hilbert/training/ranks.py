"""The processes that train one model together, called ranks, and what they tell each other.

Rank 0 leads: it makes every decision, and tells the other ranks each call in which they take part (`leading.py`). They
talk through two groups of torch.distributed: gloo for everything that is on the host, NCCL for blocks on GPUs.

No rank waits for ever:

- A message that does not come within TIME_LIMIT seconds ends the training of all ranks.
- Work that rank 0 does alone, such as counting, saving or callbacks, may take any time: rank 0 gives a sign of life
  every few seconds, and other ranks wait as long as there are such signs.
- A rank that fails leaves the reason where all can read it, and closes its connections. The others, who wait for its
  messages, notice that at once, and fail for the same reason. The connections of a rank that is killed are closed by
  the system.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any, TypeVar

from gensim_hilbert.interruption import is_interruption
from gensim_hilbert.training.meeting import PAUSE, store_of_this_start

if TYPE_CHECKING:
    import torch

TIME_LIMIT = float(os.environ.get("GENSIM_HILBERT_TIME_LIMIT", 600))  # Seconds that a rank waits for a message.
BEATS = 20  # Signs of life of rank 0 within the time limit.
ONE_PROCESS = "start one process, without torchrun"
SHORT_LIMIT = 2.0  # Seconds that a rank waits for the reason of a failure, or to leave one.
UNUSED_TAG = 2**31 - 1  # No message has it.
LONGEST_PAUSE = 0.2  # Seconds between two looks whether rank 0 has a new call.

Value = TypeVar("Value")


class RankFailed(RuntimeError):
    """Raised on ranks that cannot go on because another one has failed."""


class Pending:
    """Messages on their way."""

    def __init__(self, group: Group, works: list[Any]):
        self.group, self.works = group, works

    def wait(self) -> None:
        """Wait until they have been sent or received."""
        with self.group.listening():
            for work in self.works:
                work.wait()


class Ranks:
    """A process that trains alone, with the interface that several have in common."""

    rank, size = 0, 1
    bytes_sent = 0  # In blocks of rows, by this rank.
    seconds_waited = 0.0  # For blocks of rows, by threads of this rank that had nothing else to do.

    def all_of(self, values: list[Value]) -> list[Value]:
        """Return the values of all ranks, those of rank 0 first."""
        return values

    def from_rank(self, source: int, value: Value) -> Value:
        """Return the value that one rank gives; those of the others are ignored."""
        return value

    def exchange(
        self, sent: list[tuple[torch.Tensor, int]], received: list[tuple[torch.Tensor, int]], tag: int = 0
    ) -> tuple[Pending, Pending]:
        """Begin to send tensors to ranks, and to receive tensors from ranks; the n-th one sent is the n-th received.

        Several threads may do so at once, each with tags of its own: on the host, the n-th tensor has the tag + n.
        """
        raise NotImplementedError("there is no other rank")


ALONE = Ranks()


class Group(Ranks):
    """A process that is one of several ranks."""

    def __init__(self) -> None:
        import torch
        import torch.distributed as dist
        from torch.distributed.rendezvous import rendezvous

        limit = timedelta(seconds=TIME_LIMIT)
        on_gpus = torch.cuda.is_available() and dist.is_nccl_available()
        if on_gpus and "LOCAL_RANK" in os.environ:
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        self.distributed: Any = dist
        is_ours = not dist.is_initialized()
        if is_ours:
            found, self.rank, self.size = next(rendezvous("env://", timeout=limit))
        else:
            found = dist.distributed_c10d._get_default_store()
            self.rank, self.size = dist.get_rank(), dist.get_world_size()
        found = dist.distributed_c10d.PrefixStore("gensim_hilbert", found)
        self.store = store_of_this_start(found, self.rank, self.size, TIME_LIMIT)
        if is_ours:
            group: dict[str, Any] = {"store": self.store, "rank": self.rank, "world_size": self.size}
            dist.init_process_group("cpu:gloo,cuda:nccl" if on_gpus else "gloo", timeout=limit, **group)
        self.host: Any = dist.new_group(backend="gloo", timeout=limit)
        self.devices: Any = dist.new_group(backend="nccl", timeout=limit) if on_gpus else self.host
        self.failure: str | None = None
        self.reason: str | None = None  # Why a message has failed.
        self.calls, self.counting, self.asking = 0, threading.Lock(), threading.Lock()
        self.is_over = threading.Event()
        self.is_leading = self.is_busy = False  # Whether rank 0 trains, and whether others are in the midst of a call.
        if self.rank == 0:
            self.signs = threading.Thread(target=self._give_signs_of_life, name="gensim_hilbert signs", daemon=True)
            self.signs.start()
        atexit.register(self._leave, is_ours)

    def _leave(self, is_ours: bool) -> None:
        """End all threads before Python does: it would abort the process if they still were at work."""
        self.is_over.set()
        if self.rank == 0:
            self.signs.join(SHORT_LIMIT)
        self._close()
        with suppress(RuntimeError, ValueError, AssertionError):  # There may be nothing left of it.
            if is_ours:
                self.distributed.destroy_process_group()

    def _close(self) -> None:
        """Close the connections to all ranks."""
        groups, self.host, self.devices = {id(one): one for one in (self.devices, self.host) if one}, None, None
        for group in groups.values():
            with suppress(RuntimeError, ValueError, AssertionError):  # The caller may have destroyed all groups.
                self.distributed.destroy_process_group(group)

    # ------------------------------------------------------------------ values

    def all_of(self, values: list[Value]) -> list[Value]:
        """Return the values of all ranks, those of rank 0 first."""
        lists: list[Any] = [None] * self.size
        with self.listening():
            self.distributed.all_gather_object(lists, values, group=self.host)
        return [value for one in lists for value in one]

    def from_rank(self, source: int, value: Value) -> Value:
        """Return the value that one rank gives; those of the others are ignored."""
        values = [value if self.rank == source else None]
        with self.listening():
            self.distributed.broadcast_object_list(values, source, group=self.host)
        return values[0]  # type: ignore[return-value]

    # ------------------------------------------------------------------ blocks

    def exchange(
        self, sent: list[tuple[torch.Tensor, int]], received: list[tuple[torch.Tensor, int]], tag: int = 0
    ) -> tuple[Pending, Pending]:
        """Begin to send tensors to ranks, and to receive tensors from ranks; the n-th one sent is the n-th received.

        Several threads may do so at once, each with tags of its own: on the host, the n-th tensor has the tag + n.
        """
        dist, tensors = self.distributed, [tensor for tensor, _ in sent + received]
        with self.counting:
            self.bytes_sent += sum(tensor.nbytes for tensor, _ in sent)
        with self.listening():
            if not tensors or tensors[0].device.type == "cpu":
                return (
                    Pending(self, [dist.isend(x, to, self.host, k) for k, (x, to) in enumerate(sent, tag)]),
                    Pending(self, [dist.irecv(x, rank, self.host, k) for k, (x, rank) in enumerate(received, tag)]),
                )
            # NCCL has no tags, and would wait for ever if two ranks began by sending to each other one by one.
            operations = [dist.P2POp(dist.isend, x, to, self.devices) for x, to in sent]
            operations += [dist.P2POp(dist.irecv, x, source, self.devices) for x, source in received]
            pending = Pending(self, dist.batch_isend_irecv(operations))
        return pending, pending

    # ------------------------------------------------------------------ calls of rank 0

    def tell(self, call: Any) -> None:
        """Tell the other ranks what rank 0 wants them to do; None if nothing any more."""
        self.calls += 1
        with self.listening():
            if self._asked(lambda: self.store.check(["failure"])):
                raise RuntimeError
            self._asked(lambda: self.store.set(f"call {self.calls}", ""))
        self.from_rank(0, call)

    def next_call(self) -> Any:
        """Wait for the next call of rank 0, as long as it gives signs of life."""
        self.calls += 1
        key, beats, since, pause = f"call {self.calls}", -1, time.monotonic(), 0.001
        with self.listening():
            while not self._asked(lambda: self.store.check([key])):
                if self._asked(lambda: self.store.check(["failure"])):
                    raise RuntimeError
                if (now := self._asked(lambda: self.store.add("beats", 0))) != beats:
                    beats, since = now, time.monotonic()
                elif time.monotonic() - since > TIME_LIMIT:
                    raise RuntimeError("timed out")
                time.sleep(pause)
                pause = min(LONGEST_PAUSE, 2 * pause)
        return self.from_rank(0, None)

    def _give_signs_of_life(self) -> None:
        """Let other ranks know that rank 0 is there, whatever it does."""
        with suppress(RuntimeError):  # Then the connection is lost, which rank 0 itself will notice.
            while self.failure is None:
                self.store.add("beats", 1)
                if self.is_over.wait(min(5.0, TIME_LIMIT / BEATS)):
                    break

    # ------------------------------------------------------------------ failures

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Raise a RankFailed that tells the reason if a message fails."""
        if self.failure is not None:
            raise RankFailed(f"{self.failure}; start all ranks again")
        try:
            yield
        except (RuntimeError, UnpicklingError, EOFError) as error:  # The end of a dying rank's message may be lacking.
            raise RankFailed(self._reason(error)) from error

    def _reason(self, error: Exception) -> str:
        """Return why a message has failed: what the rank that failed has left, or what can be told from here."""
        with self.asking:  # Several threads may wait for messages.
            if self.reason is None:
                self.reason = self._left_reason(error)
            return self.reason

    def _left_reason(self, error: Exception) -> str:
        is_late = any(word in str(error) for word in ("imed out", "imeout"))
        until = time.monotonic() + (0 if is_late else SHORT_LIMIT / 2)
        with suppress(RuntimeError):
            # A rank that has waited too long closes its connections before it can leave a reason.
            while not (is_left := self._asked(lambda: self.store.check(["failure"]), SHORT_LIMIT)):
                if time.monotonic() > until:
                    break
                time.sleep(PAUSE)
            if is_left:
                return str(self._asked(lambda: self.store.get("failure"), SHORT_LIMIT).decode())
        if is_late:
            return (
                f"another rank did not answer within {TIME_LIMIT:g} s (GENSIM_HILBERT_TIME_LIMIT); every rank has to "
                "make the same calls"
            )
        return "another rank was killed, or cannot be reached any more; start all ranks again to go on"

    def _asked(self, question: Callable[[], Any], limit: float | None = None) -> Any:
        """Return the store's answer; it may be on a machine that does not answer any more, and has no time limit."""
        answers: list[Any] = []
        errors: list[RuntimeError] = []

        def ask() -> None:
            try:
                answers.append(question())
            except RuntimeError as error:
                errors.append(error)

        thread = threading.Thread(target=ask, name="gensim_hilbert question", daemon=True)
        thread.start()
        thread.join(TIME_LIMIT if limit is None else limit)
        if errors:
            raise errors[0]
        if not answers:
            raise RuntimeError("timed out")
        return answers[0]

    def fail(self, error: BaseException) -> None:
        """Tell all ranks why this one cannot go on, and close its connections: others may wait for its messages."""
        if self.failure is not None:
            return
        reason = "it was interrupted" if is_interruption(error) else " ".join(str(error).split()) or repr(error)
        text = self.failure = str(error) if isinstance(error, RankFailed) else f"rank {self.rank} failed: {reason}"
        with suppress(RuntimeError):
            # A rank may have left its own reason; others may not wait for any message, but look for one.
            if not self._asked(lambda: self.store.check(["failure"]), SHORT_LIMIT):
                self._asked(lambda: self.store.set("failure", text), SHORT_LIMIT)
        self._interrupt()
        with suppress(RuntimeError):
            self._let_others_ask()
        self._close()

    def _let_others_ask(self) -> None:
        """Wait a little on rank 0, which may have the store, until all others know why training has failed."""
        until = time.monotonic() + SHORT_LIMIT
        told = self._asked(lambda: self.store.add("told", int(self.rank > 0)), SHORT_LIMIT)
        while self.rank == 0 and told < self.size - 1 and time.monotonic() < until:
            time.sleep(PAUSE)
            told = self._asked(lambda: self.store.add("told", 0), SHORT_LIMIT)

    def _interrupt(self) -> None:
        """End all messages that threads still wait for: until then no connection can be closed.

        gloo offers nothing for that, but gives up all messages once a single one does not come in time.
        """
        import torch

        with suppress(RuntimeError, ValueError, AssertionError):
            never = self.distributed.irecv(torch.empty(1), (self.rank + 1) % self.size, self.host, UNUSED_TAG)
            never.wait(timedelta(milliseconds=1))


_joined: Group | None = None


def are_several() -> bool:
    """Tell whether this process is one of several ranks; torch is not imported to find out."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return bool(distributed.get_world_size() > 1)
    return "TORCHELASTIC_RUN_ID" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1


def present_ranks() -> Ranks:
    """Return this process among all ranks: those of torchrun, or of a process group that the caller has initialised."""
    global _joined
    if not are_several():
        return ALONE
    if _joined is None:
        try:
            _joined = Group()
        except RuntimeError as error:
            reason = str(error).split("\n")[0]
            raise RankFailed(f"the ranks do not find each other within {TIME_LIMIT:g} s: {reason}") from error
    return _joined
