"""The one task that every worker runs: blocks in, runs out. It can be pickled; what it needs lies in a directory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from gensim_hilbert._counting import PairCounter
from gensim_hilbert._tokens import WordTable
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.texts import Text, texts
from gensim_hilbert.counting.layout import KEEP_BELOW, VOCABULARY, new_run
from gensim_hilbert.counting.runs import Run, output_buffer, write_counted
from gensim_hilbert.counting.seams import Seam
from gensim_hilbert.counting.settings import CountSettings
from gensim_hilbert.objects import Place, place_of
from gensim_hilbert.untrusted import damage_named, is_whole, read_npy
from gensim_hilbert.vocabulary import Vocabulary


@dataclass
class TaskResult:
    """What one task has done."""

    blocks: list[tuple[int, int]] = field(default_factory=list)  # (source, start) of each
    ends: dict[int, int] = field(default_factory=dict)  # for each source whose last block is here, how many it has
    runs: list[Run] = field(default_factory=list)
    seams: list[Seam] = field(default_factory=list)
    tokens: int = 0
    sentences: int = 0  # if words are counted
    cost: int = 0  # bytes read
    error: OSError | None = None  # why nothing could be read after these blocks

    def texts(
        self, blocks: Iterable[Block], errors: str, report: Callable[[int, int], None] | None = None
    ) -> Iterator[Text]:
        """Yield the texts of blocks, each of which is noted once it has been used, until one cannot be read."""
        try:
            for text in texts(blocks, errors, report):
                yield text
                block = text.block
                self.blocks.append((block.source, block.start))
                if block.is_last:
                    self.ends[block.source] = block.number + 1
                self.tokens += text.words
                self.cost += block.cost
        except OSError as error:
            self.error = error

    def to_json(self) -> dict[str, Any]:
        """Return its entry in the journal."""
        return {
            "blocks": self.blocks,
            "ends": list(self.ends.items()),
            "runs": [run.to_json() for run in self.runs],
            "seams": [seam.to_json() for seam in self.seams],
            "tokens": self.tokens,
            "sentences": self.sentences,
            "cost": self.cost,
        }

    @classmethod
    def from_json(cls, directory: Place, entry: dict[str, Any]) -> TaskResult:
        """Make one of its entry in the journal, or raise a ValueError if that is none."""
        sizes = [entry[name] for name in ("tokens", "sentences", "cost")]
        if not all(map(is_whole, [*sizes, *chain.from_iterable(entry["blocks"] + entry["ends"])])):
            raise ValueError("the numbers of a task cannot be right")
        return cls(
            [(source, start) for source, start in entry["blocks"]],
            {source: number for source, number in entry["ends"]},
            [Run.from_json(directory, run) for run in entry["runs"]],
            [Seam.from_json(seam) for seam in entry["seams"]],
            *sizes,
        )


@dataclass(frozen=True)
class CountTask:
    """What a worker needs besides blocks."""

    directory: str
    checksum: int  # of the vocabulary and the thresholds of subsampling
    settings: CountSettings
    classes: int
    capacity: int  # ids that are held before a run is written


_loaded_words: dict[tuple[str, int], tuple[WordTable, np.ndarray | None]] = {}


def load_words(task: CountTask, vocabulary: Vocabulary | None = None) -> tuple[WordTable, np.ndarray | None]:
    """Return the vocabulary of a task as a table, and the thresholds of subsampling; a process reads them once."""
    key = (task.directory, task.checksum)
    found = _loaded_words.get(key)
    if found is None:
        directory = place_of(task.directory)
        vocabulary = vocabulary or Vocabulary.load(directory / VOCABULARY, any_type=True)
        keep_below = read_keep_below(directory, len(vocabulary)) if task.settings.sample else None
        found = vocabulary.table, keep_below
        forget_words()  # A process that counts two corpora at a time reads them again.
        _loaded_words[key] = found
    return found


def read_keep_below(directory: Place, size: int) -> np.ndarray:
    """Read the thresholds of subsampling, one for each word."""
    path = directory / KEEP_BELOW
    with damage_named(path, "an array of thresholds"), path.open("rb") as file:
        keep_below = read_npy(file)
    if keep_below.dtype != np.uint32 or keep_below.shape != (size,):
        raise ValueError(f"{path} is damaged: it has no threshold for each of {size} words; remove {directory}")
    return keep_below


def forget_words() -> None:
    """Let go of the vocabulary, which nobody needs once all blocks are counted."""
    _loaded_words.clear()


def count_pairs(
    blocks: Iterable[Block], task: CountTask, report: Callable[[int, int], None] | None = None
) -> TaskResult:
    """Count the pairs of some blocks into runs; if they cannot be read to their end, those of the blocks before."""
    settings, window, reach = task.settings, task.settings.window, task.settings.window.reach
    table, keep_below = load_words(task)
    size = len(table)
    # Rows are contexts: a term that comes after the context has it to its left.
    counter = PairCounter(size, window.right, window.left, window.mirrored)
    ids, positions = (np.empty(task.capacity, dtype=np.uint32) for _ in range(2))
    out = output_buffer(size)
    ids[:reach] = size
    used = reach
    result = TaskResult()

    def spill() -> None:
        nonlocal used
        if used > reach:
            counter.place(ids, used, positions)
            result.runs.append(write_counted(counter, size, task.classes, out, new_run(task.directory)))
            used = reach

    try:
        for text in result.texts(blocks, settings.errors, report):
            block, inside = text.block, text.inside
            while not text.is_read():
                begin, start = used, text.start
                encoded = text.encode(
                    table,
                    ids,
                    used,
                    reach,
                    gaps=settings.oov == "gap",
                    keep_below=keep_below,
                    seed=settings.seed,
                )
                used = encoded.used
                full = not text.is_read()
                if inside or full or block.open:
                    goes_through = encoded.first_end < 0
                    head = ids[begin : encoded.last_end if goes_through else encoded.first_end][:reach]
                    tail = ids[encoded.last_start : encoded.last_end][-reach:]
                    result.seams.append(
                        Seam(
                            block.source,
                            start,
                            inside,
                            full or block.open,
                            goes_through,
                            tuple(head.tolist()),
                            tuple(tail.tolist()),
                        )
                    )
                if full:
                    spill()
                    inside = True
        spill()
    except BaseException:
        for run in result.runs:
            run.path.unlink(missing_ok=True)
        raise
    return result
