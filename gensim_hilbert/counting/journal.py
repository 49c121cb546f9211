"""What an unfinished count has done so far: a file of JSON lines beside the runs of which it tells.

The first line says what is being counted. A line that was cut off by a crash does not count, and the pairs of a run
without a line are counted again. Every line is a pair of a checksum and an entry, so that damage is noticed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from zlib import crc32

from gensim_hilbert.counting.layout import JOURNAL, KEEP_BELOW, RUN_SUFFIX, VOCABULARY, classes_for
from gensim_hilbert.counting.runs import Run
from gensim_hilbert.counting.worker import TaskResult
from gensim_hilbert.files import to_json
from gensim_hilbert.untrusted import is_shallow, is_whole, parse_json, require_regular
from gensim_hilbert.vocabulary import Vocabulary


class Journal:
    """The finished part of a count."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.path = directory / JOURNAL
        self.vocabulary: Vocabulary
        self.streams = True
        self.results: list[TaskResult] = []
        self.runs: dict[str, Run] = {}
        self.stitched = False  # whether the pairs across cuts are there

    @classmethod
    def resume(cls, directory: Path, request: dict[str, Any] | None) -> Journal | None:
        """Return the journal in `directory` if it is of the same count and all its runs are whole."""
        journal = cls(directory)
        if request is None or not journal.path.exists():
            return None
        try:
            require_regular(journal.path)
            lines = journal.path.read_bytes().split(b"\n")[:-1]  # After the last line end there may be half a line.
            if not journal._read(lines, request):
                return None
        except (ValueError, LookupError, TypeError, AttributeError):  # It is empty, or spoilt: count again.
            return None
        if not all(run.is_whole() for run in journal.runs.values()):
            return None
        os.truncate(journal.path, sum(len(line) + 1 for line in lines))
        for path in directory.glob(f"*{RUN_SUFFIX}"):
            if path.name not in journal.runs:
                path.unlink()
        return journal

    def _read(self, lines: list[bytes], request: dict[str, Any]) -> bool:
        """Take in the lines of a journal; returns False if they are of another count."""
        header, *entries = map(entry_of, lines)
        if header["request"] != request or header["words"] != self.words_checksum():
            return False
        size = {name: header[name] for name in ("tokens", "sentences")}
        if not all(map(is_whole, size.values())):
            raise ValueError(f"the sizes {size} cannot be right")
        self.vocabulary = Vocabulary.load(self.directory / VOCABULARY, **size)
        self.streams = bool(header["streams"])
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
    def start(cls, directory: Path, request: dict[str, Any] | None, vocabulary: Vocabulary, streams: bool) -> Journal:
        """Begin a journal with what is counted, and how blocks are named: see `Corpus.blocks`."""
        journal = cls(directory)
        journal.vocabulary, journal.streams = vocabulary, streams
        size = {"tokens": vocabulary.tokens, "sentences": vocabulary.sentences}
        journal._write({"request": request, "words": journal.words_checksum(), "streams": streams, **size})
        return journal

    def words_checksum(self) -> int:
        """Return a checksum of the vocabulary and the thresholds of subsampling, which lie beside the journal."""
        files = [path for name in (VOCABULARY, KEEP_BELOW) if (path := self.directory / name).exists()]
        for path in files:
            require_regular(path)
        return crc32(b"".join(path.read_bytes() for path in files))

    def add(self, result: TaskResult) -> None:
        """Enter a finished task."""
        self._take(result)
        self._write(result.to_json())

    def merged(self, parts: list[Run], result: Run) -> None:
        """Enter a run that takes the place of others; of none, if it holds the pairs across cuts."""
        self._replace(parts, result)
        self._write({"run": result.to_json(), "of": [run.path.name for run in parts]})

    @property
    def tokens(self) -> int:
        """Words that are counted so far."""
        return sum(result.tokens for result in self.results)

    def _take(self, result: TaskResult) -> None:
        self.results.append(result)
        self.runs.update({run.path.name: run for run in result.runs})

    def _replace(self, parts: list[Run], result: Run) -> None:
        self.stitched |= not parts
        for run in parts:
            del self.runs[run.path.name]
        self.runs[result.path.name] = result

    def _write(self, entry: dict[str, Any]) -> None:
        with open(self.path, "a", encoding="ascii") as file:
            file.write(f"[{checksum(entry)}, {to_json(entry)}]\n")


def checksum(entry: Any) -> int:
    """Return the CRC-32 of an entry."""
    return crc32(to_json(entry).encode())


def entry_of(line: bytes) -> Any:
    """Return the entry of a line, or raise a ValueError if the line is damaged."""
    expected, entry = parse_json(line)
    if not is_shallow(entry) or checksum(entry) != expected:
        raise ValueError("a line of the journal is damaged")
    return entry
