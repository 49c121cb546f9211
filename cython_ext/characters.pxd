# Characters of UTF-8, and the tables that tell what a character is: corpus/characters.py makes them.
#
# `pages` has for every 256 characters the number of their page in `entries`. An entry has in its lowest bits the kind
# of what a character becomes, and above them the other character that it becomes, or 0.
from libc.stdint cimport uint8_t, uint16_t, uint32_t

cdef enum:          # kinds of characters
    LETTER = 1
    DIGIT = 2
    MARK = 4        # It belongs to the word before it, and begins none.
    BLANK = 8

cdef enum:
    KIND_BITS = 0x7F
    SEVERAL = 0x80  # The character becomes several ones; the number above is where they start in another array.
    CODE_SHIFT = 8


cdef inline uint32_t decoded(const uint8_t* p, uint32_t* width) noexcept nogil:
    """Return the character at p, of valid UTF-8."""
    if p[0] < 0x80:
        width[0] = 1
        return p[0]
    if p[0] < 0xE0:
        width[0] = 2
        return (p[0] & 0x1F) << 6 | (p[1] & 0x3F)
    if p[0] < 0xF0:
        width[0] = 3
        return (p[0] & 0x0F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F)
    width[0] = 4
    return (p[0] & 0x07) << 18 | (p[1] & 0x3F) << 12 | (p[2] & 0x3F) << 6 | (p[3] & 0x3F)


cdef inline uint8_t* encoded(uint32_t c, uint8_t* out) noexcept nogil:
    """Write a character as UTF-8; returns where the next one goes."""
    if c < 0x80:
        out[0] = c
        return out + 1
    if c < 0x800:
        out[0] = 0xC0 | c >> 6
        out[1] = 0x80 | (c & 0x3F)
        return out + 2
    if c < 0x10000:
        out[0] = 0xE0 | c >> 12
        out[1] = 0x80 | (c >> 6 & 0x3F)
        out[2] = 0x80 | (c & 0x3F)
        return out + 3
    out[0] = 0xF0 | c >> 18
    out[1] = 0x80 | (c >> 12 & 0x3F)
    out[2] = 0x80 | (c >> 6 & 0x3F)
    out[3] = 0x80 | (c & 0x3F)
    return out + 4


cdef inline uint32_t entry_of(const uint16_t[::1] pages, const uint32_t[::1] entries, uint32_t c) noexcept nogil:
    return entries[(<Py_ssize_t> pages[c >> 8] << 8) + (c & 0xFF)]
