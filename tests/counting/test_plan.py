"""Whatever the vocabulary and the budget: a plan that works, or an error that names the least memory."""

import re

import pytest
from helpers import assert_same_counts
from hypothesis import given
from hypothesis import strategies as st
from memory import SLACK, measure, needs_proc
from texts import zipf_text

from gensim_hilbert import PairCounts
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
    for runs in range(1, plan.fan_in + 1):
        assert plan.read_bytes(runs) >= READ_BYTES
        assert runs * plan.read_bytes(runs) <= READ_BYTES * plan.fan_in


def test_more_workers_than_memory_are_not_used():
    window = Window.parse(5)
    assert Plan.make(50_000, window, 64, 1.0, 0).workers > Plan.make(50_000, window, 64, 0.1, 0).workers >= 1
    with pytest.raises(ValueError, match="is the least"):
        Plan.make(50_000, window, 64, 0.001, 0)


def test_the_least_memory_that_is_named_is_enough(plain, refused):
    message = str(refused(ValueError, "is the least", plain, memory_gb=0.001))
    least = float(message.split(": ")[1].split(" ")[0])
    assert_same_counts(PairCounts.from_corpus(plain, memory_gb=least), PairCounts.from_corpus(plain))


COUNT = """
from gensim_hilbert import PairCounts

corpus, directory, memory_gb, workers = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
before = status("VmRSS")
counts = PairCounts.from_corpus(corpus, directory=directory, min_count=1, memory_gb=memory_gb, workers=workers)
tell_peak_since(before, fingerprint=counts.fingerprint, entries=counts.manifest["entries"])
"""


@needs_proc
@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_peak_memory_stays_within_the_budget(workers, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes(zipf_text(5_000_000, 20_000, exponent=0.5))
    memory_gb = 0.02
    budget = memory_gb * (1 << 30)
    tight = measure(COUNT, corpus, tmp_path / "tight", memory_gb, workers)
    # What the counts take as (row, column, count) of 4 bytes each, which is less than any hash table needs.
    assert tight["entries"] * 12 > 3 * budget
    assert tight["peak"] < budget + SLACK
    ample = measure(COUNT, corpus, tmp_path / "ample", 2.0, workers)
    assert ample["fingerprint"] == tight["fingerprint"]
    assert ample["peak"] > budget + SLACK, "the test would not notice"
