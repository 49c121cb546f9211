"""Differences between systems are those of Welch's test, and only what chance cannot explain is bold."""

import numpy as np
import pytest


@pytest.fixture
def leads(module):
    return module("leads")


def test_intervals_hold_the_difference_as_often_as_they_say(leads):
    random = np.random.default_rng(1)
    trials = [leads.lead(random.normal(0.5, 0.01, 3), random.normal(0.3, 0.03, 3)) for _ in range(2000)]
    inside = np.mean([abs(one.value - 0.2) <= one.half for one in trials])
    assert 0.93 < inside < 0.98


def test_bold_is_what_is_significant_after_holms_correction(leads):
    ours, theirs = leads.COMPARED[0]
    columns = {"mean": (0.50, 0.40), "S999": (0.352, 0.348), "CPU s": (10, 20)}
    runs = [
        [{name: sides[side] + error for name, sides in columns.items()} for error in (-0.005, 0, 0.005)]
        for side in (0, 1)
    ]
    heading, _, line = leads.leads_table({ours: runs[0], theirs: runs[1]}).splitlines()
    assert heading == "| difference | mean | S999 |"
    half = 2.776 * 0.005 * (2 / 3) ** 0.5  # Student's t with 4 degrees of freedom
    assert line == f"| {ours} − {theirs} | **+.100** ± {half:.3f} | +.004 ± {half:.3f} |".replace("± 0", "± ")


@pytest.mark.parametrize("theirs", [[], [{"mean": 0.4}]])
def test_a_single_run_is_not_compared(leads, theirs):
    names = leads.COMPARED[0]
    assert leads.leads_table(dict(zip(names, ([{"mean": 0.5}] * 2, theirs), strict=True))) == ""


def test_runs_that_are_all_alike_are_compared(leads):
    assert leads.lead([0.5, 0.5], [0.5, 0.5]) == (0, 0, 1)
    assert leads.lead([0.5, 0.5], [0.25, 0.25]) == (0.25, 0, 0)
