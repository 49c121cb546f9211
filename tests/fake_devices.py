"""Fake tensors on devices that are not there, with what a CPU build of torch lacks to index them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode


def view_and_numbers(x: torch.Tensor, index: Any) -> tuple[torch.Tensor, list[torch.Tensor | None]]:
    """Apply what makes a view of an index; return the view, and the tensors among the index by its dimensions."""
    parts = index if isinstance(index, tuple) else (index,)
    given = sum(part is not None and part is not Ellipsis for part in parts)
    numbers: list[torch.Tensor | None] = []
    for part in parts:
        dimension = len(numbers)
        if part is Ellipsis:
            numbers += [None] * (x.dim() - dimension - given)
            continue
        if part is None:
            x = x.unsqueeze(dimension)
            numbers.append(None)
            continue
        given -= 1
        if isinstance(part, int):
            x = x.select(dimension, part)
        elif isinstance(part, slice):
            x = torch.ops.aten.slice(x, dimension, part.start, part.stop, part.step or 1)
            numbers.append(None)
        else:
            numbers.append(part)
    return x, numbers


class Operators(TorchFunctionMode):
    """Methods of tensors as operators, where the methods ask for the driver of a device that fake tensors lack."""

    def __torch_function__(self, function, types, arguments=(), options=None):
        if function is torch.Tensor.__getitem__:
            x, numbers = view_and_numbers(*arguments)
            return torch.ops.aten.index(x, numbers) if any(n is not None for n in numbers) else x
        if function is torch.Tensor.__setitem__:
            x, numbers = view_and_numbers(*arguments[:2])
            value = arguments[2]
            if not isinstance(value, torch.Tensor):
                value = torch.full((), value, dtype=x.dtype, device=x.device)
            if any(n is not None for n in numbers):
                return torch.ops.aten.index_put_(x, numbers, value)
            return torch.ops.aten.copy_(x, value)
        name, options = getattr(function, "__name__", ""), options or {}
        if name.startswith("new_"):
            x, *rest = arguments
            shape = list(rest[0]) if rest and not isinstance(rest[0], int) else [n for n in rest if isinstance(n, int)]
            fill = rest[1:] if name == "new_full" else ()
            return getattr(torch.ops.aten, name)(x, shape, *fill, **options)
        if name == "contiguous":
            return torch.ops.aten.clone(arguments[0], memory_format=torch.contiguous_format)
        if name == "copy_":
            return torch.ops.aten.copy_(*arguments[:2])
        if name in ("double", "float", "long"):
            return torch.ops.aten._to_copy(arguments[0], dtype=getattr(torch, name))
        if name == "to" and isinstance(arguments[1], torch.dtype):
            return torch.ops.aten._to_copy(arguments[0], dtype=arguments[1])
        try:
            return function(*arguments, **options)
        except RuntimeError as error:
            if "not linked" in str(error):
                error.add_note(f"The function is {name or function}.")
            raise


@contextmanager
def fake_devices():
    """Within this block tensors have a device and a shape but no numbers: any look by the host raises."""
    with FakeTensorMode(allow_non_fake_inputs=True), Operators():
        yield
