"""How the scheduling of a count holds up at 1 TB: real tasks, a real Dask scheduler, work replaced by waiting.

    python benchmarks/cluster.py --terabytes 1 --workers 8

The corpus is a description: names and sizes of compressed files in a bucket. Its blocks are dealt out by the code that
counts, to worker processes of a Dask LocalCluster, which are replaced when they die. A task waits for as long as
counting its share takes by a measurement at the beginning of the run, scaled down so that a whole task is --seconds.
Some workers die in a task, --deaths of all tasks, and some tasks, --stragglers of all, take ten times as long. What
comes out is the time against the ideal (all work, evenly divided, without deaths and stragglers), how many tasks were
repeated, and how many bytes went through the process that directs the work.
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gensim_hilbert import PairCounts
from gensim_hilbert.corpus.blocks import Block
from gensim_hilbert.corpus.dispatch import map_blocks, text_bytes
from gensim_hilbert.corpus.executors import as_executor
from gensim_hilbert.corpus.identity import FileFacts
from gensim_hilbert.corpus.sources import TextCorpus
from gensim_hilbert.counting.runs import Run
from gensim_hilbert.counting.worker import TaskResult

FILE_BYTES = 64 << 20  # compressed; four times as much text
SLOWER = 10


def measured_seconds(text_bytes: int) -> float:
    """Seconds per byte of text of the two readings that counting takes, on one thread."""
    draw = np.random.default_rng(1)
    words = np.array([f"w{k}" for k in range(50_000)])
    ranks = np.minimum(draw.zipf(1.2, text_bytes // 6), len(words)) - 1
    with TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        path.write_text("\n".join(" ".join(words[ranks[k : k + 20]]) for k in range(0, len(ranks), 20)))
        begun = time.perf_counter()
        PairCounts.from_corpus(path, workers=1, progress=False)
        return (time.perf_counter() - begun) / path.stat().st_size


def simulated(portion: list[Block], seconds_per_byte: float, deaths: float, stragglers: float) -> TaskResult:
    """Wait as long as counting would take; perhaps die before the end, but never at the second attempt."""
    size = sum(text_bytes(block, 1 << 28) for block in portion)
    draw = random.Random(portion[0].source)
    dies, is_slow = draw.random() < deaths, draw.random() < stragglers
    mark = Path(os.environ["SIMULATION"], str(portion[0].source))
    seconds = size * seconds_per_byte * (SLOWER if is_slow else 1)
    if dies and not mark.exists():
        mark.touch()
        time.sleep(seconds * draw.random())
        os._exit(1)
    time.sleep(seconds)
    with mark.with_suffix(".done").open("a") as file:
        file.write("1\n")
    offsets = tuple(range(0, 65 * (1 << 20), 1 << 20))
    return TaskResult([(b.source, 0) for b in portion], {}, [Run(mark, offsets, 0)], [], size // 6, 0, size)


class Fleet(threading.Thread):
    """Worker processes, each of which is replaced when it has died, as managers of clusters do."""

    def __init__(self, address: str, size: int):
        super().__init__(daemon=True)
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
        self.command = [*command, "--no-dashboard", "--memory-limit", "0", "--death-timeout", "60"]
        self.workers = [self._worker() for _ in range(size)]
        self.stopped = threading.Event()

    def _worker(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self) -> None:
        """Replace dead workers until it is stopped."""
        while not self.stopped.wait(0.1):
            self.workers = [self._worker() if each.poll() is not None else each for each in self.workers]

    def __enter__(self) -> Fleet:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        self.join()
        for worker in self.workers:
            worker.kill()
            worker.wait()


def main() -> None:
    """Run the simulation and print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--terabytes", type=float, default=1.0, help="text of the corpus, uncompressed")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.5, help="for a whole task, in the simulation")
    parser.add_argument("--deaths", type=float, default=0.05)
    parser.add_argument("--stragglers", type=float, default=0.01)
    options = parser.parse_args()
    from distributed import Client, LocalCluster

    per_byte = measured_seconds(24 << 20)
    files = max(1, round(options.terabytes * 1e12 / (4 * FILE_BYTES)))
    names = [f"s3://corpus/part-{k:05d}.txt.gz" for k in range(files)]
    corpus = TextCorpus(names, known={name: FileFacts(FILE_BYTES, etag="simulated") for name in names})
    scaled = options.seconds / (4 * FILE_BYTES)
    with TemporaryDirectory() as folder:
        os.environ["SIMULATION"] = folder
        with (
            LocalCluster(n_workers=0, dashboard_address=None) as cluster,
            Fleet(cluster.scheduler_address, options.workers),
            Client(cluster) as client,
        ):
            client.wait_for_workers(options.workers)
            executor = as_executor(client)
            task = partial(simulated, seconds_per_byte=scaled, deaths=options.deaths, stragglers=options.stragglers)
            begun = time.perf_counter()
            tasks = returned = 0
            sent = len(pickle.dumps(task)) * files
            for result in map_blocks(
                task, corpus, workers=options.workers, executor=executor, share=1 << 28, streams=False, retries=5
            ):
                tasks += 1
                returned += len(pickle.dumps(result))
            took = time.perf_counter() - begun
        died = sum(not path.suffix for path in Path(folder).iterdir())
        done = sum(len(path.read_text().splitlines()) for path in Path(folder).glob("*.done"))
    sent += sum(len(pickle.dumps(block)) for block in corpus.blocks(streams=False))
    ideal = files * options.seconds / options.workers
    real = files * 4 * FILE_BYTES * per_byte
    print(f"counting takes {per_byte * 1e9:.1f} ns per byte of text on one thread (measured here)")
    print(f"{files} files of {4 * FILE_BYTES / 1e6:.0f} MB of text: {real / 3600:.1f} hours of one core")
    print(f"{tasks} tasks on {options.workers} workers: {took:.0f} s, ideal {ideal:.0f} s, ratio {took / ideal:.2f}")
    print(f"{died} workers died; {done - tasks} tasks were done twice to the end")
    print(f"through the directing process: {sent / 1e6:.1f} MB sent, {returned / 1e6:.1f} MB returned")


if __name__ == "__main__":
    main()
