"""Devices, numbers of threads, and the precision of products."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from gensim_hilbert._pairs import matrix_product

Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]  # Like `map`; it may work on several at once


def choose_device(name: str) -> torch.device:
    """Return the device of that name, with its number; "auto" is a GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        return torch.zeros(1, device=name).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"device={name!r} is not available here: {reason}; use device='cpu' or 'auto'") from None


def free_memory(device: torch.device) -> int | None:
    """Return the free bytes of a CUDA device, or None for others, which share the memory of the host."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else None


def sent(x: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor of the host on a device, without waiting for its arrival."""
    if device.type == "cpu":
        return x
    if device.type == "cuda" and torch.cuda.is_available():
        x = x.pin_memory()
    return torch.empty_like(x, device=device).copy_(x, non_blocking=True)


def multiplied(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the product of two matrices in float32, on the host by one core, in the widest registers that it has."""
    if x.device.type != "cpu":
        return x @ y
    out = torch.empty(len(x), y.shape[1])
    matrix_product(x.contiguous().numpy(), y.contiguous().numpy(), out.numpy())
    return out


def wide(x: torch.Tensor) -> torch.Tensor:
    """Return a tensor in float64; on the host if the device is Apple's GPU, which has no float64."""
    return (x.cpu() if x.device.type == "mps" else x).double()


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Let torch divide operations among so many threads; restore the old number at the end."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)  # new threads start with the number that was set last


@contextmanager
def products_in(precision: str) -> Iterator[None]:
    """Let torch compute float32 products in TF32 if less than float32 is asked for; restore the setting at the end."""
    if precision == "float32":
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
