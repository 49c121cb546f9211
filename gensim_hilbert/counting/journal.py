"""What an unfinished count has done so far: a file of JSON lines beside the runs it tells of.

The first line says what is being counted. A line that was cut off by a crash is not there yet; a run without a line is
counted anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from zlib import crc32

from gensim_hilbert.counting.runs import Run
from gensim_hilbert.counting.worker import KEEP, VOCABULARY, Record
from gensim_hilbert.vocabulary import Vocabulary

JOURNAL = "journal.jsonl"


class Journal:
    """The finished part of a count."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.path = directory / JOURNAL
        self.vocabulary: Vocabulary
        self.streams = True
        self.records: list[Record] = []
        self.runs: dict[str, Run] = {}
        self.stitched = False  # the pairs across cuts are there

    @classmethod
    def resume(cls, directory: Path, what: dict[str, Any] | None) -> Journal | None:
        """The journal in `directory` if it tells of the same count and all its runs are whole."""
        journal = cls(directory)
        if what is None or not journal.path.exists():
            return None
        lines = journal.path.read_bytes().split(b"\n")[:-1]  # behind the last line end: nothing, or a line cut off
        try:
            header, *entries = map(json.loads, lines)
        except ValueError:  # empty, or what a power cut made of it
            return None
        if header["request"] != what or header["words"] != journal.words_checksum():
            return None
        journal.vocabulary = Vocabulary.load(
            directory / VOCABULARY, tokens=header["tokens"], sentences=header["sentences"]
        )
        journal.streams = header["streams"]
        for entry in entries:
            if "of" in entry:
                journal._replace([journal.runs[name] for name in entry["of"]], Run.from_json(directory, entry["run"]))
            else:
                journal._take(Record.from_json(directory, entry))
        if not all(run.is_whole() for run in journal.runs.values()):
            return None
        os.truncate(journal.path, sum(len(line) + 1 for line in lines))
        for path in directory.glob("*.run"):
            if path.name not in journal.runs:
                path.unlink()
        return journal

    def start(self, what: dict[str, Any] | None, vocabulary: Vocabulary, streams: bool) -> None:
        """Begin with what is to be counted, and how blocks are named: see `Corpus.blocks`."""
        self.vocabulary, self.streams = vocabulary, streams
        size = {"tokens": vocabulary.tokens, "sentences": vocabulary.sentences}
        self._write({"request": what, "words": self.words_checksum(), "streams": streams, **size})

    def words_checksum(self) -> int:
        """A checksum of the vocabulary and the thresholds of subsampling, which lie beside the journal."""
        files = [self.directory / name for name in (VOCABULARY, KEEP)]
        return crc32(b"".join(path.read_bytes() for path in files if path.exists()))

    def add(self, record: Record) -> None:
        """A task is done."""
        self._take(record)
        self._write(record.to_json())

    def merged(self, parts: list[Run], result: Run) -> None:
        """A run has taken the place of others; of none, where it holds the pairs across cuts."""
        self._replace(parts, result)
        self._write({"run": result.to_json(), "of": [run.path.name for run in parts]})

    def _take(self, record: Record) -> None:
        self.records.append(record)
        self.runs.update({run.path.name: run for run in record.runs})

    def _replace(self, parts: list[Run], result: Run) -> None:
        self.stitched |= not parts
        for run in parts:
            del self.runs[run.path.name]
        self.runs[result.path.name] = result

    def _write(self, entry: dict[str, Any] | None) -> None:
        with open(self.path, "a", encoding="ascii") as file:
            file.write(json.dumps(entry) + "\n")
