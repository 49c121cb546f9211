"""Training and scoring in a process of its own, which ends with the process that has started it."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from scoring import RARE_WORDS, all_pairs, scores

SET_SIGNAL_OF_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG, for prctl


def end_with_parent() -> None:
    """Have this process killed when its parent ends, however that ends; on Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_SIGNAL_OF_PARENTS_DEATH, signal.SIGKILL)


def cpu_seconds() -> float:
    """Return the processor's time of this process and of programs that it has waited for."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


def child(trainers: Mapping[str, Callable[..., Any]], name: str, *arguments: object) -> None:
    """Train and score, and print the times and scores of each model as a line of JSON.

    Processes of a higher niceness wait for others, so that their wall time says nothing: it is left out.
    """
    import torch  # noqa: F401  # its import is not what is measured

    import gensim_hilbert  # noqa: F401  # nor is this

    wall, cpu = time.perf_counter(), cpu_seconds()
    words, models, *vector_of = trainers[name](*arguments)
    times = {"CPU s": cpu_seconds() - cpu}
    if os.nice(0) == 0:
        times["wall s"] = time.perf_counter() - wall
    found = {key: times | scores(words, vectors) for key, vectors in models.items()}
    if any(vector_of) and RARE_WORDS.exists():
        for row in found.values():
            row["RARE, all"] = all_pairs(vector_of[0], words)
    print(json.dumps(found))


def in_process(script: str, *arguments: object) -> dict[str, dict[str, float]]:
    """What `child` prints, by the names of its models; nothing where it has failed."""
    command = [sys.executable, script, "--child", json.dumps(arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, preexec_fn=end_with_parent)
    if done.returncode:
        print(f"{arguments[0]} did not run", file=sys.stderr)
        return {}
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    for key, row in found.items():
        print(f"{key}: {json.dumps(row)}", file=sys.stderr, flush=True)
    return found
