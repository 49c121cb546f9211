"""Products of a matrix with queries, and the rows that can be among the best ones, by a copy of it in int8."""
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc

from rows cimport choose_kernels, products

import numpy as np

cdef enum:
    ROWS_AT_ONCE = 64       # whose numbers stay in the cache while they are multiplied with all queries

choose_kernels()


cdef extern from "selection.h" nogil:
    const int GH_NUMBERS
    const int GH_ROWS_AT_ONCE

    ctypedef struct gh_question:
        int first
        int last
        int wanted
        int kept
        int capacity
        int seen
        int overflows
        float* heap
        float* upper
        int64_t* rows

    ctypedef struct gh_table:
        const int8_t* rows
        const float* scales
        const float* errors
        const float* biases
        const int16_t* queries
        const float* query_scales
        const float* query_lengths
        const float* query_shifts
        int numbers
        int query_count

    void gh_select(const gh_table* table, gh_question* questions, int question_count, int64_t start, int64_t stop,
                   int16_t* wide, int32_t* products, float* lowers, float* uppers) noexcept
    int gh_quantise(const float* row, int d, int n, float factor, float slack, int8_t* out, float* scale,
                    float* error) noexcept

NUMBERS = GH_NUMBERS


def multiply(const float[:, ::1] matrix, const float[:, ::1] queries, int64_t start, int64_t stop, float[:, ::1] out):
    """Write the products of the rows from start to stop with queries: out[query, row]."""
    cdef float* right[ROWS_AT_ONCE]
    cdef float** left = <float**> malloc(queries.shape[0] * sizeof(float*))
    cdef int64_t row
    cdef int count, k, d = <int> matrix.shape[1]
    if left == NULL:
        raise MemoryError("there is no memory for the addresses of queries")
    with nogil:
        for k in range(queries.shape[0]):
            left[k] = <float*> &queries[k, 0]
        row = start
        while row < stop:
            count = <int> min(ROWS_AT_ONCE, stop - row)
            for k in range(count):
                right[k] = <float*> &matrix[row + k, 0]
            products(left, <int> queries.shape[0], right, count, d, &out[0, row], <int> out.shape[1])
            row += count
    free(left)


def quantise(const float[:, ::1] matrix, const float[::1] factors, float slack, int64_t start, int64_t stop,
             int8_t[:, ::1] rows, float[::1] scales, float[::1] errors):
    """Write the rows from start to stop as int8, each times its factor; return whether all numbers are finite."""
    cdef int d = <int> matrix.shape[1], n = <int> rows.shape[1]
    cdef int64_t row
    cdef bint finite = True
    with nogil:
        for row in range(start, stop):
            finite &= gh_quantise(&matrix[row, 0], d, n, factors[row], slack, &rows[row, 0], &scales[row],
                                  &errors[row])
    return finite


def select(const int8_t[:, ::1] rows, const float[::1] scales, const float[::1] errors, const float[::1] biases,
           const int16_t[:, ::1] queries, const float[::1] query_scales, const float[::1] query_lengths,
           const float[::1] query_shifts, const int32_t[:, ::1] questions, int64_t start, int64_t stop):
    """Return for each question the rows from start to stop that can be among the best; None if they are too many.

    A question is its first and its last query, which can be the same, the number of rows that are wanted, and the
    number of candidates to make room for.
    """
    cdef int count = <int> questions.shape[0], k
    cdef gh_table table
    cdef gh_question* asked = <gh_question*> calloc(count, sizeof(gh_question))
    cdef int16_t* wide = <int16_t*> malloc(GH_ROWS_AT_ONCE * rows.shape[1] * sizeof(int16_t))
    cdef size_t cells = <size_t> GH_ROWS_AT_ONCE * queries.shape[0]
    cdef int32_t* sums = <int32_t*> malloc(cells * sizeof(int32_t))
    cdef float* bounds = <float*> malloc(2 * cells * sizeof(float))
    cdef int64_t[:, ::1] candidates = np.empty((count, max(row[3] for row in questions)), dtype=np.int64)
    cdef float[:, ::1] uppers = np.empty((count, candidates.shape[1]), dtype=np.float32)
    cdef float[:, ::1] heaps = np.empty((count, max(row[2] for row in questions)), dtype=np.float32)
    try:
        if asked == NULL or wide == NULL or sums == NULL or bounds == NULL:
            raise MemoryError("there is no memory for the products of a few rows")
        table.rows, table.scales, table.errors = &rows[0, 0], &scales[0], &errors[0]
        table.biases = &biases[0] if biases.shape[0] else NULL
        table.queries, table.query_scales, table.query_lengths = &queries[0, 0], &query_scales[0], &query_lengths[0]
        table.query_shifts = &query_shifts[0]
        table.numbers, table.query_count = <int> rows.shape[1], <int> queries.shape[0]
        for k in range(count):
            asked[k].first, asked[k].last = questions[k, 0], questions[k, 1]
            asked[k].wanted, asked[k].capacity = questions[k, 2], questions[k, 3]
            asked[k].heap, asked[k].upper, asked[k].rows = &heaps[k, 0], &uppers[k, 0], &candidates[k, 0]
        with nogil:
            gh_select(&table, asked, count, start, stop, wide, sums, bounds, bounds + cells)
        found = np.asarray(candidates)
        return [None if asked[k].overflows else found[k, : asked[k].kept] for k in range(count)]
    finally:
        free(asked)
        free(wide)
        free(sums)
        free(bounds)
