"""The share of processor time in which Python's lock is held, for work of which it is known."""

import ctypes
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

def spin_and_wait():
    spin()
    time.sleep(1)

data = bytes(1 << 28)
print(share_held(spin), share_held(spin_and_wait), share_held(lambda: hashlib.sha256(data)))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info[:2] != (3, 11) or sys.platform != "linux", reason="it looks into CPython 3.11")
def test_a_loop_holds_it_whoever_waits_is_not_counted_and_compiled_code_lets_go_of_it():
    done = subprocess.run([sys.executable, "-c", CODE], cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    if "PermissionError" in done.stderr:
        pytest.skip("this system lets no process look into another")
    loop, loop_and_wait, digest = map(float, done.stdout.split())
    assert min(loop, loop_and_wait) > 0.9
    assert digest < 0.1


def test_the_watcher_ends_if_the_work_raises(module, monkeypatch):
    script, word, started = module("python_lock"), ctypes.c_size_t(), []

    class Noted(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(script.subprocess, "Popen", Noted)
    with pytest.raises(RuntimeError, match="out of disk"), script.watched(ctypes.addressof(word)):
        raise RuntimeError("out of disk")
    assert started[0].poll() is not None
