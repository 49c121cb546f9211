"""Ctrl-C, in whatever form it arrives."""

from __future__ import annotations


def is_interruption(error: BaseException | None) -> bool:
    """Whether an error is Ctrl-C, or what becomes of it where it strikes while a lock is taken.

    Releasing that lock is then a RuntimeError. Other errors are what they are, also while Ctrl-C is being handled.
    """
    while isinstance(error, RuntimeError):
        error = error.__context__
    return isinstance(error, KeyboardInterrupt)
