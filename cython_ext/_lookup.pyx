"""Looks up the counts of single pairs in the chunks of a store, which are sorted."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy


cdef inline uint64_t number_at(const uint8_t* place, int64_t k, int width) noexcept nogil:
    """Return the k-th number of `width` bytes from `place` on, which is not aligned."""
    cdef uint16_t short_number
    cdef uint32_t long_number
    cdef uint64_t longest_number
    if width == 1:
        return place[k]
    if width == 2:
        memcpy(&short_number, place + 2 * k, 2)
        return short_number
    if width == 4:
        memcpy(&long_number, place + 4 * k, 4)
        return long_number
    memcpy(&longest_number, place + 8 * k, 8)
    return longest_number


def look_up(const uint8_t[::1] data not None, const int64_t[:, ::1] chunks not None, int width,
            const int64_t[::1] rows not None, const int64_t[::1] columns not None, double[::1] counts not None):
    """Write the counts of pairs of one tile, given its chunks and the numbers of rows and columns within the tile.

    Each chunk is a row of the index of the store; `width` is the number of bytes of a row or column number. The counts
    of pairs that do not occur stay as they are.
    """
    cdef Py_ssize_t chunk, pair
    cdef int64_t low, high, middle, entries
    cdef int count_width
    cdef uint64_t wanted, key
    cdef const uint8_t* start
    cdef const uint8_t* of_rows
    cdef const uint8_t* of_columns
    for chunk in range(chunks.shape[0]):
        if chunks[chunk, 2] + chunks[chunk, 3] * (chunks[chunk, 4] + 2 * width) > data.shape[0]:
            raise IndexError(f"a chunk at {chunks[chunk, 2]} goes beyond the {data.shape[0]} bytes of its file")
    with nogil:
        for chunk in range(chunks.shape[0]):
            entries, count_width = chunks[chunk, 3], <int> chunks[chunk, 4]
            if entries == 0:
                continue
            start = &data[chunks[chunk, 2]]
            of_rows = start + entries * count_width
            of_columns = of_rows + entries * width
            for pair in range(rows.shape[0]):
                wanted = (<uint64_t> rows[pair] << 32) | <uint64_t> columns[pair]
                low, high = 0, entries
                while low < high:
                    middle = (low + high) // 2
                    key = (number_at(of_rows, middle, width) << 32) | number_at(of_columns, middle, width)
                    if key < wanted:
                        low = middle + 1
                    else:
                        high = middle
                if low < entries and ((number_at(of_rows, low, width) << 32) | number_at(of_columns, low, width)) \
                        == wanted:
                    counts[pair] = <double> number_at(start, low, count_width)
