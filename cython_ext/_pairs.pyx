"""Kernels of factorization: the pairs of words that occur, samples of all others, and Adam's step.

The pairs of a shard are in CSR form: those of row i are `columns[starts[i] : starts[i + 1]]`. All functions run on one
thread and release the GIL. Their results do not depend on anything but their arguments.
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef extern from "pairs.h":
    int widest "gh_widest"(int most)
    void choose_kernels "gh_choose_pair_kernels"(int lanes)
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

cdef extern from "matrices.h":
    void choose_multiply "gh_choose_multiply"(int lanes)
    int padded "gh_padded"(int columns) noexcept nogil
    void pack "gh_pack"(const float* x, Py_ssize_t row_step, Py_ssize_t column_step, int inner, int columns,
                        float* panels) noexcept nogil
    void multiply "gh_multiply"(const float* x, Py_ssize_t rows, int inner, const float* panels, int columns,
                                float* out, Py_ssize_t out_stride) noexcept nogil


def use_lanes(int most):
    """Use registers of at most so many floats, or as many as this machine has; return their number: 4, 8 or 16."""
    cdef int lanes = widest(most)
    choose_kernels(lanes)
    choose_multiply(lanes)
    return lanes


use_lanes(16)


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


def weigh_excess(float[::1] values not None, const int32_t[::1] starts not None, const int32_t[::1] columns not None,
                 const float[::1] a not None, const float[::1] b not None, float least):
    """Turn the values of pairs into a_i b_j max(value - least, 0)."""
    cdef Py_ssize_t i, k
    with nogil:
        for i in range(starts.shape[0] - 1):
            for k in range(starts[i], starts[i + 1]):
                values[k] = a[i] * b[columns[k]] * max(values[k] - least, 0)


def transpose(const int32_t[::1] starts not None, const int32_t[::1] columns not None,
              const float[::1] values not None, int32_t[::1] column_starts not None, int32_t[::1] rows not None,
              float[::1] turned not None):
    """Write the transpose of a CSR matrix, in CSR form too, to the last three arrays."""
    if columns.shape[0] == 0:
        column_starts[:] = 0
        return
    with nogil:
        turn(&starts[0], starts.shape[0] - 1, &columns[0], &values[0], columns.shape[0], column_starts.shape[0] - 1,
             &column_starts[0], &rows[0], &turned[0])


cdef void turn(const int32_t* starts, Py_ssize_t n_rows, const int32_t* columns, const float* values, Py_ssize_t n,
               Py_ssize_t width, int32_t* column_starts, int32_t* rows, float* turned) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef int32_t place
    memset(column_starts, 0, (width + 1) * sizeof(int32_t))
    for k in range(n):
        column_starts[columns[k] + 1] += 1
    for i in range(width):
        column_starts[i + 1] += column_starts[i]
    for i in range(n_rows):
        for k in range(starts[i], starts[i + 1]):
            place = column_starts[columns[k]]
            column_starts[columns[k]] = place + 1
            rows[place] = <int32_t> i
            turned[place] = values[k]
    for i in range(width, 0, -1):       # each start has moved to the next one's place
        column_starts[i] = column_starts[i - 1]
    column_starts[0] = 0


def add_exponential_pairs(const float[:, ::1] w not None, const float[:, ::1] v not None,
                          const int32_t[::1] starts not None, const int32_t[::1] columns not None,
                          const float[::1] values not None, const float[::1] a not None, const float[::1] b not None,
                          float level, float largest, float scale, float[:, ::1] to_w not None,
                          float[:, ::1] to_v not None):
    """Add the gradients of pairs whose loss is a_i b_j exp(psi) - s_ij psi, less their level, to those of both sides.

    The derivatives by psi are scale (a_i b_j (exp(psi) - level) - s_ij), where psi is cut off at `largest`.
    Returns sums over the pairs: of s_ij psi_ij, of a_i b_j exp(psi_ij), of s_ij, and of level a_i b_j.
    """
    cdef Py_ssize_t n = columns.shape[0], width = v.shape[0], i, k, first
    cdef int d = <int> v.shape[1]
    cdef double linear = 0, mass = 0, share = 0, levels = 0
    cdef float chance
    cdef float* psi
    cdef float* turned
    cdef int32_t* rows
    cdef int32_t* column_starts
    if n == 0:
        return 0.0, 0.0, 0.0, 0.0
    psi = <float*> malloc((3 * n + width + 1) * sizeof(float))
    if not psi:
        raise MemoryError
    turned, rows, column_starts = psi + n, <int32_t*> (psi + 2 * n), <int32_t*> (psi + 3 * n)
    with nogil:
        for i in range(starts.shape[0] - 1):
            first = starts[i]
            if starts[i + 1] == first:
                continue
            products(&w[i, 0], &v[0, 0], d, &columns[first], starts[i + 1] - first, d, &psi[first])
            for k in range(first, starts[i + 1]):
                linear += <double> psi[k] * values[k]
                share += values[k]
            exps(&psi[first], <int> (starts[i + 1] - first), largest)
            for k in range(first, starts[i + 1]):
                chance = a[i] * b[columns[k]]
                mass += chance * psi[k]
                levels += chance
                psi[k] = scale * (chance * (psi[k] - level) - values[k])
            # The rows that were just multiplied are still in the nearest cache.
            gather(&to_w[i, 0], &v[0, 0], d, &columns[first], &psi[first], starts[i + 1] - first, d)
        turn(&starts[0], starts.shape[0] - 1, &columns[0], psi, n, width, column_starts, rows, turned)
        for i in range(width):
            if column_starts[i + 1] > column_starts[i]:
                gather(&to_v[i, 0], &w[0, 0], d, &rows[column_starts[i]], &turned[column_starts[i]],
                       column_starts[i + 1] - column_starts[i], d)
    free(psi)
    return linear, mass, share, level * levels


def exponential_sample(const float[:, ::1] rows not None, const float[:, ::1] others not None,
                       const float[::1] own not None, const float[::1] other not None,
                       const int32_t[::1] numbers not None, const float[::1] weights not None,
                       const int32_t[::1] starts not None, const int32_t[::1] columns not None, bint of_rows,
                       float level, float largest, float scale, float[:, ::1] out not None, selves=None):
    """Fill `out` with an estimate of the gradient by some rows of the loss own_i other_j exp(psi_ij), times `scale`.

    The sum over all j is estimated from those with these numbers and weights. Pairs that occur are left out of it, and
    so are `selves`, starts and columns of others. What is sampled is own_i other_j (exp(psi_ij) - level); the level is
    added for all j, pairs that occur included. `of_rows` says whether `rows` are the rows of the pairs, or the columns.
    Returns the estimated loss, without the level.
    """
    cdef Py_ssize_t n = rows.shape[0], width = others.shape[0], room, i, k
    cdef int d = <int> rows.shape[1], m = <int> numbers.shape[0]
    cdef double loss = 0
    cdef const int32_t[::1] self_starts = None, self_columns = None
    cdef float* some
    cdef float* psi
    cdef float* chances
    cdef float* panels
    cdef int32_t* slots
    if selves is not None:
        self_starts, self_columns = selves
    room = max(<Py_ssize_t> padded(m) * d, <Py_ssize_t> padded(d) * (m + 1))
    some = <float*> malloc(sizeof(float) * (<Py_ssize_t> (m + 1) * d + n * (m + 1) + m + width + room))
    if not some:
        raise MemoryError
    psi = some + <size_t> (m + 1) * d
    chances, slots = psi + n * (m + 1), <int32_t*> (psi + n * (m + 1) + m)
    panels = psi + n * (m + 1) + m + width
    with nogil:
        # The rows that were drawn, and then the sum of all others by their weights, for the level.
        for k in range(m):
            memcpy(&some[k * d], &others[numbers[k], 0], d * sizeof(float))
            chances[k] = other[numbers[k]] * weights[k] * scale
        memset(&some[m * d], 0, d * sizeof(float))
        for k in range(width):
            slots[k] = <int32_t> k
        gather(&some[m * d], &others[0, 0], d, slots, &other[0], width, d)
        pack(some, 1, d, d, m, panels)
        multiply(&rows[0, 0], n, d, panels, m, psi, m + 1)
        for i in range(n):
            loss += background(&psi[i * (m + 1)], chances, own[i], level, largest, m)
            psi[i * (m + 1) + m] = own[i] * level * scale
        if of_rows:
            memset(slots, 0xFF, width * sizeof(int32_t))
            for k in range(m):
                slots[numbers[k]] = <int32_t> k
            loss -= hidden_in_rows(psi, m + 1, starts, columns, slots)
            if self_starts is not None:
                loss -= hidden_in_rows(psi, m + 1, self_starts, self_columns, slots)
        else:
            loss -= hidden_in_columns(psi, m + 1, starts, columns, numbers)
            if self_starts is not None:
                loss -= hidden_in_columns(psi, m + 1, self_starts, self_columns, numbers)
        pack(some, d, 1, m + 1, d, panels)
        multiply(psi, n, m + 1, panels, d, &out[0, 0], d)
    free(some)
    return loss / scale


def matrix_product(const float[:, ::1] x not None, const float[:, ::1] y not None, float[:, ::1] out not None):
    """Fill `out` with the product of two matrices, on one core."""
    cdef int inner = <int> y.shape[0], columns = <int> y.shape[1]
    cdef float* panels = <float*> malloc(sizeof(float) * inner * <size_t> padded(columns))
    if not panels:
        raise MemoryError
    with nogil:
        pack(&y[0, 0], columns, 1, inner, columns, panels)
        multiply(&x[0, 0], x.shape[0], inner, panels, columns, &out[0, 0], columns)
    free(panels)


def hide_in_rows(float[:, ::1] x not None, const int32_t[::1] starts not None, const int32_t[::1] columns not None,
                 const int32_t[::1] slots not None):
    """Set pairs that occur to 0 in a matrix of all rows and some columns; column j stands at slots[j], or -1."""
    with nogil:
        hidden_in_rows(&x[0, 0], x.shape[1], starts, columns, &slots[0])


cdef double hidden_in_rows(float* x, Py_ssize_t stride, const int32_t[::1] starts, const int32_t[::1] columns,
                           const int32_t* slots) noexcept nogil:
    """Do the work of `hide_in_rows`; returns the sum of what stood there."""
    cdef Py_ssize_t i, k
    cdef int32_t slot
    cdef double total = 0
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            slot = slots[columns[k]]
            if slot >= 0:
                total += x[i * stride + slot]
                x[i * stride + slot] = 0
    return total


def hide_in_columns(float[:, ::1] x not None, const int32_t[::1] starts not None, const int32_t[::1] columns not None,
                    const int32_t[::1] rows not None):
    """Set pairs that occur to 0 in a matrix that has one row per column, and one column for each of some rows."""
    with nogil:
        hidden_in_columns(&x[0, 0], x.shape[1], starts, columns, rows)


cdef double hidden_in_columns(float* x, Py_ssize_t stride, const int32_t[::1] starts, const int32_t[::1] columns,
                              const int32_t[::1] rows) noexcept nogil:
    """Do the work of `hide_in_columns`; returns the sum of what stood there."""
    cdef Py_ssize_t i, k
    cdef double total = 0
    for i in range(rows.shape[0]):
        for k in range(starts[rows[i]], starts[rows[i] + 1]):
            total += x[columns[k] * stride + i]
            x[columns[k] * stride + i] = 0
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
