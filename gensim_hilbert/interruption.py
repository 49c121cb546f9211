"""Recognises Ctrl-C, in whatever form it arrives."""

from __future__ import annotations


def is_interruption(error: BaseException | None) -> bool:
    """Tell whether an error is Ctrl-C, or what becomes of it if it strikes while a lock is taken.

    Releasing that lock then raises a RuntimeError in the context of the KeyboardInterrupt. Other errors stay what they
    are, even if they are raised while Ctrl-C is being handled.
    """
    while isinstance(error, RuntimeError):
        error = error.__context__
    return isinstance(error, KeyboardInterrupt)
