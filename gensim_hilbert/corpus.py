"""What a corpus can be, and how it is cut into blocks.

A block is a stretch of one source, cut between two words, so that blocks can be counted in any order by anybody. Blocks
of plain local files are only ranges, read by whoever counts them; compressed and remote files have to be read in order,
and so do token lists.
"""

from __future__ import annotations

import glob
import logging
import os
import pickle
import re
import stat
import tempfile
import weakref
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

import smart_open
from smart_open.compression import compression_wrapper

from gensim_hilbert.locations import S3_SCHEMES, compression_of, is_local, missing_package, path_of, scheme_of
from gensim_hilbert.remote import facts, list_bucket

logger = logging.getLogger(__name__)

BLOCK_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"
# A token's place in the corpus, as a number: 16 TB a source, a million sources.
SOURCE_SHIFT = 44
MOST_SOURCES = 1 << (64 - SOURCE_SHIFT)
_BLANK = re.compile(rb"[ \t\r\v\f]")


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes `start` to `stop` of a source, uncompressed; `data` is None where they are still to be read."""

    source: int
    start: int
    stop: int | None  # None: a whole source that must be read in order
    name: str  # path, URI, or a description
    data: bytes | None = None
    inside: bool = False  # starts in the middle of a sentence: some word of it came before
    open: bool = False  # ends in the middle of one
    listed: bool = False  # token lists, not text: see cython_ext/scanner.pxd
    cost: int = 0  # bytes read from disk or network for it
    transport_params: dict[str, Any] | None = None

    @property
    def place(self) -> int:
        """Where its first byte stands in the corpus."""
        return (self.source << SOURCE_SHIFT) + self.start

    def read(self) -> Iterator[Block]:
        """The same stretch as blocks that hold their data."""
        if self.data is not None:
            yield self
        elif self.stop is None:
            with open_stream(self.name, self.transport_params) as stream:
                yield from cut_stream(stream, self)
        else:
            with open(self.name, "rb") as file:
                file.seek(self.start)
                data = file.read(self.stop - self.start)
            if len(data) < self.stop - self.start:
                raise OSError(
                    f"{self.name} is shorter than it was: expected {self.stop} bytes; leave the corpus as it is "
                    "while it is counted"
                )
            yield replace(self, data=data)


# ---------------------------------------------------------------------------------------------------- cutting


def cut_stream(stream: Any, whole: Block) -> Iterator[Block]:
    """Blocks of about BLOCK_BYTES, cut after the last line end, or failing that after the last blank."""
    bytes_read = getattr(stream, "bytes_read", None)
    rest, start, inside, seen = b"", 0, False, 0
    while True:
        try:
            chunk = read_fully(stream, max(BLOCK_BYTES, len(rest)))  # doubling, so that a huge word costs linear time
        except (MemoryError, UnicodeError):
            raise
        except Exception as error:  # zlib.error, LZMAError, IsalError, ClientError ...: everybody has their own
            raise OSError(f"{whole.name} cannot be read past byte {start + len(rest)} of its text: {error}") from error
        data = rest + chunk if rest else chunk
        cut = len(data)
        if chunk:
            cut = data.rfind(b"\n") + 1 or 1 + max(data.rfind(c) for c in (b" ", b"\t", b"\r", b"\v", b"\f"))
        if cut:
            now = bytes_read() if bytes_read else seen + cut
            is_open = bool(chunk) and data[cut - 1] != 0x0A
            begun = False
            if is_open:
                line = data[:cut].rpartition(b"\n")
                begun = has_words(line[2]) or (inside and not line[1])
            yield replace(
                whole, start=start, stop=start + cut, data=data[:cut], inside=inside, open=is_open, cost=now - seen
            )
            seen, start, inside = now, start + cut, begun
        if not chunk:
            return
        rest = data[cut:]


def read_fully(stream: Any, wanted: int) -> bytes:
    """So many bytes, fewer only at the end: where blocks are cut must not depend on how a stream deals out its data."""
    parts = []
    while wanted > 0 and (part := stream.read(wanted)):
        parts.append(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part)
        wanted -= len(part)
    return b"".join(parts)


def cut_file(whole: Block, size: int) -> Iterator[Block]:
    """Ranges of a plain local file, cut after the first line end past a multiple of BLOCK_BYTES, or after a blank."""
    start, inside = 0, False
    with open(whole.name, "rb") as file:
        while start < size:
            stop, is_open = next_cut(file, start + BLOCK_BYTES, size)
            yield replace(whole, start=start, stop=stop, inside=inside, open=is_open, cost=stop - start)
            start, inside = stop, is_open and has_begun(file, stop)


def has_begun(file: BinaryIO, position: int) -> bool:
    """Whether there is a word between the start of the line and `position`."""
    while position > 0:
        start = max(0, position - 4096)
        file.seek(start)
        _, newline, line = file.read(position - start).rpartition(b"\n")
        if has_words(line):
            return True
        if newline:
            return False
        position = start
    return False


def has_words(line: bytes) -> bool:
    """Whether there is anything but white space, of which Unicode has more than ASCII."""
    return bool(line.decode("utf-8", "ignore").strip())


def next_cut(file: BinaryIO, position: int, size: int) -> tuple[int, bool]:
    """The first place at or after `position` to cut at, and whether that is inside a line."""
    blank = None
    while position < size:
        file.seek(position)
        window = file.read(1 << 16)
        if not window:
            break
        newline = window.find(b"\n")
        if newline >= 0:
            return position + newline + 1, False
        blank = _BLANK.search(window)
        if blank:
            return min(position + blank.end(), size), position + blank.end() < size
        position += len(window)
    return size, False


# ---------------------------------------------------------------------------------------------------- opening


def open_stream(uri: str, transport_params: dict[str, Any] | None) -> Stream:
    """Open anything smart_open can."""
    try:
        if is_local(uri):
            raw: Any = open(uri, "rb")  # noqa: SIM115  # closed by Stream
        else:
            raw = smart_open.open(uri, "rb", compression="disable", transport_params=transport_params)
    except ImportError as error:
        raise missing_package(uri, error) from error
    try:
        return Stream(decompressed(raw, uri), raw)
    except ImportError as error:
        raw.close()
        raise missing_package(uri, error) from error


def decompressed(raw: BinaryIO, uri: str) -> Any:
    """The file without its compression, as smart_open would choose by its name."""
    if compression_of(uri) == ".gz":
        try:
            from isal import igzip  # the same as gzip, three times as fast
        except ImportError:
            pass
        else:
            return igzip.open(raw, "rb")
    return compression_wrapper(raw, "rb", filename=path_of(uri))


class Stream:
    """A decompressor together with the file below it, which decompressors leave open."""

    def __init__(self, stream: BinaryIO, raw: BinaryIO):
        self.read = stream.read
        self.bytes_read = raw.tell if raw.seekable() else None
        self.files = (stream, raw)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        for file in self.files:
            file.close()


# ---------------------------------------------------------------------------------------------------- corpora


class TextCorpus:
    """Files of text, one sentence a line."""

    may_differ = False

    def __init__(self, names: list[str], transport_params: dict[str, Any] | None = None):
        if len(names) > MOST_SOURCES:
            raise ValueError(f"{len(names)} files are too many: join some, so that there are at most {MOST_SOURCES}")
        self.names = names
        self.transport_params = transport_params
        self.sizes: list[int | None] = [None] * len(names)
        self.tags: list[Any] = [None] * len(names)  # what changes when the file does
        self.streamed = [True] * len(names)
        self.can_repeat = True
        for k, name in enumerate(names):
            if is_local(name):
                info = os.stat(name)
                if stat.S_ISREG(info.st_mode):
                    self.sizes[k], self.tags[k] = info.st_size, info.st_mtime_ns
                    self.streamed[k] = bool(compression_of(name))
                    os.close(os.open(name, os.O_RDONLY))  # an unreadable file is better found now
                else:
                    self.can_repeat = False  # a pipe
            else:
                self.sizes[k], self.tags[k] = facts(name, transport_params)

    @property
    def total(self) -> int | None:
        """Bytes on disk, where they are known."""
        return None if None in self.sizes else sum(size for size in self.sizes if size is not None)

    @property
    def fingerprint(self) -> list[Any] | None:
        """What must be unchanged for an interrupted count to go on; None where that cannot be told."""
        if None in self.tags:
            return None
        return [list(facts) for facts in zip(self.names, self.sizes, self.tags, strict=True)]

    def blocks(self, *, streams: bool) -> Generator[Block]:
        """All blocks, in order. With `streams`, those of compressed and remote files are read here."""
        for k, name in enumerate(self.names):
            whole = Block(source=k, start=0, stop=None, name=name, transport_params=self.transport_params)
            if not self.streamed[k]:
                yield from cut_file(whole, self.sizes[k] or 0)
            elif streams:
                yield from whole.read()
            else:
                yield replace(whole, cost=self.sizes[k] or 0)


class FileCorpus:
    """Open files, as gensim takes them: they must be able to `seek(0)`."""

    may_differ = False

    total = fingerprint = None

    def __init__(self, files: list[Any]):
        self.files = files
        self.names = [str(getattr(file, "name", "<file object>")) for file in files]
        self.can_repeat = all(file.seekable() if hasattr(file, "seekable") else hasattr(file, "seek") for file in files)

    def blocks(self, *, streams: bool) -> Generator[Block]:
        """All blocks, in order."""
        for k, file in enumerate(self.files):
            if self.can_repeat:
                file.seek(0)
            yield from cut_stream(file, Block(source=k, start=0, stop=None, name=self.names[k]))


class TokenCorpus:
    """Token lists: anything that can be iterated again and again and gives lists of str."""

    total = fingerprint = None
    can_repeat = True
    may_differ = False  # from one reading to the next

    def __init__(self, sentences: Iterable[Iterable[str]]):
        self.sentences = sentences
        self.names = [f"<{type(sentences).__name__}>"]

    def blocks(self, *, streams: bool) -> Generator[Block]:
        """All blocks, in order."""
        whole = Block(source=0, start=0, stop=None, name=self.names[0], listed=True)
        texts = self.sentences.get_texts() if hasattr(self.sentences, "get_texts") else self.sentences
        parts: list[bytes] = []
        start = size = 0
        for number, sentence in enumerate(texts):
            if number == 0 and isinstance(sentence, str):
                logger.warning(
                    "Each 'sentences' item should be a list of words (usually unicode strings). The first is a str: "
                    "its characters are taken as words."
                )
            encoded = encode_sentence(sentence, number)
            parts.append(encoded)
            size += len(encoded)
            if size >= BLOCK_BYTES:
                yield replace(whole, start=start, stop=start + size, data=b"".join(parts), cost=size)
                start += size
                parts, size = [], 0
        if parts:
            yield replace(whole, start=start, stop=start + size, data=b"".join(parts), cost=size)


class Spooled:
    """Token lists that can be read only once, kept in a temporary file to be read again."""

    def __init__(self, sentences: Iterable[Iterable[str]]):
        self.file = tempfile.TemporaryFile(prefix="gensim_hilbert-")  # noqa: SIM115  # lives as long as this does
        weakref.finalize(self, self.file.close)
        for sentence in sentences:
            pickle.dump(sentence if isinstance(sentence, str) else list(sentence), self.file)

    def __iter__(self) -> Iterator[Iterable[str]]:
        self.file.seek(0)
        with suppress(EOFError):
            while True:
                yield pickle.load(self.file)


def encode_sentence(sentence: Any, number: int) -> bytes:
    """A sentence as the scanner reads it: 0xFF after each word, 0xFE at the end."""
    if not isinstance(sentence, Iterable):
        kind = type(sentence).__name__
        raise TypeError(f"sentence {number} is {sentence!r}, of type {kind}; a sentence must be a list of words")
    words = sentence if isinstance(sentence, list | tuple | str) else list(sentence)
    if not words:
        return b"\xfe"
    try:
        joined = "\n".join(words)
    except TypeError:
        wrong = next(word for word in words if not isinstance(word, str))
        raise TypeError(f"sentence {number} holds {wrong!r}, a {type(wrong).__name__}; words must be str") from None
    if joined.count("\n") == len(words) - 1:
        return joined.encode("utf-8", "surrogatepass").replace(b"\n", b"\xff") + b"\xff\xfe"
    return b"".join(word.encode("utf-8", "surrogatepass") + b"\xff" for word in words) + b"\xfe"


Corpus = TextCorpus | FileCorpus | TokenCorpus


def as_corpus(corpus: Any, transport_params: dict[str, Any] | None = None) -> Corpus:
    """Make a corpus of whatever the user has: paths, globs, directories, URIs, a file object, or token lists."""
    if isinstance(corpus, TextCorpus | FileCorpus | TokenCorpus):
        return corpus
    if isinstance(corpus, str | os.PathLike):
        corpus = [corpus]
    if isinstance(corpus, list | tuple) and corpus and all(isinstance(item, str | os.PathLike) for item in corpus):
        names = [name for item in corpus for name in expand(os.fspath(item), transport_params)]
        return TextCorpus(names, transport_params)
    if hasattr(corpus, "read"):
        return FileCorpus([corpus])
    if isinstance(corpus, list | tuple) and corpus and all(hasattr(item, "read") for item in corpus):
        return FileCorpus(list(corpus))
    if not hasattr(corpus, "__iter__") and not hasattr(corpus, "__getitem__"):
        raise TypeError(
            f"a corpus is a path, a list of paths, a file object or an iterable of token lists, got {corpus!r}"
        )
    if hasattr(corpus, "__next__"):
        raise TypeError(
            f"a corpus is read more than once, but a {type(corpus).__name__} can be read only once; pass a list, "
            "or an object whose __iter__ starts again from the beginning"
        )
    return TokenCorpus(corpus)


def expand(name: str, transport_params: dict[str, Any] | None) -> list[str]:
    """The files that a path, a glob, a directory or a URI stands for, in the order of their names."""
    if name.startswith("file://"):
        name = unquote(urlsplit(name).path)
    if not is_local(name):
        if scheme_of(name) in (*S3_SCHEMES, "gs") and (name.endswith("/") or any(c in name for c in "*?[")):
            return list_bucket(name, transport_params)
        return [name]
    path = os.path.expanduser(name)
    if os.path.isdir(path):
        found = sorted(entry.path for entry in os.scandir(path) if entry.is_file() and not entry.name.startswith("."))
        if not found:
            raise FileNotFoundError(f"the directory {name} holds no files")
        return found
    if os.path.lexists(path):
        return [path]
    found = sorted(match for match in glob.glob(path, recursive=True) if os.path.isfile(match))
    if not found:
        raise FileNotFoundError(f"no such file: {name}" if not glob.has_magic(name) else f"no file matches {name}")
    return found
