"""Finds where sentences end within lines. It takes any bytes, also malformed ones; corpus/sentences.py has the rule."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from characters cimport DIGIT, KIND_BITS, LETTER, MARK, decoded, entry_of
from scanner cimport blank_width

import numpy as np

cdef enum:
    LONGEST_ABBREVIATION = 8

cdef uint8_t[256] FIRST_OF_MARK     # whether a byte may begin a mark that ends a sentence


cdef void fill_first_of_mark() noexcept:
    cdef int c
    for c in b".?!\xe2\xe3\xef":
        FIRST_OF_MARK[c] = 1

fill_first_of_mark()


cdef inline uint32_t terminator(const uint8_t* p, const uint8_t* end, bint* needs_no_blank) noexcept nogil:
    """Return the bytes of the mark at p that may end a sentence: 0 if there is none."""
    if p[0] == c"." or p[0] == c"?" or p[0] == c"!":
        return 1
    if p[0] < 0xE2 or end - p < 3:
        return 0
    if p[0] == 0xE2:
        return 3 if p[1] == 0x80 and p[2] == 0xA6 else 0                        # …
    if (p[0] == 0xE3 and p[1] == 0x80 and p[2] == 0x82) \
            or (p[0] == 0xEF and p[1] == 0xBC and (p[2] == 0x9F or p[2] == 0x81)):      # 。？！
        needs_no_blank[0] = True
        return 3
    return 0


cdef inline uint32_t closer(const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Return the bytes of the quotation mark or bracket at p that closes: 0 if there is none."""
    if p[0] == c")" or p[0] == c"]" or p[0] == c'"' or p[0] == c"'":
        return 1
    if p[0] == 0xC2:
        return 2 if end - p >= 2 and p[1] == 0xBB else 0                        # »
    if p[0] < 0xE2 or end - p < 3:
        return 0
    if p[0] == 0xE2:
        return 3 if p[1] == 0x80 and (p[2] == 0x99 or p[2] == 0x9D) else 0     # ’ ”
    if p[0] == 0xE3:
        return 3 if p[1] == 0x80 and (p[2] == 0x8D or p[2] == 0x8F) else 0     # 」 』
    return 3 if p[0] == 0xEF and p[1] == 0xBC and p[2] == 0x89 else 0          # ）


cdef inline bint is_blank(const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Tell whether white space starts at p."""
    if p[0] < 0x80:
        return p[0] == c" " or 9 <= p[0] <= 13 or 0x1C <= p[0] <= 0x1F
    if p[0] == 0xC2 or 0xE1 <= p[0] <= 0xE3:
        return blank_width(p, end) > 0
    return False


cdef class SentenceSplitter:
    """Finds where sentences end within lines; see corpus/sentences.py for the rule.

    Parameters
    ----------
    pages, entries
        Tables in which each character stays what it is.
    abbreviations : uint64 array
        Words after which a full stop does not end a sentence: up to eight letters of lower case in each number, the
        last one in its lowest bits.
    """
    cdef const uint16_t[::1] pages
    cdef const uint32_t[::1] entries
    cdef const uint64_t[::1] abbreviations

    def __init__(self, pages not None, entries not None, abbreviations not None):
        self.pages, self.entries, self.abbreviations = pages, entries, abbreviations

    def breaks(self, const uint8_t[::1] text not None):
        """Return the positions where a sentence ends before its line does, as an array of int64."""
        cdef const uint8_t* base
        cdef const uint8_t* p
        cdef const uint8_t* end
        cdef const uint8_t* after
        cdef uint32_t width, marks
        cdef bint needs_no_blank, enough = True
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t room = text.shape[0] // 32 + 16
        cdef int64_t* found
        cdef int64_t* more
        cdef int64_t[::1] copied
        if text.shape[0] == 0:
            return np.zeros(0, dtype=np.int64)
        base = p = &text[0]
        end = base + text.shape[0]
        found = <int64_t*> malloc(room * sizeof(int64_t))
        try:
            enough = found != NULL
            with nogil:
                while enough and p < end:
                    if not FIRST_OF_MARK[p[0]]:
                        p += 1
                        continue
                    needs_no_blank = False
                    width = terminator(p, end, &needs_no_blank)
                    if width == 0:
                        p += 1
                        continue
                    after, marks = p, 0
                    while width:
                        after += width
                        marks += 1
                        width = terminator(after, end, &needs_no_blank) if after < end else 0
                    width = closer(after, end) if after < end else 0
                    while width:
                        after += width
                        width = closer(after, end) if after < end else 0
                    if after < end and (needs_no_blank or is_blank(after, end)):
                        if marks > 1 or p[0] != c"." or not self.is_abbreviation(base, p):
                            found[n] = after - base
                            n += 1
                    if n == room:
                        room *= 2
                        more = <int64_t*> realloc(found, room * sizeof(int64_t))
                        if more == NULL:
                            enough = False
                        else:
                            found = more
                    p = after
            if not enough:
                raise MemoryError
            result = np.empty(n, dtype=np.int64)
            copied = result
            if n:
                memcpy(&copied[0], found, n * sizeof(int64_t))
            return result
        finally:
            free(found)

    cdef bint is_abbreviation(self, const uint8_t* base, const uint8_t* point) noexcept nogil:
        """Tell whether the word before a full stop is one letter, or one of the abbreviations."""
        cdef const uint8_t* p
        cdef uint64_t word = 0
        cdef uint32_t length = 0
        cdef Py_ssize_t k
        if point == base:
            return False
        p = previous(base, point)
        if self.kind(p, point) != LETTER:
            return False
        if not self.is_in_word(base, p):
            return True
        p = point
        while p > base and is_ascii_letter((p - 1)[0]):
            p -= 1
            length += 1
            if length > LONGEST_ABBREVIATION:
                return False
        if length == 0 or self.is_in_word(base, p):
            return False
        while p < point:
            word = word << 8 | (p[0] | 0x20)
            p += 1
        for k in range(self.abbreviations.shape[0]):
            if self.abbreviations[k] == word:
                return True
        return False

    cdef inline bint is_in_word(self, const uint8_t* base, const uint8_t* p) noexcept nogil:
        """Tell whether a letter, digit or mark stands before p."""
        return p > base and self.kind(previous(base, p), p) & (LETTER | DIGIT | MARK) != 0

    cdef inline uint8_t kind(self, const uint8_t* p, const uint8_t* end) noexcept nogil:
        """Return the kind of the character that stands from p to `end`; 0 if that is not valid UTF-8."""
        cdef uint32_t c, width
        if p[0] >= 0xF5 or 0x80 <= p[0] < 0xC2:
            return 0
        width = 1 if p[0] < 0x80 else 2 if p[0] < 0xE0 else 3 if p[0] < 0xF0 else 4
        if end - p != width:
            return 0
        c = decoded(p, &width)
        return entry_of(self.pages, self.entries, c) & KIND_BITS if c < 0x110000 else 0


cdef inline bint is_ascii_letter(uint8_t c) noexcept nogil:
    return c"a" <= (c | 0x20) <= c"z"


cdef inline const uint8_t* previous(const uint8_t* base, const uint8_t* p) noexcept nogil:
    """Return where the character before p starts."""
    cdef const uint8_t* least = base if p - base < 4 else p - 4
    while p > least:
        p -= 1
        if p[0] & 0xC0 != 0x80:
            break
    return p
