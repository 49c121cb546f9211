"""Forks ranks that train together, and looks at what they learn: `python ring_driver.py SCENARIO [NUMBER ...] , ...`.

This runs as a process of its own, which loads the libraries once and then forks. It prints what went wrong as JSON: a
list of sentences. Each scenario is a function of that name.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import random
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from tables import random_table, store

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.objectives import Objective, named
from gensim_hilbert.training import ranks as ranks_module
from gensim_hilbert.training.checkpoint import Checkpoint
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.from_counts import make_fit
from gensim_hilbert.training.leading import follow, leading
from gensim_hilbert.training.order import divided, offsets_of_pass, reversed_digits
from gensim_hilbert.training.ranks import RankFailed, present_ranks

SECONDS = 120  # for all ranks of one run; a hang is told as an error
N = 5  # shards per side: no number of ranks divides them evenly


class Run:
    """Processes that are ranks of one group, each of which calls a function and leaves what it returns or raises."""

    def __init__(self, size: int, work: Callable[..., Any], *arguments: Any, time_limit: float = 60):
        self.folder = tempfile.TemporaryDirectory()
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        self.pids = [self._forked(rank, size, port, time_limit, work, arguments) for rank in range(size)]
        self.ended: dict[int, int] = {}

    def _forked(self, rank, size, port, time_limit, work, arguments) -> int:
        if pid := os.fork():
            return pid
        code = 1
        try:
            import torch

            torch.set_num_threads(1)
            ranks_module.TIME_LIMIT = time_limit
            if size > 1:
                address = f"tcp://127.0.0.1:{port}"
                torch.distributed.init_process_group(
                    "gloo", init_method=address, rank=rank, world_size=size, timeout=timedelta(seconds=time_limit)
                )
            result = ("returned", work(*arguments))
            code = 0
        except BaseException as error:  # It is told to whoever has started this rank.
            result = ("raised", f"{type(error).__name__}: {error}")
        with open(Path(self.folder.name) / f"{rank}.writing", "wb") as file:
            pickle.dump(result, file)
        os.rename(file.name, Path(self.folder.name) / str(rank))
        os._exit(code)

    def wait(self, seconds: float = SECONDS, *, but: tuple[int, ...] = ()) -> list[Any]:
        """Wait for all ranks except some; return what each has returned or raised, None for those that were killed."""
        until = time.monotonic() + seconds
        waited = [rank for rank in range(len(self.pids)) if rank not in but]
        while any(rank not in self.ended for rank in waited):
            for rank in waited:
                if rank not in self.ended and os.waitpid(self.pids[rank], os.WNOHANG)[0]:
                    self.ended[rank] = 1
            if time.monotonic() > until:
                hang = sorted(set(waited) - set(self.ended))
                self.kill(*range(len(self.pids)))
                raise TimeoutError(f"ranks {hang} hang")
            time.sleep(0.01)
        return [self.result(rank) for rank in range(len(self.pids))]

    def result(self, rank: int) -> Any:
        path = Path(self.folder.name) / str(rank)
        return pickle.loads(path.read_bytes()) if path.exists() else None

    def kill(self, *ranks: int, by: signal.Signals = signal.SIGKILL) -> None:
        for rank in ranks:
            if rank not in self.ended:
                os.kill(self.pids[rank], by)
                if by is signal.SIGKILL:
                    os.waitpid(self.pids[rank], 0)
                    self.ended[rank] = 1


def by_ranks(work: Callable[..., Any], *arguments: Any) -> Any:
    """Let rank 0 work, and the others help."""
    if present_ranks().rank:
        follow()
        return present_ranks().bytes_sent
    with leading():
        return work(*arguments)


# ---------------------------------------------------------------------------------------------------- the same vectors

Cases = list[tuple[str, dict[str, Any]]]
CASES: Cases = [
    ("hilbert", {"background": "sampled", "columns": 8, "n": 8}),  # blocks stay for several rows of shards
    ("hilbert", {"background": "sampled", "columns": 8, "rate": 200.0}),  # diverges at first
    ("lds", {}),
    ("hilbert", {"background": "dense", "memory_gb": 0}),
    ("sgns", {"background": "sampled", "columns": 8}),
    ("glove(x_max=10)", {}),
    ("swivel", {"background": "sampled", "columns": 8}),
]


def bound(name: str, counts: PairCounts) -> Objective:
    return named(name).bind(counts)


def all_cases(counts: PairCounts, folder: Path, cases: Cases) -> list[Any]:
    """What rank 0 learns in each case, with a checkpoint in the midst of a row of shards, and what it tells."""
    learnt = []
    for number, (name, options) in enumerate(cases):
        seen: list[float] = []
        fit = make_fit(bound(name, counts), 6, **{"n": N, **options}, passes=4, tolerance=0)
        reports = [fit.run(33, lambda report, seen=seen: seen.append(report.passes)), fit.evaluate()]
        Checkpoint(folder / str(number), {"settings": {}}).write(1, *fit.state())
        fit.run(10**6)
        reports.append(fit.evaluate())
        fitted = fit.result()
        assert seen
        learnt.append((*fitted[:2], fitted.biases, fitted.history, reports))
    return learnt


def resumed(counts: PairCounts, folder: Path, cases: Cases) -> list[Any]:
    """What is learnt from the checkpoints of other ranks."""
    learnt = []
    for number, (name, options) in enumerate(cases):
        saved = Checkpoint(folder / str(number), {"settings": {}}).load()
        fit = make_fit(bound(name, counts), 6, **{"n": N, **options}, passes=4, tolerance=0, saved=saved)
        fit.run(10**6)
        learnt.append((*fit.result()[:2], fit.fit.history if present_ranks().size > 1 else fit.history))
    return learnt


def same_bits(one: Any, other: Any) -> bool:
    return pickle.dumps(as_bytes(one)) == pickle.dumps(as_bytes(other))


def as_bytes(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x.tobytes(), x.shape
    return [as_bytes(part) for part in x] if isinstance(x, list | tuple) else repr(x)


def small_counts() -> PairCounts:
    return store(np.random.default_rng(0).poisson(0.8, size=(88, 88)) + np.eye(88, dtype=int))


def same(*sizes: int, cases: Cases = CASES[:3]) -> list[str]:
    """The bits do not depend on the number of ranks, and any number of them goes on from a checkpoint."""
    counts, wrong = small_counts(), []
    with tempfile.TemporaryDirectory() as name:
        (expected,) = Run(1, by_ranks, all_cases, counts, Path(name) / "1", cases).wait()
        if expected[0] == "raised":
            return [expected[1]]
        before = 1
        for size in sizes:
            found = Run(size, by_ranks, all_cases, counts, Path(name) / str(size), cases).wait()
            again = Run(size, by_ranks, resumed, counts, Path(name) / str(before), cases).wait()
            for kind, results in (("trained", found), ("resumed", again)):
                wrong += [
                    f"{kind}, rank {r} of {size}: {one[1]}" for r, one in enumerate(results) if one[0] == "raised"
                ]
            if wrong:
                return wrong
            for case, one, two, three in zip(cases, expected[1], found[0][1], again[0][1], strict=True):
                if not same_bits(one, two):
                    wrong.append(f"{size} ranks learn something else in {case}")
                if not same_bits(one[:2], three[:2]) or repr([vars(report) for report in three[2]]) != repr(one[3]):
                    wrong.append(f"{size} ranks do not go on from the checkpoint of {before} in {case}")
            before = size
    return wrong


def same_everywhere(*sizes: int) -> list[str]:
    """The same with every objective."""
    return same(*sizes, cases=CASES)


def volume(*sizes: int) -> list[str]:
    """All ranks together send the blocks, with their moments, that another rank needs for the next row of shards."""
    counts, wrong, d, n, passes = small_counts(), [], 6, 16, 3
    rows = -(-len(counts) // n)

    def train() -> Any:
        make_fit(bound("hilbert", counts), d, n=n, passes=passes, tolerance=0).run(10**6)

    run, sent = Factorization.run, []

    def measured_run(self, *arguments):
        before = present_ranks().bytes_sent
        result = run(self, *arguments)
        sent.append(present_ranks().bytes_sent - before)
        return result

    Factorization.run = measured_run
    offsets = [0] + [offset for number in range(passes) for offset in offsets_of_pass(n, 1, number)]
    for size in sizes:
        home = {
            block: rank for rank in range(size) for block in reversed_digits(n)[slice(*divided(n, size)[rank:][:2])]
        }
        moved = sum(
            home[(block - before) % n] != home[(block - after) % n]
            for before, after in pairwise(offsets)
            for block in range(n)
        )
        if size == 2:  # It is the least that is possible, but for the way to the first row.
            assert moved <= (passes * (size - 1) + 1) * n
        moments = 8 * d**2 * (passes - 1) * (size - 1)  # Second moments are passed on when axes are turned.
        found = Run(size, lambda: (by_ranks(train), sum(sent))[1]).wait()
        if (
            any(kind != "returned" for kind, _ in found)
            or sum(one for _, one in found) != moved * rows * 12 * d + moments
        ):
            wrong.append(f"{size} ranks have sent {found}, not {moved} blocks")
    Factorization.run = run
    return wrong


def at_once(*sizes: int) -> list[str]:
    """Steps of whole rows of shards, as on GPUs, are the same up to rounding for any number of ranks."""
    from gensim_hilbert.training.batches import Batches

    begin = Factorization._begin

    def begin_with_batches(self, *arguments):
        self.batches = Batches(self.gradients)
        begin(self, *arguments)

    Factorization._begin = begin_with_batches
    counts, wrong = store(random_table(88, least=1)), []
    with tempfile.TemporaryDirectory() as name:
        cases = [case for case in CASES if "rate" not in case[1]]
        (expected,) = Run(1, by_ranks, all_cases, counts, Path(name) / "1", cases).wait()
        for size in sizes:
            found = Run(size, by_ranks, all_cases, counts, Path(name) / str(size), cases).wait()
            wrong += [f"rank {rank} of {size}: {one[1]}" for rank, one in enumerate(found) if one[0] == "raised"]
            for case, one, two in zip(cases, expected[1], found[0][1], strict=True) if not wrong else ():
                # LDS has one constant for all words, which moves by the mean over a shard, or over those of a rank.
                is_near = case[0] == "lds" or np.allclose(one[1], two[1], atol=1e-3 * np.abs(one[1]).max())
                losses = [reports[-1].loss for *_, reports in (one, two)]
                if not is_near or not np.isclose(*losses, rtol=0.02 if case[0] == "lds" else 1e-4):
                    wrong.append(f"{size} ranks learn something else in {case}: {losses}")
    return wrong


# ---------------------------------------------------------------------------------------------------- models


def texts() -> list[list[str]]:
    """So many words that there are four shards per side."""
    source = np.random.default_rng(5)
    weights = 1 / np.arange(3, 2403)
    words = source.choice(2400, size=(3000, 12), p=weights / weights.sum())
    return [[f"w{k}" for k in sentence] for sentence in words]


OPTIONS = {"vector_size": 8, "min_count": 1, "epochs": 8, "passes": 4, "workers": 1, "seed": 3}


class Counted:
    """A callback that counts its calls."""

    calls = 0

    def on_epoch_end(self, model):
        self.calls += 1
        assert np.isfinite(model.wv.vectors).all()

    def on_epoch_begin(self, model):
        pass

    on_train_begin = on_train_end = on_epoch_begin


def script(sentences: list[list[str]], folder: Path, subwords: bool) -> Any:
    """What a user may write: every rank runs it."""
    callback = Counted()
    options = {**OPTIONS, "subwords": True, "bucket": 1000} if subwords else OPTIONS
    model = HilbertMLE(sentences[:2000], **options, compute_loss=True, callbacks=[callback])
    model.build_vocab(sentences[2000:], update=True)
    counted = model.train(sentences[2000:], total_examples=1000, epochs=2)
    model.save(str(folder / "model"))
    model.save_pretrained(folder / "pretrained")
    if present_ranks().rank:
        assert counted == (0, 0)
        try:
            model.wv.most_similar("w1")
        except RuntimeError as error:
            return callback.calls, str(error)
    return callback.calls, model.wv.vectors, model.syn1neg, model.training_history, model.running_training_loss


def models_of_subwords(*sizes: int) -> list[str]:
    """The same with subwords."""
    return models(*sizes, subwords=True)


def models(*sizes: int, subwords: bool = False) -> list[str]:
    """A script that all ranks run gives the model of one process, on rank 0."""
    sentences, wrong = texts(), []
    with tempfile.TemporaryDirectory() as name:
        expected = None
        for size in (1, *sizes):
            (Path(name) / str(size)).mkdir()
            found = Run(size, script, sentences, Path(name) / str(size), subwords).wait()
            expected = expected or found[0]
            if not same_bits(found[0], expected):
                wrong.append(f"{size} ranks: {str(found[0])[:300]} instead of {str(expected)[:300]}")
            for one in found[1:]:
                if one[0] == "raised" or one[1][0] or "are on rank 0" not in one[1][1]:
                    wrong.append(f"another rank than 0 has {one}")
            for loaded in (HilbertMLE.load(str(Path(name) / str(size) / "model")),
                           HilbertMLE.from_pretrained(Path(name) / str(size) / "pretrained")):  # fmt: skip
                if not np.array_equal(loaded.wv.vectors, expected[1][1]):
                    wrong.append(f"{size} ranks have saved something else")
    return wrong


# ---------------------------------------------------------------------------------------------------- failures


def failing(work: Callable[[], None], rank: int) -> Any:
    """Train, with work that one rank does when it is at its 20th shard."""
    learn, visits = Factorization._learn, iter(range(10**9))

    def stand_in(self, *arguments):
        if present_ranks().rank == rank and next(visits) == 20:
            work()
        return learn(self, *arguments)

    Factorization._learn = stand_in

    def train() -> None:
        make_fit(bound("hilbert", small_counts()), 6, n=N, passes=40, tolerance=0).run(10**6)

    return by_ranks(train)


def full_disk() -> None:
    raise OSError(28, "No space left on device")


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stopped() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def refused_and_again() -> str:
    """An error of rank 0 alone: all ranks have it, and can go on."""
    counts = small_counts()
    try:
        by_ranks(lambda: make_fit(bound("ppmi-svd", counts), 6))
    except (ValueError, RankFailed) as error:
        by_ranks(lambda: make_fit(bound("hilbert", counts), 6, n=N, passes=1).run(10**6))
        return str(error)
    return "no error"


def failures() -> list[str]:
    """Whatever happens to one rank, the others end soon, and tell why."""
    wrong = []
    for rank in (0, 1, 2):
        for work, expected, limit in (
            (full_disk, "No space left on device", 60.0),
            (killed, "another rank was killed", 60.0),
            (stopped, "did not answer within 2 s", 2.0),
        ):
            run, started = Run(3, failing, work, rank, time_limit=limit), time.monotonic()
            silent = () if work is full_disk else (rank,)
            found = run.wait(30, but=silent)
            run.kill(*silent)
            for other, result in enumerate(found):
                is_told = result is not None and result[0] == "raised" and expected in result[1]
                by_store = work is not full_disk and rank == 0  # Rank 0 has the store, and cannot be asked any more.
                if other not in silent and not is_told and not (by_store and result[1].startswith("RankFailed")):
                    wrong.append(f"{work.__name__} on rank {rank}: rank {other} {result}")
            if time.monotonic() - started > 20:
                wrong.append(f"{work.__name__} on rank {rank} is noticed after {time.monotonic() - started:.0f} s")
    for rank, result in enumerate(Run(3, refused_and_again).wait()):
        if result[0] == "raised" or "is solved at once" not in result[1]:
            wrong.append(f"refused: rank {rank} {result}")
    return wrong


def trained(folder: Path, counts: PairCounts) -> Any:
    model = HilbertMLE.from_counts(counts, **OPTIONS, checkpoint=folder)
    return None if present_ranks().rank else (model.wv.vectors, model.syn1neg, model.training_history)


def kills(number: int, seed: int) -> list[str]:
    """A rank is killed at a random moment; other numbers of ranks go on, and learn what one process learns."""
    source, wrong = random.Random(seed), []
    with tempfile.TemporaryDirectory() as name:
        counts = PairCounts.from_corpus(texts(), directory=Path(name) / "counts", min_count=1)
        (expected,) = Run(1, trained, Path(name) / "expected", counts).wait()
        started = time.monotonic()
        Run(3, trained, Path(name) / "timed", counts).wait()
        seconds, gone_on = time.monotonic() - started, 0
        for attempt in range(number):
            folder, size, kill_count = Path(name) / f"attempt-{attempt}", source.choice((2, 3)), 0
            while True:
                run = Run(size, trained, folder, counts, time_limit=15)
                time.sleep(source.uniform(0, seconds) if kill_count < 3 else 0)
                if kill_count < 3:
                    run.kill(source.randrange(size))
                    kill_count += 1
                found = run.wait()
                if found[0] is not None and found[0][0] == "returned":
                    break
                for result in found:
                    if result is not None and not result[1].startswith(("RankFailed: ", "Dist")):
                        wrong.append(f"attempt {attempt}: {result[1]}")
                gone_on += (folder / "training-1" / "checkpoint.json").exists()
                size = source.choice([other for other in (1, 2, 3) if other != size])
            if not same_bits(found[0], expected):
                wrong.append(f"attempt {attempt} has learnt something else")
        if gone_on < number / 4:
            wrong.append(f"only {gone_on} of {number} have gone on from a checkpoint")
    return wrong


if __name__ == "__main__":
    logging.disable()
    scenarios = [text.split() for text in " ".join(sys.argv[1:]).split(",")]
    print(json.dumps([wrong for name, *numbers in scenarios for wrong in globals()[name](*map(int, numbers))]))
