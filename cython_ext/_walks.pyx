"""Steps of random walks on a graph in CSR form: the edges of node i are `neighbours[starts[i] : starts[i + 1]]`."""
from libc.stdint cimport int32_t, int64_t


def walk_on(
    const int64_t[::1] starts, const int32_t[::1] neighbours, const double[::1] sums, const double[:, ::1] draws,
    int64_t[:, ::1] walks,
):
    """Fill in walks whose first nodes are there; -1 stands behind a dead end.

    `draws` has a number from 0 to 1 for each step. `sums` are the sums of the weights of all edges before each, with
    the total at the end; it is empty if all weights are equal. All walks take a step before any takes the next one, so
    that the processor can wait for many nodes at once.
    """
    cdef Py_ssize_t step, k, steps = walks.shape[1] - 1, number = walks.shape[0]
    cdef int64_t node, first, last, low, high, middle
    cdef double target
    cdef bint weighted = sums.shape[0] > 0
    with nogil:
        for step in range(steps):
            for k in range(number):
                node = walks[k, step]
                if node < 0:
                    walks[k, step + 1] = -1
                    continue
                first, last = starts[node], starts[node + 1]
                if first == last:
                    walks[k, step + 1] = -1
                    continue
                if weighted:
                    target = sums[first] + draws[k, step] * (sums[last] - sums[first])
                    low, high = first, last - 1
                    while low < high:  # the first edge whose end is beyond the target
                        middle = (low + high) // 2
                        if sums[middle + 1] > target:
                            high = middle
                        else:
                            low = middle + 1
                else:
                    low = first + <int64_t> (draws[k, step] * <double> (last - first))
                    if low >= last:
                        low = last - 1
                walks[k, step + 1] = neighbours[low]
