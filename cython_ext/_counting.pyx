"""Turns ids into pair counts, one row at a time.

Pairs are never written down. The positions of each word are listed by a counting sort of the ids. A row of the table is
then the sum of the windows around the positions of its word, gathered in one dense array that stays in the cache. Time
is linear in tokens times window, and memory is eight bytes per token.
"""
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from runs cimport LARGEST_BYTES, MOST_ENTRIES, Total, write_row
from scanner cimport prefetch

cdef enum:
    AHEAD = 16          # positions between fetching a window and adding it up
    FAR = 24            # ids between fetching the place of a position and writing it
    COLLECTED = 512     # contexts that are collected before they are added up


cdef class PairCounter:
    """Counts the pairs among ids, and hands them out as the records of a run.

    Row i, column j is the weight with which j occurs in the window of i: `behind[d - 1]` if j is d words before i,
    `ahead[d - 1]` if it is d words after. With `upper` only columns j >= i are handed out.
    """
    cdef uint32_t size                  # V; the id V stands for no word
    cdef uint32_t n                     # contexts of a window that have a weight: their offsets and weights
    cdef int32_t* offsets
    cdef uint64_t* weights
    cdef uint64_t row_weight            # the most that one position can add to a cell
    cdef bint upper
    cdef uint64_t* starts               # V + 1
    cdef uint64_t* totals               # V + 1 cells of 4 or 8 bytes
    cdef uint32_t* touched              # columns of the row at hand
    cdef uint32_t* columns              # contexts that wait to be added up, and their weights
    cdef uint64_t* added
    cdef const uint32_t[::1] ids
    cdef uint32_t[::1] positions

    def __cinit__(self, uint32_t size, behind, ahead, bint upper):
        self.size = size
        self.upper = upper
        context = [(-d, weight) for d, weight in enumerate(behind, start=1) if weight]
        context = context[::-1] + [(d, weight) for d, weight in enumerate(ahead, start=1) if weight]
        self.n = len(context)
        self.offsets = <int32_t*> malloc((self.n + 1) * sizeof(int32_t))
        self.weights = <uint64_t*> malloc((self.n + 1) * sizeof(uint64_t))
        self.starts = <uint64_t*> malloc((size + 2) * sizeof(uint64_t))
        self.totals = <uint64_t*> calloc(size + 1, sizeof(uint64_t))
        # One more column than there are is written before it is known whether it is new.
        self.touched = <uint32_t*> malloc((size + 2) * sizeof(uint32_t))
        self.columns = <uint32_t*> malloc((COLLECTED + self.n + 1) * sizeof(uint32_t))
        self.added = <uint64_t*> malloc((COLLECTED + self.n + 1) * sizeof(uint64_t))
        if not (self.offsets and self.weights and self.starts and self.totals and self.touched and self.columns
                and self.added):
            raise MemoryError
        for k, (offset, weight) in enumerate(context):
            self.offsets[k] = offset
            self.weights[k] = weight
        self.row_weight = sum(behind) + sum(ahead)

    def __dealloc__(self):
        free(self.offsets)
        free(self.weights)
        free(self.starts)
        free(self.totals)
        free(self.touched)
        free(self.columns)
        free(self.added)

    def place(self, const uint32_t[::1] ids not None, Py_ssize_t used, uint32_t[::1] positions not None):
        """List the positions of every word of `ids[:used]` in `positions`, in order.

        The first and the last `window` ids must be V.
        """
        cdef Py_ssize_t p
        cdef uint32_t k, id
        cdef uint64_t n
        cdef uint64_t* starts = self.starts
        if positions.shape[0] < used or ids.shape[0] < used or used > 0xFFFFFFFF:
            raise ValueError("the positions do not fit")
        self.ids, self.positions = ids, positions
        with nogil:
            for k in range(self.size + 2):
                starts[k] = 0
            # Shifted by two: the scatter below moves starts[id + 1] from where id begins to where it ends.
            for p in range(used):
                id = ids[p]
                if id < self.size:
                    starts[id + 2] += 1
            for k in range(1, self.size + 2):
                starts[k] += starts[k - 1]
            for p in range(used):
                id = ids[p]
                if p + FAR < used:      # It will be written soon.
                    prefetch(&positions[starts[ids[p + FAR] + 1]])
                if id < self.size:
                    n = starts[id + 1]
                    positions[n] = <uint32_t> p
                    starts[id + 1] = n + 1

    def rows(self, uint32_t first, uint32_t step, uint8_t[::1] out not None):
        """Write records of the rows first, first + step, ... to `out` as long as they fit.

        Returns (bytes written, the row to go on with); that row is V or more when all are done.
        """
        cdef uint32_t row = first
        cdef uint64_t used = 0
        cdef uint64_t n
        cdef uint64_t room = out.shape[0]
        cdef uint64_t need = LARGEST_BYTES * (<uint64_t> self.size // MOST_ENTRIES + 1)
        if room < need:
            raise ValueError(f"a row may need {need} bytes, the buffer has {room}")
        with nogil:
            while row < self.size and room - used >= need:
                n = self.starts[row + 1] - self.starts[row]
                if n:
                    if n * self.row_weight >> 32 == 0:
                        used += self.add_row(row, <uint32_t*> self.totals, &out[used])
                    else:
                        used += self.add_row(row, self.totals, &out[used])
                row += step
        return used, row

    cdef uint64_t add_row(self, uint32_t row, Total* totals, uint8_t* out) noexcept nogil:
        """Sum the windows of one word, write its records, and leave `totals` all zero."""
        cdef uint64_t k, stop = self.starts[row + 1]
        cdef uint32_t n = 0
        cdef uint32_t d, m
        cdef uint32_t waiting = 0
        cdef uint32_t span = self.n
        # Columns low .. V - 1 are wanted. One comparison tells, because numbers below low wrap around.
        cdef uint32_t low = row if self.upper else 0
        cdef uint32_t wanted = self.size - low
        cdef uint32_t* touched = self.touched
        cdef uint32_t* columns = self.columns
        cdef uint64_t* added = self.added
        cdef const int32_t* offsets = self.offsets
        cdef const uint64_t* weights = self.weights
        cdef const uint32_t* window
        cdef const uint32_t* ids = &self.ids[0]
        cdef const uint32_t* positions = &self.positions[0]
        cdef Total before
        for k in range(self.starts[row], stop):
            if k + AHEAD < stop:
                prefetch(ids + positions[k + AHEAD] + offsets[0])
                prefetch(ids + positions[k + AHEAD] + offsets[span - 1])
            window = ids + positions[k]
            # Contexts are first collected, then added: neither loop has a branch that depends on the text.
            for d in range(span):
                columns[waiting] = window[offsets[d]]
                added[waiting] = weights[d]
                waiting += window[offsets[d]] - low < wanted
            if waiting >= COLLECTED or k + 1 == stop:
                for m in range(waiting):
                    before = totals[columns[m]]
                    touched[n] = columns[m]
                    n += before == 0
                    totals[columns[m]] = before + <Total> added[m]
                waiting = 0
        return write_row(row, touched, n, totals, out)
