"""Gibbs on several processes that average their vectors every so many words, against one process.

    python benchmarks/gibbs_averaging.py [CORPUS] [--tokens 4000000] [--vector-size 100] [--epochs 3]
                                         [--every 50000 500000] [--processes 2]

Each process reads its own part of the text. Here they run one after the other, each on its own copy of the vectors,
which gives the same numbers as running them at once. The table has the mean rank correlation over all similarity sets,
the CPU seconds of all processes, and the bytes that each process sends for one CPU second of learning, if matrices of
this size are averaged by a ring: 2 (p - 1) / p times both matrices each time.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from inputs import TEXT8, corpus_parser, require, write_first_lines
from scoring import scores


def main() -> None:
    parser = corpus_parser(__doc__, TEXT8, tokens=4_000_000, vector_size=100, epochs=3, processes=2)
    parser.add_argument("--every", type=int, nargs="+", default=[50_000, 500_000])
    arguments = parser.parse_args()
    require(arguments.corpus)
    from gensim_hilbert import Vocabulary
    from gensim_hilbert.corpus.sources import as_corpus
    from gensim_hilbert.training.gibbs import Streaming

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        tokens = write_first_lines(arguments.corpus, str(path), arguments.tokens)
        vocabulary = Vocabulary.from_corpus(path, min_count=5)
        lines = path.read_bytes().splitlines(keepends=True)
        shape = len(vocabulary), arguments.vector_size
        print(f"{tokens:,} tokens, {shape[0]:,} words, {shape[1]} dimensions, {arguments.epochs} epochs\n")
        print("| processes | threads of each | words between averages | similarity | CPU s | MB sent per CPU s |")
        print("|---|---|---|---|---|---|")

        def learn(processes: int, every: int, workers: int = 1) -> None:
            random = np.random.default_rng(1)
            start = (random.random(shape, dtype=np.float32) - 0.5) / shape[1]
            copies = [(np.zeros(shape, dtype=np.float32), start.copy()) for _ in range(processes)]
            total = tokens * arguments.epochs // processes
            streams = [
                Streaming(vocabulary, *copy, expected_words=total, seed=k + 1, workers=workers)
                for k, copy in enumerate(copies)
            ]
            step = max(1, round(every / tokens * len(lines)))  # Lines have about the same number of words.
            part, began, averages = Path(folder, "part.txt"), time.process_time(), 0
            for _ in range(arguments.epochs):
                for first in range(0, len(lines), step * processes):
                    for k, stream in enumerate(streams):
                        part.write_bytes(b"".join(lines[first + k * step : first + (k + 1) * step]))
                        if part.stat().st_size:
                            stream.run_epoch(as_corpus(str(part)))
                    if processes > 1:
                        averages += 1
                        for sides in zip(*copies, strict=True):
                            sides[0][:] = np.mean(sides, axis=0)
                            for side in sides[1:]:
                                side[:] = sides[0]
            seconds = time.process_time() - began
            sent = averages * 2 * (processes - 1) / processes * 8 * shape[0] * shape[1] / 1e6
            found = scores(vocabulary.words, copies[0][1])["mean"]
            cells = processes, workers, f"{every:,}", f"{found:.3f}", f"{seconds:.0f}"
            print("| " + " | ".join(map(str, cells)) + f" | {sent * processes / seconds:.0f} |", flush=True)

        learn(1, 500_000)
        learn(1, 500_000, workers=2)
        for every in arguments.every:
            learn(arguments.processes, every)


if __name__ == "__main__":
    main()
