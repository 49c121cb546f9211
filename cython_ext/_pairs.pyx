"""Kernels of sparse factorisation: products and sums over the pairs of words that occur, and Adam's step.

The pairs of a shard are in CSR form: those of row i are `columns[starts[i] : starts[i + 1]]`. All functions run on one
thread and release the GIL. Their results do not depend on anything but their arguments.
"""
from libc.stdint cimport int32_t
from libc.string cimport memset

cdef extern from "pairs.h":
    void choose_kernels "gh_choose_pair_kernels"()
    void products "gh_pair_products"(const float* x, const float* rows, Py_ssize_t stride, const int32_t* which,
                                     Py_ssize_t n, int d, float* out) noexcept nogil
    void gather "gh_pair_gather"(float* out, const float* rows, Py_ssize_t stride, const int32_t* which,
                                 const float* weights, Py_ssize_t n, int d) noexcept nogil
    float adam "gh_pair_adam"(float* x, const float* gradient, float* first, float* second, float prior, int d,
                              int width, float beta1, float beta2, float rate, float correction) noexcept nogil
    float squared_norm "gh_pair_squares"(const float* x, int d) noexcept nogil
    void exps "gh_pair_exps"(float* x, int n, float largest) noexcept nogil
    float background "gh_pair_background"(float* x, const float* weights, float factor, float level, float largest,
                                          int n) noexcept nogil

choose_kernels()


def pair_products(const float[:, ::1] w not None, const float[:, ::1] v not None, int d,
                  const int32_t[::1] starts not None, const int32_t[::1] columns not None, float[::1] out not None):
    """For each pair that occurs, fill `out` with the product of the first d numbers of its two rows."""
    cdef Py_ssize_t rows = starts.shape[0] - 1, width = v.shape[1], i
    if columns.shape[0] == 0:
        return
    with nogil:
        for i in range(rows):
            if starts[i + 1] > starts[i]:
                products(&w[i, 0], &v[0, 0], width, &columns[starts[i]], starts[i + 1] - starts[i], d,
                         &out[starts[i]])


def add_products(const float[::1] values not None, const float[:, ::1] right not None, int d,
                 const int32_t[::1] starts not None, const int32_t[::1] columns not None, float[:, ::1] out not None):
    """Add the product of a sparse matrix, by its values, and the first d columns of a dense one to `out`."""
    cdef Py_ssize_t rows = starts.shape[0] - 1, width = right.shape[1], i
    if columns.shape[0] == 0:
        return
    with nogil:
        for i in range(rows):
            if starts[i + 1] > starts[i]:
                gather(&out[i, 0], &right[0, 0], width, &columns[starts[i]], &values[starts[i]],
                       starts[i + 1] - starts[i], d)


def transpose(const int32_t[::1] starts not None, const int32_t[::1] columns not None,
              const float[::1] values not None, int32_t[::1] column_starts not None, int32_t[::1] rows not None,
              float[::1] turned not None):
    """Write the transpose of a CSR matrix, in CSR form too, to the last three arrays."""
    cdef Py_ssize_t n = columns.shape[0], width = column_starts.shape[0] - 1, i, k
    cdef int32_t place
    with nogil:
        memset(&column_starts[0], 0, (width + 1) * sizeof(int32_t))
        for k in range(n):
            column_starts[columns[k] + 1] += 1
        for i in range(width):
            column_starts[i + 1] += column_starts[i]
        for i in range(starts.shape[0] - 1):
            for k in range(starts[i], starts[i + 1]):
                place = column_starts[columns[k]]
                column_starts[columns[k]] = place + 1
                rows[place] = <int32_t> i
                turned[place] = values[k]
        for i in range(width, 0, -1):       # each start has moved to the next one's place
            column_starts[i] = column_starts[i - 1]
        column_starts[0] = 0


def exponential_pairs(float[::1] psi not None, const int32_t[::1] starts not None,
                      const int32_t[::1] columns not None, const float[::1] values not None,
                      const float[::1] a not None, const float[::1] b not None, float level, float largest,
                      float scale):
    """Turn the psi of pairs into scale (a_i b_j (exp(psi) - level) - s_ij), where psi is cut off at `largest`.

    Returns sums over the pairs: of s_ij psi_ij, of a_i b_j exp(psi_ij), of s_ij, and of level a_i b_j.
    """
    cdef Py_ssize_t i, k
    cdef double linear = 0, mass = 0, share = 0, levels = 0
    cdef float chance
    if psi.shape[0] == 0:
        return 0.0, 0.0, 0.0, 0.0
    with nogil:
        for k in range(psi.shape[0]):
            linear += <double> psi[k] * values[k]
            share += values[k]
        exps(&psi[0], <int> psi.shape[0], largest)
        for i in range(starts.shape[0] - 1):
            for k in range(starts[i], starts[i + 1]):
                chance = a[i] * b[columns[k]]
                mass += chance * psi[k]
                levels += chance
                psi[k] = scale * (chance * (psi[k] - level) - values[k])
    return linear, mass, share, level * levels


def exponential_background(float[:, ::1] psi not None, const float[::1] rows not None,
                           const float[::1] columns not None, float level, float largest):
    """Turn psi into rows_i columns_j (exp(psi) - level), where psi is cut off at `largest`; return the sum."""
    cdef Py_ssize_t i
    cdef int n = <int> psi.shape[1]
    cdef double total = 0
    with nogil:
        for i in range(psi.shape[0]):
            total += background(&psi[i, 0], &columns[0], rows[i], level, largest, n)
    return total


def hide_in_rows(float[:, ::1] x not None, const int32_t[::1] starts not None, const int32_t[::1] columns not None,
                 const int32_t[::1] slots not None):
    """Set pairs that occur to 0 in a matrix of all rows and some columns; return the sum of what stood there.

    Column j stands at slots[j], or is -1.
    """
    cdef Py_ssize_t i, k
    cdef int32_t slot
    cdef double total = 0
    with nogil:
        for i in range(starts.shape[0] - 1):
            for k in range(starts[i], starts[i + 1]):
                slot = slots[columns[k]]
                if slot >= 0:
                    total += x[i, slot]
                    x[i, slot] = 0
    return total


def hide_in_columns(float[:, ::1] x not None, const int32_t[::1] starts not None, const int32_t[::1] columns not None,
                    const int32_t[::1] rows not None):
    """Set pairs that occur to 0 in a matrix that has one row per column, and one column for each of some rows.

    Returns the sum of what stood there.
    """
    cdef Py_ssize_t i, k
    cdef double total = 0
    with nogil:
        for i in range(rows.shape[0]):
            for k in range(starts[rows[i]], starts[rows[i] + 1]):
                total += x[columns[k], i]
                x[columns[k], i] = 0
    return total


def adam_step(float[:, ::1] x not None, const float[:, ::1] gradient not None, float[:, ::1] first not None,
              float[:, ::1] second not None, const float[::1] priors not None, int d, float beta1, float beta2,
              float rate, long step, const float[::1] lock=None):
    """Move rows by Adam, with a Gaussian prior on their first d numbers; `step` counts from 1.

    Returns the weighted squares of the rows before the step, and the squared norm of the gradient.
    """
    cdef Py_ssize_t rows = x.shape[0], i
    cdef int width = <int> x.shape[1]
    cdef double prior = 0, squares = 0
    cdef float correction = <float> (1 / (1 - (<double> beta2) ** step))
    cdef float scaled = <float> (rate / (1 - (<double> beta1) ** step))
    with nogil:
        for i in range(rows):
            prior += priors[i] * squared_norm(&x[i, 0], d)
            squares += adam(&x[i, 0], &gradient[i, 0], &first[i, 0], &second[i, 0], priors[i], d, width, beta1, beta2,
                            scaled if lock is None else scaled * lock[i], correction)
    return prior, squares
