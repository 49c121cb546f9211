"""The one task that every engine runs: blocks in, runs out. Picklable; what it needs lies in a directory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gensim_hilbert._counting import PairCounter
from gensim_hilbert._tokens import WordTable
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.texts import texts
from gensim_hilbert.counting.runs import Run, new_run, output_buffer, write_counted
from gensim_hilbert.counting.seams import Seam
from gensim_hilbert.counting.settings import CountSettings
from gensim_hilbert.vocabulary import Vocabulary

VOCABULARY = "vocabulary.jsonl"
KEEP = "keep.npy"  # while counting with `sample`: what a draw may be at most for a token of each word to stay


@dataclass
class Record:
    """What one task has done."""

    blocks: list[tuple[int, int]] = field(default_factory=list)  # (source, start) of each
    runs: list[Run] = field(default_factory=list)
    seams: list[Seam] = field(default_factory=list)
    tokens: int = 0
    cost: int = 0

    def to_json(self) -> dict[str, Any]:
        """For the journal."""
        return {
            "blocks": self.blocks,
            "runs": [run.to_json() for run in self.runs],
            "seams": [seam.to_json() for seam in self.seams],
            "tokens": self.tokens,
            "cost": self.cost,
        }

    @classmethod
    def from_json(cls, directory: Path, row: dict[str, Any]) -> Record:
        """From the journal."""
        return cls(
            [(source, start) for source, start in row["blocks"]],
            [Run.from_json(directory, run) for run in row["runs"]],
            [Seam.from_json(seam) for seam in row["seams"]],
            row["tokens"],
            row["cost"],
        )


@dataclass(frozen=True)
class CountTask:
    """What a worker needs besides blocks."""

    directory: str
    checksum: int  # of the vocabulary and the thresholds of subsampling
    settings: CountSettings
    classes: int
    capacity: int


_words: dict[tuple[str, int], tuple[WordTable, np.ndarray | None]] = {}


def words_of(task: CountTask, vocabulary: Vocabulary | None = None) -> tuple[WordTable, np.ndarray | None]:
    """The task's vocabulary as a table, and the thresholds of subsampling. Read once a process."""
    key = (task.directory, task.checksum)
    found = _words.get(key)
    if found is None:
        vocabulary = vocabulary or Vocabulary.load(Path(task.directory) / VOCABULARY)
        keep_below = np.load(Path(task.directory) / KEEP, allow_pickle=False) if task.settings.sample else None
        found = vocabulary.table, keep_below
        forget_words()  # a process counts one corpus at a time, or reads again
        _words[key] = found
    return found


def forget_words() -> None:
    """Let go of the vocabulary, which nobody needs once all blocks are counted."""
    _words.clear()


def count_pairs(blocks: Iterable[Block], task: CountTask, report: Callable[[int, int], None] | None = None) -> Record:
    """Count the pairs of some blocks into runs."""
    settings, window, reach = task.settings, task.settings.window, task.settings.window.reach
    table, keep_below = words_of(task)
    size = len(table)
    # Rows are contexts: a term that comes after the context has it to its left.
    counter = PairCounter(size, window.right, window.left, window.mirrored)
    ids, positions = (np.empty(task.capacity, dtype=np.uint32) for _ in range(2))
    out = output_buffer(size)
    ids[:reach] = size
    used = reach
    record = Record()

    def spill() -> None:
        nonlocal used
        if used > reach:
            counter.place(ids, used, positions)
            record.runs.append(write_counted(counter, size, task.classes, out, new_run(task.directory)))
            used = reach

    def noted() -> Iterator[Block]:
        for block in blocks:
            record.blocks.append((block.source, block.start))
            yield block

    try:
        for text in texts(noted(), report):
            block, inside = text.block, text.inside
            while not text.is_read():
                begin, start = used, block.start + text.position
                encoded = text.encode(
                    table,
                    ids,
                    used,
                    reach,
                    errors=settings.errors,
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
                    record.seams.append(
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
            record.tokens += text.words
            record.cost += block.cost
        spill()
    except BaseException:
        for run in record.runs:
            run.path.unlink(missing_ok=True)
        raise
    return record
