"""What an unfinished count has done so far: a file of JSON lines beside the runs of which it tells.

The first line says what is being counted. A line that was cut off by a crash does not count, and the pairs of a run
without a line are counted again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from zlib import crc32

from gensim_hilbert.counting.layout import JOURNAL, KEEP_BELOW, RUN_SUFFIX, VOCABULARY
from gensim_hilbert.counting.runs import Run
from gensim_hilbert.counting.worker import TaskResult
from gensim_hilbert.files import to_json
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
        lines = journal.path.read_bytes().split(b"\n")[:-1]  # After the last line end there may be half a line.
        try:
            header, *entries = map(json.loads, lines)
        except ValueError:  # It is empty, or spoilt by a power cut.
            return None
        if header["request"] != request or header["words"] != journal.words_checksum():
            return None
        journal.vocabulary = Vocabulary.load(
            directory / VOCABULARY, tokens=header["tokens"], sentences=header["sentences"]
        )
        journal.streams = header["streams"]
        for entry in entries:
            if "of" in entry:
                journal._replace([journal.runs[name] for name in entry["of"]], Run.from_json(directory, entry["run"]))
            else:
                journal._take(TaskResult.from_json(directory, entry))
        if not all(run.is_whole() for run in journal.runs.values()):
            return None
        os.truncate(journal.path, sum(len(line) + 1 for line in lines))
        for path in directory.glob(f"*{RUN_SUFFIX}"):
            if path.name not in journal.runs:
                path.unlink()
        return journal

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
        files = [self.directory / name for name in (VOCABULARY, KEEP_BELOW)]
        return crc32(b"".join(path.read_bytes() for path in files if path.exists()))

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
            file.write(to_json(entry) + "\n")
