"""`torchrun ... -m gensim_hilbert train`: one model, one voice, and after a kill torchrun goes on where it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from shell import environment, run

from gensim_hilbert import HilbertMLE, PairCounts

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")]
SETTINGS = ["--vector-size", "10", "--passes", "60", "--epochs", "60", "--seed", "2"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    source = np.random.default_rng(0)
    text = [[f"w{k}" for k in line] for line in source.zipf(1.3, size=(3000, 20)) % 5000]
    return PairCounts.from_corpus(text, directory=tmp_path_factory.mktemp("counts") / "counts", min_count=1)


@pytest.fixture(scope="module")
def vectors(counts):
    options = {"vector_size": 10, "passes": 60, "epochs": 60, "seed": 2}
    return HilbertMLE.from_counts(counts, **options).wv.vectors


def train(counts, output, *more):
    return ["-m", "gensim_hilbert", "train", "--counts", counts.directory, "-o", output, *SETTINGS, *more]


def ranks_of(process: subprocess.Popen) -> list[int]:
    """The processes that torchrun has started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return [pid for pid, parent in parents.items() if parent == process.pid]


def test_after_a_kill_torchrun_starts_all_ranks_again_and_they_go_on(counts, vectors, tmp_path):
    command = [*TORCHRUN, "2", "--max-restarts", "2", *train(counts, tmp_path / "model")]
    with subprocess.Popen(list(map(str, command)), env=environment(), stderr=subprocess.PIPE, text=True) as process:
        first = tmp_path / "model.checkpoint" / "training-1" / "checkpoint.json"
        while not first.exists() and process.poll() is None:
            time.sleep(0.01)
        os.kill(ranks_of(process)[-1], signal.SIGKILL)
        told = process.communicate(timeout=300)[1]
    assert process.returncode == 0, told
    np.testing.assert_array_equal(HilbertMLE.from_pretrained(tmp_path / "model").wv.vectors, vectors)
    assert not (tmp_path / "model.checkpoint").exists()


def test_an_error_is_told_and_ends_all_ranks(counts, tmp_path):
    (tmp_path / "model").write_text("precious")
    done = run("2", *train(counts, tmp_path / "model"), command=TORCHRUN)
    assert done.returncode
    assert "precious" in (tmp_path / "model").read_text()
    assert "error: " in done.stderr
    done = run("2", *train(counts, tmp_path / "other", "--objective", "ppmi-svd"), command=TORCHRUN)
    assert "is solved at once, and not by several ranks: start one process, without torchrun" in done.stderr
    assert not (tmp_path / "other").exists()
