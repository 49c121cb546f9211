"""Sums of the rows of words, for vectors of texts."""
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memset

from rows cimport choose_kernels, mix
from scanner cimport prefetch

cdef enum:
    TERMS = 64          # rows that are added at a time

cdef float ONES[TERMS]
cdef int filled
for filled in range(TERMS):
    ONES[filled] = 1
choose_kernels()


def add_rows(const float[:, ::1] rows not None, const float[:, ::1] more not None, const float[::1] more_words not None,
             const uint32_t[::1] ids not None, const int64_t[::1] ends not None, float[:, ::1] out not None,
             float[::1] words not None):
    """Set each row of `out` to the sum of the rows of one text, whose ids end at `ends`.

    An id from len(rows) on stands for a row of `more`, which is the sum of `more_words` words. `words` is set to the
    number of words in each text. The order of additions is that of the text, whoever adds them.
    """
    cdef Py_ssize_t known = rows.shape[0]
    cdef Py_ssize_t text, k, id
    cdef Py_ssize_t start = 0
    cdef int d = <int> rows.shape[1]
    cdef int n, line
    cdef float* sum
    cdef float* terms[TERMS]
    if ends.shape[0] != out.shape[0] or words.shape[0] != out.shape[0] or out.shape[1] != d or more.shape[1] != d:
        raise ValueError("the shapes of the arrays do not agree")
    with nogil:
        for text in range(ends.shape[0]):
            words[text] = 0
            if d == 0:
                continue
            sum = &out[text, 0]
            memset(sum, 0, d * sizeof(float))
            n = 0
            for k in range(start, ends[text]):
                id = ids[k]
                if id < known:
                    terms[n] = <float*> &rows[id, 0]
                    words[text] += 1
                elif more_words[id - known] == 0:
                    continue
                else:
                    terms[n] = <float*> &more[id - known, 0]
                    words[text] += more_words[id - known]
                for line in range(0, d, 16):
                    prefetch(terms[n] + line)
                n += 1
                if n == TERMS:
                    mix(&sum, 1, terms, n, ONES, 0, d)
                    n = 0
            if n:
                mix(&sum, 1, terms, n, ONES, 0, d)
            start = ends[text]


def project(const float[:, ::1] vectors not None, const int64_t[::1] which not None, const float[::1] weights not None,
            const float[:, ::1] matrix not None, float[:, ::1] out not None):
    """Set `out[k] = weights[k] vectors[k] @ matrix` for each row number k in `which`; the same bits for any `which`."""
    cdef Py_ssize_t i, k
    cdef int d = <int> vectors.shape[1]
    cdef int n, row
    cdef float* sum
    cdef float* terms[TERMS]
    cdef float factors[TERMS]
    if out.shape[0] != vectors.shape[0] or out.shape[1] != d or matrix.shape[0] != d or matrix.shape[1] != d:
        raise ValueError("the shapes of the arrays do not agree")
    with nogil:
        for i in range(which.shape[0] if d else 0):
            k = which[i]
            sum = &out[k, 0]
            memset(sum, 0, d * sizeof(float))
            n = 0
            for row in range(d):
                terms[n] = <float*> &matrix[row, 0]
                factors[n] = weights[k] * vectors[k, row]
                n += 1
                if n == TERMS:
                    mix(&sum, 1, terms, n, factors, 0, d)
                    n = 0
            if n:
                mix(&sum, 1, terms, n, factors, 0, d)


def scale_rows(float[:, ::1] sums not None, const float[::1] words, bint unit):
    """Divide each row by its number of words, or with `unit` by its length. Rows of zeros stay."""
    cdef Py_ssize_t i, k
    cdef double total
    cdef float factor
    with nogil:
        for i in range(sums.shape[0]):
            total = 0
            if unit:
                for k in range(sums.shape[1]):
                    total += <double> sums[i, k] * sums[i, k]
                total = sqrt(total)
            else:
                total = words[i]
            factor = <float> (1 / total) if total > 0 else 0
            for k in range(sums.shape[1]):
                sums[i, k] *= factor
