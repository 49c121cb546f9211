"""Frames of a page in the headless browser: sandboxed ones have processes and sessions of their own."""

from __future__ import annotations

import time
from contextlib import contextmanager

from browser import Browser


class Frame:
    """One frame of the page that a browser shows."""

    def __init__(self, browser: Browser, target: str):
        self.browser, self.target = browser, target
        with at_session(browser, None):
            self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network"):
            with at_session(browser, self.session):
                browser.call(f"{domain}.enable")

    def ask(self, expression: str):
        """The value of a JavaScript expression in the frame."""
        with at_session(self.browser, self.session):
            return self.browser.ask(expression)

    def wait_for(self, expression: str, seconds: float = 20) -> None:
        """Wait until a JavaScript expression holds in the frame, which may be loaded again meanwhile."""
        until = time.monotonic() + seconds
        while True:
            try:
                if self.ask(f"Boolean({expression})"):
                    return
                found = self.ask("document.body.innerText")
            except AssertionError as error:  # of a page that is not there yet, or no longer
                found = error
            assert time.monotonic() < until, f"{expression} never held: {found}"
            time.sleep(0.05)


@contextmanager
def at_session(browser: Browser, session: str | None):
    """Have a browser talk to something else than its page."""
    before, browser.session = browser.session, session
    try:
        yield
    finally:
        browser.session = before


def frames(browser: Browser, count: int, seconds: float = 20) -> list[Frame]:
    """The sandboxed frames of the page, from top to bottom, as soon as there are so many."""
    until = time.monotonic() + seconds
    while True:
        with at_session(browser, None):
            targets = browser.call("Target.getTargets")["targetInfos"]
        found = [target["targetId"] for target in targets if target["type"] == "iframe"]
        if len(found) == count:
            return [Frame(browser, target) for target in found]
        assert time.monotonic() < until, targets
        time.sleep(0.1)
