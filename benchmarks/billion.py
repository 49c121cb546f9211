"""Counts a billion tokens that are made up while they are read, within 2 GB, and tells time, memory and disk.

    python benchmarks/billion.py --tokens 1e9

Tokens are drawn from a Zipf distribution over --words words. They are not stored: the text is generated anew for each
of the two readings. The same is done first for 25 million tokens, to compare with. CPU time of the generator, which is
measured by reading the text without counting it, is told apart.
"""

from __future__ import annotations

import argparse
import resource
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gensim_hilbert import PairCounts

CHUNK = 1 << 20  # tokens
SENTENCE = 20  # tokens


class ZipfText:
    """A file of text that is generated while it is read, and can be read again from its beginning."""

    name = "zipf.txt"

    def __init__(self, tokens: int, words: int, exponent: float = 1.07):
        self.tokens = tokens
        weights = np.arange(1, words + 1) ** -exponent
        self.upto = np.cumsum(weights) / weights.sum()
        self.upto[-1] = 1.0
        spelled = [np.base_repr(k, 36).lower().encode() for k in range(words)]
        width = max(map(len, spelled)) + 1
        self.letters = np.zeros((words, width), dtype=np.uint8)
        for k, word in enumerate(spelled):
            self.letters[k, : len(word)] = np.frombuffer(word, dtype=np.uint8)
            self.letters[k, len(word)] = ord(" ")
        self.seek(0)

    def seekable(self) -> bool:
        """It can be read again."""
        return True

    def seek(self, position: int) -> int:
        """Go back to the beginning, which is all that is asked for."""
        assert position == 0
        self.draw = np.random.default_rng(1)
        self.left, self.rest = self.tokens, b""
        return 0

    def read(self, wanted: int) -> bytes:
        """Return some bytes, fewer than wanted only at the end."""
        parts, size = [self.rest], len(self.rest)
        while size < wanted and self.left > 0:
            parts.append(self._chunk(min(CHUNK, self.left)))
            size += len(parts[-1])
        text = b"".join(parts)
        self.rest = text[wanted:]
        return text[:wanted]

    def _chunk(self, tokens: int) -> bytes:
        self.left -= tokens
        numbers = np.searchsorted(self.upto, self.draw.random(tokens))
        letters = self.letters[numbers]
        ends = letters[SENTENCE - 1 :: SENTENCE]
        ends[ends == ord(" ")] = ord("\n")
        flat = letters.ravel()
        return flat[flat > 0].tobytes()


class DiskUse(threading.Thread):
    """The most bytes that a folder has held, looked at ten times a second."""

    def __init__(self, folder: Path):
        super().__init__(daemon=True)
        self.folder, self.most, self.stopped = folder, 0, threading.Event()

    def run(self) -> None:
        """Look until it is stopped."""
        while not self.stopped.wait(0.1):
            total = 0
            for path in self.folder.rglob("*"):
                try:
                    total += path.stat().st_size
                except FileNotFoundError:
                    continue
            self.most = max(self.most, total)


def measure(tokens: int, words: int, memory_gb: float, workers: int) -> None:
    """Count so many tokens and print one line."""
    text = ZipfText(tokens, words)
    begun = time.process_time()
    while text.read(1 << 20):
        pass
    generating = 2 * (time.process_time() - begun)
    with TemporaryDirectory() as folder:
        disk = DiskUse(Path(folder))
        disk.start()
        begun, started = time.perf_counter(), time.process_time()
        counts = PairCounts.from_corpus(text, directory=Path(folder, "counts"), memory_gb=memory_gb, workers=workers)
        took, used = time.perf_counter() - begun, time.process_time() - started
        disk.stopped.set()
        disk.join()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    counting = used - generating
    print(
        f"| {tokens:,} | {len(counts):,} | {counts.manifest['entries']:,} | {took:.0f} | {tokens / took / 1e6:.1f} | "
        f"{generating / tokens * 1e9:.0f} | {counting / tokens * 1e9:.0f} | {peak:.2f} | {disk.most / 1e9:.2f} |",
        flush=True,
    )


def main() -> None:
    """Print a table of two rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=float, default=1e9)
    parser.add_argument("--words", type=int, default=400_000)
    parser.add_argument("--memory-gb", type=float, default=2.0)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    columns = ["tokens", "words", "stored pairs", "s", "M tokens/s", "CPU ns to make one", "CPU ns to count one"]
    print(f"| {' | '.join([*columns, 'GB of memory', 'GB on disk'])} |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for tokens in (25_000_000, int(options.tokens)):
        measure(tokens, options.words, options.memory_gb, options.workers)


if __name__ == "__main__":
    main()
