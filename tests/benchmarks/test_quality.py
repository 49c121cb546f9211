"""The table of vectors against peers is made in as many sittings as it takes."""

import os
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

import pytest
from gensim.test.utils import datapath

ROOT = Path(__file__).parents[2]
WORDS = ("said", "government", "people", "australia", "president", "police", "fire", "united", "states", "minister")

pytestmark = pytest.mark.slow


@pytest.fixture
def command(tmp_path):
    """SGNS on a small text, scored by one set of pairs."""
    pairs = tmp_path / "data" / "eval" / "similarity" / "pairs.tsv"
    pairs.parent.mkdir(parents=True)
    pairs.write_text("".join(f"{a}\t{b}\t{len(a + b)}\n" for a, b in combinations(WORDS, 2)))
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "GENSIM_HILBERT_DATA": str(tmp_path / "data")}

    def start(*options):
        return subprocess.Popen(
            [sys.executable, ROOT / "benchmarks" / "quality.py", datapath("lee_background.cor"), "--only", "sgns",
             "--vector-size", "8", "--max-final-vocab", "500", "--results", tmp_path / "results", *options],
            env={**os.environ, **environment, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    return start


def finished(process):
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return output


def lines(folder):
    path = folder / "results" / "runs.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def wait_until(holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def children_of(pid):
    return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_command_that_is_killed_loses_only_the_run_under_way(command, tmp_path):
    killed = command("--resume")
    wait_until(lambda: lines(tmp_path) and children_of(killed.pid))
    (child,) = children_of(killed.pid)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    before = lines(tmp_path)
    assert 1 <= len(before) < 3
    wait_until(lambda: not Path(f"/proc/{child}").exists(), seconds=5)
    assert f"| gensim SGNS | {len(before)} of 3 |" in finished(command("--table"))
    assert "| gensim SGNS | 3 |" in finished(command("--resume"))
    assert lines(tmp_path)[: len(before)] == before
    assert len(lines(tmp_path)) == 3


def test_two_commands_share_the_work(command, tmp_path):
    both = [command("--resume", "--seeds", "4") for _ in range(2)]
    for process in both:
        finished(process)
    assert len(lines(tmp_path)) == 4
    assert "| gensim SGNS | 4 |" in finished(command("--table", "--seeds", "4"))


def test_without_resume_nothing_is_kept(command, tmp_path):
    assert "| gensim SGNS | 1 |" in finished(command("--seeds", "1"))
    assert not lines(tmp_path)
