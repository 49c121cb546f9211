"""Reads names with settings, as in "glove(x_max=10)" and "words(numbers=fold)", from files and command lines."""

from __future__ import annotations

import ast
from typing import Any


def parse_named(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the settings in brackets, which are plain values or bare words: nothing is evaluated.

    Raises a ValueError without a message for anything else.
    """
    name, bracket, rest = str(text).partition("(")
    if not bracket:
        return name.strip().lower(), {}
    try:
        call = ast.parse(f"settings({rest}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        return name.strip().lower(), {str(key.arg): _value(key.value) for key in call.keywords}
    except (ValueError, SyntaxError):
        raise ValueError from None


def _value(node: ast.expr) -> Any:
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)
