"""The share of time in which Python's lock is held, for work of which it is known."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CODE = """
import hashlib, time
from python_lock import share_held

def spin():
    end = time.perf_counter() + 0.5
    while time.perf_counter() < end:
        pass

data = bytes(1 << 28)
print(share_held(spin), share_held(lambda: time.sleep(0.5)), share_held(lambda: hashlib.sha256(data)))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info[:2] != (3, 11) or sys.platform != "linux", reason="it looks into CPython 3.11")
def test_a_loop_holds_it_and_neither_sleep_nor_compiled_code_that_lets_go_of_it_does():
    done = subprocess.run([sys.executable, "-c", CODE], cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    if "PermissionError" in done.stderr:
        pytest.skip("this system lets no process look into another")
    loop, sleep, digest = map(float, done.stdout.split())
    assert loop > 0.9
    assert max(sleep, digest) < 0.1
