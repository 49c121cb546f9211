"""Ctrl-C, in whatever form it arrives."""

from __future__ import annotations


def is_interruption(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: it can strike while a lock is taken, which then fails in its own way."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
