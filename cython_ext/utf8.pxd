"""Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from scanner cimport load8


cdef inline const uint8_t* after_ascii(const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Return the first byte at or after p that is not ASCII, or the end."""
    while end - p >= 8 and load8(p) & <uint64_t> 0x8080808080808080 == 0:
        p += 8
    while p < end and p[0] < 0x80:
        p += 1
    return p


cdef inline uint32_t wellformed_width(const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Return the number of bytes of the character that begins at p and is not ASCII; 0 if it is malformed."""
    cdef uint32_t k, more
    cdef uint8_t low = 0x80
    cdef uint8_t high = 0xBF
    if 0xC2 <= p[0] <= 0xDF:
        more = 1
    elif 0xE0 <= p[0] <= 0xEF:
        more = 2
        if p[0] == 0xE0:
            low = 0xA0
        elif p[0] == 0xED:
            high = 0x9F
    elif 0xF0 <= p[0] <= 0xF4:
        more = 3
        if p[0] == 0xF0:
            low = 0x90
        elif p[0] == 0xF4:
            high = 0x8F
    else:
        return 0
    if end - p <= more or not low <= p[1] <= high:
        return 0
    for k in range(2, more + 1):
        if not 0x80 <= p[k] <= 0xBF:
            return 0
    return more + 1


cdef inline const uint8_t* malformed_at(const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Return where the first malformed sequence begins, or the end."""
    cdef uint32_t width
    while True:
        p = after_ascii(p, end)
        if p == end:
            return end
        width = wellformed_width(p, end)
        if width == 0:
            return p
        p += width
