"""Kernels of factorization: the pairs of words that occur, samples of all others, and Adam's step.

The pairs of a shard are in CSR form: those of row i are `columns[starts[i] : starts[i + 1]]`. All functions run on one
thread and release the GIL. Their results do not depend on anything but their arguments.
"""
from libc.math cimport ceil
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

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


cdef struct Csr:
    const int32_t* starts
    const int32_t* columns
    const float* values
    Py_ssize_t rows
    Py_ssize_t n


cdef class SparseMatrix:
    """A sparse matrix in CSR form: compiled code reads it without asking Python for its arrays again.

    Parameters
    ----------
    starts, columns, values
        Row i has the columns `columns[starts[i] : starts[i + 1]]`, and values likewise.
    """

    cdef Csr csr
    cdef int32_t[::1] _starts, _columns
    cdef float[::1] _values

    def __init__(self, int32_t[::1] starts not None, int32_t[::1] columns not None, float[::1] values not None):
        self.bind(starts, columns, values)

    cdef int bind(self, int32_t[::1] starts, int32_t[::1] columns, float[::1] values) except -1:
        if starts.shape[0] == 0 or columns.shape[0] != values.shape[0] or starts[starts.shape[0] - 1] != len(columns):
            raise ValueError(f"{len(starts)} starts, {len(columns)} columns and {len(values)} values are no matrix")
        self._starts, self._columns, self._values = starts, columns, values
        self.csr = Csr(&starts[0], &columns[0], &values[0], starts.shape[0] - 1, columns.shape[0])
        return 0

    def __len__(self):
        return self.csr.n

    @property
    def starts(self):
        """Where each row starts, and where the last one ends."""
        return np.asarray(self._starts)

    @property
    def columns(self):
        """The column of each value."""
        return np.asarray(self._columns)

    @property
    def values(self):
        """All values, row by row."""
        return np.asarray(self._values)


def sparse_matrices(int32_t[:, ::1] starts not None, int32_t[::1] columns not None, float[::1] values not None):
    """Return several matrices, one for each row of `starts`, whose columns and values follow each other."""
    cdef Py_ssize_t first = 0, last, k
    cdef SparseMatrix matrix
    found = []
    for k in range(starts.shape[0]):
        last = first + starts[k, starts.shape[1] - 1]
        if last < first or last > columns.shape[0] or last > values.shape[0]:
            raise ValueError(f"{len(columns)} columns and {len(values)} values are too few")
        matrix = SparseMatrix.__new__(SparseMatrix)
        matrix.bind(starts[k], columns[first:last], values[first:last])
        found.append(matrix)
        first = last
    return found


cdef struct Placed:
    Csr csr
    Py_ssize_t i, j         # blocks of its rows and its columns


cdef Placed* placed(list matrices, list keys, const float[:, ::1] a, const float[:, ::1] b,
                    Py_ssize_t room) except NULL:
    """Return matrices with their blocks, which the caller frees; all of them must have `room` values."""
    cdef Py_ssize_t number = len(matrices), total = 0, k
    cdef Placed* found = <Placed*> malloc(sizeof(Placed) * max(number, 1))
    if not found:
        raise MemoryError
    try:
        for k in range(number):
            found[k].csr = (<SparseMatrix?> matrices[k]).csr
            found[k].i, found[k].j = keys[k]
            total += found[k].csr.n
            if not (0 <= found[k].i < a.shape[0] and 0 <= found[k].j < b.shape[0] and found[k].csr.rows <= a.shape[1]):
                raise IndexError(f"matrix {keys[k]} of {a.shape[0]} x {b.shape[0]}")
        if total != room:
            raise ValueError(f"there is room for {room} values, not for {total}")
    except BaseException:
        free(found)
        raise
    return found


def gather_words(list matrices not None, list keys not None, const float[:, ::1] a not None,
                 const float[:, ::1] b not None, float[::1] values not None, float[::1] of_rows not None,
                 float[::1] of_columns not None):
    """Fill the last three arrays with the values of all pairs of some matrices, and the numbers of their words.

    A key has the blocks of a matrix: its rows have the numbers a[i], its columns b[j].
    """
    cdef Py_ssize_t number = len(matrices), place = 0, m, i, k
    cdef Csr csr
    cdef Placed* parts = placed(matrices, keys, a, b, values.shape[0])
    if of_rows.shape[0] != values.shape[0] or of_columns.shape[0] != values.shape[0]:
        free(parts)
        raise ValueError(f"{len(values)} values, {len(of_rows)} numbers of rows and {len(of_columns)} of columns")
    with nogil:
        for m in range(number):
            csr = parts[m].csr
            if csr.n:
                memcpy(&values[place], csr.values, csr.n * sizeof(float))
            for i in range(csr.rows):
                for k in range(csr.starts[i], csr.starts[i + 1]):
                    of_rows[place + k] = a[parts[m].i, i]
                    of_columns[place + k] = b[parts[m].j, csr.columns[k]]
            place += csr.n
    free(parts)


def weigh_excess(list matrices not None, list keys not None, const float[:, ::1] a not None,
                 const float[:, ::1] b not None, float least, float[::1] values not None):
    """Turn the values of all pairs of some matrices into a_i b_j max(value - least, 0).

    The words of a matrix are as for `gather_words`.
    """
    cdef Py_ssize_t number = len(matrices), place = 0, m, i, k
    cdef Csr csr
    cdef Placed* parts = placed(matrices, keys, a, b, values.shape[0])
    with nogil:
        for m in range(number):
            csr = parts[m].csr
            for i in range(csr.rows):
                for k in range(csr.starts[i], csr.starts[i + 1]):
                    values[place + k] = (a[parts[m].i, i] * b[parts[m].j, csr.columns[k]]
                                         * max(values[place + k] - least, 0))
            place += csr.n
    free(parts)


def with_values(list matrices not None, float[::1] values not None):
    """Return matrices with the same cells and other values, which follow each other in one array."""
    cdef Py_ssize_t first = 0
    cdef SparseMatrix matrix, other
    found = []
    for matrix in matrices:
        if matrix.csr.n > values.shape[0] - first:
            raise ValueError(f"{len(values)} values are too few")
        other = SparseMatrix.__new__(SparseMatrix)
        other.bind(matrix._starts, matrix._columns, values[first:first + matrix.csr.n])
        first += matrix.csr.n
        found.append(other)
    return found


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


cdef int refuse_gaps(const float[:, :, :] blocks) except -1:
    """Refuse blocks with space within them."""
    if blocks.strides[2] != sizeof(float) or blocks.strides[1] != blocks.shape[2] * <Py_ssize_t> sizeof(float):
        raise ValueError("every block must be contiguous")
    return 0


def add_block_products(list matrices not None, list blocks not None, const float[:, :, :] right not None,
                       bint transposed, float[:, ::1] out not None):
    """Add the products of sparse matrices, or of their transposes, and blocks of a dense one to `out`, in their order.

    `blocks` has the number of the block by which each matrix is multiplied. There may be space between blocks.
    """
    cdef Py_ssize_t number = len(matrices), width = out.shape[0], most = 0, k
    cdef int d = <int> right.shape[2]
    cdef Placed* parts = <Placed*> malloc(sizeof(Placed) * max(number, 1))
    cdef float* scratch = NULL
    try:
        refuse_gaps(right)
        if not parts:
            raise MemoryError
        for k in range(number):
            parts[k].csr, parts[k].j = (<SparseMatrix?> matrices[k]).csr, blocks[k]
            most = max(most, parts[k].csr.n)
        if transposed:
            scratch = <float*> malloc(sizeof(float) * (2 * most + width + 1))
            if not scratch:
                raise MemoryError
        with nogil:
            for k in range(number):
                if transposed:
                    multiply_transposed(parts[k].csr, &right[parts[k].j, 0, 0], d, width, &out[0, 0], scratch)
                else:
                    multiply_rows(parts[k].csr.starts, parts[k].csr.rows, parts[k].csr.columns, parts[k].csr.values,
                                  &right[parts[k].j, 0, 0], d, &out[0, 0])
    finally:
        free(parts)
        free(scratch)


cdef void multiply_rows(const int32_t* starts, Py_ssize_t rows, const int32_t* columns, const float* values,
                        const float* right, int d, float* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(rows):
        if starts[i + 1] > starts[i]:
            gather(&out[i * d], right, d, &columns[starts[i]], &values[starts[i]], starts[i + 1] - starts[i], d)


cdef void multiply_transposed(Csr matrix, const float* right, int d, Py_ssize_t width, float* out,
                              float* scratch) noexcept nogil:
    cdef int32_t* rows = <int32_t*> (scratch + matrix.n)
    cdef int32_t* column_starts = <int32_t*> (scratch + 2 * matrix.n)
    turn(matrix.starts, matrix.rows, matrix.columns, matrix.values, matrix.n, width, column_starts, rows, scratch)
    multiply_rows(column_starts, width, rows, scratch, right, d, out)


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


cdef struct Sums:
    double linear       # of s_ij psi_ij
    double mass         # of a_i b_j exp(psi_ij)
    double share        # of s_ij
    double levels       # of level a_i b_j


cdef Py_ssize_t room_for_pairs(Py_ssize_t n, Py_ssize_t width) noexcept nogil:
    """Return how many floats `exponential_pairs` needs as scratch."""
    return 3 * n + width + 1


cdef Sums exponential_pairs(const float* w, const float* v, Py_ssize_t width, int d, Csr pairs, const float* a,
                            const float* b, float level, float largest, float scale, float* to_w, float* to_v,
                            float* scratch) noexcept nogil:
    """Do the work of `add_exponential_pairs`."""
    cdef Py_ssize_t n = pairs.n, i, k, first, last
    cdef Sums sums
    cdef double levels = 0
    cdef float chance
    cdef float* psi = scratch
    cdef float* turned = psi + n
    cdef int32_t* rows = <int32_t*> (psi + 2 * n)
    cdef int32_t* column_starts = <int32_t*> (psi + 3 * n)
    sums.linear = sums.mass = sums.share = sums.levels = 0
    if n == 0:
        return sums
    for i in range(pairs.rows):
        first, last = pairs.starts[i], pairs.starts[i + 1]
        if last == first:
            continue
        products(&w[i * d], v, d, &pairs.columns[first], last - first, d, &psi[first])
        for k in range(first, last):
            sums.linear += <double> psi[k] * pairs.values[k]
            sums.share += pairs.values[k]
        exps(&psi[first], <int> (last - first), largest)
        for k in range(first, last):
            chance = a[i] * b[pairs.columns[k]]
            sums.mass += chance * psi[k]
            levels += chance
            psi[k] = scale * (chance * (psi[k] - level) - pairs.values[k])
        # The rows that were just multiplied are still in the nearest cache.
        gather(&to_w[i * d], v, d, &pairs.columns[first], &psi[first], last - first, d)
    turn(pairs.starts, pairs.rows, pairs.columns, psi, n, width, column_starts, rows, turned)
    for i in range(width):
        first, last = column_starts[i], column_starts[i + 1]
        if last > first:
            gather(&to_v[i * d], w, d, &rows[first], &turned[first], last - first, d)
    sums.levels = level * levels
    return sums


def add_exponential_pairs(const float[:, ::1] w not None, const float[:, ::1] v not None,
                          const int32_t[::1] starts not None, const int32_t[::1] columns not None,
                          const float[::1] values not None, const float[::1] a not None, const float[::1] b not None,
                          float level, float largest, float scale, float[:, ::1] to_w not None,
                          float[:, ::1] to_v not None):
    """Add the gradients of pairs whose loss is a_i b_j exp(psi) - s_ij psi, less their level, to those of both sides.

    The derivatives by psi are scale (a_i b_j (exp(psi) - level) - s_ij), where psi is cut off at `largest`.
    Returns sums over the pairs: of s_ij psi_ij, of a_i b_j exp(psi_ij), of s_ij, and of level a_i b_j.
    """
    cdef Csr pairs = Csr(&starts[0], &columns[0], &values[0], starts.shape[0] - 1, columns.shape[0])
    cdef Sums sums
    cdef float* scratch = <float*> malloc(sizeof(float) * room_for_pairs(pairs.n, v.shape[0]))
    if not scratch:
        raise MemoryError
    with nogil:
        sums = exponential_pairs(&w[0, 0], &v[0, 0], v.shape[0], <int> v.shape[1], pairs, &a[0], &b[0], level, largest,
                                 scale, &to_w[0, 0], &to_v[0, 0], scratch)
    free(scratch)
    return sums.linear, sums.mass, sums.share, sums.levels


cdef Py_ssize_t room_for_sample(Py_ssize_t n, Py_ssize_t width, int d, int m) noexcept nogil:
    """Return how many floats `sampled_gradient` needs as scratch."""
    cdef Py_ssize_t panels = max(<Py_ssize_t> padded(m) * d, <Py_ssize_t> padded(d) * (m + 1))
    return <Py_ssize_t> (m + 1) * d + n * (m + 1) + m + width + panels


cdef double sampled_gradient(const float* rows, Py_ssize_t n, const float* others, Py_ssize_t width, int d,
                             const float* own, const float* other, const int32_t* numbers, const float* weights, int m,
                             Csr pairs, Csr* selves, bint of_rows, float level, float largest, float scale,
                             float* out, float* scratch) noexcept nogil:
    """Do the work of `exponential_sample`."""
    cdef Py_ssize_t i, k
    cdef double loss = 0
    cdef float* some = scratch
    cdef float* psi = some + <size_t> (m + 1) * d
    cdef float* chances = psi + n * (m + 1)
    cdef int32_t* slots = <int32_t*> (chances + m)
    cdef float* panels = chances + m + width
    # The rows that were drawn, and then the sum of all others by their weights, for the level.
    for k in range(m):
        memcpy(&some[k * d], &others[numbers[k] * <Py_ssize_t> d], d * sizeof(float))
        chances[k] = other[numbers[k]] * weights[k] * scale
    memset(&some[m * d], 0, d * sizeof(float))
    for k in range(width):
        slots[k] = <int32_t> k
    gather(&some[m * d], others, d, slots, other, width, d)
    pack(some, 1, d, d, m, panels)
    multiply(rows, n, d, panels, m, psi, m + 1)
    for i in range(n):
        loss += background(&psi[i * (m + 1)], chances, own[i], level, largest, m)
        psi[i * (m + 1) + m] = own[i] * level * scale
    if of_rows:
        memset(slots, 0xFF, width * sizeof(int32_t))
        for k in range(m):
            slots[numbers[k]] = <int32_t> k
        loss -= hidden_in_rows(psi, m + 1, pairs, slots)
        if selves:
            loss -= hidden_in_rows(psi, m + 1, selves[0], slots)
    else:
        loss -= hidden_in_columns(psi, m + 1, pairs, numbers, m)
        if selves:
            loss -= hidden_in_columns(psi, m + 1, selves[0], numbers, m)
    pack(some, d, 1, m + 1, d, panels)
    multiply(psi, n, m + 1, panels, d, out, d)
    return loss / scale


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
    cdef Py_ssize_t n = rows.shape[0], width = others.shape[0]
    cdef int d = <int> rows.shape[1], m = <int> numbers.shape[0]
    cdef Csr pairs = Csr(&starts[0], &columns[0], NULL, starts.shape[0] - 1, columns.shape[0]), missing
    cdef Csr* self_pairs = NULL
    cdef const int32_t[::1] self_starts, self_columns
    cdef double loss
    cdef float* scratch
    if selves is not None:
        self_starts, self_columns = selves
        missing = Csr(&self_starts[0], &self_columns[0], NULL, self_starts.shape[0] - 1, self_columns.shape[0])
        self_pairs = &missing
    scratch = <float*> malloc(sizeof(float) * room_for_sample(n, width, d, m))
    if not scratch:
        raise MemoryError
    with nogil:
        loss = sampled_gradient(&rows[0, 0], n, &others[0, 0], width, d, &own[0], &other[0], &numbers[0], &weights[0],
                                m, pairs, self_pairs, of_rows, level, largest, scale, &out[0, 0], scratch)
    free(scratch)
    return loss


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
    cdef Csr pairs = Csr(&starts[0], &columns[0], NULL, starts.shape[0] - 1, columns.shape[0])
    with nogil:
        hidden_in_rows(&x[0, 0], x.shape[1], pairs, &slots[0])


cdef double hidden_in_rows(float* x, Py_ssize_t stride, Csr pairs, const int32_t* slots) noexcept nogil:
    """Do the work of `hide_in_rows`; returns the sum of what stood there."""
    cdef Py_ssize_t i, k
    cdef int32_t slot
    cdef double total = 0
    for i in range(pairs.rows):
        for k in range(pairs.starts[i], pairs.starts[i + 1]):
            slot = slots[pairs.columns[k]]
            if slot >= 0:
                total += x[i * stride + slot]
                x[i * stride + slot] = 0
    return total


def hide_in_columns(float[:, ::1] x not None, const int32_t[::1] starts not None, const int32_t[::1] columns not None,
                    const int32_t[::1] rows not None):
    """Set pairs that occur to 0 in a matrix that has one row per column, and one column for each of some rows."""
    cdef Csr pairs = Csr(&starts[0], &columns[0], NULL, starts.shape[0] - 1, columns.shape[0])
    with nogil:
        hidden_in_columns(&x[0, 0], x.shape[1], pairs, &rows[0], rows.shape[0])


cdef double hidden_in_columns(float* x, Py_ssize_t stride, Csr pairs, const int32_t* rows,
                              Py_ssize_t n) noexcept nogil:
    """Do the work of `hide_in_columns`; returns the sum of what stood there."""
    cdef Py_ssize_t i, k
    cdef double total = 0
    for i in range(n):
        for k in range(pairs.starts[rows[i]], pairs.starts[rows[i] + 1]):
            total += x[pairs.columns[k] * stride + i]
            x[pairs.columns[k] * stride + i] = 0
    return total


cdef struct Moved:
    double prior        # weighted squares of the rows before the step
    double squares      # of the gradient


cdef Moved adam_rows(float* x, const float* gradient, float* first, float* second, const float* priors,
                     const float* lock, Py_ssize_t rows, int width, int d, float beta1, float beta2, float rate,
                     long step) noexcept nogil:
    """Do the work of `adam_step`."""
    cdef Py_ssize_t i, place
    cdef Moved moved
    cdef float correction = <float> (1 / (1 - (<double> beta2) ** step))
    cdef float scaled = <float> (rate / (1 - (<double> beta1) ** step))
    moved.prior = moved.squares = 0
    for i in range(rows):
        place = i * width
        moved.prior += priors[i] * squared_norm(&x[place], d)
        moved.squares += adam(&x[place], &gradient[place], &first[place], &second[place], priors[i], d, width, beta1,
                              beta2, scaled * lock[i] if lock else scaled, correction)
    return moved


def adam_step(float[:, ::1] x not None, const float[:, ::1] gradient not None, float[:, ::1] first not None,
              float[:, ::1] second not None, const float[::1] priors not None, int d, float beta1, float beta2,
              float rate, long step, const float[::1] lock=None):
    """Move rows by Adam, with a Gaussian prior on their first d numbers; `step` counts from 1.

    Returns the weighted squares of the rows before the step, and the squared norm of the gradient.
    """
    cdef Moved moved
    cdef const float* locks = NULL
    if lock is not None:
        locks = &lock[0]
    with nogil:
        moved = adam_rows(&x[0, 0], &gradient[0, 0], &first[0, 0], &second[0, 0], &priors[0], locks, x.shape[0],
                          <int> x.shape[1], d, beta1, beta2, rate, step)
    return moved.prior, moved.squares


cdef class Scratch:
    """Memory that one thread at a time works in. It stays, since the system serialises those who ask it for pages."""

    cdef char* data
    cdef size_t size

    def __dealloc__(self):
        free(self.data)

    cdef char* room(self, size_t size) except NULL:
        """Return at least so many bytes."""
        if size > self.size:
            free(self.data)
            self.data, self.size = <char*> malloc(size), 0
            if not self.data:
                raise MemoryError
            self.size = size
        return self.data


cdef class Side:
    """One side of a factorization, of plain vectors: blocks of rows with Adam's moments, of those that are here.

    Of all blocks, it has the weights of words, the priors and, if there are any, the locks. There may be space between
    blocks, but none within them.
    """

    cdef float[:, :, :] rows, first, second
    cdef const float[:, ::1] weights, priors, locks

    def __init__(self, rows not None, first not None, second not None, weights not None, priors not None, locks=None):
        self.rows, self.first, self.second = rows, first, second
        for part in (rows, first, second):
            refuse_gaps(part)
        self.weights, self.priors, self.locks = weights, priors, locks

    cdef Moved move(self, Py_ssize_t block, Py_ssize_t slot, const float* gradient, float beta1, float beta2,
                    float rate, long step) noexcept nogil:
        """Move a block by Adam."""
        cdef int d = <int> self.rows.shape[2]
        cdef const float* locks = NULL
        if self.locks is not None:
            locks = &self.locks[block, 0]
        return adam_rows(&self.rows[slot, 0, 0], gradient, &self.first[slot, 0, 0], &self.second[slot, 0, 0],
                         &self.priors[block, 0], locks, self.rows.shape[1], d, d, beta1, beta2, rate, step)


cdef class Chances:
    """What words of a block are drawn by: their probabilities, the sums of these, and whether all are 0 or 1."""

    cdef const double[::1] chances, ends
    cdef bint certain

    def __init__(self, const double[::1] chances not None, const double[::1] ends not None, bint certain):
        if chances.shape[0] == 0 or chances.shape[0] != ends.shape[0]:
            raise ValueError(f"{len(chances)} probabilities have no {len(ends)} sums")
        self.chances, self.ends, self.certain = chances, ends, certain

    cdef double most(self) noexcept nogil:
        """Return how many words are drawn, give or take one."""
        return self.ends[self.ends.shape[0] - 1]

    cdef int draw(self, double u, int32_t* numbers, float* weights) noexcept nogil:
        """Draw words as `background.Sampler` does; returns how many there are."""
        return draw(&self.chances[0], &self.ends[0], self.ends.shape[0], self.certain, u, numbers, weights)


cdef double uniform(const uint64_t* key, int n) noexcept nogil:
    """Return a number from 0 to 1 that depends on the integers of a key, as `background.uniform` does."""
    cdef uint64_t state = 0
    cdef int k
    for k in range(n):
        state = (state ^ key[k]) + <uint64_t> 0x9E3779B97F4A7C15
        state = (state ^ state >> 30) * <uint64_t> 0xBF58476D1CE4E5B9
        state = (state ^ state >> 27) * <uint64_t> 0x94D049BB133111EB
        state ^= state >> 31
    return <double> (state >> 11) / <double> (<uint64_t> 1 << 53)


cdef int draw(const double* chances, const double* ends, Py_ssize_t n, bint certain, double u, int32_t* numbers,
              float* weights) noexcept nogil:
    """Draw words as `background.Sampler` does; returns how many there are, ends[n - 1] + 1 at most."""
    cdef Py_ssize_t place, low, high, middle, count, k
    cdef int m = 0
    cdef double wanted, step = (u + 1) - u      # that of numpy.arange, whose numbers these are
    if certain:
        for place in range(n):
            if chances[place]:
                numbers[m], weights[m] = <int32_t> place, <float> (1 / chances[place])
                m += 1
        return m
    place, count = 0, <Py_ssize_t> ceil(ends[n - 1] - u)
    for k in range(count):
        wanted = u + k * step
        low, high = place, n
        while low < high:       # the first word whose end is beyond
            middle = (low + high) // 2
            if ends[middle] <= wanted:
                low = middle + 1
            else:
                high = middle
        if low == n:
            break
        place = low
        numbers[m], weights[m] = <int32_t> place, <float> (1 / chances[place])
        m += 1
    return m


cdef class ExponentialSteps:
    """Whole steps on shards, for losses that are exponential in psi: samples, pairs that occur, and Adam on both sides.

    A step is one call that holds Python's lock for a few microseconds, so that many threads can make steps at once.

    Parameters
    ----------
    w, v
        The two sides.
    seed, largest, scale
        Of the draws, as an unsigned integer; where psi is cut off; and what gradients are multiplied by.
    beta1, beta2
        Adam's.
    """

    cdef Side w, v
    cdef uint64_t seed
    cdef float largest, scale, beta1, beta2
    cdef list free

    def __init__(self, Side w not None, Side v not None, uint64_t seed, float largest, float scale, float beta1,
                 float beta2):
        self.w, self.v, self.seed, self.largest, self.scale = w, v, seed, largest, scale
        self.beta1, self.beta2, self.free = beta1, beta2, []

    def step(self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t w_slot, Py_ssize_t v_slot, SparseMatrix shard not None,
             SparseMatrix selves, Chances rows not None, Chances others not None, double level, double by_chance,
             uint64_t number, float rate, long step):
        """Make one step on shard (i, j), whose blocks stand at these slots, in the pass with this number.

        `selves` are further pairs, which do not occur, or None. `rows` and `others` are what rows and columns are drawn
        by. Returns loss, mass and share, the square of the loss' standard error, twice the loss of the prior, and the
        squared norm of the gradient.
        """
        cdef Csr pairs = shard.csr, missing
        cdef Csr* self_pairs = NULL
        cdef Py_ssize_t height = self.w.rows.shape[1], width = self.v.rows.shape[1], most, work
        cdef int d = <int> self.w.rows.shape[2], m, row_room, column_room
        cdef uint64_t[5] key = [self.seed, number, <uint64_t> i, <uint64_t> j, 0]
        cdef double by_columns, by_rows, rest
        cdef Sums sums, own
        cdef Moved of_w, of_v
        cdef float* w = &self.w.rows[w_slot, 0, 0]
        cdef float* v = &self.v.rows[v_slot, 0, 0]
        cdef const float* a = &self.w.weights[i, 0]
        cdef const float* b = &self.v.weights[j, 0]
        cdef float* to_w
        cdef float* to_v
        cdef float* weights
        cdef float* scratch
        cdef int32_t* numbers
        cdef Scratch memory
        if selves is not None:
            missing = selves.csr
            self_pairs = &missing
        row_room = <int> min(rows.most() + 2, height)
        column_room = <int> min(others.most() + 2, width)
        most = max(row_room, column_room)
        work = max(room_for_pairs(pairs.n, width), room_for_sample(height, width, d, column_room))
        work = max(work, room_for_sample(width, height, d, row_room))
        if self_pairs:
            work = max(work, room_for_pairs(missing.n, width))
        memory = self.free.pop() if self.free else Scratch()
        to_w = <float*> memory.room(sizeof(float) * ((height + width) * d + 2 * most + work))
        to_v, numbers = to_w + height * d, <int32_t*> (to_w + (height + width) * d)
        weights = <float*> numbers + most
        scratch = weights + most
        with nogil:
            m = others.draw(uniform(key, 5), numbers, weights)
            by_columns = sampled_gradient(w, height, v, width, d, a, b, numbers, weights, m, pairs, self_pairs, True,
                                          level, self.largest, self.scale, to_w, scratch)
            key[4] = 1
            m = rows.draw(uniform(key, 5), numbers, weights)
            by_rows = sampled_gradient(v, width, w, height, d, b, a, numbers, weights, m, pairs, self_pairs, False,
                                       level, self.largest, self.scale, to_v, scratch)
            sums = exponential_pairs(w, v, width, d, pairs, a, b, level, self.largest, self.scale, to_w, to_v, scratch)
            rest = (by_columns + by_rows) / 2 + level * by_chance - sums.levels
            if self_pairs:
                own = exponential_pairs(w, v, width, d, missing, a, b, level, self.largest, self.scale, to_w, to_v,
                                        scratch)
                rest += (own.mass - own.linear) - own.levels
            of_w = self.w.move(i, w_slot, to_w, self.beta1, self.beta2, rate, step)
            of_v = self.v.move(j, v_slot, to_v, self.beta1, self.beta2, rate, step)
        self.free.append(memory)
        return ((sums.mass - sums.linear) + rest, sums.mass + rest, sums.share, (by_columns - by_rows) ** 2 / 4,
                of_w.prior + of_v.prior, of_w.squares + of_v.squares)
