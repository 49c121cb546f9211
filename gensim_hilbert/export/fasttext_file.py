"""Checks a model in fastText's format before gensim reads it, whose reader waits for ever for a missing byte."""

from __future__ import annotations

import io
import os
import struct
from typing import BinaryIO

from gensim_hilbert.export.recognition import opened

HEADER = "<2i12id"  # magic, version; dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, ...
DICTIONARY = "<3i2q"  # entries, words, labels; tokens, entries of a pruned dictionary
LONGEST_NGRAM = 100  # of which lengths there are models; a damaged number would make n-grams for ever
PIECE_BYTES = 1 << 20  # read at a time


class Truncated(ValueError):
    """Raised where a file ends too early."""

    def __init__(self, place: int):
        super().__init__(f"it ends at byte {place}, too early")


class Reader:
    """Reads on in a file of bytes, or raises `Truncated`."""

    def __init__(self, file: BinaryIO):
        self.file, self.data, self.start, self.passed = file, b"", 0, 0

    def _more(self) -> None:
        """Read a piece, as large as what has been read and not been used yet, so that long words take linear time."""
        left = len(self.data) - self.start
        piece = self.file.read(max(PIECE_BYTES, left))
        if not piece:
            raise Truncated(self.passed + len(self.data))
        self.passed += self.start
        self.data, self.start = self.data[self.start :] + piece, 0

    def numbers(self, form: str) -> tuple[int, ...]:
        """Read numbers."""
        size = struct.calcsize(form)
        while len(self.data) - self.start < size:
            self._more()
        self.start += size
        return struct.unpack_from(form, self.data, self.start - size)

    def pass_word(self) -> None:
        """Pass over bytes that end with a zero."""
        end = self.data.find(b"\0", self.start)
        while end < 0:
            self._more()
            end = self.data.find(b"\0", self.start)
        self.start = end + 1

    def skip(self, size: int) -> None:
        """Pass over so many bytes."""
        there = len(self.data) - self.start
        if size <= there:
            self.start += size
            return
        size -= there
        self.passed += len(self.data)
        self.data, self.start = b"", 0
        if isinstance(self.file, io.BufferedReader) and isinstance(self.file.raw, io.FileIO):  # It can jump.
            length = os.fstat(self.file.fileno()).st_size
            if self.passed + size > length:
                raise Truncated(length)
            self.file.seek(size, os.SEEK_CUR)
            self.passed += size
            return
        while size:
            piece = self.file.read(min(PIECE_BYTES, size))
            if not piece:
                raise Truncated(self.passed)
            size -= len(piece)
            self.passed += len(piece)


def check_fasttext(name: str) -> None:
    """Raise a ValueError unless a file in fastText's format is complete, and its sizes match each other."""
    with opened(name) as file:
        reader = Reader(file)
        _, _, dimensions, *_, bucket, shortest, longest, _, _ = reader.numbers(HEADER)
        entries, words, labels, tokens, pruned = reader.numbers(DICTIONARY)
        sizes = {"dimensions": dimensions, "words": words, "tokens": tokens}
        if min(bucket, entries, labels, *sizes.values()) < 0 or dimensions == 0 or entries != words + labels:
            raise ValueError(f"its header says {sizes}, {entries} entries, {labels} labels and {bucket} buckets")
        if not 0 <= longest <= LONGEST_NGRAM or shortest < 0:
            raise ValueError(f"its header says that n-grams have {shortest} to {longest} characters")
        for _ in range(entries):
            reader.pass_word()
            reader.numbers("<qb")
        reader.skip(8 * max(0, pruned))
        for rows in (words + bucket, None):  # vectors; and what they were trained with
            _, found, width = reader.numbers("<?2q")
            if found < 0 or width != dimensions or (rows is not None and found != rows):
                expected = f"{dimensions}" if rows is None else f"{rows} x {dimensions}"
                raise ValueError(f"it has a matrix of {found} x {width} where one of {expected} should be")
            reader.skip(4 * found * width)
