"""Vectors in the formats of other tools, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gensim_hilbert.export.formats import FORMATS

if TYPE_CHECKING:
    from gensim_hilbert.export.reading import load_vectors
    from gensim_hilbert.export.writing import export

__all__ = ["FORMATS", "export", "load_vectors"]


def __getattr__(name: str) -> Any:
    """Import what loads gensim, which takes seconds, only when it is asked for."""
    if name == "export":
        from gensim_hilbert.export.writing import export

        return export
    if name == "load_vectors":
        from gensim_hilbert.export.reading import load_vectors

        return load_vectors
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
