"""Turns runs into one table: rows of many runs are added up in a dense array, then dealt out to tiles of the store.

Runs and stores are files, which anybody may have written: whatever is read from them is checked here before it is used
as a place in memory.
"""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memmove

from cpython.buffer cimport PyBuffer_FillInfo
from crc32 cimport crc32, prepare_crc32
from runs cimport (
    HEADER_BYTES, LARGEST_BYTES, MOST_ENTRIES, get_count, is_record, read_header, record_bytes, width_of,
    write_row
)
from scanner cimport ctz

import numpy as np

prepare_crc32()

ctypedef fused Number:
    uint16_t
    uint32_t

cdef enum:
    NO_ROW = 0xFFFFFFFF
    HUNGRY = 0xFFFFFFFE
    SPOILT = 0xFFFFFFFD
    NO_RECORD = -2
    NO_COLUMN = -3
    NO_ROOM = -4

cpdef enum:
    FULL = -1                       # what `merge` returns instead of the number of a hungry input
    DONE = -2
    DAMAGED = -3
    LARGEST_RECORD = LARGEST_BYTES


def row_bytes(size):
    """Return the most bytes that the records of one row of `size` columns can take."""
    return LARGEST_BYTES * (size // MOST_ENTRIES + 1)


cdef class Memory:
    """Zeroed bytes as a buffer, which are given back without Python's lock: the system takes its time for megabytes."""
    cdef uint8_t* data
    cdef Py_ssize_t size

    def __cinit__(self, Py_ssize_t size):
        if size < 0:
            raise ValueError(f"there are no {size} bytes")
        with nogil:
            self.data = <uint8_t*> calloc(max(size, 1), 1)
        if not self.data:
            raise MemoryError
        self.size = size

    def __dealloc__(self):
        with nogil:
            free(self.data)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.data, self.size, 0, flags)


def zeros(Py_ssize_t size, dtype):
    """Return an array of so many zeros, whose memory is given out, cleared and given back without Python's lock."""
    dtype = np.dtype(dtype)
    return np.frombuffer(Memory(size * dtype.itemsize), dtype)


cdef struct Input:
    uint8_t* data           # its buffer
    Py_ssize_t room
    const uint8_t* position
    const uint8_t* stop
    bint ended


cdef class RowMerger:
    """Adds up the rows of one class of several runs; the sums come out as records with ascending columns.

    It asks for data: `merge` returns the number of an input that has run out, and goes on once its buffer has been
    filled again. If it returns DAMAGED, `damaged` is the number of an input that holds what no run can hold, and the
    merger is of no more use.

    Parameters
    ----------
    size
        The number of words.
    buffers
        One for each input.
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
    cdef readonly uint32_t damaged

    def __cinit__(self, uint32_t size, list buffers not None):
        cdef uint8_t[::1] buffer
        cdef uint32_t k
        if size >= SPOILT:
            raise ValueError(f"there are too many words: {size}")
        self.size = size
        self.row = NO_ROW
        self.n_inputs = len(buffers)
        self.buffers = list(buffers)
        with nogil:
            self.inputs = <Input*> calloc(self.n_inputs, sizeof(Input))
            self.totals = <uint64_t*> calloc(size, sizeof(uint64_t))
            self.columns = <uint32_t*> malloc((size + 1) * sizeof(uint32_t))
            self.bits = <uint64_t*> calloc(size // 64 + 1, sizeof(uint64_t))
            self.summary = <uint64_t*> calloc(size // 4096 + 1, sizeof(uint64_t))
        if not (self.inputs and self.totals and self.columns and self.bits and self.summary):
            raise MemoryError
        for k in range(self.n_inputs):
            buffer = buffers[k]
            self.inputs[k].room = buffer.shape[0]
            self.inputs[k].data = &buffer[0] if buffer.shape[0] else NULL
            self.inputs[k].position = self.inputs[k].stop = self.inputs[k].data

    def __dealloc__(self):
        with nogil:
            free(self.inputs)
            free(self.totals)
            free(self.columns)
            free(self.bits)
            free(self.summary)

    def keep_rest(self, uint32_t k):
        """Move what input k has not read to the beginning of its buffer; returns how many bytes that are."""
        cdef Input* source
        cdef Py_ssize_t rest
        if k >= self.n_inputs:
            raise IndexError(f"input {k} of {self.n_inputs}")
        source = &self.inputs[k]
        rest = source.stop - source.position
        if rest:
            with nogil:
                memmove(source.data, source.position, rest)
        source.position, source.stop = source.data, source.data + rest
        return rest

    def supply(self, uint32_t k, Py_ssize_t filled, bint ended):
        """Tell that the buffer of input k is filled with so many bytes, and whether these are its last."""
        if k >= self.n_inputs or not 0 <= filled <= self.inputs[k].room:
            raise IndexError(f"{filled} bytes for input {k} of {self.n_inputs}")
        self.inputs[k].position = self.inputs[k].data
        self.inputs[k].stop = self.inputs[k].data + filled
        self.inputs[k].ended = ended

    cdef inline uint32_t peek(self, uint32_t k) noexcept nogil:
        """Return the row of the next record of input k, or NO_ROW at its end.

        HUNGRY stands for a record that is not complete, SPOILT for one that cannot be right.
        """
        cdef Input* source = &self.inputs[k]
        cdef uint32_t row, entries, width
        cdef uint64_t there = source.stop - source.position
        if there >= HEADER_BYTES:
            read_header(source.position, &row, &entries, &width)
            if row >= self.size or not is_record(entries, width):
                return SPOILT
            if there >= record_bytes(entries, width):
                return row
        if not source.ended:
            return HUNGRY
        return SPOILT if there else NO_ROW

    cdef inline bint add(self, uint32_t k) noexcept nogil:
        """Add a record to the totals; returns False if a column or a count cannot be right."""
        cdef Input* source = &self.inputs[k]
        cdef uint32_t row, entries, width, m, j
        cdef uint64_t before, total
        cdef const uint32_t* columns
        cdef const uint8_t* counts
        read_header(source.position, &row, &entries, &width)
        columns = <const uint32_t*> (source.position + HEADER_BYTES)
        counts = source.position + HEADER_BYTES + 4 * <uint64_t> entries
        for m in range(entries):
            j = columns[m]
            if j >= self.size:
                return False
            before = self.totals[j]
            total = before + get_count(counts, m, width)
            if total <= before:         # A count is zero, or the sum overflows.
                return False
            self.columns[self.n] = j
            self.n += before == 0
            self.totals[j] = total
        source.position += record_bytes(entries, width)
        return True

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
        cdef uint32_t last
        if room < LARGEST_BYTES * (<uint64_t> self.size // MOST_ENTRIES + 1):
            raise ValueError("the buffer cannot hold a row")
        with nogil:
            while True:
                if not self.active:
                    last, self.row = self.row, NO_ROW
                    for k in range(self.n_inputs):
                        row = self.peek(k)
                        if row == HUNGRY:
                            status = k
                            break
                        if row == SPOILT or (row <= last and last != NO_ROW):   # Rows ascend.
                            status = DAMAGED
                            self.damaged = k
                            break
                        self.row = min(self.row, row)
                    if status != DONE:
                        self.row = last
                        break
                    if self.row == NO_ROW:
                        break
                    self.active = True
                    self.at = 0
                while self.at < self.n_inputs:
                    row = self.peek(self.at)
                    if row == SPOILT or (row == self.row and not self.add(self.at)):
                        status = DAMAGED
                        self.damaged = self.at
                        break
                    if row == HUNGRY:
                        status = self.at
                        break
                    if row != self.row:
                        self.at += 1
                if status != DONE:
                    break
                if room - used < LARGEST_BYTES * (<uint64_t> self.n // MOST_ENTRIES + 1):
                    status = FULL
                    break
                self.sort_columns()
                used += write_row(self.row, self.columns, self.n, self.totals, &out[used])
                self.n = 0
                self.active = False
        return used, status


ctypedef fused Whole:
    uint32_t
    uint64_t


cdef void pack(uint8_t* out, const Whole* values, uint64_t n, uint32_t width) noexcept nogil:
    """Write numbers in 1, 2, 4 or 8 bytes each, to any address."""
    cdef uint64_t k, eight
    cdef uint32_t four
    cdef uint16_t two
    if width == 1:
        for k in range(n):
            out[k] = <uint8_t> values[k]
    elif width == 2:
        for k in range(n):
            two = <uint16_t> values[k]
            memcpy(out + 2 * k, &two, 2)
    elif width == 4:
        for k in range(n):
            four = <uint32_t> values[k]
            memcpy(out + 4 * k, &four, 4)
    else:
        for k in range(n):
            eight = values[k]
            memcpy(out + 8 * k, &eight, 8)


cdef class TileScatter:
    """Deals the records of one class of rows out to the buffers of tiles [row class, column class]; sums marginals.

    Rows and columns are numbered within the tile. With `mirrored`, an entry off the diagonal counts for both words, and
    the sums of contexts are those of terms: only the latter are computed.

    A tile that is full, or the rest of one, becomes a chunk of the store: all counts, then all rows, then all columns,
    each in `number_bytes` or, for counts, in as many as the largest needs, and zeros up to a multiple of `alignment`.
    Chunks wait until there are `waiting_bytes` of them, so that Python is asked for only once for many.
    """
    cdef uint32_t row_class, classes, shift, room
    cdef uint32_t[::1] rows, columns
    cdef uint64_t[::1] counts
    cdef uint32_t[::1] fill
    cdef uint64_t[::1] contexts, terms
    cdef uint32_t size
    cdef bint mirrored
    cdef uint32_t entry                 # where to go on in the record at hand
    cdef uint32_t number_bytes, alignment
    cdef uint8_t[::1] waiting
    cdef int64_t[:, ::1] index          # of each chunk that waits, as the store has it
    cdef Py_ssize_t used, noted         # bytes and chunks that wait
    cdef readonly Py_ssize_t taken      # bytes that have been taken

    def __init__(self, uint32_t row_class, uint32_t classes, uint32_t room, bint mirrored,
                 uint64_t[::1] contexts not None, uint64_t[::1] terms not None, uint32_t number_bytes,
                 uint32_t alignment, Py_ssize_t waiting_bytes=0):
        if classes == 0 or classes & (classes - 1) or row_class >= classes:
            raise ValueError(f"classes must be a power of two, and above {row_class}, got {classes}")
        if contexts.shape[0] != terms.shape[0]:
            raise ValueError(f"there must be as many contexts as terms, got {contexts.shape[0]} and {terms.shape[0]}")
        if number_bytes not in (2, 4) or alignment == 0:
            raise ValueError(f"there are no numbers of {number_bytes} bytes, aligned to {alignment}")
        self.row_class, self.classes, self.room, self.mirrored = row_class, classes, room, mirrored
        self.number_bytes, self.alignment = number_bytes, alignment
        self.used = self.noted = self.taken = 0
        self.shift = classes.bit_length() - 1
        self.rows, self.columns = zeros(classes * room, np.uint32), zeros(classes * room, np.uint32)
        self.counts = zeros(classes * room, np.uint64)
        self.fill = np.zeros(classes, dtype=np.uint32)
        self.contexts, self.terms, self.size = contexts, terms, <uint32_t> contexts.shape[0]
        self.waiting = zeros(max(waiting_bytes, room * (8 + 2 * number_bytes) + alignment), np.uint8)
        self.index = np.zeros((classes, 6), dtype=np.int64)

    def scatter(self, const uint8_t[::1] data not None, Py_ssize_t start):
        """Take in the records of `data[start:]`; returns the position, and whether chunks must be taken first."""
        cdef Py_ssize_t position = start
        cdef long found
        cdef uint32_t column = 0
        if start < 0:
            raise IndexError(f"position {start}")
        with nogil:  # for all records: to let go of the lock for each would make threads wait for each other
            found = self.take_in(data, &position, &column)
        if found == NO_RECORD:
            raise ValueError(f"there is no record of {self.size} words at byte {position}")
        if found == NO_COLUMN:
            raise ValueError(f"a record holds column {column} of {self.size}")
        return position, found == NO_ROOM

    cdef long take_in(self, const uint8_t[::1] data, Py_ssize_t* position, uint32_t* column) noexcept nogil:
        """Do the work of `scatter`; returns 0, NO_ROOM, NO_RECORD, or NO_COLUMN with the number of that column."""
        cdef const uint8_t* p
        cdef const uint32_t* columns
        cdef const uint8_t* counts
        cdef uint32_t row, entries, width, k, j, tile
        cdef uint64_t count, slot
        while position[0] < data.shape[0]:
            p = &data[position[0]]
            if data.shape[0] - position[0] >= HEADER_BYTES:
                read_header(p, &row, &entries, &width)
            else:
                entries = 0
            if (not is_record(entries, width) or row >= self.size
                    or <uint64_t> (data.shape[0] - position[0]) < record_bytes(entries, width)):
                return NO_RECORD
            columns = <const uint32_t*> (p + HEADER_BYTES)
            counts = p + HEADER_BYTES + 4 * <uint64_t> entries
            for k in range(self.entry, entries):
                j = columns[k]
                if j >= self.size:
                    column[0] = j
                    return NO_COLUMN
                tile = j & (self.classes - 1)
                if self.fill[tile] == self.room and not self.pack_tile(tile):
                    self.entry = k
                    return NO_ROOM
                count = get_count(counts, k, width)
                slot = <uint64_t> tile * self.room + self.fill[tile]
                self.fill[tile] += 1
                self.rows[slot] = row >> self.shift
                self.columns[slot] = j >> self.shift
                self.counts[slot] = count
                self.terms[j] += count
                if not self.mirrored:
                    self.contexts[row] += count
                elif row != j:
                    self.terms[row] += count
            self.entry = 0
            position[0] += record_bytes(entries, width)
        return 0

    cdef bint pack_tile(self, uint32_t tile) noexcept nogil:
        """Let what a tile holds wait as a chunk, and empty the tile; returns False if there is no room for it."""
        cdef uint64_t first = <uint64_t> tile * self.room, entries = self.fill[tile], largest = 0, length, whole, k
        cdef uint32_t width
        cdef uint8_t* out
        if entries == 0:
            return True
        for k in range(first, first + entries):
            largest = max(largest, self.counts[k])
        width = width_of(largest)
        length = entries * (<uint64_t> width + 2 * self.number_bytes)
        whole = (length + self.alignment - 1) // self.alignment * self.alignment
        if self.noted == self.index.shape[0] or <uint64_t> (self.waiting.shape[0] - self.used) < whole:
            return False
        out = &self.waiting[self.used]
        pack(out, &self.counts[first], entries, width)
        pack(out + entries * width, &self.rows[first], entries, self.number_bytes)
        pack(out + entries * (width + self.number_bytes), &self.columns[first], entries, self.number_bytes)
        for k in range(length, whole):
            out[k] = 0
        self.index[self.noted, 0], self.index[self.noted, 1] = self.row_class, tile
        self.index[self.noted, 2], self.index[self.noted, 3] = self.taken + self.used, <int64_t> entries
        self.index[self.noted, 4], self.index[self.noted, 5] = width, crc32(out, whole)
        self.noted += 1
        self.used += whole
        self.fill[tile] = 0
        return True

    def pack_rest(self):
        """Let what all tiles hold wait as chunks, by their numbers; returns whether chunks must be taken first."""
        cdef uint32_t tile
        cdef bint fits = True
        with nogil:
            for tile in range(self.classes):
                fits = self.pack_tile(tile)
                if not fits:
                    break
        return not fits

    def take(self):
        """Return the bytes of all chunks that wait, and their rows of the index; each is where the one before it ends.

        The bytes are overwritten by the chunks that follow.
        """
        found = np.asarray(self.waiting)[:self.used], np.array(self.index[:self.noted])
        self.taken += self.used
        self.used = self.noted = 0
        return found


def records(const uint32_t[::1] rows not None, const uint32_t[::1] columns not None,
            const uint64_t[::1] counts not None, uint32_t size):
    """Return the records of triples as bytes; raises a ValueError unless they ascend and are of so many words."""
    cdef uint64_t[::1] totals = np.zeros(max(size, 1), dtype=np.uint64)
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t stop
    cdef uint8_t[::1] out = np.empty(row_bytes(size), dtype=np.uint8)
    cdef uint64_t used
    cdef uint32_t j, least
    if columns.shape[0] != rows.shape[0] or counts.shape[0] != rows.shape[0]:
        raise ValueError(f"{rows.shape[0]} rows, {columns.shape[0]} columns and {counts.shape[0]} counts")
    parts = []
    while start < rows.shape[0]:
        stop = start
        least = 0
        while stop < rows.shape[0] and rows[stop] == rows[start]:
            j = columns[stop]
            if j < least or j >= size:
                raise ValueError(f"column {j} of {size} is in the wrong place")
            least = j + 1
            totals[j] = counts[stop]
            stop += 1
        if rows[start] >= size or (start > 0 and rows[start] < rows[start - 1]):
            raise ValueError(f"row {rows[start]} of {size} is in the wrong place")
        used = write_row(rows[start], &columns[start], <uint32_t> (stop - start), &totals[0], &out[0])
        parts.append(bytes(out[:used]))
        start = stop
    return b"".join(parts)


def tile_numbers(const uint8_t[::1] numbers not None, int width, uint32_t classes, uint32_t row_class,
                 uint32_t column_class, uint64_t size, bint mirrored, uint64_t least):
    """Return the rows and columns of a chunk as they are numbered in the whole table, and the next `least`.

    `numbers` are first the rows and then the columns within the tile, of `width` bytes. Entries ascend from `least`,
    which is 2^32 row + column. All are of one of `size` words, and with `mirrored` no row is above its column. What
    comes after an entry for which that does not hold is left out.
    """
    if width not in (2, 4):
        raise ValueError(f"numbers have 2 or 4 bytes, got {width}")
    entries = numbers.shape[0] // (2 * width)
    rows, columns = np.empty(entries, dtype=np.int64), np.empty(entries, dtype=np.int64)
    cdef int64_t[::1] i = rows
    cdef int64_t[::1] j = columns
    cdef uint16_t* short_numbers = NULL
    cdef uint32_t* long_numbers = NULL
    cdef Py_ssize_t right
    if entries == 0:
        return rows, columns, least
    with nogil:
        if width == 2:
            right = table_numbers(short_numbers, numbers, classes, row_class, column_class, size, mirrored, &least,
                                  i, j)
        else:
            right = table_numbers(long_numbers, numbers, classes, row_class, column_class, size, mirrored, &least,
                                  i, j)
    return rows[:right], columns[:right], least


cdef Py_ssize_t table_numbers(Number* kind, const uint8_t[::1] numbers, uint32_t classes, uint32_t row_class,
                              uint32_t column_class, uint64_t size, bint mirrored, uint64_t* least, int64_t[::1] rows,
                              int64_t[::1] columns) noexcept nogil:
    """Do the work of `tile_numbers` for one type of numbers; returns how many entries are right."""
    cdef Py_ssize_t n = rows.shape[0], k
    cdef const uint8_t* place = &numbers[0]     # They are not aligned.
    cdef Number row, column
    cdef uint64_t i, j, key
    for k in range(n):
        memcpy(&row, place + k * sizeof(Number), sizeof(Number))
        memcpy(&column, place + (n + k) * sizeof(Number), sizeof(Number))
        i = <uint64_t> row * classes + row_class
        j = <uint64_t> column * classes + column_class
        key = <uint64_t> row << 32 | column
        if key < least[0] or i >= size or j >= size or (mirrored and i > j):
            return k
        least[0] = key + 1
        rows[k] = <int64_t> i
        columns[k] = <int64_t> j
    return n
