"""Tokenizers: megabytes of text per second of the processor, ours and gensim's `simple_preprocess`, in one run.

    python benchmarks/text_tokens.py [CORPUS] [--megabytes 20] [--repeat 3]

All run on one core, on lines of the same text that are in memory already, and only `simple_preprocess` is timed with
the str that it needs made beforehand. "simple_preprocess" of gensim_hilbert finds the same words as gensim's, which is
checked. Each figure is the fastest of some repetitions. "raw" is the text with capitals and punctuation put in.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from gensim.utils import simple_preprocess
from inputs import corpus_parser, require

from gensim_hilbert.corpus.preparation import preparation_of
from gensim_hilbert.corpus.token_lists import decode_lists

OURS = ("simple_preprocess", "words", "words(numbers=fold)", "words(nfkc=True)")
BLOCK = 1 << 20


def lines_of(path: Path, megabytes: int) -> list[bytes]:
    """The first lines of a text."""
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
        return file.read(megabytes << 20).splitlines()[:-1]


def as_raw(line: bytes) -> bytes:
    """A line with a capital and punctuation: every seventh word has a comma behind it."""
    words = line.split()
    for k in range(6, len(words), 7):
        words[k] += b","
    return b" ".join(words).capitalize() + b"."


def seconds(task: Callable[[], object], repeat: int) -> float:
    """The processor's time for a task, at the fastest."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    arguments = corpus_parser(__doc__, megabytes=20, repeat=3).parse_args()
    require(arguments.corpus)
    plain = lines_of(arguments.corpus, arguments.megabytes)
    for name, lines in (("as it is", plain), ("raw", [as_raw(line) for line in plain])):
        text = b"\n".join(lines) + b"\n"
        strings = [line.decode() for line in lines]
        cuts = [0]
        while cuts[-1] < len(text):
            cuts.append(text.find(b"\n", min(cuts[-1] + BLOCK, len(text) - 1)) + 1)
        blocks = [text[start:stop] for start, stop in pairwise(cuts)]
        peer = seconds(lambda strings=strings: [simple_preprocess(line) for line in strings], arguments.repeat)
        size = len(text) / 1e6
        print(f"{arguments.corpus.name}, {name}: {size:.1f} MB\n\n| tokenizer | MB/s | times gensim's |\n|---|---|---|")
        print(f"| gensim.utils.simple_preprocess | {size / peer:.1f} | 1 |")
        for given in OURS:
            for ends in ("lines", "punctuation"):
                preparation = preparation_of(given, ends)
                preparation.of_text("é".encode())  # which makes the tables
                ours = seconds(
                    lambda one=preparation, blocks=blocks: [one.of_text(block) for block in blocks], arguments.repeat
                )
                print(f"| {given}, sentences end in {ends} | {size / ours:.1f} | {peer / ours:.1f} |")
        same = preparation_of("simple_preprocess")
        found = [words for block in blocks for words in decode_lists(same.of_text(block).data)]
        assert found == [simple_preprocess(line) for line in strings if line.strip()]
        print()


if __name__ == "__main__":
    main()
