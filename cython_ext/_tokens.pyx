"""Turns bytes into words: one hash table counts words as they come, or turns them into ids.

The table keeps a slot of 32 bytes for each word, two per cache line. A word of up to 15 bytes is compared and counted
without touching other memory. Words come out of the scanner in batches, so that their slots can be fetched ahead.
"""
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from cpython.dict cimport PyDict_GetItemWithError
from cpython.long cimport PyLong_AsSsize_t
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy

from memory cimport zeroed
from scanner cimport (BATCH, SALT_A, SALT_B, SENTENCE, SHORT, Event, Scanner, describe, fold, prefetch, scan,
                      scanner_of)
from utf8 cimport malformed_at

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

import numpy as np

cdef struct Slot:
    uint64_t a, b
    uint64_t count
    uint32_t id         # 1 + the number of the word; 0 in an empty slot

cdef enum:
    MISSING = 0xFFFFFFFF        # The word is not in the table.
    VANISHED = 0xFFFFFFFE       # With errors="ignore", nothing is left of a malformed word.


cdef inline bint is_malformed(const Event* e) noexcept nogil:
    return malformed_at(e.start, e.start + e.length) < e.start + e.length


def all_str(words not None):
    """Tell whether every word of a list or tuple is a plain str, and not an instance of a subclass."""
    for word in words:
        if type(word) is not str:
            return False
    return True


def encode_sentence(words not None):
    """Write a sentence as scanner.pxd describes token lists; returns None if not every word is a plain str."""
    cdef Py_ssize_t k, size
    cdef Py_ssize_t number = 0
    cdef Py_ssize_t ends = 0
    cdef const char* text
    cdef uint8_t* out
    cdef bytes result
    cdef bint is_end
    for word in words:
        if type(word) is not str:
            return None
        number += 1
    if number == 0:
        return b"\xfe"
    joined = "\n".join(words)
    try:
        text = PyUnicode_AsUTF8AndSize(joined, &size)
    except UnicodeEncodeError:      # half of a surrogate pair
        return encode_one_by_one(words)
    result = PyBytes_FromStringAndSize(NULL, size + 2)
    out = <uint8_t*> PyBytes_AsString(result)
    for k in range(size):
        is_end = text[k] == c"\n"
        out[k] = 0xFF if is_end else text[k]
        ends += is_end
    out[size] = 0xFF
    out[size + 1] = 0xFE
    return result if ends == number - 1 else encode_one_by_one(words)


cdef bytes encode_one_by_one(words):
    """Write a sentence of any plain str, also with line ends in them."""
    return b"".join([word.encode("utf-8", "surrogatepass") + b"\xff" for word in words]) + b"\xfe"


cdef class TokenCounter:
    """Counts tokens of any type: a dict numbers them in the order in which they are first seen, and C counts them."""
    cdef dict numbers
    cdef uint64_t* numbered
    cdef Py_ssize_t room

    def __cinit__(self, dict counts not None):
        """Begin with the counts of some words."""
        cdef Py_ssize_t number = 0
        self.numbers = {}
        self.room = max(1024, 2 * len(counts))
        self.numbered = <uint64_t*> malloc(self.room * sizeof(uint64_t))
        if not self.numbered:
            raise MemoryError
        for word, count in counts.items():
            self.numbers[word] = number
            self.numbered[number] = count
            number += 1

    def __dealloc__(self):
        free(self.numbered)

    def __len__(self):
        return len(self.numbers)

    def add(self, tokens not None):
        """Count the tokens of a sentence."""
        cdef PyObject* found
        cdef Py_ssize_t number
        cdef void* more
        for token in tokens:
            found = PyDict_GetItemWithError(self.numbers, token)
            if found:
                self.numbered[PyLong_AsSsize_t(<object> found)] += 1
                continue
            number = len(self.numbers)
            if number == self.room:
                more = realloc(self.numbered, 2 * self.room * sizeof(uint64_t))
                if not more:
                    raise MemoryError
                self.numbered = <uint64_t*> more
                self.room *= 2
            self.numbers[token] = number
            self.numbered[number] = 1

    def counts(self):
        """Return the words with their counts, in the order in which they were first seen."""
        cdef Py_ssize_t number = 0
        cdef dict result = {}
        for word in self.numbers:
            result[word] = self.numbered[number]
            number += 1
        return result


class InvalidUTF8(ValueError):
    """Raised for malformed bytes at `position` of the block."""

    def __init__(self, position):
        super().__init__(position)
        self.position = position


cdef class WordTable:
    """Counts words in the order in which they are first seen, and looks them up.

    A table that is only looked up may be shared between threads; one that counts belongs to a single thread.
    """
    cdef Slot* slots
    cdef uint64_t mask
    cdef uint32_t size, room            # number of words, and of those for which the arrays below have room
    cdef uint64_t* places               # where each word was first seen
    cdef uint64_t* ends                 # where its bytes end in `text`
    cdef uint8_t* text
    cdef uint64_t text_room
    cdef readonly uint64_t tokens, sentences
    cdef readonly Py_ssize_t numbered   # how many numbers the last `count` has written

    def __cinit__(self):
        self.mask = (1 << 12) - 1
        self.room = 1 << 11
        self.text_room = 1 << 15
        self.slots = <Slot*> zeroed((self.mask + 1) * sizeof(Slot))
        self.places = <uint64_t*> malloc(self.room * sizeof(uint64_t))
        self.ends = <uint64_t*> malloc(self.room * sizeof(uint64_t))
        self.text = <uint8_t*> malloc(self.text_room)
        if not (self.slots and self.places and self.ends and self.text):
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)
        free(self.places)
        free(self.ends)
        free(self.text)

    def __len__(self):
        return self.size

    @property
    def nbytes(self):
        """Memory held, in bytes."""
        return (self.mask + 1) * sizeof(Slot) + self.room * 16 + self.text_room

    # ------------------------------------------------------------------ the table

    cdef inline Slot* find(self, const Event* e) noexcept nogil:
        """Return the slot of a word, or the empty one where it would go."""
        cdef uint64_t i = e.hash & self.mask
        cdef Slot* slot
        cdef uint64_t start
        while True:
            slot = self.slots + i
            if slot.id == 0:
                return slot
            if slot.a == e.a and slot.b == e.b:
                if e.length <= SHORT:
                    return slot
                start = self.start_of(slot.id - 1)
                if self.ends[slot.id - 1] - start == e.length and memcmp(self.text + start, e.start, e.length) == 0:
                    return slot
            i = (i + 1) & self.mask

    cdef inline uint32_t next_events(self, Scanner* s, Event* events) noexcept nogil:
        """Scan the next batch, and have the slots of its words fetched ahead; returns 0 at the end."""
        cdef uint32_t k
        cdef uint32_t n = scan(s, events)
        for k in range(n):
            prefetch(&self.slots[events[k].hash & self.mask])
        return n

    cdef inline uint64_t start_of(self, uint32_t word) noexcept nogil:
        return self.ends[word - 1] if word else 0

    cdef int grow_slots(self) except -1 nogil:
        cdef uint64_t mask = self.mask * 2 + 1
        cdef uint64_t i, k
        cdef Slot* slots = <Slot*> zeroed((mask + 1) * sizeof(Slot))
        if not slots:
            with gil:
                raise MemoryError
        for k in range(self.mask + 1):
            if self.slots[k].id:
                i = fold(self.slots[k].a ^ SALT_A, self.slots[k].b ^ SALT_B) & mask
                while slots[i].id:
                    i = (i + 1) & mask
                slots[i] = self.slots[k]
        free(self.slots)
        self.slots = slots
        self.mask = mask
        return 0

    cdef int reserve(self, uint32_t length) except -1 nogil:
        """Make room for one more word of that many bytes."""
        cdef uint64_t used = self.start_of(self.size)
        cdef void* p
        if self.size == self.room:
            if self.room >= 0x40000000:
                with gil:
                    raise OverflowError("more than 2^30 distinct words; pass max_vocab_size= to prune while scanning")
            p = realloc(self.places, self.room * 2 * sizeof(uint64_t))
            if p:
                self.places = <uint64_t*> p
                p = realloc(self.ends, self.room * 2 * sizeof(uint64_t))
            if not p:
                with gil:
                    raise MemoryError
            self.ends = <uint64_t*> p
            self.room *= 2
        if used + length > self.text_room:
            p = realloc(self.text, (used + length) * 2)
            if not p:
                with gil:
                    raise MemoryError
            self.text = <uint8_t*> p
            self.text_room = (used + length) * 2
        return 0

    cdef int insert(self, Slot* slot, const Event* e, uint64_t count, uint64_t place) except -1 nogil:
        cdef uint64_t used
        self.reserve(e.length)
        used = self.start_of(self.size)
        memcpy(self.text + used, e.start, e.length)
        self.ends[self.size] = used + e.length
        self.places[self.size] = place
        self.size += 1
        slot.a, slot.b = e.a, e.b
        slot.count = count
        slot.id = self.size
        if self.size * 3 > self.mask * 2:
            self.grow_slots()
        return 0

    cdef int put(self, const Event* e, uint64_t count, uint64_t place) except -1 nogil:
        """Add `count` occurrences of a word, the first of them at `place`."""
        cdef Slot* slot = self.find(e)
        if slot.id == 0:
            return self.insert(slot, e, count, place)
        slot.count += count
        if place < self.places[slot.id - 1]:
            self.places[slot.id - 1] = place
        return 0

    # ------------------------------------------------------------------ words in

    def count(self, const uint8_t[::1] data not None, Py_ssize_t start, uint64_t place, bint listed, str errors,
              bint inside=False, uint32_t max_size=0, const uint64_t[::1] places=None, Py_ssize_t number=0,
              uint32_t[::1] numbers=None):
        """Count the words of `data[start:]`; `place` is the place of data[0] in the corpus.

        The words of prepared text have their own `places`, the first one here at `number`.
        With `inside`, the data begin in the middle of a sentence that has been counted before. Returns the position
        that was reached: the end, or with `max_size` the end of the first sentence that leaves more words than that.
        `numbers`, with as much room as there are bytes, is filled with the number of each word in this table, and with
        2^32 - 1 for each end of a line or sentence.
        """
        cdef Scanner s
        cdef Event[BATCH] events
        cdef uint32_t n, k
        cdef Slot* slot
        cdef Event* e
        cdef const uint8_t* base
        cdef bint full = False
        cdef bint numbers_words = numbers is not None
        cdef Py_ssize_t numbered = 0
        cdef bint placed = places is not None
        cdef bytes text
        self.numbered = 0
        if start >= data.shape[0]:
            return start
        base = &data[0]
        s = scanner_of(base, start, data.shape[0], listed)
        with nogil:
            while not full:
                n = self.next_events(&s, events)
                if n == 0:
                    break
                for k in range(n):
                    e = &events[k]
                    if e.kind == SENTENCE:
                        if numbers_words:
                            numbers[numbered] = MISSING
                            numbered += 1
                        # In text an empty line is no sentence. In token lists an empty list is one, as for gensim.
                        if listed:
                            self.sentences += 1
                        full = max_size and self.size > max_size and (inside or listed)
                        inside = False
                        if full:
                            s.position = e.start + 1
                            break
                        continue
                    slot = self.find(e)
                    if slot.id == 0:
                        if not listed and is_malformed(e):
                            with gil:
                                text = repaired(e, base, errors)
                                if text:
                                    self.add(text, 0, place + (e.start - base))
                                    slot = self.slot_of(text)
                            if slot.id == 0:
                                continue
                        else:
                            self.insert(slot, e, 0, places[number] if placed else place + (e.start - base))
                            slot = self.find(e)     # The table may have moved.
                    if numbers_words:
                        numbers[numbered] = slot.id - 1
                        numbered += 1
                    slot.count += 1
                    number += 1
                    self.tokens += 1
                    if not inside:
                        inside = True
                        if not listed:
                            self.sentences += 1
        self.numbered = numbered
        return s.position - base

    def add(self, bytes word not None, uint64_t count, uint64_t place):
        """Add `count` occurrences of one word, first seen at `place`."""
        cdef Event e
        cdef const uint8_t* p = word
        describe(&e, p, <uint32_t> len(word), p + len(word))
        self.put(&e, count, place)

    def merge(self, tuple other not None):
        """Add the `state()` of another table."""
        cdef const uint8_t[::1] text = other[0]
        cdef const uint64_t[::1] ends = other[1]
        cdef const uint64_t[::1] counts = other[2]
        cdef const uint64_t[::1] places = other[3]
        self.tokens += <uint64_t> other[4]
        self.sentences += <uint64_t> other[5]
        self.put_all(text, ends, counts, places)

    def merge_part(self, tuple divided not None, uint32_t part):
        """Add one part of what `split` returns; tokens and sentences stay as they are."""
        cdef const uint8_t[::1] text = divided[0]
        cdef const uint64_t[::1] ends = divided[1]
        cdef const uint64_t[::1] counts = divided[2]
        cdef const uint64_t[::1] places = divided[3]
        cdef const uint64_t[::1] word_starts = divided[4]
        cdef const uint64_t[::1] byte_starts = divided[5]
        cdef uint64_t first = word_starts[part]
        cdef uint64_t last = word_starts[part + 1]
        self.put_all(text[byte_starts[part]:byte_starts[part + 1]], ends[first:last], counts[first:last],
                     places[first:last])

    cdef int put_all(self, const uint8_t[::1] text, const uint64_t[::1] ends, const uint64_t[::1] counts,
                     const uint64_t[::1] places) except -1:
        """Add words with their counts and first places, given by their bytes and where those of each end."""
        cdef uint8_t nothing = 0        # where the text of an empty word stands: no function of C copies from NULL
        cdef const uint8_t* base
        cdef Event e
        cdef Py_ssize_t k
        cdef uint64_t start = 0
        if ends.shape[0] == 0:
            return 0
        base = &text[0] if text.shape[0] else &nothing
        with nogil:
            for k in range(ends.shape[0]):
                describe(&e, base + start, <uint32_t> (ends[k] - start), base + text.shape[0])
                self.put(&e, counts[k], places[k])
                start = ends[k]
        return 0

    def numbers_of(self, tuple other not None):
        """Return the number here of each word of the `state()` of another table, all of whose words are here."""
        cdef uint8_t nothing = 0
        cdef const uint8_t[::1] text = other[0]
        cdef const uint64_t[::1] ends = other[1]
        cdef const uint8_t* base = &text[0] if text.shape[0] else &nothing
        cdef Event e
        cdef Py_ssize_t k
        cdef uint64_t start = 0
        result = np.empty(ends.shape[0], dtype=np.uint32)
        cdef uint32_t[::1] numbers = result
        with nogil:
            for k in range(ends.shape[0]):
                describe(&e, base + start, <uint32_t> (ends[k] - start), base + text.shape[0])
                numbers[k] = self.find(&e).id - 1
                start = ends[k]
        return result

    # ------------------------------------------------------------------ words out

    def counts(self):
        """Return the count of each word, by its number."""
        result = np.zeros(self.size, dtype=np.uint64)
        cdef uint64_t[::1] out = result
        cdef uint64_t k
        with nogil:
            for k in range(self.mask + 1):
                if self.slots[k].id:
                    out[self.slots[k].id - 1] = self.slots[k].count
        return result

    def first_places(self):
        """Return where each word was first seen, by its number."""
        return np.array(<uint64_t[:self.size]> self.places) if self.size else np.zeros(0, dtype=np.uint64)

    def count_of(self, bytes word not None):
        """Return the count of one word; 0 if it is not there."""
        return self.slot_of(word).count

    def state(self):
        """Return what `merge` takes: the bytes of all words, their ends, counts and first places, tokens, sentences."""
        cdef uint64_t used = self.start_of(self.size)
        text = np.frombuffer((<const char*> self.text)[:used], dtype=np.uint8)
        ends = np.array(<uint64_t[:self.size]> self.ends) if self.size else np.zeros(0, dtype=np.uint64)
        return text, ends, self.counts(), self.first_places(), self.tokens, self.sentences

    def split(self, uint32_t parts):
        """Divide the words into so many parts, by their hashes: words of any two tables fall into the same ones.

        Returns (text, ends, counts, places) as `state` does, sorted by part, with ends that begin anew in each part;
        and where in those arrays the words of each part begin, and where in the text.
        """
        cdef uint64_t used = self.start_of(self.size)
        cdef uint64_t k, length, start, place
        cdef uint32_t part, number
        text = np.empty(used, dtype=np.uint8)
        numbers = [np.empty(self.size, dtype=np.uint64) for _ in range(3)]
        word_starts, byte_starts = np.zeros(parts + 1, dtype=np.uint64), np.zeros(parts + 1, dtype=np.uint64)
        part_of, count_of = np.empty(self.size, dtype=np.uint32), np.empty(self.size, dtype=np.uint64)
        cdef uint8_t[::1] text_out = text
        cdef uint64_t[::1] ends_out = numbers[0]
        cdef uint64_t[::1] counts_out = numbers[1]
        cdef uint64_t[::1] places_out = numbers[2]
        cdef uint64_t[::1] words_before = word_starts
        cdef uint64_t[::1] bytes_before = byte_starts
        cdef uint32_t[::1] parts_of = part_of
        cdef uint64_t[::1] counts_of = count_of
        if self.size == 0:
            return text, *numbers, word_starts, byte_starts
        with nogil:
            for k in range(self.mask + 1):
                if self.slots[k].id:
                    number = self.slots[k].id - 1
                    part = part_by_hash(self.slots[k].a, self.slots[k].b, parts)
                    parts_of[number] = part
                    counts_of[number] = self.slots[k].count
                    words_before[part + 1] += 1
                    bytes_before[part + 1] += self.ends[number] - self.start_of(number)
            for part in range(parts):
                words_before[part + 1] += words_before[part]
                bytes_before[part + 1] += bytes_before[part]
        next_word, next_byte = word_starts.copy(), byte_starts.copy()
        cdef uint64_t[::1] word_next = next_word
        cdef uint64_t[::1] byte_next = next_byte
        with nogil:
            for number in range(self.size):
                part = parts_of[number]
                start = self.start_of(number)
                length = self.ends[number] - start
                place = byte_next[part]
                if length:
                    memcpy(&text_out[place], self.text + start, length)
                byte_next[part] = place + length
                ends_out[word_next[part]] = place + length - bytes_before[part]
                counts_out[word_next[part]] = counts_of[number]
                places_out[word_next[part]] = self.places[number]
                word_next[part] += 1
        return text, *numbers, word_starts, byte_starts

    def words(self, selection=None):
        """Return the words, or those with the given numbers, as a list of str."""
        cdef uint32_t k
        cdef uint64_t start
        cdef list result = []
        for k in (range(self.size) if selection is None else selection):
            if k >= self.size:
                raise IndexError(f"word {k} of {self.size}")
            start = self.start_of(k)
            result.append((<const char*> self.text)[start:self.ends[k]].decode("utf-8", "surrogatepass"))
        return result

    def keep(self, selection):
        """Return a new table with the given words only, in that order, and the same counts of tokens and sentences."""
        cdef WordTable table = WordTable()
        cdef uint32_t k
        cdef uint64_t start
        counts = self.counts()
        for k in selection:
            start = self.start_of(k)
            table.add((<const char*> self.text)[start:self.ends[k]], counts[k], self.places[k])
        table.tokens, table.sentences = self.tokens, self.sentences
        return table

    # ------------------------------------------------------------------ words to ids

    def encode(self, const uint8_t[::1] data not None, Py_ssize_t start, uint64_t place, bint listed, str errors,
               uint32_t[::1] ids not None, Py_ssize_t used, uint32_t window, bint gaps, keep_below, uint64_t seed,
               const uint64_t[::1] places=None, Py_ssize_t number=0):
        """Append the ids of the words of `data[start:]` to `ids[used:]`.

        After each sentence and at the end of the data follows `window` times the id V = len(self), which stands for no
        word. Unknown words are left out, or with `gaps` become one V. `keep_below` (uint32 for each word, or None)
        removes a token if a draw, which is a hash of `seed` and of its place, is above the number of its word. The
        words of prepared text have their own `places`, the first one here at `number`.

        Returns (position in data, words read, ids used, end of the first sentence or -1, start and end of the last). It
        stops between two words if `ids` is full.
        """
        cdef Scanner s
        cdef Event[BATCH] events
        cdef uint32_t n, k, id
        cdef uint32_t blank = self.size
        cdef Slot* slot
        cdef Event* e
        cdef const uint8_t* base
        cdef const uint32_t[::1] limits
        cdef bint sampled = keep_below is not None
        cdef bint placed = places is not None
        cdef uint64_t where
        cdef Py_ssize_t limit = ids.shape[0] - window - 1
        cdef Py_ssize_t first_end = -1
        cdef Py_ssize_t last_start = used
        cdef Py_ssize_t last_end
        cdef Py_ssize_t tokens = 0
        cdef bint full = False
        cdef bytes text
        cdef uint64_t key = fold(seed ^ SALT_A, SALT_B)
        if start >= data.shape[0]:
            return start, 0, used, -1, used, used
        if sampled:
            limits = keep_below
        base = &data[0]
        s = scanner_of(base, start, data.shape[0], listed)
        with nogil:
            while not full:
                n = self.next_events(&s, events)
                if n == 0:
                    break
                for k in range(n):
                    e = &events[k]
                    if used > limit:
                        s.position = e.start
                        full = True
                        break
                    if e.kind == SENTENCE:
                        if first_end < 0:
                            first_end = used
                        if used > last_start:
                            used = pad(ids, used, window, blank)
                        last_start = used
                        continue
                    tokens += 1
                    slot = self.find(e)
                    if slot.id == 0:
                        id = MISSING
                        if not listed and is_malformed(e):
                            with gil:
                                text = repaired(e, base, errors)
                                if text:
                                    slot = self.slot_of(text)
                                else:
                                    id = VANISHED
                    if slot.id:
                        id = slot.id - 1
                    if id >= VANISHED:
                        if id == VANISHED:
                            tokens -= 1
                        elif gaps:
                            ids[used] = blank
                            used += 1
                        continue
                    if sampled:
                        where = places[number + tokens - 1] if placed else place + (e.start - base)
                        if fold(key ^ where, SALT_A) >> 32 > limits[id]:
                            continue
                    ids[used] = id
                    used += 1
            last_end = used
            if used > last_start:
                used = pad(ids, used, window, blank)
        return s.position - base, tokens, used, first_end, last_start, last_end

    def ids_of_texts(self, const uint8_t[::1] data not None, bint listed, WordTable unknown not None,
                     uint32_t[::1] ids not None, int64_t[::1] ends not None):
        """Set `ids` to the ids of all words of `data`, and `ends` to where those of each sentence end, empty ones too.

        An unknown word is added to `unknown`, and its id is len(self) + its number there. Returns how many sentences
        have ended.
        """
        cdef Scanner s
        cdef Event[BATCH] events
        cdef uint32_t n, k
        cdef Slot* slot
        cdef Py_ssize_t used = 0
        cdef Py_ssize_t sentences = 0
        if data.shape[0] == 0:
            return 0
        if ids.shape[0] < data.shape[0]:
            raise ValueError("there is no room for as many ids as there are bytes")
        s = scanner_of(&data[0], 0, data.shape[0], listed)
        with nogil:
            while True:
                n = self.next_events(&s, events)
                if n == 0:
                    break
                for k in range(n):
                    if events[k].kind == SENTENCE:
                        if sentences < ends.shape[0]:
                            ends[sentences] = used
                        sentences += 1
                        continue
                    slot = self.find(&events[k])
                    if slot.id:
                        ids[used] = slot.id - 1
                    else:
                        unknown.put(&events[k], 1, 0)
                        ids[used] = self.size + unknown.find(&events[k]).id - 1
                    used += 1
        return sentences

    cdef Slot* slot_of(self, bytes word):
        cdef Event e
        cdef const uint8_t* p = word
        describe(&e, p, <uint32_t> len(word), p + len(word))
        return self.find(&e)


cdef inline uint32_t part_by_hash(uint64_t a, uint64_t b, uint32_t parts) noexcept nogil:
    return <uint32_t> ((fold(a ^ SALT_A, b ^ SALT_B) >> 32) % parts)


def part_of(bytes word not None, uint32_t parts):
    """Return the number of the part into which `WordTable.split` puts a word."""
    cdef Event e
    cdef const uint8_t* p = word
    describe(&e, p, <uint32_t> len(word), p + len(word))
    return part_by_hash(e.a, e.b, parts)


cdef inline Py_ssize_t pad(uint32_t[::1] ids, Py_ssize_t used, uint32_t window, uint32_t blank) noexcept nogil:
    cdef uint32_t k
    for k in range(window):
        ids[used + k] = blank
    return used + window


cdef bytes repaired(const Event* e, const uint8_t* base, str errors):
    """Return a malformed token as `errors` says; "strict" raises an error."""
    cdef bytes token = (<const char*> e.start)[:e.length]
    if errors == "strict":
        raise InvalidUTF8(malformed_at(e.start, e.start + e.length) - base)
    return token.decode("utf-8", errors).encode("utf-8")
