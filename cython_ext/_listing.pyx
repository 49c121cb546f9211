"""Turns text whose words are separated by white space into token lists."""
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from scanner cimport BLANK, BREAK, LEAD, Scanner, blank_width, scanner_of, token_end

import numpy as np

cdef enum:
    WORD_END = 0xFF
    SENTENCE_END = 0xFE
    NEAR = 16           # bytes that are copied at once, more than most words have


def list_words(const uint8_t[::1] text not None, bint inside, bint is_open, uint64_t step):
    """Return the words of lines of text as token lists, and `step` times the position of the first byte of each.

    Each line with a word is a sentence. `inside` and `is_open` tell whether the text begins and ends in the middle of
    one.
    """
    cdef Scanner s
    cdef Py_ssize_t size = text.shape[0]
    cdef Py_ssize_t words = 0
    cdef Py_ssize_t length
    cdef const uint8_t* p
    cdef const uint8_t* end
    cdef uint8_t* out
    cdef uint8_t* q
    cdef uint8_t kind
    cdef bint begun = inside
    # Each word but the last is followed by a byte of white space.
    result = np.empty(size // 2 + 1, dtype=np.uint64)
    cdef uint64_t[::1] places = result
    # A line end becomes two marks, that of the word before it and that of the sentence.
    out = <uint8_t*> malloc(size + size // 2 + 4 + NEAR)
    if not out:
        raise MemoryError
    q = out
    s = scanner_of(&text[0] if size else out, 0, size, False)
    with nogil:
        p = s.position
        while p < s.end:
            kind = s.classes[p[0]]
            if kind == BREAK:
                if begun:
                    q[0] = SENTENCE_END
                    q += 1
                begun = False
                p += 1
            elif kind == BLANK:
                p += 1
            elif kind == LEAD and blank_width(p, s.end) > 0:
                p += blank_width(p, s.end)
            else:
                end = token_end(&s, p)
                length = end - p
                if length <= NEAR and s.end - p >= NEAR:
                    memcpy(q, p, NEAR)      # faster than a copy of unknown length; what is too much is overwritten
                else:
                    memcpy(q, p, length)
                q[length] = WORD_END
                q += length + 1
                places[words] = step * <uint64_t> (p - (s.end - size))
                words += 1
                begun = True
                p = end
        if begun and not is_open:
            q[0] = SENTENCE_END
            q += 1
    try:
        return (<const char*> out)[:q - out], result[:words]
    finally:
        free(out)
