"""Random damage to files, and a process that reads what is left of them: it may fail, but only in the agreed way.

Every example is a function of its number, so that one that has failed can be run again: see `replay`.
"""

from __future__ import annotations

import contextlib
import json
import logging
import multiprocessing
import os
import random
import resource
import shutil
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

MOST_SECONDS = 20  # for one example
MOST_MEMORY = 1 << 30  # bytes beyond what the process has at its start
ODD_NUMBERS = [0, 1, -1, 2, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1]
ODD_VALUES = [*ODD_NUMBERS, -(2**63), 10**12, 10**30, 1.5, float("nan"), float("inf"), 1e308, "", "x", "../x",
              "/dev/zero", "\ud800", None, True, False, [], {}, [[]], [None] * 3, {"a": 1}, [1, 2, 3]]  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """A kind of file or folder.

    Attributes
    ----------
    make : callable
        Writes an example into a folder.
    read : callable
        Reads it, and returns something that tells whether the same was read.
    has_checksums : bool
        Whether damage must be noticed, unless it makes no difference.
    expected : callable
        Returns other results that are right, too, given the result for the whole files.
    repair : callable, optional
        Sets checksums right after the damage, as somebody would who crafts a file.
    links : bool
        Whether a file may become a link, a pipe or a device: not if users name it, who may name those.
    """

    make: Callable[[Path], None]
    read: Callable[[Path], Any]
    has_checksums: bool = False
    expected: Callable[[Path], list[Any]] = lambda folder: []
    repair: Callable[[Path], None] | None = None
    links: bool = True


# ---------------------------------------------------------------------------------------------------- damage


def flip(data: bytearray, source: random.Random) -> None:
    for _ in range(source.choice([1, 1, 1, 2, 8])):
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)


def truncate(data: bytearray, source: random.Random) -> None:
    del data[source.choice([0, 1, len(data) - 1, source.randrange(len(data)), source.randrange(len(data))]) :]


def extend(data: bytearray, source: random.Random) -> None:
    data += source.choice([b"\0", b"\n", bytes(data[:100]), source.randbytes(50), bytes(data)])


def stretch_of(data: bytearray, source: random.Random) -> slice:
    start = source.randrange(len(data))
    return slice(start, start + min(len(data) - start, source.choice([1, 4, 8, 64, 4096])))


def splice(data: bytearray, source: random.Random) -> None:
    data[stretch_of(data, source)] = data[stretch_of(data, source)]


def zero(data: bytearray, source: random.Random) -> None:
    where = stretch_of(data, source)
    data[where] = source.choice([b"\0", b"\xff"]) * (where.stop - where.start)


def scramble(data: bytearray, source: random.Random) -> None:
    where = stretch_of(data, source)
    data[where] = source.randbytes(where.stop - where.start)


def delete(data: bytearray, source: random.Random) -> None:
    del data[stretch_of(data, source)]


def insert_number(data: bytearray, source: random.Random) -> None:
    """Write an odd number where one may be."""
    width = source.choice([1, 2, 4, 8])
    place = source.randrange(len(data)) & (-width if source.random() < 0.8 else -1)
    number = source.choice(ODD_NUMBERS) & (256**width - 1)
    data[place : place + width] = number.to_bytes(width, "little")[: len(data) - place]


def change_text(data: bytearray, source: random.Random) -> None:
    """Replace a word or number of a text."""
    fields = bytes(data).split(b" ")
    fields[source.randrange(len(fields))] = str(source.choice(ODD_VALUES)).encode("utf-8", "surrogatepass")
    data[:] = b" ".join(fields)


def change_json(data: bytearray, source: random.Random) -> None:
    """Replace a value of a JSON file or of one of its lines, or remove it."""
    lines = bytes(data).split(b"\n") if data[:1] == b"[" else [bytes(data)]
    number = source.randrange(len(lines))
    try:
        value = json.loads(lines[number])
    except ValueError:
        flip(data, source)
        return
    lines[number] = json.dumps(changed(value, source)).encode()
    data[:] = b"\n".join(lines)


def changed(value: Any, source: random.Random) -> Any:
    """A value of JSON with some part of it replaced."""
    if isinstance(value, dict | list) and value and source.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = source.choice(list(keys))
        value = value.copy()
        if source.random() < 0.1:
            del value[key]
        else:
            value[key] = changed(value[key], source)
        return value
    if source.random() < 0.02:
        deep: Any = []
        for _ in range(source.choice([20, 100, 900])):
            deep = [deep]
        return deep
    if isinstance(value, int) and source.random() < 0.4:
        return value + source.choice([-1, 1, 100])
    return source.choice(ODD_VALUES)


BY_BYTES = [flip, flip, truncate, extend, splice, zero, scramble, delete, insert_number, insert_number]


def damage(folder: Path, source: random.Random, links: bool) -> str:
    """Damage one or two files of a folder; returns what was done."""
    done = []
    for _ in range(source.choice([1, 1, 1, 2])):
        paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        if not paths:
            break
        path = source.choice(paths)
        how = source.random()
        if links and how < 0.06:
            done.append(replace(folder, path, source))
            continue
        data = bytearray(path.read_bytes())
        if data:
            is_json = path.suffix in (".json", ".jsonl")
            choices = [*BY_BYTES, *([change_json] * 8 if is_json else [change_text])]
            change = source.choice(choices)
            change(data, source)
            done.append(f"{change.__name__} {path.name}")
        path.write_bytes(data)
    return ", ".join(done)


def replace(folder: Path, path: Path, source: random.Random) -> str:
    """Put something else in the place of a file."""
    how = source.choice(["remove", "pipe", "device", "folder", "link", "swap"])
    others = [other for other in sorted(folder.rglob("*")) if other.is_file() and other != path]
    if how == "swap" and others:
        other = source.choice(others)
        mine = path.read_bytes()
        path.write_bytes(other.read_bytes())
        other.write_bytes(mine)
        return f"swap {path.name} {other.name}"
    path.unlink()
    if how == "pipe":
        os.mkfifo(path)
    elif how == "device":
        path.symlink_to("/dev/zero")
    elif how == "folder":
        path.mkdir()
    elif how == "link":
        path.symlink_to(path.name)
    return f"{how} {path.name}"


# ---------------------------------------------------------------------------------------------------- examples


def run_example(subject: Subject, whole: Path, seed: int, number: int, accepted: list[Any]) -> str | None:
    """Damage a copy and read it; returns what is wrong with what happened."""
    source = random.Random(f"{seed} {number}")
    with tempfile.TemporaryDirectory(prefix="damage-") as parent:
        folder = Path(parent) / "copy"
        shutil.copytree(whole, folder)
        what = damage(folder, source, subject.links)
        with contextlib.suppress(Exception):  # What is damaged too much to be repaired stays as it is.
            if subject.repair is not None:
                subject.repair(folder)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = subject.read(folder)
        except (ValueError, OSError) as error:
            told = f"{error} {getattr(error, 'filename', None)} {getattr(error, 'filename2', None)}"
            if str(folder) not in told:
                return f"{what}: the error does not name the file: {traceback.format_exc()}"
        except BaseException:
            return f"{what}: {traceback.format_exc()}"
        else:
            if subject.has_checksums and found not in accepted:
                return f"{what}: something else was read, and nobody noticed"
    return None


def run_examples(subject: Subject, whole: Path, seed: int, numbers: range, accepted: list[Any], to: Connection) -> None:
    """What the process does: tell the number of each example before it, and what was wrong after it."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, also in the middle of a kernel
    if "LD_PRELOAD" not in os.environ:  # Sanitizers map terabytes.
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + MOST_MEMORY, used + MOST_MEMORY))
    logging.disable()
    for number in numbers:
        to.send((number, None))
        signal.alarm(MOST_SECONDS)
        wrong = run_example(subject, whole, seed, number, accepted)
        signal.alarm(0)
        if wrong is not None:
            to.send((number, wrong))
    to.close()
    os._exit(0)


def failures_of(subject: Subject, folder: Path, seed: int, examples: int, most: int = 5) -> list[str]:
    """Run so many examples, and return what was wrong with some of them."""
    whole = folder / "whole"
    whole.mkdir(parents=True)
    subject.make(whole)
    accepted = [subject.read(whole), *subject.expected(whole)]
    failures: list[str] = []
    first = 0
    context = multiprocessing.get_context("fork")
    while first < examples and len(failures) < most:
        here, there = context.Pipe(duplex=False)
        process = context.Process(
            target=run_examples, args=(subject, whole, seed, range(first, examples), accepted, there)
        )
        process.start()
        there.close()
        last = first
        while True:
            try:
                last, wrong = here.recv()
            except EOFError:
                break
            if wrong is not None:
                failures.append(f"example {last} of seed {seed}: {wrong}")
        process.join()
        if process.exitcode:
            failures.append(f"example {last} of seed {seed}: the process ended with {process.exitcode}")
        first = last + 1
    return failures


def replay(subject: Subject, folder: Path, seed: int, number: int) -> None:
    """Run one example in this process and show what it does."""
    whole = folder / "whole"
    whole.mkdir(parents=True)
    subject.make(whole)
    print(run_example(subject, whole, seed, number, [subject.read(whole), *subject.expected(whole)]))
