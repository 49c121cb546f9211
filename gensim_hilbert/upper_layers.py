"""Functions of upper layers that methods of a model call; the package itself, which knows all layers, names them."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

FUNCTIONS: dict[str, str] = {}  # by what a method asks for: "module:function"


def upper_function(name: str) -> Any:
    """Import the function of an upper layer that goes by this name."""
    return resolve_name(FUNCTIONS[name])
