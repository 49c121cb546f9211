"""What a worker counts: the tokens that subsampling keeps, and counts beyond 32 bits."""

import io
import re

import numpy as np
import pytest
from helpers import assert_nothing_left, assert_same_counts, count, table_of, weights_of
from reference import draw, pairs_of
from scipy import sparse
from texts import pieces, write_gzip

from gensim_hilbert import PairCounts, Vocabulary


def kept_tokens(files: list[bytes], vocabulary: Vocabulary, sample: float, seed: int) -> list[list[str]]:
    """The sentences that subsampling leaves."""
    limits = (vocabulary.keep_probability(sample) * (2**32 - 1)).astype(np.uint32)
    result = []
    for source, text in enumerate(files):
        start = 0
        for line in text.split(b"\n"):
            kept = []
            for token in re.finditer(rb"[^ \t]+", line):
                word, place = token[0].decode(), (source << 44) + start + token.start()
                if word in vocabulary and draw(seed, place) > limits[vocabulary.index[word]]:
                    continue
                kept.append(word)
            result.append(kept)
            start += len(line) + 1
    return result


@pytest.mark.parametrize("sample", [1e-2, 1e-3, 40.0])
@pytest.mark.parametrize("oov", ["remove", "gap"])
def test_kept_tokens_equal_the_oracle(sample, oov, tmp_path, set_block_bytes):
    files = pieces(3)
    plain, packed = [], []
    for k, piece in enumerate(files):
        plain.append(tmp_path / f"{k}.txt")
        plain[k].write_bytes(piece)
        packed.append(write_gzip(tmp_path / f"{k}.txt.gz", piece))
    expected = count(plain, sample=sample, seed=7, oov=oov)
    sentences = kept_tokens(files, expected.vocabulary, sample, 7)
    assert sum(map(len, sentences)) < 0.9 * expected.vocabulary.tokens
    assert table_of(expected) == pairs_of(sentences, expected.vocabulary.words, 4, 4, "dynamic", oov)
    for corpus, workers, block in ((packed, 1, 1 << 20), (plain, 3, 100), (packed, 3, 100), (packed, 2, 1000)):
        set_block_bytes(block)
        assert_same_counts(count(corpus, workers=workers, sample=sample, seed=7, oov=oov), expected)
    assert count(plain, sample=sample, seed=8, oov=oov).fingerprint != expected.fingerprint


@pytest.mark.parametrize("weight", [4e9, 2**40 + 1, 2**53 - 1])
@pytest.mark.parametrize("window", [1, (1, 0), (0, 1)])
def test_counts_past_32_bits(weight, window):
    counts = PairCounts.from_corpus(
        [["a", "b"], ["b", "b"], ["c", "a"]] * 3, window=window, weights=[weight], min_count=1
    )
    assert counts.scale == 1
    w = int(weight)
    symmetric = {("a", "b"): 3 * w, ("b", "a"): 3 * w, ("b", "b"): 6 * w, ("c", "a"): 3 * w, ("a", "c"): 3 * w}
    left = {("a", "b"): 3 * w, ("b", "b"): 3 * w, ("c", "a"): 3 * w}  # the context stands to the left
    right = {(term, context): value for (context, term), value in left.items()}
    table = weights_of(counts)
    assert table == {1: symmetric, (1, 0): left, (0, 1): right}[window]
    assert counts.total == pytest.approx(sum(table.values()), rel=1e-15)


def test_counts_past_32_bits_in_a_line_cut_into_blocks(set_block_bytes):
    set_block_bytes(4)
    counts = PairCounts.from_corpus(io.BytesIO(b"a b " * 3), window=1, weights=[2**40 + 1], min_count=1)
    assert weights_of(counts)["a", "b"] == 5 * (2**40 + 1)


def test_counts_past_63_bits_are_refused(refused, target):
    refused(OverflowError, "overflow 64 bits", [["a", "b"]] * 4, window=1, weights=[2**60])
    refused(OverflowError, "overflow", [["a", "b"]] * 4, window=1, weights=[2**64])
    refused(OverflowError, "overflow", [["a", "b"]] * 4, window=1, weights=[1e300])
    half = PairCounts.from_scipy(sparse.coo_array(np.array([[0, 2.0**61], [2.0**61, 0]])), ["a", "b"])
    with pytest.raises(OverflowError, match="overflow"):
        PairCounts.merge([half, half, half], directory=target)
    assert_nothing_left(target)
    with pytest.raises(OverflowError, match="overflow 64 bits"):
        PairCounts.from_scipy(sparse.coo_array(np.array([[0, 2.0**63], [1, 0]])), ["a", "b"], directory=target)
    assert_nothing_left(target)
