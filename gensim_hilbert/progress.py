"""The progress bar of long work. It is shown on terminals only; everything else goes to the log."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from tqdm import tqdm


class Progress:
    """A bar over bytes that also shows tokens per second. It may be called from several threads."""

    def __init__(self, title: str, total: int | None, *, show: bool = True, unit: str = "B"):
        self.lock = threading.Lock()
        self.tokens = 0
        self.started = time.perf_counter()
        self.shown = show and sys.stderr is not None and sys.stderr.isatty()
        self.bar = tqdm(
            desc=title,
            total=total,
            unit=unit,
            unit_scale=True,
            unit_divisor=1024 if unit == "B" else 1000,
            leave=False,
            disable=not self.shown,
            dynamic_ncols=True,
        )

    def update(self, amount: int, tokens: int = 0) -> None:
        """Report that so much more is done."""
        with self.lock:
            self.tokens += tokens
            if tokens and not self.bar.disable:
                rate = self.tokens / max(time.perf_counter() - self.started, 1e-9)
                self.bar.set_postfix_str(f"{rate / 1e6:.1f}M tokens/s", refresh=False)
            self.bar.update(amount)

    def note(self, text: str) -> None:
        """Show a short text behind the bar."""
        self.bar.set_postfix_str(text, refresh=False)

    def move_to(self, amount: int) -> None:
        """Report how much is done in total."""
        self.update(amount - int(self.bar.n) if not self.bar.disable else 0)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.close()
