"""Against what GloVe's own programs wrote for a real text."""

import gzip
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from gensim_hilbert import PairCounts

DATA = Path(os.environ.get("GENSIM_HILBERT_DATA", Path(__file__).parents[3] / "shared" / "data"))
CORPUS = DATA / "corpora" / "wikitext2_valid.txt.gz"
VOCABULARY = DATA / "peers" / "glove_wikitext2_valid.vocab.txt"
RECORDS = DATA / "peers" / "glove_wikitext2_valid.cooccurrence.bin.gz"

pytestmark = pytest.mark.skipif(not RECORDS.exists(), reason=f"needs {RECORDS}; set GENSIM_HILBERT_DATA to its folder")


@pytest.fixture(scope="module")
def glove():
    return PairCounts.from_glove(RECORDS, VOCABULARY)


def test_harmonic_counts_equal_gloves(glove, tmp_path):
    text = gzip.decompress(CORPUS.read_bytes()).replace(b"<unk>", b"unknown")
    (tmp_path / "corpus.txt").write_bytes(text)
    counts = PairCounts.from_corpus(tmp_path / "corpus.txt", weights="harmonic", vocabulary=glove.vocabulary)
    assert glove.scale == counts.scale == 60
    assert glove.symmetric
    ours, theirs = counts._store.entries(0, 0, 1), glove._store.entries(0, 0, 1)
    for mine, peers in zip(sorted_entries(ours), sorted_entries(theirs), strict=True):
        np.testing.assert_array_equal(mine, peers)
    assert counts.vocabulary.counts.tolist() == glove.vocabulary.counts.tolist()


def sorted_entries(entries):
    order = np.lexsort((entries[1], entries[0]))
    return [part[order] for part in entries]


def test_export_gives_gloves_records_back(glove, tmp_path):
    glove.to_glove(tmp_path / "cooccurrence.bin", tmp_path / "vocab.txt")
    record = np.dtype([("word", "<i4"), ("context", "<i4"), ("weight", "<f8")])
    ours = np.sort(np.fromfile(tmp_path / "cooccurrence.bin", dtype=record), order=["word", "context"])
    theirs = np.sort(np.frombuffer(gzip.decompress(RECORDS.read_bytes()), dtype=record), order=["word", "context"])
    np.testing.assert_array_equal(ours["word"], theirs["word"])
    np.testing.assert_array_equal(ours["context"], theirs["context"])
    np.testing.assert_allclose(ours["weight"], theirs["weight"], rtol=1e-12)
    assert (tmp_path / "vocab.txt").read_bytes() == VOCABULARY.read_bytes()


def test_damaged_glove_files_are_refused(tmp_path):
    shutil.copy(VOCABULARY, tmp_path / "vocab.txt")
    (tmp_path / "cut.bin").write_bytes(gzip.decompress(RECORDS.read_bytes())[:-3])
    with pytest.raises(ValueError, match="records"):
        PairCounts.from_glove(tmp_path / "cut.bin", tmp_path / "vocab.txt")
    (tmp_path / "short.txt").write_bytes(b"the 5\nof 3\n")
    with pytest.raises(ValueError, match="only 2 words"):
        PairCounts.from_glove(RECORDS, tmp_path / "short.txt")
    (tmp_path / "wrong.txt").write_bytes(b"the five\n")
    with pytest.raises(ValueError, match="line 1"):
        PairCounts.from_glove(RECORDS, tmp_path / "wrong.txt")
