"""Exact search for the rows with the highest products, by a copy of the matrix in int8 that is four times as small.

The copy tells of each product between which two numbers it lies. Rows that cannot be among the best are left out, and
the products of the few others are computed from the matrix itself: what is found is what a search through all of it
would find.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from gensim_hilbert._selection import NUMBERS, multiply, quantise, select

QUESTIONS_AT_A_TIME = 64
SCORES_AT_A_TIME = 1 << 24  # of a search without the copy
LEAST_ROWS = 8192  # for one thread
MANY_QUESTIONS = 4  # that one thread answers
LARGEST_SUM = 2**31 - 1  # of products, in int32
LARGEST_INT8, LARGEST_INT16 = 127, 2**15 - 1
ROUNDING = 1e-5  # relative error of what is computed in float32, with a margin
CANDIDATES = 4096  # for which there is room; if there are more, the whole matrix is searched
NO_BIASES = np.empty(0, dtype=np.float32)
Result = TypeVar("Result")


class Question(NamedTuple):
    """A search for rows: those whose score is highest, or the lower one of two scores.

    The score of a row is its product with a query, plus the shift of that query.
    """

    queries: tuple[np.ndarray, ...]  # one or two
    wanted: int
    shifts: tuple[float, ...] = (0.0, 0.0)
    excluded: tuple[int, ...] = ()


class Found(NamedTuple):
    """The rows that a search has found, best first, and their scores: one column per query."""

    rows: np.ndarray
    scores: np.ndarray


class Space:
    """Vectors or covectors that are searched.

    Parameters
    ----------
    matrix : array
        One row per word. It can be mapped from a file: once the copy has been made, few of its rows are read.
    divisors : array, optional
        By which rows are divided: their lengths, for cosines.
    biases : array, optional
        What is added to the scores of each row.
    """

    def __init__(self, matrix: np.ndarray, divisors: np.ndarray | None = None, biases: np.ndarray | None = None):
        self.matrix = matrix
        self.divisors = None if divisors is None else np.maximum(divisors, np.finfo(np.float32).tiny)
        self.biases = None if biases is None else np.asarray(biases, dtype=np.float32)
        self.copy: Int8Copy | None = None
        self.is_plain = bool(matrix.size) and matrix.dtype == np.float32 and matrix.flags.c_contiguous

    def make_copy(self) -> None:
        """Make the copy in int8, without which every search reads the whole matrix."""
        if self.is_plain:
            copy = Int8Copy(self.matrix, self.divisors)
            self.copy = copy if copy.is_finite else None

    def best(self, questions: Sequence[Question]) -> list[Found]:
        """Answer questions, many of them at a time."""
        found: list[Found] = []
        for start in range(0, len(questions), QUESTIONS_AT_A_TIME):
            found += self._best(questions[start : start + QUESTIONS_AT_A_TIME])
        return found

    def _best(self, questions: Sequence[Question]) -> list[Found]:
        found: list[np.ndarray | None] = [None] * len(questions)
        if self.copy is not None:
            found = self.copy.candidates(questions, self.biases)
        candidates = {k: rows for k, rows in enumerate(found) if rows is not None}
        missing = [k for k, rows in enumerate(found) if rows is None]
        step = max(1, SCORES_AT_A_TIME // (2 * max(1, len(self.matrix))))
        for start in range(0, len(missing), step):
            some = missing[start : start + step]
            for k, rows in zip(some, self._best_of_all([questions[k] for k in some]), strict=True):
                candidates[k] = rows
        return [self._rescored(question, candidates[k]) for k, question in enumerate(questions)]

    def _best_of_all(self, questions: Sequence[Question]) -> list[np.ndarray]:
        """Return candidates by the products of all rows."""
        queries = np.array([query for question in questions for query in question.queries], dtype=np.float32)
        scores = iter(self.scores(queries))
        found = []
        for question in questions:
            shifted = [next(scores) + shift for _, shift in zip(question.queries, question.shifts, strict=False)]
            lowest = shifted[0] if len(shifted) == 1 else np.minimum(*shifted)
            # A few more than wanted: their order may change when they are computed again.
            wanted = question.wanted + len(question.excluded) + 8
            rows = np.arange(len(lowest))
            found.append(rows if wanted >= len(rows) else np.argpartition(-lowest, wanted)[:wanted])
        return found

    def scores(self, queries: np.ndarray, first: int | None = None) -> np.ndarray:
        """Return the scores of all rows, or of the `first` so many, without shifts: one row per query."""
        rows = self.matrix[:first]
        if self.is_plain:  # The threads of BLAS would keep all cores busy while they wait for the next product.
            scores, contiguous = np.empty((len(queries), len(rows)), dtype=np.float32), np.ascontiguousarray(queries)
            on_all_cores(lambda start, stop: multiply(rows, contiguous, start, stop, scores), len(rows), len(queries))
        else:
            scores = queries @ rows.T
        if self.divisors is not None:
            scores /= self.divisors[:first]
        if self.biases is not None:
            scores += self.biases[:first]
        return np.asarray(scores)

    def _rescored(self, question: Question, rows: np.ndarray) -> Found:
        """Compute the scores of candidates, and return the best of them."""
        if question.excluded:
            rows = rows[~np.isin(rows, question.excluded)]
        queries = np.array(question.queries, dtype=np.float64)
        scores = np.einsum("kd,qd->kq", self.matrix[rows], queries)  # in float64, and without the threads of BLAS
        if self.divisors is not None:
            scores /= self.divisors[rows, None]
        if self.biases is not None:
            scores += self.biases[rows, None]
        scores += question.shifts[: len(queries)]
        order = np.lexsort([rows, -scores.min(axis=1)])[: question.wanted]
        return Found(rows[order], scores[order])


class Int8Copy:
    """A matrix in int8, with one scale per row, and how far each row is from what it stands for."""

    def __init__(self, matrix: np.ndarray, divisors: np.ndarray | None):
        count, self.dimensions = matrix.shape
        numbers = -(-self.dimensions // NUMBERS) * NUMBERS
        self.rows = np.empty((count, numbers), dtype=np.int8)
        self.scales, self.errors = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.float32)
        # Sums of products must not exceed int32; what queries lose by that is part of the errors.
        self.largest = min(LARGEST_INT16, LARGEST_SUM // (LARGEST_INT8 * numbers))
        slack = math.sqrt(self.dimensions) / (2 * max(1, self.largest)) + ROUNDING
        factors = np.ones(count, dtype=np.float32) if divisors is None else (1 / divisors).astype(np.float32)

        def work(start: int, stop: int) -> bool:
            return quantise(matrix, factors, slack, start, stop, self.rows, self.scales, self.errors)

        self.is_finite = self.largest > 0 and all(on_all_cores(work, count))

    def candidates(self, questions: Sequence[Question], biases: np.ndarray | None) -> list[np.ndarray | None]:
        """Return for each question the rows that can be among the best; None if they are too many to tell."""
        lengths = [len(question.queries) for question in questions]
        queries = np.array([query for question in questions for query in question.queries], dtype=np.float32)
        shifts = np.array([shift for question in questions for shift in question.shifts[: len(question.queries)]])
        scales = np.abs(queries).max(axis=1) / np.float32(self.largest)
        scales[~(scales > 0)] = 1.0
        numbers = np.zeros((len(queries), self.rows.shape[1]), dtype=np.int16)
        numbers[:, : self.dimensions] = np.rint(queries / scales[:, None])
        first = np.cumsum([0, *lengths[:-1]])
        wanted = [min(len(self.rows), question.wanted + len(question.excluded)) for question in questions]
        asked = np.array(
            [(k, k + n - 1, most, CANDIDATES + 4 * most) for k, n, most in zip(first, lengths, wanted, strict=True)],
            dtype=np.int32,
        )
        norms = np.linalg.norm(queries, axis=1)

        def work(start: int, stop: int) -> list[np.ndarray | None]:
            return select(
                self.rows, self.scales, self.errors, NO_BIASES if biases is None else biases,
                numbers, scales, norms, shifts.astype(np.float32), asked, start, stop,
            )  # fmt: skip

        parts = on_all_cores(work, len(self.rows), len(questions))
        found: list[np.ndarray | None] = []
        for some in zip(*parts, strict=True):
            known = [rows for rows in some if rows is not None]
            found.append(np.concatenate(known) if len(known) == len(some) else None)
        return found


@cache
def cores() -> ThreadPoolExecutor:
    """Return one thread per core."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="selection")


def on_all_cores(work: Callable[[int, int], Result], count: int, questions: int = 1) -> list[Result]:
    """Call a function for ranges of rows, which make up all of them, one per core.

    Many questions at once are a sign that the other cores have enough to do with sending answers: there is one range.
    """
    parts = max(1, min(os.cpu_count() or 1, count // LEAST_ROWS)) if questions < MANY_QUESTIONS else 1
    ends = [count * part // parts for part in range(parts + 1)]
    if parts == 1:
        return [work(0, count)]
    others = [cores().submit(work, start, stop) for start, stop in pairwise(ends[1:])]
    return [work(0, ends[1]), *(other.result() for other in others)]
