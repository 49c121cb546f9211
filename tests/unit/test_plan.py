"""Whatever the vocabulary and the budget: a plan that works, or an error that names the least."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gensim_hilbert.counting.plan import BYTES_PER_ID, LEAST_IDS, Plan
from gensim_hilbert.counting.runs import READ_BYTES
from gensim_hilbert.counting.settings import Window


@given(
    size=st.integers(1, 5_000_000),
    window=st.integers(1, 1000),
    workers=st.integers(1, 256),
    memory_gb=st.floats(0, 512),
    vocabulary_bytes=st.integers(0, 1 << 30),
)
def test_plans_fit_their_budget(size, window, workers, memory_gb, vocabulary_bytes):
    flat = Window.parse(window, "flat")
    try:
        plan = Plan.make(size, flat, workers, memory_gb, vocabulary_bytes)
    except ValueError as error:
        least = float(re.search(r"([\d.]+) is the least", str(error))[1])
        assert least > memory_gb
        plan = Plan.make(size, flat, workers, least, vocabulary_bytes)
        assert plan.workers == 1
        memory_gb = least
    assert 1 <= plan.workers <= workers
    assert plan.capacity >= LEAST_IDS + 8 * window
    assert plan.fan_in >= 2
    # Each worker: its ids and the three arrays of the counter; or read buffers, sums of a row, marginals of a class.
    budget = memory_gb * (1 << 30) - vocabulary_bytes
    assert plan.workers * (BYTES_PER_ID * plan.capacity + 20 * size) <= budget
    assert plan.workers * (READ_BYTES * plan.fan_in + (12 + 16) * size) <= budget


def test_more_workers_than_memory_are_not_used():
    window = Window.parse(5)
    assert Plan.make(50_000, window, 64, 1.0, 0).workers > Plan.make(50_000, window, 64, 0.1, 0).workers >= 1
    with pytest.raises(ValueError, match="is the least"):
        Plan.make(50_000, window, 64, 0.001, 0)
