"""Makes token lists of text: words are runs of letters and digits, or what stands between white space.

What a character is and becomes is in tables that corpus/characters.py makes. Text must be valid UTF-8, which
`invalid_position` finds out.
"""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from characters cimport BLANK, CODE_SHIFT, DIGIT, KIND_BITS, LETTER, MARK, SEVERAL, decoded, encoded, entry_of
from utf8 cimport after_ascii, malformed_at

import numpy as np

cdef enum:
    PLACE_SHIFT = 4         # as in corpus/token_lists.py
    MOST_OF_ONE = 64        # bytes that one character may become, separators included
    FOLDED = 0x30           # "0"


def invalid_position(const uint8_t[::1] text not None):
    """Return (where the first malformed sequence starts or -1, whether all is ASCII)."""
    cdef const uint8_t* base
    cdef const uint8_t* end
    cdef const uint8_t* beyond_ascii
    cdef const uint8_t* found
    if text.shape[0] == 0:
        return -1, True
    base = &text[0]
    end = base + text.shape[0]
    with nogil:
        beyond_ascii = after_ascii(base, end)
        found = malformed_at(beyond_ascii, end)
    return (found - base if found < end else -1), beyond_ascii == end


def marked_positions(const uint8_t[::1] text not None, const uint16_t[::1] pages not None,
                     const uint32_t[::1] entries not None):
    """Return where those characters of valid UTF-8 begin that are not ASCII and whose entries are not 0."""
    cdef const uint8_t* base
    cdef const uint8_t* p
    cdef const uint8_t* end
    cdef uint32_t width
    cdef Py_ssize_t used = 0
    cdef int64_t[::1] room
    if text.shape[0] == 0:
        return np.zeros(0, dtype=np.int64)
    found = np.empty(1024, dtype=np.int64)
    room = found
    base = p = &text[0]
    end = base + text.shape[0]
    with nogil:
        while p < end:
            if p[0] < 0x80:
                p = after_ascii(p, end)
                continue
            if entry_of(pages, entries, decoded(p, &width)):
                if used == room.shape[0]:
                    with gil:
                        found = np.concatenate([found, np.empty_like(found)])
                        room = found
                room[used] = p - base
                used += 1
            p += width
    return found[:used]


cdef struct Output:
    uint8_t* bytes
    uint64_t* places
    Py_ssize_t used, room, words, place_room


cdef inline uint8_t* grown(Output* out, uint8_t* q) noexcept nogil:
    """Double the room for bytes; returns where the next one goes, or NULL if there is not enough memory."""
    cdef Py_ssize_t used = q - out.bytes
    cdef uint8_t* more = <uint8_t*> realloc(out.bytes, 2 * out.room)
    if more == NULL:
        return NULL
    out.bytes = more
    out.room *= 2
    return more + used


cdef class WordScanner:
    """Cuts text into words.

    Parameters
    ----------
    pages : uint16 array
        For every 256 characters, the number of their page in `entries`.
    entries : uint32 array
        For each character of a page: the kind of what it becomes, and in the bits above what it becomes, or 0 if it
        stays what it is.
    several : uint32 array
        What characters become that become several: how many, and then as many entries.
    fold_numbers : bool
        Whether words without letters become "0".
    drop_underscored : bool
        Whether words that begin with an underscore are left out.
    min_length, max_length : int
        Words with fewer or more characters are left out; 0 for no limit.
    """
    cdef const uint16_t[::1] pages
    cdef const uint32_t[::1] entries
    cdef const uint32_t[::1] several
    cdef uint8_t[128] kinds         # of ASCII characters
    cdef uint8_t[128] becomes
    cdef bint fold_numbers, drop_underscored
    cdef uint32_t min_length, max_length

    def __init__(self, pages not None, entries not None, several not None, *, bint fold_numbers,
                 bint drop_underscored, uint32_t min_length, uint32_t max_length):
        cdef int c
        cdef uint32_t entry
        self.pages, self.entries, self.several = pages, entries, several
        self.fold_numbers, self.drop_underscored = fold_numbers, drop_underscored
        self.min_length, self.max_length = min_length, max_length
        for c in range(128):
            entry = entry_of(self.pages, self.entries, c)
            self.kinds[c] = entry & KIND_BITS
            self.becomes[c] = entry >> CODE_SHIFT or c

    def scan(self, const uint8_t[::1] text not None, Py_ssize_t start, Py_ssize_t stop, breaks, bint inside,
             bint is_open, int64_t origin=-1):
        """Return the token lists of text[start:stop] and the places of their words.

        `breaks` holds positions where sentences end besides line ends. With `inside`, the text begins in the middle of
        a sentence, and with `is_open` it ends in one. The places of words come from their positions, or if the text has
        been rewritten, from `origin`, where it was.
        """
        cdef Output out
        cdef const int64_t[::1] ends = breaks
        cdef uint64_t[::1] copied
        cdef bint enough
        cdef bytes data
        if stop <= start:
            return (b"\xfe" if inside and not is_open else b""), np.zeros(0, dtype=np.uint64)
        out.room = 2 * (stop - start) + 2 * MOST_OF_ONE
        out.place_room = (stop - start) // 4 + 16
        out.bytes = <uint8_t*> malloc(out.room)
        out.places = <uint64_t*> malloc(out.place_room * sizeof(uint64_t))
        out.used = out.words = 0
        try:
            enough = out.bytes != NULL and out.places != NULL
            if enough:
                with nogil:
                    enough = self.scan_into(&out, &text[0], start, stop, ends, inside, is_open, origin)
            if not enough:
                raise MemoryError
            places = np.empty(out.words, dtype=np.uint64)
            copied = places
            if out.words:
                memcpy(&copied[0], out.places, out.words * sizeof(uint64_t))
            data = (<const char*> out.bytes)[:out.used]
            return data, places
        finally:
            free(out.bytes)
            free(out.places)

    cdef bint scan_into(self, Output* out, const uint8_t* base, Py_ssize_t start, Py_ssize_t stop,
                        const int64_t[::1] ends, bint inside, bint is_open, int64_t origin) noexcept nogil:
        """Do the work of `scan`; returns False if there is not enough memory."""
        cdef const uint8_t* p = base + start
        cdef const uint8_t* end = base + stop
        cdef const uint8_t* sentence_end = end + 1      # the next break
        cdef const uint8_t* piece_end
        cdef const uint8_t* word_start = p
        cdef const uint8_t* here
        cdef uint8_t* q = out.bytes
        cdef uint8_t* word = NULL                       # where the present word starts in the output
        cdef uint8_t kinds = 0                          # of the characters of the present word
        cdef uint8_t kind
        cdef uint32_t c, entry, width, k, count
        cdef const uint32_t* parts
        cdef bint filled = inside                       # whether the sentence has anything but white space
        cdef Py_ssize_t next_break = 0
        while next_break < ends.shape[0] and ends[next_break] <= start:
            next_break += 1
        if next_break < ends.shape[0]:
            sentence_end = base + ends[next_break]
        while True:
            piece_end = end if sentence_end > end else sentence_end
            while p < piece_end:
                if p[0] < 0x80:
                    kind = self.kinds[p[0]]
                    if kind & (LETTER | DIGIT):
                        if word == NULL:
                            word, word_start, kinds = q, p, 0
                        while True:
                            kinds |= kind
                            q[0] = self.becomes[p[0]]
                            q += 1
                            p += 1
                            if p == piece_end or p[0] >= 0x80:
                                break
                            kind = self.kinds[p[0]]
                            if not kind & (LETTER | DIGIT):
                                break
                        filled = True
                        continue
                    if word != NULL:
                        q = self.end_word(out, word, q, kinds, base, word_start, origin)
                        word = NULL
                        if q == NULL:
                            return False
                    if p[0] == c"\n":
                        if filled:
                            q[0] = 0xFE
                            q += 1
                        filled = False
                    elif kind != BLANK:
                        filled = True
                    p += 1
                    continue
                here = p
                c = decoded(p, &width)
                p += width
                # As many ASCII characters as are left take at most two bytes each; any other may take more.
                if <Py_ssize_t> (out.room - (q - out.bytes)) < 2 * (end - here) + 2 * MOST_OF_ONE:
                    k = 0 if word == NULL else <uint32_t> (q - word)
                    q = grown(out, q)
                    if q == NULL:
                        return False
                    if word != NULL:
                        word = q - k
                entry = entry_of(self.pages, self.entries, c)
                count, parts = 1, &entry
                if entry & SEVERAL:
                    parts = &self.several[entry >> CODE_SHIFT]
                    count = parts[0]
                    parts += 1
                for k in range(count):
                    kind = parts[k] & KIND_BITS
                    if kind & (LETTER | DIGIT) or (kind == MARK and word != NULL):
                        if word == NULL:
                            word, word_start, kinds = q, here, 0
                        kinds |= kind
                        q = encoded(parts[k] >> CODE_SHIFT or c, q)
                    elif word != NULL:
                        q = self.end_word(out, word, q, kinds, base, word_start, origin)
                        word = NULL
                        if q == NULL:
                            return False
                    filled |= kind != BLANK
            if word != NULL:
                q = self.end_word(out, word, q, kinds, base, word_start, origin)
                word = NULL
                if q == NULL:
                    return False
            if p == end:
                break
            if filled:
                q[0] = 0xFE
                q += 1
            filled = False
            next_break += 1
            sentence_end = base + ends[next_break] if next_break < ends.shape[0] else end + 1
        if filled and (not is_open or (sentence_end == end)):
            q[0] = 0xFE
            q += 1
        out.used = q - out.bytes
        return True

    cdef inline uint8_t* end_word(self, Output* out, uint8_t* word, uint8_t* q, uint8_t kinds, const uint8_t* base,
                                  const uint8_t* start, int64_t origin) noexcept nogil:
        """End a word, or take it back; returns where the next one goes, or NULL if there is not enough memory."""
        cdef uint64_t place
        cdef uint64_t* places
        cdef uint32_t length
        cdef uint8_t* s
        if self.fold_numbers and not kinds & LETTER:
            word[0] = FOLDED
            q = word + 1
        if self.drop_underscored and word[0] == c"_":
            return word
        if self.min_length > 1 or self.max_length:
            length, s = 0, word
            while s < q:
                length += s[0] & 0xC0 != 0x80
                s += 1
            if length < self.min_length or (self.max_length and length > self.max_length):
                return word
        if out.words == out.place_room:
            places = <uint64_t*> realloc(out.places, 2 * out.place_room * sizeof(uint64_t))
            if places == NULL:
                return NULL
            out.places = places
            out.place_room *= 2
        place = (<uint64_t> (start - base) if origin < 0 else <uint64_t> origin) << PLACE_SHIFT
        if out.words and place <= out.places[out.words - 1]:
            place = out.places[out.words - 1] + 1
        out.places[out.words] = place
        out.words += 1
        q[0] = 0xFF
        return q + 1
