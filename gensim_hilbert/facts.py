"""What there is to say of a model, gensim's own too."""

from __future__ import annotations

import inspect
from typing import Any


def settings_of(model: Any) -> dict[str, Any]:
    """The parameters it was made with, but for those without effect."""
    from gensim_hilbert.model import HilbertMLE

    # `vectors` is kept under another name: gensim's models have an attribute of that one.
    named = {name: "returned" if name == "vectors" else name for name in inspect.signature(HilbertMLE).parameters}
    without = {"checkpoint", "progress", *(model.without_effect() if isinstance(model, HilbertMLE) else ())}
    settings = {name: vars(model)[at] for name, at in named.items() if name not in without and at in vars(model)}
    if "objective" in settings:
        settings["objective"] = repr(settings["objective"])
    return {name: value for name, value in settings.items() if isinstance(value, int | float | str | None)}
