"""Fewer bits, words and dimensions lose no more than they must."""

import numpy as np
import pytest

from gensim_hilbert.compact import frequent_rows, halved, quantised, refuse_sizes, restored, strongest_axes, turned


def test_int8_is_as_near_as_the_largest_number_of_a_row_allows():
    random = np.random.default_rng(1)
    matrix = (random.normal(size=(40_000, 7)) * 10.0 ** random.integers(-6, 6, size=(40_000, 1))).astype(np.float32)
    matrix[3] = 0
    matrix[4] = 1e-44
    rows, scales = quantised(matrix)
    assert (rows.dtype, scales.dtype) == (np.int8, np.float32)
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    assert (np.abs(restored(rows, scales) - matrix) <= largest / 127 / 2 * 1.001 + 1e-44).all()
    assert not restored(rows, scales)[3].any()
    assert np.abs(rows[matrix.any(axis=1) & (largest[:, 0] > 1e-30)]).max(axis=1).min() == 127


def test_what_has_no_such_form_is_refused():
    with pytest.raises(ValueError, match="NaN or infinity cannot be written as int8"):
        quantised(np.array([[1, np.nan]], dtype=np.float32))
    with pytest.raises(ValueError, match="float16 holds numbers up to 65504, got 70000; use dtype='int8'"):
        halved(np.array([[1, -7e4]], dtype=np.float32))
    assert halved(np.zeros((0, 3), dtype=np.float32)).shape == (0, 3)


def test_strongest_axes_are_those_of_the_svd():
    random = np.random.default_rng(2)
    matrix = (random.normal(size=(500, 6)) * [5, 1, 3, 0.1, 2, 0.5] + 1).astype(np.float32)
    axes = strongest_axes(matrix, 3)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    left, strengths, right = np.linalg.svd(matrix.astype(np.float64), full_matrices=False)
    best = left[:, :3] * strengths[:3] @ right[:3]
    np.testing.assert_allclose(turned(matrix, axes) @ axes.T, best, atol=1e-4)
    whole = turned(matrix, strongest_axes(matrix, 6))
    np.testing.assert_allclose(whole @ whole.T, matrix @ matrix.T, rtol=1e-4, atol=1e-3)


def test_the_most_frequent_words_are_kept_in_their_order():
    assert frequent_rows(np.array([1, 9, 3, 9]), 4, 2).tolist() == [1, 3]
    assert frequent_rows(np.array([5, 9, 5, 5]), 4, 3).tolist() == [0, 1, 2]
    assert frequent_rows(None, 4, 2).tolist() == [0, 1]
    assert frequent_rows(None, 4, 9).tolist() == frequent_rows(None, 4, None).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("sizes", "why"),
    [
        (("int4", None, None), "dtype must be one of 'float32', 'float16', 'int8', got 'int4'"),
        (("int8", 0, None), "max_vocab must be a whole number of 1 or more, got 0"),
        (("int8", 1.5, None), "max_vocab .* got 1.5"),
        (("int8", None, 11), "pca must be a whole number from 1 to the 10 dimensions of vectors, got 11"),
        (("int8", None, True), "pca .* got True"),
    ],
)
def test_wrong_sizes_are_refused(sizes, why):
    with pytest.raises(ValueError, match=why):
        refuse_sizes(*sizes, 10)
