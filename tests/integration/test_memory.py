"""The budget is kept: peak memory of a process of its own, measured by the kernel."""

import json
import subprocess
import sys

import pytest
from text import zipf_text

MEASURE = """
import json, sys
import gensim.models
from gensim_hilbert import PairCounts, Vocabulary

def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))

corpus, directory, memory_gb, workers = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
before = status("VmRSS")
counts = PairCounts.from_corpus(corpus, directory=directory, min_count=1, memory_gb=memory_gb, workers=workers)
print(json.dumps({"peak": status("VmHWM") - before, "fingerprint": counts.fingerprint,
                  "entries": counts.manifest["entries"]}))
"""
SLACK = 16 << 20  # bytes: heap that the interpreter and the libraries take while they work


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("workers", [1, 2])
def test_peak_memory_stays_within_the_budget(workers, tmp_path):
    (tmp_path / "corpus.txt").write_bytes(zipf_text(8_000_000, 20_000, exponent=0.6))
    budget = 0.03 * (1 << 30)

    def measure(memory_gb: float) -> dict:
        command = [
            sys.executable,
            "-c",
            MEASURE,
            tmp_path / "corpus.txt",
            tmp_path / f"{memory_gb}",
            str(memory_gb),
            str(workers),
        ]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    tight = measure(0.03)
    # What the counts take as (row, column, count) of 4 bytes each, which is less than any hash table needs.
    assert tight["entries"] * 12 > 3 * budget
    assert tight["peak"] < budget + SLACK
    ample = measure(2.0)
    assert ample["fingerprint"] == tight["fingerprint"]
    assert ample["peak"] > budget + SLACK, "the test would not notice"


STREAM = """
import sys
import gensim.models, torch
from gensim_hilbert import HilbertMLE

def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))

model = HilbertMLE(vector_size=10, window=2, min_count=1, epochs=1, workers=2, solver="gibbs")
model.build_vocab_from_freq({f"w{k}": 1 + 1000 // (k + 1) for k in range(1000)})
before = status("VmRSS")
model.train(corpus_file=sys.argv[1], total_words=1_000_000, epochs=1)
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_training_from_the_stream_takes_the_same_memory_for_any_corpus(tmp_path):
    peaks, text = [], zipf_text(500_000, 1000)
    for times in (1, 8):
        (tmp_path / "corpus.txt").write_bytes(text * times)
        command = [sys.executable, "-c", STREAM, tmp_path / "corpus.txt"]
        peaks.append(int(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    assert peaks[1] < 2 * (8 << 20) + SLACK
    assert peaks[1] < peaks[0] + (8 << 20)
