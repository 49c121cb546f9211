"""Two processes that write one result at the same time end with one success and one clear error."""

import json
import sys
from pathlib import Path

import pytest
from shell import run

DRIVER = Path(__file__).parents[1] / "race_driver.py"


@pytest.mark.skipif(sys.platform == "win32", reason="the driver forks")
@pytest.mark.parametrize("pairs", [pytest.param(4, id="few"), pytest.param(120, id="many", marks=pytest.mark.slow)])
def test_one_process_succeeds_and_the_other_is_told_why_not(pairs):
    done = run(pairs, 1, command=[sys.executable, DRIVER], timeout=900)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["result"]: one["wrong"] for one in told if one["wrong"]} == {}, done.stderr
    assert len(told) == 5
