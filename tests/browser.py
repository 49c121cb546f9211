"""A headless Chromium, driven over a pipe by the DevTools protocol: JSON, with a NUL behind each message."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
    "--disable-dev-shm-usage",  # Containers have little of it, and a browser without memory dies.
]  # fmt: skip
# The protocol is spoken on the descriptors 3 and 4, which the pipes may happen to have the wrong way round.
LAUNCH = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for pipe, wanted in zip(pipes, (3, 4)):
    os.dup2(pipe, wanted)
os.execv(sys.argv[3], sys.argv[3:])
"""
PATIENCE = 120  # seconds, after which a browser that hangs is ended
LAUNCHES = 3  # On a busy machine a browser may die before it shows anything.


class Browser:
    """One page of one browser; a context manager."""

    def __init__(self):
        program = next((found for name in NAMES if (found := shutil.which(name))), None)
        if program is None:
            pytest.skip(f"no browser to look at the page with: none of {', '.join(NAMES)} is installed")
        self.program = program

    def launch(self) -> None:
        """Start a browser, which has not answered yet."""
        self.folder = tempfile.mkdtemp(prefix="browser-")
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()
        command = [sys.executable, "-c", LAUNCH, str(to_read), str(from_write), self.program, *FLAGS]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(to_read, from_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        self.buffer, self.number, self.session = b"", 0, None
        self.origin = "file:"
        self.events: list[dict] = []
        self.watch_over()

    def watch_over(self) -> None:
        """Have the browser ended if it takes too long from now on."""
        if hasattr(self, "watch"):
            self.watch.cancel()
        self.watch = threading.Timer(PATIENCE, self.process.kill)
        self.watch.start()

    def __enter__(self) -> Browser:
        for left in reversed(range(LAUNCHES)):
            self.launch()
            try:
                self.attach()
            except (RuntimeError, BrokenPipeError):
                self.__exit__()
                if not left:
                    raise
            else:
                break
        return self

    def attach(self) -> None:
        """Talk to the page of the browser from now on."""
        pages: list[dict] = []
        while not pages:
            pages = [found for found in self.call("Target.getTargets")["targetInfos"] if found["type"] == "page"]
        target = pages[0]
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __exit__(self, *_) -> None:
        self.watch.cancel()
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.source)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method: str, **params) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while (answer := self.receive()).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def receive(self) -> dict:
        while b"\0" not in self.buffer:
            some = os.read(self.source, 1 << 16)
            if not some:
                raise RuntimeError("the browser has ended")
            self.buffer += some
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, page: Path | str, *, width: int, height: int, scheme: str, phone: bool = False) -> None:
        """Show a file or an address in a window of that size, as someone sees it who prefers light or dark."""
        self.events.clear()
        self.watch_over()
        address = page.as_uri() if isinstance(page, Path) else page
        self.origin = "file:" if isinstance(page, Path) else "/".join(page.split("/")[:3]) + "/"
        scale = 2 if phone else 1
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def ask(self, expression: str):
        """The value of a JavaScript expression on the page; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 20) -> None:
        """Wait until a JavaScript expression holds."""
        until = time.monotonic() + seconds
        while not self.ask(f"Boolean({expression})"):
            assert time.monotonic() < until, (
                f"{expression} never held; the page says: {self.ask('document.body.innerText')}"
            )
            time.sleep(0.05)

    @property
    def complaints(self) -> list[str]:
        """What the console says, and what was asked of other places than the page's own."""
        told = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
                told.append(json.dumps(params))
            elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(self.origin):
                told.append("asks for " + params["request"]["url"][:200])
        return told

    def picture(self, path: Path) -> None:
        """The whole page as a PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")["data"]
        path.write_bytes(base64.b64decode(data))
