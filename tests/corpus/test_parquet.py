"""Parquet: memory does not grow with row groups, and pyarrow is asked for only when there is a file of that kind."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from memory import SLACK, measure, needs_proc
from table_files import write_arrow, write_parquet

from gensim_hilbert.corpus.sources import as_corpus

READ = """
import pyarrow.compute, pyarrow.ipc, pyarrow.parquet
from gensim_hilbert.corpus.sources import as_corpus

before = status("VmRSS")
sizes = [len(block.data) for block in as_corpus(sys.argv[1]).blocks(streams=True)]
tell_peak_since(before, text=sum(sizes), largest=max(sizes))
"""


@needs_proc
@pytest.mark.slow
def test_a_large_row_group_is_read_in_small_steps(tmp_path):
    peaks = []
    for rows in (100_000, 400_000):
        source = np.random.default_rng(rows)
        words = np.array([f"word{k}" for k in range(5000)])
        texts = [" ".join(row) for row in words[source.integers(0, 5000, (rows, 30))]]
        pq.write_table(pa.table({"text": texts}), tmp_path / "table.parquet", row_group_size=rows)
        assert pq.ParquetFile(tmp_path / "table.parquet").num_row_groups == 1
        found = measure(READ, tmp_path / "table.parquet")
        assert found["text"] > 250 * rows
        assert found["largest"] < 2 << 20
        peaks.append(found["peak"])
    assert peaks[1] < peaks[0] + SLACK, peaks


@pytest.mark.parametrize("write", [write_parquet, write_arrow])
def test_a_missing_package_is_named(write, tmp_path, monkeypatch):
    path = write(tmp_path / ("a.parquet" if write is write_parquet else "a.arrow"), ["one two"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'gensim-hilbert\[parquet\]'"):
        as_corpus(path)
    (tmp_path / "b.jsonl").write_text('{"text": "one two"}')  # needs no package
    (tmp_path / "b.csv").write_text("text\none two\n")
    for name in ("b.jsonl", "b.csv"):
        assert as_corpus(tmp_path / name).names == [str(tmp_path / name)]
