"""How long Python's lock is held: another process looks into the memory of this one, thousands of times a second.

CPython 3.11 keeps the thread that holds the lock in a global structure, and zero there while nobody does. The watching
process reads that word through /proc, so that the watched one is neither stopped nor slowed down. It must be allowed to
do so, as root is, or a child where the system does not restrict ptrace.

A look counts for the processor time that the watched process has spent since the one before: while it waits for a core
that others use, or for a disk, nothing is counted. Short work is repeated until there are enough looks.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

RUNTIME_WORDS = 1024  # of the structure that are searched for the thread
PAUSE_SECONDS = 2e-5
LEAST_SECONDS = 5.0


def holder_address() -> int:
    """Return the address at which Python keeps the thread that holds its lock."""
    current = ctypes.pythonapi.PyThreadState_Get
    current.restype = ctypes.c_void_p
    thread = current()
    start = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    pid = os.getpid()
    found = [k for k in range(RUNTIME_WORDS) if ctypes.c_size_t.from_address(start + 8 * k).value == thread]
    # Of the places that hold it now, the one wanted is zero while a call of C has released the lock.
    code = (
        "import os, sys, time; time.sleep(0.2)\n"
        f"file = os.open('/proc/{pid}/mem', os.O_RDONLY)\n"
        f"print(*(k for k in {found} if os.pread(file, 8, {start} + 8 * k) == bytes(8)))"
    )
    cleared = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    if len(cleared) != 1:
        sys.exit("this Python does not keep the holder of its lock where CPython 3.11 does: use that version")
    return start + 8 * int(cleared[0])


def process_clock(pid: int) -> int:
    """Return the number by which Linux knows the clock of another process' processor time."""
    return (~pid << 3) | 2


def watch(pid: int, address: int) -> None:
    """Add up how long the lock of a process is free and held, until a signal comes; print both in seconds."""
    seconds = [0.0, 0.0]
    nothing = bytes(8)
    stopped: list[bool] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(True))
    with suppress(PermissionError):
        # On a busy machine, others look only when the watched process rests, which it does at odd moments.
        os.nice(-20)
    file, clock = os.open(f"/proc/{pid}/mem", os.O_RDONLY), process_clock(pid)
    print("ready", flush=True)
    before = time.clock_gettime(clock)
    while not stopped:
        is_held = os.pread(file, 8, address) != nothing
        now = time.clock_gettime(clock)
        seconds[is_held] += now - before
        before = now
        time.sleep(PAUSE_SECONDS)
    print(*seconds)


@contextmanager
def watched(address: int) -> Iterator[dict[str, float]]:
    """Watch the lock of this process in a block; the share of its time in which it is held is there at its end."""
    command = [sys.executable, __file__, str(os.getpid()), str(address)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found: dict[str, float] = {}
    try:
        process.stdout.readline()
        yield found
    finally:
        process.terminate()
        told, _ = process.communicate()
    free, held = map(float, told.split())
    found["held"] = held / (free + held)


def share_held(run: Callable[[], Any]) -> float:
    """Return the share of the processor time of a call in which Python's lock is held."""
    result, address = None, holder_address()
    end = time.monotonic() + LEAST_SECONDS
    with watched(address) as found:
        while time.monotonic() < end:
            result = run()
    del result  # Whoever uses it gives it back later.
    return found["held"]


if __name__ == "__main__":
    watch(int(sys.argv[1]), int(sys.argv[2]))
