"""Real processes on loopback, connected by gloo, train one model: it is that of one process, bit for bit."""

import json
import sys
from pathlib import Path

import pytest
from shell import run

DRIVER = Path(__file__).parents[1] / "ring_driver.py"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the driver forks")


def wrongs(*scenario, timeout=600) -> list[str]:
    """What went wrong in scenarios of the driver, which are separated by commas."""
    done = run(*scenario, command=[sys.executable, DRIVER], timeout=timeout)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_two_and_three_ranks_learn_what_one_learns_and_send_what_the_formula_says():
    assert wrongs("same", 2, 3, ",", "volume", 2, 3, ",", "models", 2) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario",
    [("same_everywhere", 2, 3, 7), ("at_once", 2, 3), ("models", 2, 3), ("models_of_subwords", 2, 3)],
    ids=lambda scenario: scenario[0],
)
def test_whatever_the_objective(scenario):
    assert wrongs(*scenario) == []


@pytest.mark.slow
def test_whatever_happens_to_a_rank_the_others_end_soon_and_tell_why():
    assert wrongs("failures") == []


@pytest.mark.slow
def test_after_kills_at_random_moments_other_numbers_of_ranks_go_on():
    assert wrongs("kills", 20, 1, timeout=3600) == []
