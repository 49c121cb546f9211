"""Turns runs into one table: rows of many runs are added up in a dense array, then dealt out to tiles of the store."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from runs cimport HEADER_BYTES, LARGEST_BYTES, MOST_ENTRIES, get_count, read_header, record_bytes, write_row
from scanner cimport ctz

import numpy as np

cdef enum:
    NO_ROW = 0xFFFFFFFF
    HUNGRY = 0xFFFFFFFE

cpdef enum:
    FULL = -1                       # what `merge` returns instead of the number of a hungry input
    DONE = -2
    LARGEST_RECORD = LARGEST_BYTES


def row_bytes(size):
    """Return the most bytes that the records of one row of `size` columns can take."""
    return LARGEST_BYTES * (size // MOST_ENTRIES + 1)


cdef struct Input:
    const uint8_t* position
    const uint8_t* stop
    bint ended


cdef class RowMerger:
    """Adds up the rows of one class of several runs; the sums come out as records with ascending columns.

    It asks for data: `merge` returns the number of an input that has run out, and goes on after `supply`.
    """
    cdef uint32_t size
    cdef uint32_t n_inputs
    cdef Input* inputs
    cdef list buffers                   # keeps what the inputs point to alive
    cdef uint64_t* totals
    cdef uint32_t* columns
    cdef uint64_t* bits                 # one bit per column, and in `summary` one bit per word of these
    cdef uint64_t* summary
    cdef uint32_t n                     # columns of the row at hand
    cdef uint32_t row, at
    cdef bint active

    def __cinit__(self, uint32_t size, uint32_t n_inputs):
        self.size = size
        self.n_inputs = n_inputs
        self.buffers = [None] * n_inputs
        self.inputs = <Input*> calloc(n_inputs, sizeof(Input))
        self.totals = <uint64_t*> calloc(size, sizeof(uint64_t))
        self.columns = <uint32_t*> malloc((size + 1) * sizeof(uint32_t))
        self.bits = <uint64_t*> calloc(size // 64 + 1, sizeof(uint64_t))
        self.summary = <uint64_t*> calloc(size // 4096 + 1, sizeof(uint64_t))
        if not (self.inputs and self.totals and self.columns and self.bits and self.summary):
            raise MemoryError

    def __dealloc__(self):
        free(self.inputs)
        free(self.totals)
        free(self.columns)
        free(self.bits)
        free(self.summary)

    def supply(self, uint32_t k, const uint8_t[::1] data not None, bint ended):
        """Give input k its next bytes: those that `rest` says are unread, and what follows them."""
        self.buffers[k] = data
        self.inputs[k].position = &data[0] if data.shape[0] else NULL
        self.inputs[k].stop = self.inputs[k].position + data.shape[0]
        self.inputs[k].ended = ended

    def rest(self, uint32_t k):
        """Return how many of the last bytes supplied to input k are still unread."""
        return self.inputs[k].stop - self.inputs[k].position

    cdef inline uint32_t peek(self, uint32_t k) noexcept nogil:
        """Return the row of the next record of input k, NO_ROW at its end, HUNGRY if the record is not complete."""
        cdef Input* source = &self.inputs[k]
        cdef uint32_t row, entries, width
        cdef uint64_t there = source.stop - source.position
        if there >= HEADER_BYTES:
            read_header(source.position, &row, &entries, &width)
            if there >= record_bytes(entries, width):
                return row
        return NO_ROW if source.ended else HUNGRY

    cdef inline int add(self, uint32_t k) except -1 nogil:
        cdef Input* source = &self.inputs[k]
        cdef uint32_t row, entries, width, m, j
        cdef const uint32_t* columns
        cdef const uint8_t* counts
        read_header(source.position, &row, &entries, &width)
        columns = <const uint32_t*> (source.position + HEADER_BYTES)
        counts = source.position + HEADER_BYTES + 4 * <uint64_t> entries
        for m in range(entries):
            j = columns[m]
            if j >= self.size:
                with gil:
                    raise ValueError(f"a run holds column {j} of {self.size}: the file is damaged")
            self.columns[self.n] = j
            self.n += self.totals[j] == 0
            self.totals[j] += get_count(counts, m, width)
        source.position += record_bytes(entries, width)
        return 0

    cdef inline void sort_columns(self) noexcept nogil:
        """Sort columns by way of a bit map, which takes linear time and fits the cache."""
        cdef uint32_t m, j, word
        cdef uint32_t n = 0
        cdef uint64_t high, low
        for m in range(self.n):
            j = self.columns[m]
            self.bits[j >> 6] |= <uint64_t> 1 << (j & 63)
            self.summary[j >> 12] |= <uint64_t> 1 << ((j >> 6) & 63)
        for m in range(self.size // 4096 + 1):
            high = self.summary[m]
            self.summary[m] = 0
            while high:
                word = (m << 6) + <uint32_t> ctz(high)
                high &= high - 1
                low = self.bits[word]
                self.bits[word] = 0
                while low:
                    self.columns[n] = (word << 6) + <uint32_t> ctz(low)
                    n += 1
                    low &= low - 1

    def merge(self, uint8_t[::1] out not None):
        """Write records to `out`; returns the bytes written, and a hungry input, or FULL, or DONE."""
        cdef uint64_t used = 0
        cdef uint64_t room = out.shape[0]
        cdef uint32_t k, row
        cdef Py_ssize_t status = DONE
        if room < LARGEST_BYTES * (<uint64_t> self.size // MOST_ENTRIES + 1):
            raise ValueError("the buffer cannot hold a row")
        with nogil:
            while True:
                if not self.active:
                    self.row = NO_ROW
                    for k in range(self.n_inputs):
                        row = self.peek(k)
                        if row == HUNGRY:
                            status = k
                            break
                        self.row = min(self.row, row)
                    if status >= 0 or self.row == NO_ROW:
                        break
                    self.active = True
                    self.at = 0
                while self.at < self.n_inputs:
                    row = self.peek(self.at)
                    if row == self.row:
                        self.add(self.at)
                    elif row == HUNGRY:
                        status = self.at
                        break
                    else:
                        self.at += 1
                if status >= 0:
                    break
                if room - used < LARGEST_BYTES * (<uint64_t> self.n // MOST_ENTRIES + 1):
                    status = FULL
                    break
                self.sort_columns()
                used += write_row(self.row, self.columns, self.n, self.totals, &out[used])
                self.n = 0
                self.active = False
        return used, status


cdef class TileScatter:
    """Deals the records of one class of rows out to the buffers of tiles [row class, column class]; sums marginals.

    Rows and columns are numbered within the tile. With `mirrored`, an entry off the diagonal counts for both words.
    """
    cdef uint32_t classes, shift, room
    cdef uint32_t[::1] rows, columns
    cdef uint64_t[::1] counts
    cdef uint32_t[::1] fill
    cdef uint64_t[::1] contexts, terms
    cdef bint mirrored
    cdef uint32_t entry                 # where to go on in the record at hand
    cdef readonly object arrays

    def __init__(self, uint32_t classes, uint32_t room, bint mirrored, uint64_t[::1] contexts not None,
                 uint64_t[::1] terms not None):
        if classes & (classes - 1):
            raise ValueError(f"classes must be a power of two, got {classes}")
        self.classes, self.room, self.mirrored = classes, room, mirrored
        self.shift = classes.bit_length() - 1
        self.arrays = tuple(np.zeros(classes * room, dtype=dtype) for dtype in (np.uint32, np.uint32, np.uint64))
        self.rows, self.columns, self.counts = self.arrays
        self.fill = np.zeros(classes, dtype=np.uint32)
        self.contexts, self.terms = contexts, terms

    def scatter(self, const uint8_t[::1] data not None, Py_ssize_t start):
        """Take in the records of `data[start:]`; returns the position, and the tile that is full, or -1 at the end."""
        cdef const uint8_t* p
        cdef const uint32_t* columns
        cdef const uint8_t* counts
        cdef uint32_t row, entries, width, k, j, tile
        cdef uint64_t count, slot
        cdef Py_ssize_t position = start
        while position < data.shape[0]:
            p = &data[position]
            read_header(p, &row, &entries, &width)
            columns = <const uint32_t*> (p + HEADER_BYTES)
            counts = p + HEADER_BYTES + 4 * <uint64_t> entries
            with nogil:
                for k in range(self.entry, entries):
                    j = columns[k]
                    tile = j & (self.classes - 1)
                    if self.fill[tile] == self.room:
                        with gil:
                            self.entry = k
                            return position, tile
                    count = get_count(counts, k, width)
                    slot = <uint64_t> tile * self.room + self.fill[tile]
                    self.fill[tile] += 1
                    self.rows[slot] = row >> self.shift
                    self.columns[slot] = j >> self.shift
                    self.counts[slot] = count
                    self.contexts[row] += count
                    self.terms[j] += count
                    if self.mirrored and row != j:
                        self.contexts[j] += count
                        self.terms[row] += count
            self.entry = 0
            position += record_bytes(entries, width)
        return position, -1

    def take(self, uint32_t tile):
        """Return the (rows, columns, counts) of a tile as views; the tile is empty afterwards."""
        start = tile * self.room
        stop = start + self.fill[tile]
        self.fill[tile] = 0
        return tuple(array[start:stop] for array in self.arrays)


def records(const uint32_t[::1] rows not None, const uint32_t[::1] columns not None,
            const uint64_t[::1] counts not None, uint32_t size):
    """Return the records of sorted triples without duplicates, as bytes."""
    cdef uint64_t[::1] totals = np.zeros(max(size, 1), dtype=np.uint64)
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t stop
    cdef uint8_t[::1] out = np.empty(row_bytes(size), dtype=np.uint8)
    cdef uint64_t used
    parts = []
    while start < rows.shape[0]:
        stop = start
        while stop < rows.shape[0] and rows[stop] == rows[start]:
            totals[columns[stop]] = counts[stop]
            stop += 1
        used = write_row(rows[start], &columns[start], <uint32_t> (stop - start), &totals[0], &out[0])
        parts.append(bytes(out[:used]))
        start = stop
    return b"".join(parts)
