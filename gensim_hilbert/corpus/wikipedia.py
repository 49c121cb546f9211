"""Dumps of Wikipedia (.xml.bz2): the text of articles, without markup, by the functions of gensim's WikiCorpus.

What is an article is decided as `WikiCorpus` does by default: pages of the main namespace with 50 words or more.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from gensim_hilbert.corpus.blocks import Block, read_fully
from gensim_hilbert.corpus.opening import open_stream
from gensim_hilbert.corpus.rows import PIECE_BYTES, RowStream, TableError, TableReader

NAMESPACES = ("0",)
PAGE, PAGE_END, END = b"<page>", b"</page>", b"</mediawiki>"
MOST_HEADER = 1 << 24  # bytes before the first page


class WikipediaReader(TableReader):
    """Reads the articles of a dump."""

    what = "a dump of Wikipedia"

    @classmethod
    def look(cls, whole: Block, column: str | None) -> tuple[Self, list[int]] | None:
        """Return a reader; there is nothing to choose."""
        if column is not None:
            raise TableError(f"{whole.name} is {cls.what}, which has no columns: leave out column= ({column!r})")
        return cls(""), []

    @contextmanager
    def open(self, block: Block) -> Iterator[RowStream]:
        """Open the dump."""
        with open_stream(block.name, block.transport_params, block.facts) as stream:
            pieces = (
                (text.replace("\n", " ") if self.every_row else text).encode("utf-8", "surrogatepass") + b"\n"
                for pages in groups_of_pages(stream, block.name)
                for text in articles(pages, block.name)
            )
            yield RowStream(pieces, stream.bytes_read, stream.check_unchanged)


def articles(pages: bytes, name: str) -> Iterator[str]:
    """Yield the text of the articles in a small dump."""
    from gensim.corpora import wikicorpus

    ignored = tuple(f"{namespace}:" for namespace in wikicorpus.IGNORED_NAMESPACES)
    try:
        for title, markup, _ in wikicorpus.extract_pages(io.BytesIO(pages), NAMESPACES):
            if markup and not title.startswith(ignored):
                text = wikicorpus.filter_wiki(markup)
                if len(wikicorpus.tokenize(text)) >= wikicorpus.ARTICLE_MIN_WORDS:
                    yield text
    except (SyntaxError, ValueError, AttributeError, RuntimeError) as error:  # Damaged, or without what a page has.
        raise TableError(f"{name} is not a dump of Wikipedia, or damaged: {error}") from error


def groups_of_pages(stream: Any, name: str) -> Iterator[bytes]:
    """Cut a dump into small ones: gensim's parser keeps something of every page until its input ends."""
    rest, header = b"", b""
    while chunk := read_fully(stream, max(PIECE_BYTES, len(rest))):
        rest += chunk
        if not header:
            start = rest.find(PAGE)
            if start < 0 and len(rest) > MOST_HEADER:
                break
            if start < 0:
                continue
            header, rest = rest[:start], rest[start:]
        stop = rest.rfind(PAGE_END) + len(PAGE_END)
        if stop > len(PAGE_END):
            yield header + rest[:stop] + END
            rest = rest[stop:]
    if END not in rest:
        raise TableError(f"{name} is not a dump of Wikipedia, or damaged: it does not end with {END.decode()}")
