"""What a corpus can be: files of text, open files, or token lists; for tables see tables.py and frames.py."""

from __future__ import annotations

import glob
import logging
import os
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from gensim_hilbert._tokens import encode_sentence
from gensim_hilbert.corpus import blocks
from gensim_hilbert.corpus.any_tokens import KnownWords, encode_tokens, tokens_of
from gensim_hilbert.corpus.blocks import Block, cut_file, cut_stream
from gensim_hilbert.corpus.identity import FileFacts
from gensim_hilbert.corpus.opening import BUCKET_SCHEMES, facts_of, list_bucket
from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.corpus.web import TransportParams
from gensim_hilbert.locations import is_local, scheme_of

logger = logging.getLogger(__name__)


class Corpus(ABC):
    """A text that is read block by block.

    A corpus is resolved once: its files are listed and looked up when it is made, and never again. Functions that take
    a corpus from the user pass it through `as_corpus`, which leaves one that is resolved as it is.
    """

    names: list[str]  # of its sources
    total: int | None = None  # bytes as they are stored, if known
    fingerprint: list[Any] | None = None  # What must be unchanged for work to go on; None if that cannot be told.
    can_repeat: bool = True  # It can be read more than once.
    may_differ: bool = False  # It may give other sentences each time it is read.
    preparation: Preparation | None = None  # how its text becomes words, if not by white space alone

    @abstractmethod
    def blocks(self, *, streams: bool) -> Generator[Block]:
        """Yield all blocks in order.

        With `streams`, files that must be read in order are read here; without, each of them is one block, to be read
        by whoever gets it.
        """

    @property
    def streams(self) -> int:
        """How many of its sources must be read in order."""
        return 1

    def over(self, words: KnownWords) -> Corpus:
        """Return the corpus as it is read for the words of a vocabulary; text is the same for all of them."""
        return self

    def prepared(self, preparation: Preparation | None) -> Self:
        """Return the same corpus, whose text is prepared by whoever reads it."""
        corpus = copy(self)
        corpus.preparation = preparation
        if self.fingerprint is not None:
            files = [part for part in self.fingerprint if not isinstance(part, str)]
            known = "" if preparation is None else preparation.fingerprint
            corpus.fingerprint = None if known is None else [*files, known] if known else files
        return corpus


class TextCorpus(Corpus):
    """Files of text with one sentence per line; `known` has the facts of those that were looked up already."""

    def __init__(
        self,
        names: list[str],
        transport_params: TransportParams = None,
        known: dict[str, FileFacts] | None = None,
    ):
        if len(names) > blocks.MOST_SOURCES:
            raise ValueError(
                f"{len(names)} files are too many: join some, so that there are at most {blocks.MOST_SOURCES}"
            )
        known = known or {}
        self.names = names
        self.transport_params = transport_params
        self.facts = [known.get(name) or facts_of(name, transport_params) for name in names]
        sizes = [facts.size for facts in self.facts if facts.size is not None]
        self.total = sum(sizes) if len(sizes) == len(names) else None
        if all(facts.version is not None for facts in self.facts):
            self.fingerprint = [
                [name, facts.size, facts.version] for name, facts in zip(names, self.facts, strict=True)
            ]
        self.can_repeat = all(facts.can_repeat for facts in self.facts)

    @property
    def streams(self) -> int:
        """How many of its files are compressed, remote, or pipes."""
        return sum(facts.is_stream for facts in self.facts)

    def blocks(self, *, streams: bool) -> Generator[Block]:
        """Yield all blocks in order."""
        for k, (name, facts) in enumerate(zip(self.names, self.facts, strict=True)):
            whole = Block(
                source=k,
                start=0,
                stop=None,
                name=name,
                transport_params=self.transport_params,
                facts=facts,
                preparation=self.preparation,
            )
            if not facts.is_stream:
                yield from cut_file(whole, facts.size or 0)
            elif streams:
                yield from whole.read()
            else:
                yield replace(whole, cost=facts.size or 0)


class FileCorpus(Corpus):
    """Open files, as gensim takes them; to be read more than once they must be able to `seek(0)`."""

    def __init__(self, files: list[Any]):
        self.files = files
        self.names = [str(getattr(file, "name", "<file object>")) for file in files]
        self.can_repeat = all(file.seekable() if hasattr(file, "seekable") else hasattr(file, "seek") for file in files)

    def blocks(self, *, streams: bool) -> Generator[Block]:
        """Yield all blocks in order; they are always read here."""
        for k, file in enumerate(self.files):
            if self.can_repeat:
                file.seek(0)
            whole = Block(source=k, start=0, stop=None, name=self.names[k], preparation=self.preparation)
            yield from cut_stream(file, whole)


class TokenCorpus(Corpus):
    """Token lists: anything that can be iterated again and again and gives lists of str, or str to be tokenized.

    The lists may hold any hashable objects. Those that are not plain str have bytes only `over` a vocabulary.
    """

    def __init__(self, sentences: Iterable[Iterable[Any]]):
        self.sentences = sentences
        self.names = [f"<{type(sentences).__name__}>"]
        self.words: KnownWords | None = None

    def over(self, words: KnownWords) -> TokenCorpus:
        """Return the same corpus, read for the words of a vocabulary."""
        corpus = copy(self)
        corpus.words = words
        return corpus

    @property
    def takes_texts(self) -> bool:
        """Whether a str is a text that becomes words; otherwise its characters are the words."""
        return self.preparation is not None and self.preparation.tokenizer is not None

    def blocks(self, *, streams: bool) -> Generator[Block]:
        """Yield all blocks in order; they are always made here."""
        whole = Block(source=0, start=0, stop=None, name=self.names[0], preparation=self.preparation)
        sentences = iter(self.sentences.get_texts() if hasattr(self.sentences, "get_texts") else self.sentences)
        parts: list[bytes] = []
        start = size = 0
        listed = True  # what the parts are
        for number, sentence in enumerate(sentences):
            is_text = isinstance(sentence, str) and self.takes_texts
            if number == 0 and isinstance(sentence, str) and not is_text:
                logger.warning(
                    "Each 'sentences' item should be a list of words (usually unicode strings). The first is a str: "
                    "its characters are taken as words."
                )
            if parts and (size >= blocks.BLOCK_BYTES or listed == is_text):
                yield replace(whole, start=start, stop=start + size, data=b"".join(parts), cost=size, listed=listed)
                start += size
                parts, size = [], 0
            listed = not is_text
            encoded = encode_text(sentence) if is_text else self._encode(sentence, number, sentences)
            if encoded is None:
                break
            parts.append(encoded)
            size += len(encoded)
        if parts:
            yield replace(whole, start=start, stop=start + size, data=b"".join(parts), cost=size, listed=listed)

    def _encode(self, sentence: Any, number: int, following: Iterator[Any]) -> bytes | None:
        """Write a sentence as the scanner reads it: with 0xFF after each word and 0xFE at the end."""
        tokens = tokens_of(sentence, number)
        if (encoded := encode_sentence(tokens)) is not None:
            return encoded
        if self.words is None or self.preparation is not None:
            other = next(token for token in tokens if type(token) is not str)
            raise TypeError(
                f"sentence {number} holds {other!r}, of type {type(other).__name__}; words that are prepared, by a "
                "tokenizer or for phrases, must be str"
            )
        return encode_tokens(tokens, number, self.words)


class TextOfTokens(TokenCorpus):
    """One pass over token lists, which ends before the first sentence that has other tokens than plain str.

    Once all blocks have been read, `rest` has the sentences that are left, or is None if there are none.
    """

    def __init__(self, corpus: TokenCorpus):
        vars(self).update(vars(corpus))
        self.rest: Iterator[Sequence[Any]] | None = None

    def _encode(self, sentence: Any, number: int, following: Iterator[Any]) -> bytes | None:
        tokens = tokens_of(sentence, number)
        if (encoded := encode_sentence(tokens)) is not None:
            return encoded
        others = (tokens_of(other, place) for place, other in enumerate(following, start=number + 1))
        self.rest = chain([tokens], others)
        return None


def encode_text(text: str) -> bytes:
    """Write a text as lines."""
    return text.encode("utf-8", "surrogatepass") + b"\n"


class SpooledCorpus(Corpus):
    """Token lists that can be read only once, kept as bytes in a temporary file so that they can be read again."""

    def __init__(self, corpus: TokenCorpus):
        self.names = corpus.names
        self.kept: list[Block] = []
        self.file = tempfile.TemporaryFile(prefix="gensim_hilbert-")  # noqa: SIM115  # lives as long as this does
        weakref.finalize(self, self.file.close)
        for block in corpus.blocks(streams=True):
            assert block.data is not None
            self.file.write(block.data)
            self.kept.append(replace(block, data=None))

    def blocks(self, *, streams: bool) -> Generator[Block]:
        """Yield all blocks in order; they are always read here."""
        for block in self.kept:
            assert block.stop is not None
            self.file.seek(block.start)
            yield replace(block, data=self.file.read(block.stop - block.start))


def as_corpus(
    corpus: Any,
    transport_params: TransportParams = None,
    preparation: Preparation | None = None,
    column: str | None = None,
) -> Corpus:
    """Make a corpus of whatever the user has: paths, globs, directories, URIs, file objects, tables, or token lists.

    A corpus that is one already is returned as it is, without another look at its files, or with a preparation if that
    is given. `column` is the column of tables.
    """
    from gensim_hilbert.corpus.frames import frame_corpus, frame_of  # They build on this module.
    from gensim_hilbert.corpus.tables import TableCorpus, are_tables

    if preparation is not None:
        return as_corpus(corpus, transport_params, column=column).prepared(preparation)
    if isinstance(corpus, Corpus):
        return corpus
    if isinstance(corpus, str | os.PathLike):
        corpus = [corpus]
    if isinstance(corpus, list | tuple) and corpus and all(isinstance(item, str | os.PathLike) for item in corpus):
        known: dict[str, FileFacts] = {}
        names = [name for item in corpus for name in expand(os.fspath(item), transport_params, known)]
        if are_tables(names, column):
            return TableCorpus(names, transport_params, known, column)
        return TextCorpus(names, transport_params, known)
    if (frame := frame_of(corpus)) is not None:
        return frame_corpus(frame, column)
    if column is not None:
        raise TypeError(f"column={column!r} is for tables, but a {type(corpus).__name__} is none")
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


def expand(name: str, transport_params: TransportParams, known: dict[str, FileFacts]) -> list[str]:
    """Return the files that a path, a glob, a directory or a URI stands for, in the order of their names.

    What a listing tells of them is added to `known`.
    """
    if name.startswith("file://"):
        name = unquote(urlsplit(name).path)
    if not is_local(name):
        if scheme_of(name) not in BUCKET_SCHEMES or not (name.endswith("/") or any(c in name for c in "*?[")):
            return [name]
        listed = list_bucket(name, transport_params)
        known.update(listed)
        return [found for found, _ in listed]
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
