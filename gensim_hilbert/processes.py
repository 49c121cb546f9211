"""What has to be looked after when a process forks or ends: torch's threads, and temporary folders."""

from __future__ import annotations

import os
import shutil
import sys
from multiprocessing.util import Finalize
from pathlib import Path


def use_one_torch_thread() -> None:
    """Let torch compute with one thread in a process that has just been forked.

    The threads of OpenMP, among which torch divides its operations, do not survive a fork. But the thread that goes on
    in the child still counts on them, so that the first operation that is divided would wait for ever.
    """
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads"):  # Another thread may have been about to import torch.
        torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):  # There is none on Windows, where nothing forks.
    os.register_at_fork(after_in_child=use_one_torch_thread)


def remove_with(owner: object, folder: Path) -> None:
    """Remove a temporary folder with its contents when its owner is gone, or else when this process ends.

    Forks of this process, which may have the owner, too, leave the folder alone. `weakref.finalize` would not do for
    processes that multiprocessing has forked: they end without it.
    """
    # The priority is so low that child processes, which may use the folder, have ended before.
    Finalize(owner, shutil.rmtree, args=(folder, True), exitpriority=-100)
