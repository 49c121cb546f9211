"""How fast the explorer answers: one question after the other, and many at once.

    python benchmarks/explore.py [--words 400000] [--vector-size 100] [--requests 200] [--seconds 10]

Vectors and covectors are random and lie in a model folder, from which a server in a process of its own maps them. All
questions are about different words, so that no answer is remembered; in the last table, the words are drawn from 500,
as the words are that people ask about. A bare product of the matrix with one vector, timed here in the same run, is the
yardstick: an answer about a word needs two of them. On a busy machine, look at the processor time of the server.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

import numpy as np

from gensim_hilbert import HilbertMLE
from gensim_hilbert.explore.maps import WORDS_ON_MAP, checksum_of, layout_beside, layout_bytes
from gensim_hilbert.report.plane import Plane
from gensim_hilbert.report.words import unit_rows

ROUNDS = 40


def random_model(folder: Path, words: int, size: int) -> np.ndarray:
    """Save a model of random vectors, with a layout beside it, and return its vectors."""
    model = HilbertMLE(vector_size=size, min_count=1, solver="gibbs")
    model.build_vocab_from_freq({f"word{k}": words - k for k in range(words)})
    random = np.random.default_rng(1)
    for matrix in (model.wv.vectors, model.syn1neg):
        random.standard_normal(out=matrix, dtype=np.float32)
    model.save_pretrained(folder)
    unit = unit_rows(model.wv.vectors[:WORDS_ON_MAP])
    plane = Plane(random.normal(size=(len(unit), 2)), "random")
    layout_beside(folder).write_bytes(layout_bytes(plane, checksum_of(unit)))
    return np.asarray(model.wv.vectors)


class Client:
    """One connection to the server."""

    def __init__(self, address: str):
        parts = urllib.parse.urlsplit(address)
        self.path = parts.path
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def ask(self, name: str, **query: object) -> float:
        """Return the milliseconds that an answer takes."""
        start = time.perf_counter()
        self.connection.request("GET", f"{self.path}api/{name}?{urllib.parse.urlencode(query)}")
        response = self.connection.getresponse()
        body = response.read()
        spent = 1000 * (time.perf_counter() - start)
        if response.status != 200:
            raise RuntimeError(f"{name}: {response.status} {json.loads(body)}")
        return spent


def processor_ms(pid: int) -> float:
    """Return the processor time of a process and its threads so far; NaN where the system does not tell."""
    files = list(Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(int(file.read_text().split()[0]) for file in files) / 1e6 if files else float("nan")


def percentiles(times: list[float]) -> str:
    return " | ".join(f"{np.percentile(times, share):.1f}" for share in (50, 95, 100))


def one_after_the_other(address: str, words: int, pid: int) -> None:
    random, client = np.random.default_rng(2), Client(address)
    draw = lambda: f"word{random.integers(words)}"  # noqa: E731  # three lines would say no more
    questions = {
        "complete": lambda: {"prefix": draw()[:-1]},
        "word": lambda: {"word": draw()},
        "pair": lambda: {"context": draw(), "term": draw()},
        "sum": lambda: {"expression": f"{draw()} - {draw()} + {draw()}"},
        "substitute": lambda: {"sentence": " ".join(draw() for _ in range(8)), "position": 4},
        "paint": lambda: {"by": "pmi", "word": draw()},
        "map": lambda: {},
    }
    print("| question | median, ms | 95% | longest | processor, ms |\n|---|---|---|---|---|")
    for name, query in questions.items():
        before = processor_ms(pid)
        times = [client.ask(name, **query()) for _ in range(ROUNDS)]
        print(f"| {name} | {percentiles(times)} | {(processor_ms(pid) - before) / ROUNDS:.1f} |", flush=True)


def at_once(address: str, words: int, clients: int, seconds: float) -> None:
    """So many clients ask for words, each as soon as it has its answer."""
    times: list[float] = []
    errors: list[str] = []
    until = time.monotonic() + seconds

    def work(seed: int) -> None:
        random, client = np.random.default_rng(seed), Client(address)
        try:
            while time.monotonic() < until:
                times.append(client.ask("word", word=f"word{random.integers(words)}"))
        except Exception as error:  # counted, and shown
            errors.append(repr(error))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"| {words:,} | {len(times):,} | {len(errors)} | {percentiles(times)} |", flush=True)
    for error in sorted(set(errors)):
        print(error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=400_000)
    parser.add_argument("--vector-size", type=int, default=100)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random"
        vectors = random_model(path, options.words, options.vector_size)
        start = time.perf_counter()
        server = subprocess.Popen(
            [sys.executable, "-m", "gensim_hilbert", "explore", path, "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            Client(address).ask("models")
            print(f"{options.words:,} words, {options.vector_size} dimensions; first answer after "
                  f"{time.perf_counter() - start:.1f} s\n")  # fmt: skip
            bare = []
            spent = time.process_time()
            for row in range(ROUNDS):
                begun = time.perf_counter()
                _ = vectors @ vectors[row]
                bare.append(1000 * (time.perf_counter() - begun))
            spent = 1000 * (time.process_time() - spent) / ROUNDS
            one_after_the_other(address, options.words, server.pid)
            print(f"| a bare product | {percentiles(bare)} | {spent:.1f} |\n")
            print(f"{options.requests} clients at once, for {options.seconds:g} s each:\n")
            print("| different words | answers | errors | median, ms | 95% | longest |\n|---|---|---|---|---|---|")
            at_once(address, options.words, options.requests, options.seconds)
            at_once(address, min(500, options.words), options.requests, options.seconds)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


if __name__ == "__main__":
    main()
