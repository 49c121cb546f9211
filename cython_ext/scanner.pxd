# Cuts bytes into tokens and sentence ends, eight bytes at a time.
#
# Two kinds of blocks are scanned with the same code:
# - text: tokens are separated by what `str.split()` calls white space, sentences by "\n";
# - token lists: every token ends in 0xFF and every sentence in 0xFE, two bytes that never occur in UTF-8,
#   so that a token may hold any character and may even be empty.
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from "scanner.h":
    uint64_t SALT_A "GH_SALT_A"
    uint64_t SALT_B "GH_SALT_B"
    int ctz "gh_ctz"(uint64_t x) noexcept nogil
    uint64_t fold "gh_fold"(uint64_t a, uint64_t b) noexcept nogil
    void prefetch "gh_prefetch"(const void* p) noexcept nogil
    uint64_t load8 "gh_load"(const uint8_t* p) noexcept nogil
    uint64_t special "gh_special"(uint64_t x) noexcept nogil
    uint64_t keep_bytes "gh_keep"(uint64_t x, uint64_t count) noexcept nogil
    const uint8_t* TEXT "gh_text"
    const uint8_t* LISTED "gh_listed"


cdef enum:
    ORDINARY = 0    # It is part of a token.
    BLANK = 1       # It ends a token.
    BREAK = 2       # It ends a sentence.
    LEAD = 3        # It may begin one of Unicode's white spaces.

cdef enum:
    WORD = 0
    SENTENCE = 1

cdef enum:
    BATCH = 64          # events scanned before they are looked up, so that the look-ups can be prefetched
    SHORT = 15          # longest token whose bytes fit into its key


cdef struct Event:
    uint64_t a, b       # the token's bytes, or for a long one its first eight and a hash
    uint64_t hash
    const uint8_t* start
    uint32_t length
    uint32_t kind


cdef struct Scanner:
    const uint8_t* position
    const uint8_t* end
    const uint8_t* classes      # 256 entries
    bint listed                 # whether the block holds token lists and not text


cdef inline Scanner scanner_of(const uint8_t* base, Py_ssize_t start, Py_ssize_t stop, bint listed) noexcept nogil:
    """Return a scanner of text or token lists from `start` to `stop`."""
    cdef Scanner s
    s.position, s.end, s.listed = base + start, base + stop, listed
    s.classes = LISTED if listed else TEXT
    return s


cdef inline uint32_t blank_width(const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Return how many bytes of white space beyond ASCII start at the lead byte p: 0, 2 or 3."""
    if p[0] == 0xC2:
        return 2 if end - p >= 2 and (p[1] == 0x85 or p[1] == 0xA0) else 0
    if end - p < 3:
        return 0
    if p[0] == 0xE1:
        return 3 if p[1] == 0x9A and p[2] == 0x80 else 0
    if p[0] == 0xE2:
        if p[1] == 0x80:
            return 3 if 0x80 <= p[2] <= 0x8A or p[2] == 0xA8 or p[2] == 0xA9 or p[2] == 0xAF else 0
        return 3 if p[1] == 0x81 and p[2] == 0x9F else 0
    return 3 if p[1] == 0x80 and p[2] == 0x80 else 0


cdef inline const uint8_t* token_end(Scanner* s, const uint8_t* p) noexcept nogil:
    """Return the first byte at or after p that does not belong to the token."""
    cdef uint64_t marks
    cdef uint8_t kind
    while p < s.end:
        if s.end - p >= 8:
            marks = special(load8(p))
            if marks == 0:
                p += 8
                continue
            p += ctz(marks) >> 3
        kind = s.classes[p[0]]
        if kind == BLANK or kind == BREAK:
            return p
        if kind == LEAD and blank_width(p, s.end) > 0:
            return p
        p += 1
    return p


cdef inline uint64_t long_hash(const uint8_t* p, uint32_t length) noexcept nogil:
    cdef uint64_t h = SALT_A ^ length
    cdef uint64_t word
    while length >= 8:
        h = fold(h ^ load8(p), SALT_B)
        p += 8
        length -= 8
    word = 0
    memcpy(&word, p, length)
    return fold(h ^ word, SALT_A)


cdef inline void describe(Event* e, const uint8_t* p, uint32_t length, const uint8_t* end) noexcept nogil:
    """Set the key and the hash of the token at p. A token of up to 15 bytes is its own key."""
    cdef uint8_t near_end[16]
    cdef const uint8_t* q = p
    e.kind = WORD
    e.start = p
    e.length = length
    if end - p < 16:        # Never read past the block.
        memcpy(near_end, p, end - p)
        q = near_end
    if length <= SHORT:
        e.a = keep_bytes(load8(q), length)
        e.b = (keep_bytes(load8(q + 8), length - 8) if length > 8 else 0) | (<uint64_t> length << 56)
    else:
        e.a = load8(q)
        e.b = long_hash(p, length) | (<uint64_t> 0xFF << 56)
    e.hash = fold(e.a ^ SALT_A, e.b ^ SALT_B)


cdef inline uint32_t scan(Scanner* s, Event* events) noexcept nogil:
    """Fill up to BATCH events and move on; returns how many, 0 at the end of the block."""
    cdef const uint8_t* p = s.position
    cdef const uint8_t* q
    cdef uint32_t n = 0
    cdef uint32_t width
    cdef uint8_t kind
    while n < BATCH and p < s.end:
        kind = s.classes[p[0]]
        if kind == BREAK:
            events[n].kind = SENTENCE
            events[n].start = p
            events[n].hash = 0
            n += 1
            p += 1
        elif kind == BLANK and not s.listed:
            p += 1
        else:
            if kind == LEAD:
                width = blank_width(p, s.end)
                if width > 0:
                    p += width
                    continue
            q = token_end(s, p)
            describe(&events[n], p, <uint32_t> (q - p), s.end)
            n += 1
            p = q
            # One separator belongs to the token, unless it ends the sentence as well.
            if p < s.end and s.classes[p[0]] == BLANK:
                p += 1
    s.position = p
    return n
