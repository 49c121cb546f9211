"""How fast the explorer starts, and how fast it answers one question after the other.

    python benchmarks/explore.py [--words 400000] [--vector-size 300]
    python benchmarks/explore.py --model MODEL

It measures how long it takes from the command to the first page with its first data, and then how long answers take.
Without a model, vectors and covectors are random and lie in a model folder, from which a server in a process of its own
maps them; the layout of the map is there. All questions are about different words, so that no answer is remembered. A
bare product of the matrix with one vector, timed here in the same run, is the yardstick. On a busy machine, look at the
processor time of the server. For many questions at once, see explore_load.py.
"""

from __future__ import annotations

import argparse
import http.client
import json
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

import numpy as np
from children import end_with_parent

from gensim_hilbert import HilbertMLE
from gensim_hilbert.cli.loading import load
from gensim_hilbert.explore.maps import WORDS_ON_MAP, checksum_of, layout_beside, layout_bytes
from gensim_hilbert.report.plane import Plane
from gensim_hilbert.report.words import unit_rows

ROUNDS = 40


def random_model(folder: Path, words: int, size: int) -> None:
    """Save a model of random vectors, with a layout beside it."""
    model = HilbertMLE(vector_size=size, min_count=1, solver="gibbs")
    model.build_vocab_from_freq({f"word{k}": words - k for k in range(words)})
    random = np.random.default_rng(1)
    for matrix in (model.wv.vectors, model.syn1neg):
        random.standard_normal(out=matrix, dtype=np.float32)
    model.save_pretrained(folder)
    unit = unit_rows(model.wv.vectors[:WORDS_ON_MAP])
    plane = Plane(random.normal(size=(len(unit), 2)), "random")
    layout_beside(folder).write_bytes(layout_bytes(plane, checksum_of(unit)))


class Client:
    """One connection to the server."""

    def __init__(self, address: str):
        parts = urllib.parse.urlsplit(address)
        self.path = parts.path
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def get(self, path: str) -> bytes:
        """Return an answer."""
        self.connection.request("GET", self.path + path)
        response = self.connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise RuntimeError(f"{path}: {response.status} {body!r}")
        return body

    def ask(self, name: str, **query: object) -> float:
        """Return the milliseconds that an answer takes."""
        start = time.perf_counter()
        self.get(f"api/{name}?{urllib.parse.urlencode(query)}")
        return 1000 * (time.perf_counter() - start)


def processor_ms(pid: int) -> float:
    """Return the processor time of a process and its threads so far; NaN where the system does not tell."""
    files = list(Path(f"/proc/{pid}/task").glob("*/schedstat"))
    return sum(int(file.read_text().split()[0]) for file in files) / 1e6 if files else float("nan")


def percentiles(times: list[float]) -> str:
    return " | ".join(f"{np.percentile(times, share):.1f}" for share in (50, 95, 100))


def one_after_the_other(address: str, words: list[str], pid: int) -> None:
    random, client = np.random.default_rng(2), Client(address)
    draw = lambda: words[random.integers(len(words))]  # noqa: E731  # three lines would say no more
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


def first_page(address: str) -> None:
    """Ask for what the browser asks for until it shows the first word."""
    client = Client(address)
    for path in ("", "static/app.js", "static/style.css"):
        client.get(path)
    models = json.loads(client.get("api/models"))["models"]
    client.get("api/map")
    client.get("api/word?" + urllib.parse.urlencode({"word": models[0]["examples"][0]}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=400_000)
    parser.add_argument("--vector-size", type=int, default=300)
    parser.add_argument("--model", type=Path, help="a model, or any file of vectors, instead of random vectors")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.model or Path(folder) / "random"
        if options.model is None:
            random_model(path, options.words, options.vector_size)
        start = time.perf_counter()
        server = subprocess.Popen(
            [sys.executable, "-m", "gensim_hilbert", "explore", path, "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=end_with_parent,
        )
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            first_page(address)
            spent, processor = time.perf_counter() - start, processor_ms(server.pid) / 1000
            loaded = load(path, False)
            vectors = getattr(loaded, "wv", loaded)
            words, matrix = [str(word) for word in vectors.index_to_key], np.array(vectors.vectors)
            print(f"{len(words):,} words, {matrix.shape[1]} dimensions; first page after {spent:.1f} s "
                  f"({processor:.1f} s of processor time)\n")  # fmt: skip
            time.sleep(2)  # until the server has made its copy in int8
            one_after_the_other(address, words, server.pid)
            bare = []
            spent = time.process_time()
            for row in range(ROUNDS):
                begun = time.perf_counter()
                _ = matrix @ matrix[row]
                bare.append(1000 * (time.perf_counter() - begun))
            spent = 1000 * (time.process_time() - spent) / ROUNDS
            print(f"| a bare product | {percentiles(bare)} | {spent:.1f} |")
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


if __name__ == "__main__":
    main()
