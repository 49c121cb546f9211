"""The search by the copy in int8 finds what a search through the whole matrix finds."""

import numpy as np
import pytest

from gensim_hilbert.explore import selection
from gensim_hilbert.explore.selection import Question, Space


def scores_of(space, question):
    """The scores of all rows in float64: the oracle."""
    scores = space.matrix.astype(np.float64) @ np.array(question.queries, dtype=np.float64).T
    if space.divisors is not None:
        scores /= space.divisors[:, None]
    if space.biases is not None:
        scores += space.biases[:, None]
    return scores + question.shifts[: len(question.queries)]


def assert_best(space, questions):
    for question, found in zip(questions, space.best(questions), strict=True):
        scores = scores_of(space, question)
        lowest = scores.min(axis=1)
        lowest[list(question.excluded)] = -np.inf
        wanted = min(question.wanted, len(lowest) - len(question.excluded))
        order = np.lexsort([np.arange(len(lowest)), -lowest])[:wanted]
        np.testing.assert_allclose(found.scores.min(axis=1), lowest[order], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.scores, scores[found.rows], rtol=1e-9, atol=1e-12)
        assert len(set(found.rows.tolist())) == wanted
        if len(np.unique(lowest[order])) == wanted:
            assert found.rows.tolist() == order.tolist()


@pytest.mark.parametrize("rows", [1, 31, 40, 2001])
@pytest.mark.parametrize("dimensions", [1, 32, 300])
@pytest.mark.parametrize("with_biases", [False, True])
def test_the_best_rows_are_those_of_a_search_through_all(rows, dimensions, with_biases, monkeypatch):
    monkeypatch.setattr(selection, "LEAST_ROWS", 500)  # so that several threads search
    random = np.random.default_rng([rows, dimensions])
    # Rows of very different lengths, some with one number that is far from all others.
    matrix = random.normal(size=(rows, dimensions)) * random.lognormal(size=(rows, 1))
    matrix[random.integers(rows, size=rows // 10), random.integers(dimensions)] *= 50
    matrix = matrix.astype(np.float32)
    space = Space(matrix, None, random.normal(size=rows) if with_biases else None)
    space.make_copy()
    queries = random.normal(size=(70, dimensions)).astype(np.float32)
    questions = [Question((query,), 1 + k, (0.5,), (k % rows,)) for k, query in enumerate(queries)]
    questions += [Question((a, b), 5, (1.0, -2.0)) for a, b in zip(queries[::2], queries[1::2], strict=True)]
    assert_best(space, questions)


def test_cosines():
    random = np.random.default_rng(3)
    matrix = (random.normal(size=(30_000, 100)) * random.lognormal(size=(30_000, 1))).astype(np.float32)
    lengths = np.linalg.norm(matrix, axis=1)
    space = Space(matrix, lengths)
    space.make_copy()
    assert_best(space, [Question((matrix[k] / lengths[k],), 20, (0.0,), (k,)) for k in range(0, 30_000, 1500)])


def test_few_rows_are_computed_from_the_matrix():
    random = np.random.default_rng(4)
    matrix = random.normal(size=(50_000, 300)).astype(np.float32)
    space = Space(matrix)
    space.make_copy()
    candidates = space.copy.candidates([Question((matrix[0],), 20), Question((matrix[1], matrix[2]), 20)], None)
    assert all(20 <= len(rows) < 500 for rows in candidates)


@pytest.mark.parametrize("dimensions", [517, 3000])
def test_long_vectors_do_not_overflow(dimensions):
    """All numbers as large as they can be: the products of int8 and int16 add up to more than int32 holds."""
    matrix = np.ones((200, dimensions), dtype=np.float32)
    matrix *= np.linspace(1, 2, 200, dtype=np.float32)[:, None]
    space = Space(matrix)
    space.make_copy()
    assert_best(space, [Question((sign * np.ones(dimensions, dtype=np.float32),), 7) for sign in (1, -1)])


@pytest.mark.parametrize("value", [0.0, 1.0, 1e-38, 1e18])
def test_equal_rows_are_searched_in_full(value, monkeypatch):
    monkeypatch.setattr(selection, "CANDIDATES", 100)
    space = Space(np.full((1000, 8), value, dtype=np.float32))
    space.make_copy()
    query = np.ones(8, dtype=np.float32)
    assert space.copy.candidates([Question((query,), 3)], None) == [None]
    assert_best(space, [Question((query,), 3), Question((0 * query,), 3)])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_there_is_no_copy_of_what_is_no_number(value):
    matrix = np.ones((10, 4), dtype=np.float32)
    matrix[3, 2] = value
    space = Space(matrix)
    space.make_copy()
    assert space.copy is None


def test_without_a_copy_the_whole_matrix_is_searched():
    random = np.random.default_rng(5)
    matrix = random.normal(size=(500, 20)).astype(np.float32)
    space = Space(matrix, np.linalg.norm(matrix, axis=1))
    assert_best(space, [Question((matrix[k],), 1 + 40 * k, (0.0,), (k, 499)) for k in range(20)])
