"""Processes that replace a result are killed: what is left is entirely old or entirely new, and can be replaced."""

import json
import sys
from pathlib import Path

import pytest
from shell import run

DRIVER = Path(__file__).parents[1] / "kill_driver.py"


@pytest.mark.skipif(sys.platform == "win32", reason="the driver forks")
@pytest.mark.parametrize(
    ("steps", "random_kills", "least"),
    [pytest.param(2, 0, 30, id="some steps"), pytest.param(0, 8, 500, id="every step", marks=pytest.mark.slow)],
)
def test_a_killed_process_leaves_the_old_result_or_the_new_one(steps, random_kills, least):
    done = run(steps, random_kills, 1, command=[sys.executable, DRIVER], timeout=3600)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["scenario"]: one["wrong"] for one in told if one["wrong"]} == {}
    assert sum(one["kills"] for one in told) >= least
