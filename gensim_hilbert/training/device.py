"""Where to compute, and how exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

FEW_OPERATIONS = 2e8  # some milliseconds of one core


def choose_device(name: str) -> torch.device:
    """The device of that name; "auto" is a GPU where there is one."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"device={name!r} is not available here: {reason}; use device='cpu' or 'auto'") from None
    return device


def free_memory(device: torch.device) -> int | None:
    """Bytes that are free on a CUDA device; None for others, which share the memory of the host."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else None


def wide(x: torch.Tensor) -> torch.Tensor:
    """The same in float64: on the host where the device is Apple's GPU, which has none."""
    return (x.cpu() if x.device.type == "mps" else x).double()


@contextmanager
def threads_for(operations: float, device: torch.device) -> Iterator[None]:
    """Let torch have one thread for products of so few operations, all of its threads for larger ones.

    Threads that share a millisecond's work mostly wait for each other, and on a busy machine for long.
    """
    before = torch.get_num_threads()
    if device.type != "cpu" or operations > FEW_OPERATIONS or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def products_in(precision: str) -> Iterator[None]:
    """Let torch compute float32 products in TF32 where less than float32 is asked for; then set back what was set."""
    if precision == "float32":
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
