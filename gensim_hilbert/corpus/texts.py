"""The text of blocks, as those read it who count words, count pairs, or learn from the stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from gensim_hilbert._tokens import InvalidUTF8, WordTable
from gensim_hilbert.corpus.blocks import SOURCE_SHIFT, Block
from gensim_hilbert.corpus.preparation import Preparation
from gensim_hilbert.corpus.token_lists import PLACE_SHIFT

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Encoded(NamedTuple):
    """What one call of `Text.encode` has done; the last four are positions in the array of ids."""

    words: int  # words read, unknown ones and those removed by subsampling included
    used: int  # where the next id goes
    first_end: int  # end of the first sentence, -1 if it goes on
    last_start: int  # start of the last sentence
    last_end: int  # its end, before the padding


class Text:
    """The text of one block, read from its beginning to its end in one or more steps."""

    def __init__(self, block: Block, errors: str):
        assert block.data is not None
        self.block = block
        self.errors = errors  # how malformed UTF-8 is handled, as in `bytes.decode`
        self.data = block.data
        self.listed = block.listed
        self.places: np.ndarray | None = None  # of prepared words; those of others are the positions of their bytes
        has_mark = block.start == 0 and not block.listed and self.data.startswith(BYTE_ORDER_MARK)
        self.position = len(BYTE_ORDER_MARK) if has_mark else 0
        self.inside = block.inside  # The next word is in the middle of a sentence.
        self.words = 0  # read so far
        if block.preparation is not None:
            self._prepare(block.preparation)

    def _prepare(self, preparation: Preparation) -> None:
        block, skipped = self.block, self.position
        if block.listed:
            prepared = preparation.of_lists(self.data)
        else:
            try:
                prepared = preparation.of_text(
                    self.data[skipped:], errors=self.errors, inside=block.inside, is_open=block.open
                )
            except InvalidUTF8 as error:
                raise malformed(block, error.position + skipped) from None
        self.data, self.listed, self.position = prepared.data, True, 0
        start = (block.source << SOURCE_SHIFT) + ((block.start + skipped) << PLACE_SHIFT)
        self.places = prepared.places + np.uint64(start)
        if self.data.count(b"\xff") != len(self.places):
            raise ValueError(f"{preparation} gives {len(self.places)} places for {self.data.count(0xFF)} words")

    @property
    def start(self) -> int:
        """Where the next word is in its source."""
        if self.places is None:
            return self.block.start + self.position
        if self.words < len(self.places):
            return int(self.places[self.words]) - (self.block.source << SOURCE_SHIFT)
        return (self.block.stop or self.block.start) << PLACE_SHIFT

    def is_read(self) -> bool:
        """Tell whether its end is reached."""
        return self.position >= len(self.data)

    def count(self, table: WordTable, max_size: int = 0) -> None:
        """Count its words into a table: all, or with `max_size` up to a sentence that leaves more words than that."""
        block, before = self.block, table.tokens
        try:
            self.position = table.count(
                self.data, self.position, block.place, self.listed, self.errors, self.inside, max_size,
                self.places, self.words,
            )  # fmt: skip
        except InvalidUTF8 as error:
            raise malformed(block, error.position) from None
        self.inside = False
        self.words += table.tokens - before

    def encode(
        self,
        table: WordTable,
        ids: np.ndarray,
        used: int,
        window: int,
        *,
        gaps: bool,
        keep_below: np.ndarray | None,
        seed: int,
    ) -> Encoded:
        """Append ids of its words to `ids[used:]`, as `WordTable.encode` does, until the end or until they are full."""
        block = self.block
        try:
            self.position, words, *positions = table.encode(
                self.data, self.position, block.place, self.listed, self.errors, ids, used, window, gaps, keep_below,
                seed, self.places, self.words,
            )  # fmt: skip
        except InvalidUTF8 as error:
            raise malformed(block, error.position) from None
        self.words += words
        return Encoded(words, *positions)


def texts(blocks: Iterable[Block], errors: str, report: Callable[[int, int], None] | None = None) -> Iterator[Text]:
    """Yield the text of each block, read if need be; `report` is then told its cost in bytes and its words."""
    for given in blocks:
        for block in given.read():
            text = Text(block, errors)
            yield text
            if report:
                report(block.cost, text.words)


def malformed(block: Block, position: int) -> UnicodeError:
    """Return the error that a user sees for malformed bytes at a position of a block."""
    return UnicodeError(
        f"{block.name}: invalid UTF-8 at byte {block.start + position}; mend the file, or count its pairs with "
        "errors='replace' or errors='ignore' (gensim-hilbert count --errors) and train on those"
    )
