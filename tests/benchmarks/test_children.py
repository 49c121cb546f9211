"""Scripts run again in a process of its own, which tells what it found and ends with the one that has asked."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPT = """
import os, sys, time
from children import answer, ask_child

def work(name, *numbers):
    print("a line that is no answer")
    if name == "sleep":
        print(os.getpid(), file=sys.stderr, flush=True)
        time.sleep(60)
    return {"sum": sum(numbers), "threads": os.environ["OMP_NUM_THREADS"], "mean": 1 / len(numbers)}

if __name__ == "__main__":
    if sys.argv[1] == "--child":
        answer(work, sys.argv[2])
    else:
        print(ask_child(__file__, sys.argv[1], *map(float, sys.argv[2:]), OMP_NUM_THREADS="3"))
"""


@pytest.fixture
def start(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS)}

    def started(*arguments):
        command = [sys.executable, script, *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return started


def test_an_answer_is_the_last_line(start):
    assert start("add", "1", "2").communicate() == ("{'sum': 3.0, 'threads': '3', 'mean': 0.5}\n", "")


def test_a_process_that_fails_is_named(start):
    process = start("add")
    output, errors = process.communicate()
    assert process.returncode == 1
    assert output == ""
    assert "ZeroDivisionError" in errors
    assert errors.endswith("script.py failed with the arguments ('add',); the reason is above.\n")


def is_running(pid):
    try:
        return "\nState:\tZ" not in Path("/proc", pid, "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_process_ends_with_the_one_that_has_asked(start):
    parent = start("sleep", "1")
    child = parent.stderr.readline().strip()
    assert is_running(child)
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    end = time.monotonic() + 5
    while is_running(child):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_all_scripts_do_it_in_the_same_way():
    own = [path.stem for path in BENCHMARKS.glob("*.py") if '__file__, "--child"' in path.read_text(encoding="utf-8")]
    assert own == []
