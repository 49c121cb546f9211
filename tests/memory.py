"""Peak memory of a process of its own, measured by the kernel."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SLACK = 16 << 20  # bytes: heap that the interpreter and the libraries take while they work
STATUS = """
import json, sys
import gensim.models

def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))

def tell_peak_since(before, **facts):
    print(json.dumps({"peak": status("VmHWM") - before, **facts}))
"""
needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def measure(program: str, *arguments) -> dict:
    """What the program told by `tell_peak_since(status("VmRSS"), ...)`."""
    command = [sys.executable, "-c", STATUS + program, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
