"""Whatever happens to a file, reading it gives what it held, or one sentence that names it: no crash, no hang."""

import os

import pytest
from damage import failures_of
from damaged_files import SUBJECTS

EXAMPLES = int(os.environ.get("GENSIM_HILBERT_FUZZ_EXAMPLES", 1000))  # of each kind, in the long form
SEEDS = [int(seed) for seed in os.environ.get("GENSIM_HILBERT_FUZZ_SEEDS", "2").split(",")]


@pytest.mark.parametrize("kind", SUBJECTS)
def test_damage_is_noticed(kind, tmp_path):
    assert failures_of(SUBJECTS[kind], tmp_path, seed=1, examples=15) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", SUBJECTS)
def test_much_damage_is_noticed(kind, seed, tmp_path):
    assert failures_of(SUBJECTS[kind], tmp_path, seed, EXAMPLES) == []
