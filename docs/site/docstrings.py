"""Prepare docstrings for griffe, which takes the default of the first parameter of "a, b : int" for that of all."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

SEVERAL = re.compile(r"^(\w+(?:, \w+)+)( : .*)?\n((?:[ ]+.*\n?)+)", re.MULTILINE)


def one_by_one(docstring: str) -> str:
    """Return a docstring in which each parameter has an entry of its own."""

    def entries(found: re.Match[str]) -> str:
        names, kind, text = found.groups()
        return "".join(f"{name}{kind or ''}\n{text.rstrip()}\n" for name in names.split(", "))

    return SEVERAL.sub(entries, docstring)


class OneByOne(Extension):
    """Gives each parameter of a docstring an entry of its own."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of an object that was loaded."""
        if obj.docstring:
            obj.docstring.value = one_by_one(obj.docstring.value)
