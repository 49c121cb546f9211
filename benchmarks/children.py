"""Work in a process of its own, which ends with the process that has started it."""

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
from pathlib import Path
from typing import Any

Scores = dict[str, dict[str, float]]  # by model and column
SET_SIGNAL_OF_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG, for prctl


def end_with_parent() -> None:
    """Have this process killed when its parent ends, however that ends; on Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_SIGNAL_OF_PARENTS_DEATH, signal.SIGKILL)


class ChildFailed(SystemExit):
    """A process has failed: unless this is caught, the command ends with its sentence."""


def ask_child(script: str, *arguments: object, **environment: str) -> Any:
    """Run a script again, with `--child` and the arguments as JSON, and return what it hands to `answer`."""
    command = [sys.executable, script, "--child", json.dumps(arguments)]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=end_with_parent,
        env=os.environ | environment,
    )
    if done.returncode:
        raise ChildFailed(f"{Path(script).name} failed with the arguments {arguments}; the reason is above.")
    return json.loads(done.stdout.splitlines()[-1])


def answer(function: Callable[..., Any], arguments: str) -> None:
    """Print what a function returns for arguments in JSON, for the process that has asked."""
    print(json.dumps(function(*json.loads(arguments))))


def cpu_seconds() -> float:
    """Return the processor's time of this process and of programs that it has waited for."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


def train_and_score(trainers: Mapping[str, Callable[..., Any]], name: str, *arguments: object) -> Scores:
    """Return the times and scores of each model of a system, by its name.

    Processes of a higher niceness wait for others, so that their wall time says nothing: it is left out.
    """
    import torch  # noqa: F401  # its import is not what is measured
    from scoring import RARE_WORDS, all_pairs, scores

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
    return found


def scores_of_child(script: str, *arguments: object) -> Scores:
    """Return what `train_and_score` returns in a process of its own; nothing where it has failed."""
    try:
        found: Scores = ask_child(script, *arguments)
    except ChildFailed as failure:
        print(failure, file=sys.stderr)
        return {}
    for key, row in found.items():
        print(f"{key}: {json.dumps(row)}", file=sys.stderr, flush=True)
    return found
