"""What an unfinished count has done so far: JSON lines beside the runs of which they tell.

The first line says what is being counted. The pairs of a run without a line are counted again. Every line is a pair of
a checksum and an entry, so that damage is noticed.
"""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Self
from zlib import crc32

from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.counting.layout import JOURNAL, KEEP_BELOW, RUN_SUFFIX, SCAN, VOCABULARY, classes_for
from gensim_hilbert.counting.log import log_in
from gensim_hilbert.counting.runs import Run
from gensim_hilbert.counting.worker import TaskResult
from gensim_hilbert.files import to_json
from gensim_hilbert.objects import ObjectPath, Place
from gensim_hilbert.untrusted import is_shallow, is_whole, parse_json, require_regular
from gensim_hilbert.vocabulary import Vocabulary


class FinishedTasks:
    """The tasks of a stage that have been finished, with the runs that they have written."""

    name: str  # of its log

    def __init__(self, directory: Place):
        self.directory = directory
        self.log = log_in(directory, self.name)
        self.results: list[TaskResult] = []
        self.runs: dict[str, Run] = {}
        self._starts: dict[int, set[int]] = {}  # for each source, where the blocks start that are counted
        self._numbers: dict[int, int] = {}  # how many blocks a stream has, if that is known

    @classmethod
    def resume(cls, directory: Place, request: dict[str, Any] | None) -> Self | None:
        """Return what was finished in `directory` if it is of the same request and all its runs are whole."""
        journal = cls(directory)
        if request is None:
            return None
        try:
            lines = journal.log.lines()
            if not lines or not journal._read(lines, request):
                return None
        except (ValueError, LookupError, TypeError, AttributeError):  # It is spoilt: count again.
            return None
        if not all(run.is_whole() for run in journal.runs.values()):
            return None
        journal.log.keep(lines)
        remove_runs(directory, journal.runs)
        return journal

    def _read(self, lines: list[bytes], request: dict[str, Any]) -> bool:
        """Take in the lines of a log; returns False if they are of another request."""
        raise NotImplementedError

    def discard(self) -> None:
        """Remove the log, so that nothing goes on from here."""
        self.log.discard()

    def add(self, result: TaskResult) -> None:
        """Enter a finished task."""
        self._write(result.to_json())
        self._take(result)

    def select(self, block: Block) -> Block | None:
        """Return what is left to be counted of a block, or of a stream that consists of many; None if nothing is."""
        done = self._starts.get(block.source, set())
        if block.stop is None:
            is_complete = len(done) == self._numbers.get(block.source)
            return None if is_complete else replace(block, unwanted=frozenset(done))
        return None if block.start in done else block

    @property
    def tokens(self) -> int:
        """Words that are counted so far."""
        return sum(result.tokens for result in self.results)

    def _take(self, result: TaskResult) -> None:
        self.results.append(result)
        for source, start in result.blocks:
            self._starts.setdefault(source, set()).add(start)
        self._numbers.update(result.ends)
        self.runs.update({run.path.name: run for run in result.runs})

    def _write(self, entry: dict[str, Any]) -> None:
        self.log.append(f"[{checksum(entry)}, {to_json(entry)}]".encode("ascii"))


class WordsJournal(FinishedTasks):
    """The finished part of a scan for words."""

    name = SCAN
    parts: int  # into which the words are divided

    def _read(self, lines: list[bytes], request: dict[str, Any]) -> bool:
        header, *entries = map(entry_of, lines)
        if header["request"] != request:
            return False
        self.parts = header["parts"]
        for entry in entries:
            self._take(TaskResult.from_json(self.directory, entry))
        if any(len(run.offsets) != self.parts + 1 for run in self.runs.values()):
            raise ValueError(f"a run has not {self.parts} parts")
        return True

    @classmethod
    def start(cls, directory: Place, request: dict[str, Any] | None, parts: int) -> WordsJournal:
        """Begin a journal with what is counted."""
        journal = cls(directory)
        journal.parts = parts
        journal._write({"request": request, "parts": parts})
        return journal


class Journal(FinishedTasks):
    """The finished part of a count."""

    name = JOURNAL

    def __init__(self, directory: Place):
        super().__init__(directory)
        self.vocabulary: Vocabulary
        self.stitched = False  # whether the pairs across cuts are there

    def _read(self, lines: list[bytes], request: dict[str, Any]) -> bool:
        """Take in the lines of a journal; returns False if they are of another count."""
        header, *entries = map(entry_of, lines)
        if header["request"] != request or header["words"] != self.words_checksum():
            return False
        size = {name: header[name] for name in ("tokens", "sentences")}
        if not all(map(is_whole, size.values())):
            raise ValueError(f"the sizes {size} cannot be right")
        self.vocabulary = Vocabulary.load(self.directory / VOCABULARY, **size)
        for entry in entries:
            if "of" in entry:
                self._replace([self.runs[name] for name in entry["of"]], Run.from_json(self.directory, entry["run"]))
            else:
                self._take(TaskResult.from_json(self.directory, entry))
        classes = classes_for(len(self.vocabulary))
        if any(len(run.offsets) != classes + 1 for run in self.runs.values()):
            raise ValueError(f"a run has not {classes} classes")
        return True

    @classmethod
    def start(cls, directory: Place, request: dict[str, Any] | None, vocabulary: Vocabulary) -> Journal:
        """Begin a journal with what is counted."""
        journal = cls(directory)
        journal.vocabulary = vocabulary
        size = {"tokens": vocabulary.tokens, "sentences": vocabulary.sentences}
        journal._write({"request": request, "words": journal.words_checksum(), **size})
        return journal

    def words_checksum(self) -> int:
        """Return a checksum of the vocabulary and the thresholds of subsampling, which lie beside the journal."""
        files = [path for name in (VOCABULARY, KEEP_BELOW) if (path := self.directory / name).exists()]
        for path in files:
            if isinstance(path, Path):
                require_regular(path)
        return crc32(b"".join(path.read_bytes() for path in files))

    def merged(self, parts: list[Run], result: Run) -> None:
        """Enter a run that takes the place of others; of none, if it holds the pairs across cuts."""
        self._write({"run": result.to_json(), "of": [run.path.name for run in parts]})
        self._replace(parts, result)

    def _replace(self, parts: list[Run], result: Run) -> None:
        self.stitched |= not parts
        for run in parts:
            del self.runs[run.path.name]
        self.runs[result.path.name] = result


def checksum(entry: Any) -> int:
    """Return the CRC-32 of an entry."""
    return crc32(to_json(entry).encode())


def entry_of(line: bytes) -> Any:
    """Return the entry of a line, or raise a ValueError if the line is damaged."""
    expected, entry = parse_json(line)
    if not is_shallow(entry) or checksum(entry) != expected:
        raise ValueError("a line of the journal is damaged")
    return entry


def remove_runs(directory: Place, kept: Container[str]) -> None:
    """Remove the runs of a folder, except for those of these names."""
    if isinstance(directory, ObjectPath):
        directory.remove_below([name for name in directory.below() if is_run(name) and name not in kept])
        return
    for path in directory.glob(f"*{RUN_SUFFIX}"):
        if path.name not in kept:
            path.unlink(missing_ok=True)


def is_run(name: str) -> bool:
    """Tell whether a name is that of a run."""
    return name.endswith(RUN_SUFFIX)


def finished_runs(directory: Place) -> set[str]:
    """Return the names of the runs that the journal in a directory has, if there is one that can be read."""
    names: set[str] = set()
    with suppress(ValueError):  # The journal is read again, and refused, by those who go on with it.
        lines = chain.from_iterable(log_in(directory, name).lines()[1:] for name in (SCAN, JOURNAL))
        for entry in map(entry_of, lines):
            names |= {run[0] for run in entry.get("runs", [entry.get("run")])}
            names -= set(entry.get("of", []))
    return names
