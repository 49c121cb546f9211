"""Counts go to scipy, npz and GloVe, and come back."""

import gzip

import numpy as np
import pytest
from helpers import DATA, entries_of, weights_of
from scipy import sparse

from gensim_hilbert import PairCounts, Vocabulary


def test_scipy_and_npz_round_trips(counts, tmp_path):
    same = PairCounts.from_scipy(counts.to_scipy(), counts.vocabulary, scale=counts.scale)
    assert same.symmetric == counts.symmetric
    assert (same.to_scipy() != counts.to_scipy()).nnz == 0
    counts.to_npz(tmp_path / "counts.npz")
    assert (sparse.load_npz(tmp_path / "counts.npz") != counts.to_scipy()).nnz == 0
    again = PairCounts.from_npz(tmp_path / "counts.npz")
    assert (again.to_scipy() != counts.to_scipy()).nnz == 0
    assert again.vocabulary.words == counts.vocabulary.words
    assert again.vocabulary.counts.tolist() == counts.vocabulary.counts.tolist()
    assert again.vocabulary.tokens == counts.vocabulary.tokens


def test_importing_finds_the_scale_or_asks_for_it():
    words = ["a", "b"]
    assert PairCounts.from_scipy(np.array([[0, 3], [3, 2]]), words).scale == 1
    thirds = PairCounts.from_scipy(np.array([[0, 1 / 3], [1, 0.5]]), words)
    assert thirds.scale == 6
    assert not thirds.symmetric
    with pytest.raises(ValueError, match="scale=N"):
        PairCounts.from_scipy(np.array([[0, np.pi], [1, 0]]), words)
    assert PairCounts.from_scipy(np.array([[0, np.pi], [1, 0]]), words, scale=1000).count("a", "b") == 3.142
    with pytest.raises(ValueError, match="2 x 3"):
        PairCounts.from_scipy(np.ones((2, 3)), words)
    for wrong in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match=f"negative, got {wrong}"):
            PairCounts.from_scipy(np.array([[0, wrong], [1, 0]]), words)
    for few_or_many in (["a"], ["a", "b", "c"], Vocabulary(["a"], [1]), Vocabulary("abc", [1, 2, 3])):
        with pytest.raises(ValueError, match=f"{len(few_or_many)} words"):
            PairCounts.from_scipy(np.ones((2, 2)), few_or_many)
    for scale in (0, -1, 2.5):
        with pytest.raises(ValueError, match=f"scale must be .* got {scale}"):
            PairCounts.from_scipy(np.ones((2, 2)), words, scale=scale)


CORPUS = DATA / "corpora" / "wikitext2_valid.txt.gz"
VOCABULARY = DATA / "peers" / "glove_wikitext2_valid.vocab.txt"
RECORDS = DATA / "peers" / "glove_wikitext2_valid.cooccurrence.bin.gz"


@pytest.fixture(scope="module")
def glove():
    """What GloVe's own programs wrote for a real text."""
    if not RECORDS.exists():
        pytest.skip(f"needs {RECORDS}; set GENSIM_HILBERT_DATA to its folder")
    return PairCounts.from_glove(RECORDS, VOCABULARY)


def sorted_entries(entries):
    order = np.lexsort((entries[1], entries[0]))
    return [part[order] for part in entries]


def test_harmonic_counts_equal_gloves(glove, tmp_path):
    text = gzip.decompress(CORPUS.read_bytes()).replace(b"<unk>", b"unknown")
    (tmp_path / "corpus.txt").write_bytes(text)
    counts = PairCounts.from_corpus(tmp_path / "corpus.txt", weights="harmonic", vocabulary=glove.vocabulary)
    assert glove.scale == counts.scale == 60
    assert glove.symmetric
    ours, theirs = entries_of(counts), entries_of(glove)
    for mine, peers in zip(sorted_entries(ours), sorted_entries(theirs), strict=True):
        np.testing.assert_array_equal(mine, peers)
    assert counts.vocabulary.counts.tolist() == glove.vocabulary.counts.tolist()


def test_export_gives_gloves_records_back(glove, tmp_path):
    glove.to_glove(tmp_path / "cooccurrence.bin", tmp_path / "vocab.txt")
    record = np.dtype([("word", "<i4"), ("context", "<i4"), ("weight", "<f8")])
    ours = np.sort(np.fromfile(tmp_path / "cooccurrence.bin", dtype=record), order=["word", "context"])
    theirs = np.sort(np.frombuffer(gzip.decompress(RECORDS.read_bytes()), dtype=record), order=["word", "context"])
    np.testing.assert_array_equal(ours["word"], theirs["word"])
    np.testing.assert_array_equal(ours["context"], theirs["context"])
    np.testing.assert_allclose(ours["weight"], theirs["weight"], rtol=1e-12)
    assert (tmp_path / "vocab.txt").read_bytes() == VOCABULARY.read_bytes()


ODD_ARRAYS = {
    "shape": [(2, 3), (-3, -3), (10**12, 10**12), (3,), 3],
    "data": [np.zeros(2), np.array(["x"] * 7), np.full(7, np.nan), np.full(7, -1.0), np.full(7, 1e300)],
    "indices": [np.full(7, 3), np.full(7, -1), np.zeros(6, int), np.full(7, 2**40), np.zeros(7)],
    "indptr": [(0, 9, 2, 7), (0, 2, 4, 9), (1, 2, 4, 7), (0, 2, 4), (0, -2, 4, 7)],
    "words": [np.zeros(1, np.uint8), np.full(3, 255, np.uint8), np.frombuffer(b"aab", np.uint8), np.zeros(3)],
    "word_bytes": [(1, 1, 2), (1, -1, 3), (3,), (1, 1, 2**62), ()],
    "word_counts": [(1, 2), (1, 2, -3), (1.0, 2.0, 3.0)],
    "corpus": [(1,), (-1, 2), (1, 2, 3)],
    "scale": [0, -1, 1.5, 2**62, (1,)],
}


@pytest.mark.parametrize("name", ODD_ARRAYS)
def test_damaged_npz_files_are_refused(name, tmp_path):
    counts = PairCounts.from_scipy(np.array([[0, 3, 1], [3, 2, 0], [1, 1, 4]]), ["a", "b", "c"])
    counts.to_npz(tmp_path / "whole.npz")
    arrays = dict(np.load(tmp_path / "whole.npz"))
    for value in ODD_ARRAYS[name]:
        np.savez(tmp_path / "odd.npz", **arrays | {name: np.array(value)})
        with pytest.raises(ValueError, match=r"odd\.npz") as caught:
            PairCounts.from_npz(tmp_path / "odd.npz", directory=tmp_path / "counts")
        assert not (tmp_path / "counts").exists(), caught.value
    np.savez(tmp_path / "less.npz", **{key: value for key, value in arrays.items() if key != name})
    with pytest.raises(ValueError, match=r"less\.npz"):
        PairCounts.from_npz(tmp_path / "less.npz")
    whole = (tmp_path / "whole.npz").read_bytes()
    for damaged in (whole[:-1], whole[: len(whole) // 2], b"", b"PK", b"\x80\x04N."):
        (tmp_path / "odd.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"odd\.npz is not a file that to_npz has written, or damaged"):
            PairCounts.from_npz(tmp_path / "odd.npz")


def test_damaged_glove_files_are_refused(tmp_path):
    counts = PairCounts.from_scipy(np.array([[0, 3, 1], [3, 2, 0], [1, 0, 4]]), ["a", "b", "c"])
    records, words = tmp_path / "cooccurrence.bin", tmp_path / "vocab.txt"
    counts.to_glove(records, words)
    assert weights_of(PairCounts.from_glove(records, words)) == weights_of(counts)
    (tmp_path / "cut.bin").write_bytes(records.read_bytes()[:-3])
    with pytest.raises(ValueError, match="records"):
        PairCounts.from_glove(tmp_path / "cut.bin", words)
    (tmp_path / "short.txt").write_bytes(b"the 5\nof 3\n")
    with pytest.raises(ValueError, match="only 2 words"):
        PairCounts.from_glove(records, tmp_path / "short.txt")
    (tmp_path / "wrong.txt").write_bytes(b"the five\n")
    with pytest.raises(ValueError, match="line 1"):
        PairCounts.from_glove(records, tmp_path / "wrong.txt")
