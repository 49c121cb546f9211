# The records of a run, which is a file of counted rows.
#
# Its rows are ordered by (row mod classes, row). A row consists of one or more records:
#     uint32 row, uint32 entries | width << 24, uint32 column[entries], uintN count[entries] (N = 8 width), padding to 4
# The counts of a record share the narrowest width that holds them.
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

ctypedef fused Total:
    uint32_t
    uint64_t

cdef enum:
    MOST_ENTRIES = 4096                                 # of a record
    HEADER_BYTES = 8
    LARGEST_BYTES = HEADER_BYTES + 12 * MOST_ENTRIES    # of a record


cdef inline uint32_t width_of(uint64_t largest) noexcept nogil:
    if largest < 0x100:
        return 1
    if largest < 0x10000:
        return 2
    return 4 if largest >> 32 == 0 else 8


cdef inline uint64_t record_bytes(uint32_t entries, uint32_t width) noexcept nogil:
    return HEADER_BYTES + 4 * <uint64_t> entries + ((<uint64_t> entries * width + 3) & ~<uint64_t> 3)


cdef inline bint is_record(uint32_t entries, uint32_t width) noexcept nogil:
    """Tell whether a record can have so many entries, and counts of so many bytes."""
    return 0 < entries <= MOST_ENTRIES and (width == 1 or width == 2 or width == 4 or width == 8)


cdef inline void write_header(uint8_t* p, uint32_t row, uint32_t entries, uint32_t width) noexcept nogil:
    cdef uint32_t packed = entries | width << 24
    memcpy(p, &row, 4)
    memcpy(p + 4, &packed, 4)


cdef inline void read_header(const uint8_t* p, uint32_t* row, uint32_t* entries, uint32_t* width) noexcept nogil:
    cdef uint32_t packed
    memcpy(row, p, 4)
    memcpy(&packed, p + 4, 4)
    entries[0] = packed & 0xFFFFFF
    width[0] = packed >> 24


cdef inline void put_count(uint8_t* counts, uint32_t k, uint32_t width, uint64_t value) noexcept nogil:
    if width == 1:
        counts[k] = <uint8_t> value
    elif width == 2:
        (<uint16_t*> counts)[k] = <uint16_t> value
    elif width == 4:
        (<uint32_t*> counts)[k] = <uint32_t> value
    else:
        memcpy(counts + 8 * <uint64_t> k, &value, 8)    # A record is aligned to 4 bytes only.


cdef inline uint64_t get_count(const uint8_t* counts, uint32_t k, uint32_t width) noexcept nogil:
    cdef uint64_t value
    if width == 1:
        return counts[k]
    if width == 2:
        return (<const uint16_t*> counts)[k]
    if width == 4:
        return (<const uint32_t*> counts)[k]
    memcpy(&value, counts + 8 * <uint64_t> k, 8)
    return value


cdef inline uint64_t write_row(uint32_t row, const uint32_t* columns, uint32_t n, Total* totals,
                               uint8_t* out) noexcept nogil:
    """Write the counts of a row as records, and set its totals back to zero."""
    cdef uint64_t used = 0
    cdef uint64_t largest
    cdef uint32_t start = 0
    cdef uint32_t k, entries, width
    cdef uint8_t* counts
    while start < n:
        entries = min(n - start, <uint32_t> MOST_ENTRIES)
        largest = 0
        for k in range(start, start + entries):
            largest = max(largest, totals[columns[k]])
        width = width_of(largest)
        write_header(out + used, row, entries, width)
        memcpy(out + used + HEADER_BYTES, columns + start, 4 * <uint64_t> entries)
        counts = out + used + HEADER_BYTES + 4 * <uint64_t> entries
        for k in range(entries):
            put_count(counts, k, width, totals[columns[start + k]])
            totals[columns[start + k]] = 0
        for k in range(entries * width, (entries * width + 3) & ~<uint32_t> 3):
            counts[k] = 0
        used += record_bytes(entries, width)
        start += entries
    return used
