"""Phrases: counts which words follow each other, and joins those that belong together.

Connector words, such as "of", stand inside phrases and neither begin nor end one. A candidate is therefore a word, any
connector words, and the next word that is none; it never goes beyond the end of its sentence.
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy

from memory cimport zeroed
from scanner cimport (BATCH, SALT_A, SALT_B, SENTENCE, SHORT, Event, Scanner, describe, fold, prefetch, scan,
                      scanner_of)

import numpy as np

cdef struct Slot:
    uint64_t key        # what comes first, and the number of the word or connector word that follows
    uint64_t count      # of a candidate; for a connector word, 1 + the number of the node; 0 in an empty slot

cdef enum:
    NOTHING = 0xFFFFFFFF        # No word of the sentence came before.
    NODE = 0x80000000           # Added to the numbers of nodes, to tell them from those of words.
    WORD_END = 0xFF
    CONNECTOR = 1               # A word with this hash may be a connector word.
    PHRASE = 2                  # Two words with these hashes may begin and end a phrase.


class TooManyPairs(MemoryError):
    """Raised if more different words follow each other than there is memory for."""


cdef class AdjacentCounter:
    """Counts candidates, over words that are given by their numbers; the first `connectors` words are connector words.

    What stands before a word is a word, or a node: a word or node and a connector word after it. Nodes and candidates
    are in one hash table, which takes at most `most` bytes; beyond that, `TooManyPairs` is raised.
    """
    cdef Slot* slots
    cdef uint64_t mask, size, most
    cdef uint32_t* nodes                # two numbers for each: what comes before it, and its connector word
    cdef uint32_t node_count, node_room
    cdef uint32_t connectors
    cdef uint32_t before                # what the next word follows, or NOTHING

    def __cinit__(self, uint32_t connectors, uint64_t most):
        self.mask = (1 << 12) - 1
        self.node_room = 1 << 8
        self.connectors, self.most, self.before = connectors, most, NOTHING
        self.slots = <Slot*> zeroed((self.mask + 1) * sizeof(Slot))
        self.nodes = <uint32_t*> malloc(2 * self.node_room * sizeof(uint32_t))
        if not (self.slots and self.nodes):
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)
        free(self.nodes)

    def __reduce__(self):
        return restored, (self.connectors, self.most, *self.state())

    def __len__(self):
        # the number of different candidates
        return self.size - self.node_count

    @property
    def nbytes(self):
        """Memory in bytes."""
        return (self.mask + 1) * sizeof(Slot) + 2 * self.node_room * sizeof(uint32_t)

    cdef inline Slot* find(self, uint64_t key) noexcept nogil:
        """Return the slot of a key, or the empty one where it belongs."""
        cdef uint64_t i = fold(key ^ SALT_A, SALT_B) & self.mask
        while self.slots[i].count and self.slots[i].key != key:
            i = (i + 1) & self.mask
        return &self.slots[i]

    cdef int grow(self) except -1 nogil:
        cdef uint64_t mask = self.mask * 2 + 1
        cdef uint64_t i, k
        cdef Slot* slots = NULL
        if (mask + 1 + self.mask + 1) * sizeof(Slot) > self.most:
            with gil:
                raise TooManyPairs(f"{self.size} pairs take more than {self.most} bytes")
        slots = <Slot*> zeroed((mask + 1) * sizeof(Slot))
        if not slots:
            with gil:
                raise MemoryError
        for k in range(self.mask + 1):
            if self.slots[k].count:
                i = fold(self.slots[k].key ^ SALT_A, SALT_B) & mask
                while slots[i].count:
                    i = (i + 1) & mask
                slots[i] = self.slots[k]
        free(self.slots)
        self.slots = slots
        self.mask = mask
        return 0

    cdef inline int add(self, uint64_t key, uint64_t count) except -1 nogil:
        cdef Slot* slot = self.find(key)
        if slot.count == 0:
            slot.key = key
            self.size += 1
            slot.count = count
            if self.size * 3 > self.mask * 2:
                self.grow()
        else:
            slot.count += count
        return 0

    cdef int find_node(self, uint32_t before, uint32_t connector, uint32_t* node) except -1 nogil:
        """Set `node` to the number of the node for a connector word after a word or node, which is made if need be."""
        cdef uint64_t key = (<uint64_t> before << 32) | connector
        cdef Slot* slot = self.find(key)
        cdef void* more
        if slot.count == 0:
            if self.node_count == self.node_room:
                if self.node_room >= 1 << 29 or 4 * self.node_room * sizeof(uint32_t) > self.most:
                    with gil:
                        raise TooManyPairs(f"{self.node_count} words before connector words")
                more = realloc(self.nodes, 4 * self.node_room * sizeof(uint32_t))
                if not more:
                    with gil:
                        raise MemoryError
                self.nodes = <uint32_t*> more
                self.node_room *= 2
            self.nodes[2 * self.node_count] = before
            self.nodes[2 * self.node_count + 1] = connector
            node[0] = NODE + self.node_count
            self.node_count += 1
            self.add(key, self.node_count)
        else:
            node[0] = NODE + <uint32_t> (slot.count - 1)
        return 0

    def end_sentence(self):
        """Have the next word begin a sentence."""
        self.before = NOTHING

    def count(self, const uint32_t[::1] numbers not None, const uint8_t[::1] wanted=None):
        """Count the candidates among words; a number of NOTHING, 2^32 - 1, ends a sentence.

        With `wanted`, one byte per word, only candidates whose first word has a byte other than 0 are counted.
        """
        cdef uint64_t[BATCH] keys
        cdef uint32_t pending = 0
        cdef uint32_t before = self.before
        cdef uint32_t number, i
        cdef Py_ssize_t k
        cdef bint selects = wanted is not None
        with nogil:
            for k in range(numbers.shape[0]):
                number = numbers[k]
                if number == NOTHING:
                    before = NOTHING
                elif number < self.connectors:
                    if before != NOTHING:
                        self.find_node(before, number, &before)
                else:
                    if before != NOTHING:
                        keys[pending] = (<uint64_t> before << 32) | number
                        prefetch(&self.slots[fold(keys[pending] ^ SALT_A, SALT_B) & self.mask])
                        pending += 1
                        if pending == BATCH:
                            for i in range(pending):
                                self.add(keys[i], 1)
                            pending = 0
                    before = number if not selects or wanted[number] else NOTHING
            for i in range(pending):
                self.add(keys[i], 1)
        self.before = before

    cdef Slot* slot_of(self, list numbers):
        """Return the slot of a candidate, or an empty one."""
        cdef uint32_t before = numbers[0]
        cdef uint32_t after
        cdef Slot* slot
        for after in numbers[1:len(numbers) - 1]:
            slot = self.find((<uint64_t> before << 32) | after)
            if slot.count == 0:
                return slot
            before = NODE + <uint32_t> (slot.count - 1)
        after = numbers[len(numbers) - 1]
        return self.find((<uint64_t> before << 32) | after)

    def count_of(self, list numbers not None):
        """Return the count of a candidate, given by the numbers of its words; 0 if it never occurs."""
        return self.slot_of(numbers).count

    def set_count(self, list numbers not None, uint64_t count):
        """Set the count of a candidate that occurs."""
        cdef Slot* slot = self.slot_of(numbers)
        if slot.count == 0 or count == 0:
            raise KeyError(f"{numbers} does not occur")
        slot.count = count

    def merge(self, AdjacentCounter other not None, const uint32_t[::1] numbers not None):
        """Add the counts of another counter; `numbers` has the number here of each word there."""
        cdef uint32_t[::1] nodes = np.empty(other.node_count + 1, dtype=np.uint32)
        cdef uint32_t k, before, after
        cdef uint64_t i
        with nogil:
            for k in range(other.node_count):       # What comes before a node was made before it.
                before = other.nodes[2 * k]
                before = nodes[before - NODE] if before >= NODE else numbers[before]
                self.find_node(before, other.nodes[2 * k + 1], &nodes[k])
            for i in range(other.mask + 1):
                if other.slots[i].count:
                    before, after = <uint32_t> (other.slots[i].key >> 32), <uint32_t> other.slots[i].key
                    if after >= other.connectors:
                        before = nodes[before - NODE] if before >= NODE else numbers[before]
                        self.add((<uint64_t> before << 32) | numbers[after], other.slots[i].count)

    def state(self, uint64_t least=1):
        """Return the candidates with at least so many occurrences: what comes before, what follows, and the count.

        A fourth array has the nodes, two numbers each.
        """
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t used = 0
        cdef uint64_t k
        with nogil:
            for k in range(self.mask + 1):
                n += self.slots[k].count >= least and <uint32_t> self.slots[k].key >= self.connectors
        before, after, counts = np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint64)
        nodes = np.empty((self.node_count, 2), dtype=np.uint32)
        cdef uint32_t[::1] befores = before
        cdef uint32_t[::1] afters = after
        cdef uint64_t[::1] numbers = counts
        cdef uint32_t[:, ::1] pairs = nodes
        with nogil:
            for k in range(self.mask + 1):
                if self.slots[k].count >= least and <uint32_t> self.slots[k].key >= self.connectors:
                    befores[used] = <uint32_t> (self.slots[k].key >> 32)
                    afters[used] = <uint32_t> self.slots[k].key
                    numbers[used] = self.slots[k].count
                    used += 1
            for k in range(self.node_count):
                pairs[k, 0], pairs[k, 1] = self.nodes[2 * k], self.nodes[2 * k + 1]
        return before, after, counts, nodes

    def restore(self, const uint32_t[::1] before not None, const uint32_t[::1] after not None,
                const uint64_t[::1] counts not None, const uint32_t[:, ::1] nodes not None):
        """Set an empty counter to the `state()` of another."""
        cdef Py_ssize_t k
        cdef uint32_t node
        for k in range(nodes.shape[0]):
            self.find_node(nodes[k, 0], nodes[k, 1], &node)
        for k in range(before.shape[0]):
            self.add((<uint64_t> before[k] << 32) | after[k], counts[k])


def restored(connectors, most, before, after, counts, nodes):
    """Return a counter that was pickled."""
    counter = AdjacentCounter(connectors, most)
    counter.restore(before, after, counts, nodes)
    return counter


# -------------------------------------------------------------------------------------------------- joining

cdef struct Entry:
    uint64_t a, b
    uint64_t start      # of its bytes in the text of all entries
    uint32_t length     # plus 1; 0 in an empty slot


cdef class ByteStrings:
    """A set of byte strings that kernels look up; it may be shared between threads."""
    cdef Entry* entries
    cdef uint64_t mask
    cdef const uint8_t* text
    cdef bytes kept

    def __cinit__(self, list strings not None):
        cdef uint64_t room = 16
        cdef uint64_t start = 0
        cdef Event e
        cdef Entry* entry
        cdef bytes string
        while room < 2 * <uint64_t> len(strings):
            room *= 2
        self.mask = room - 1
        self.kept = b"".join(strings)
        self.text = self.kept
        self.entries = <Entry*> zeroed(room * sizeof(Entry))
        if not self.entries:
            raise MemoryError
        for string in strings:
            describe(&e, self.text + start, <uint32_t> len(string), self.text + len(self.kept))
            entry = self.find(&e)
            entry.a, entry.b, entry.start, entry.length = e.a, e.b, start, e.length + 1
            start += e.length

    def __dealloc__(self):
        free(self.entries)

    cdef inline Entry* find(self, const Event* e) noexcept nogil:
        """Return the entry of a string, or the empty one where it belongs."""
        cdef uint64_t i = e.hash & self.mask
        cdef Entry* entry = &self.entries[i]
        while entry.length:
            if entry.a == e.a and entry.b == e.b and (
                    e.length <= SHORT or (entry.length == e.length + 1
                                          and memcmp(self.text + entry.start, e.start, e.length) == 0)):
                return entry
            i = (i + 1) & self.mask
            entry = &self.entries[i]
        return entry

    cdef inline bint has(self, const Event* e) noexcept nogil:
        return self.find(e).length != 0


cdef class PhraseJoiner:
    """Joins the phrases of token lists, as gensim's `Phrases` does: from left to right, each word in one phrase only.

    Parameters
    ----------
    phrases : list of tuples of bytes
        The words of each phrase.
    connectors : list of bytes
        Words that neither begin nor end a phrase.
    delimiter : bytes
        What joins the words of a phrase.
    """
    cdef ByteStrings phrases, connectors
    cdef bytes delimiter
    # Which words may be connector words, and which may begin and end a phrase together, by the last bits of hashes.
    # Where nothing is marked, there is nothing to be looked up.
    cdef uint8_t* marks
    cdef uint64_t mask

    def __cinit__(self, list phrases not None, list connectors not None, bytes delimiter not None):
        cdef uint64_t room = 1 << 12
        cdef Event first, last
        cdef tuple parts
        cdef bytes word
        while room < 8 * <uint64_t> (len(phrases) + len(connectors)) and room < 1 << 24:
            room *= 2
        self.mask = room - 1
        self.marks = <uint8_t*> zeroed(room)
        if not self.marks:
            raise MemoryError
        self.delimiter = delimiter
        self.connectors = ByteStrings(connectors)
        self.phrases = ByteStrings([b"\xff".join(parts) for parts in phrases])
        for parts in phrases:
            describe_word(&first, parts[0])
            describe_word(&last, parts[len(parts) - 1])
            self.marks[both(&first, &last) & self.mask] |= PHRASE
        for word in connectors:
            describe_word(&first, word)
            self.marks[first.hash & self.mask] |= CONNECTOR

    def __dealloc__(self):
        free(self.marks)

    def join(self, const uint8_t[::1] data not None, const uint64_t[::1] places not None):
        """Return token lists with their phrases joined, and the place of each word: that of its first part.

        An empty word is left out unless it ends a phrase, as gensim does.
        """
        cdef Scanner s
        cdef Event[BATCH] events
        cdef Event candidate
        cdef Event first = Event(0, 0, 0, NULL, 0, 0)
        cdef Event* e
        cdef const uint8_t* base
        cdef const uint8_t* copied          # All before it is in the result.
        cdef const uint8_t* end
        cdef Py_ssize_t size = data.shape[0]
        cdef Py_ssize_t width = len(self.delimiter)
        cdef const uint8_t* delimiter = self.delimiter
        cdef Py_ssize_t word = 0            # the number of the word at hand
        cdef Py_ssize_t first_word = 0
        cdef Py_ssize_t words_copied = 0, words = 0
        cdef bint begun = False             # A word that may begin a phrase came before, and `first` is that word.
        cdef uint32_t n, k
        cdef uint8_t* out
        cdef uint8_t* q
        if size == 0:
            return b"", np.empty(0, dtype=np.uint64)
        # A delimiter of several bytes makes a phrase longer, by as much for each of the words that it joins.
        result_places = np.empty(places.shape[0], dtype=np.uint64)
        cdef uint64_t[::1] places_out = result_places
        out = <uint8_t*> malloc(size + (width - 1) * places.shape[0])
        if not out:
            raise MemoryError
        base = &data[0]
        q, copied = out, base
        s = scanner_of(base, 0, size, True)
        with nogil:
            while True:
                n = scan(&s, events)
                if n == 0:
                    break
                for k in range(n):
                    e = &events[k]
                    if e.kind == SENTENCE:
                        begun = False
                        continue
                    if self.marks[e.hash & self.mask] & CONNECTOR and self.connectors.has(e):
                        word += 1
                        continue
                    if begun and self.marks[both(&first, e) & self.mask] & PHRASE:
                        end = e.start + e.length
                        describe(&candidate, first.start, <uint32_t> (end - first.start), s.end)
                        if self.phrases.has(&candidate):
                            memcpy(q, copied, first.start - copied)
                            q += first.start - copied
                            memcpy_places(places_out, words, places, words_copied, first_word + 1 - words_copied)
                            words += first_word + 1 - words_copied
                            q = with_delimiters(q, first.start, end, delimiter, width)
                            q[0] = WORD_END
                            q += 1
                            copied = end + 1
                            word += 1
                            words_copied = word
                            begun = False
                            continue
                    begun = e.length > 0
                    if begun:
                        first, first_word = e[0], word
                    else:
                        memcpy(q, copied, e.start - copied)
                        q += e.start - copied
                        memcpy_places(places_out, words, places, words_copied, word - words_copied)
                        words += word - words_copied
                        copied = e.start + 1
                        words_copied = word + 1
                    word += 1
            memcpy(q, copied, s.end - copied)
            q += s.end - copied
            memcpy_places(places_out, words, places, words_copied, word - words_copied)
            words += word - words_copied
        try:
            return (<const char*> out)[:q - out], result_places[:words]
        finally:
            free(out)


cdef void describe_word(Event* e, bytes word):
    cdef const uint8_t* p = word
    describe(e, p, <uint32_t> len(word), p + len(word))


cdef inline uint64_t both(const Event* first, const Event* last) noexcept nogil:
    """Return a hash of two words in this order."""
    return first.hash * 3 + (last.hash >> 7)


cdef inline void memcpy_places(uint64_t[::1] out, Py_ssize_t to, const uint64_t[::1] places, Py_ssize_t start,
                               Py_ssize_t n) noexcept nogil:
    if n:
        memcpy(&out[to], &places[start], n * sizeof(uint64_t))


cdef inline uint8_t* with_delimiters(uint8_t* out, const uint8_t* p, const uint8_t* end, const uint8_t* delimiter,
                                     Py_ssize_t width) noexcept nogil:
    """Copy words, with the delimiter for each mark between two of them; returns the end of the copy."""
    cdef const uint8_t* mark
    while True:
        mark = <const uint8_t*> memchr(p, WORD_END, end - p)
        if mark == NULL:
            memcpy(out, p, end - p)
            return out + (end - p)
        memcpy(out, p, mark - p)
        out += mark - p
        memcpy(out, delimiter, width)
        out += width
        p = mark + 1
