"""Training on several ranks: peak memory of each, bytes that travel, and time, against one process.

    python benchmarks/ring.py [CORPUS] [--vector-size 200] [--passes 2] [--ranks 1 2 3] [--min-count 1]

All ranks are processes of this machine with one thread each, and are connected by gloo. Memory is the peak of the
resident set less that of a process that has loaded all libraries. It is measured after the last pass, and on rank 0
also after the result has been gathered. CPU seconds are those of all ranks for start, passes and result, and for the
passes alone, with the part of the system's kernel, which sends and receives. Waiting is what each rank has waited for
blocks during the passes. Bytes are those that all ranks have sent per pass, against the least that is possible,
12 V d x (N - 1) for N ranks (V rounded up to whole blocks).
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from children import end_with_parent
from inputs import TEXT8, corpus_parser, require


def peak() -> float:
    """Return the largest resident set so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def lead(counts_path: str, vector_size: int, passes: int) -> dict[str, Any]:
    """Train on all ranks, and return what rank 0 has measured."""
    from gensim_hilbert import PairCounts
    from gensim_hilbert.objectives import Hilbert
    from gensim_hilbert.training.from_counts import make_fit
    from gensim_hilbert.training.ranks import present_ranks

    counts, ranks = PairCounts.open(counts_path), present_ranks()
    options: dict[str, Any] = {"passes": passes, "tolerance": 0, "background": "sampled", "device": "cpu"}
    options["rate"] = 0.3  # In so few passes the usual rate is too high for words that occur once.
    fit = make_fit(Hilbert().bind(counts), vector_size, **options)
    started = time.perf_counter()
    fit.run(fit.steps)
    seconds = time.perf_counter() - started
    fit.release_moments()
    trained = peak()
    n = round((fit.steps / passes) ** 0.5)
    rows = -(-len(counts) // n)
    learnt = hashlib.sha256(b"".join(side.tobytes() for side in fit.result()[:2])).hexdigest()[:16]
    least = 12 * n * rows * vector_size * (ranks.size - 1)
    return {"seconds": seconds, "trained": trained, "least": least, "sha256": learnt}


def child(counts_path: str, vector_size: int, passes: int) -> None:
    """Print what one rank has measured."""
    import torch

    import gensim_hilbert.model  # noqa: F401  # what a user has loaded, too
    from gensim_hilbert.training.leading import follow, leading
    from gensim_hilbert.training.ranks import present_ranks

    torch.set_num_threads(1)
    if int(os.environ["WORLD_SIZE"]) > 1:
        torch.distributed.init_process_group("gloo")
    base, began = peak(), time.process_time()
    of_passes = measure_passes()
    if present_ranks().rank:
        follow()
        facts: dict[str, Any] = {"trained": peak()}
    else:
        with leading():
            facts = lead(counts_path, vector_size, passes)
    print(json.dumps({**facts, **of_passes, "base": base, "peak": peak(), "cpu": time.process_time() - began}))


def measure_passes() -> dict[str, float]:
    """Return a dictionary that gets the CPU seconds, waiting seconds and sent bytes of this rank during the passes."""
    from gensim_hilbert.training.factorization import Factorization
    from gensim_hilbert.training.ranks import present_ranks

    run, ranks, measured = Factorization.run, present_ranks(), {}

    def now() -> dict[str, float]:
        kernel = resource.getrusage(resource.RUSAGE_SELF).ru_stime
        waited, sent = ranks.seconds_waited, ranks.bytes_sent
        return {"passes": time.process_time(), "kernel": kernel, "waited": waited, "sent": sent}

    def measured_run(self: Factorization, *arguments: Any) -> Any:
        before = now()
        result = run(self, *arguments)
        measured.update({key: value - before[key] for key, value in now().items()})
        return result

    Factorization.run = measured_run  # type: ignore[method-assign]
    return measured


def measure(size: int, *arguments: object) -> list[dict[str, Any]]:
    """Return what each of so many ranks has measured."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    common = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(size)}
    command = [sys.executable, __file__, *map(str, arguments)]
    ranks = [
        subprocess.Popen(
            command,
            env={**common, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=end_with_parent,
        )
        for rank in range(size)
    ]
    told = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        sys.exit("A rank has failed.")
    return [json.loads(text.splitlines()[-1]) for text in told]


def main() -> None:
    parser = corpus_parser(__doc__, TEXT8, vector_size=200, passes=2, min_count=1)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, arguments.vector_size, arguments.passes)
        return
    require(arguments.corpus)
    from gensim_hilbert import PairCounts

    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder, "counts")
        counts = PairCounts.from_corpus(
            arguments.corpus, directory=directory, min_count=arguments.min_count, workers=1, progress=False
        )
        matrix = 4e-9 * len(counts) * arguments.vector_size
        print(f"{len(counts):,} words, {arguments.vector_size} dimensions, V x d is {matrix:.3f} GB\n")
        print("| ranks | GB while training, by rank | the same / V d | GB with the result, rank 0 | ", end="")
        print("CPU s of all | in passes | in the kernel | s of passes | s waited, by rank | ", end="")
        print("MB sent per pass | least | result |")
        print("|---" * 12 + "|")
        options = ("--vector-size", arguments.vector_size, "--passes", arguments.passes)
        for size in arguments.ranks:
            told = measure(size, *options, "--child", directory)
            first, used = told[0], [one["trained"] - one["base"] for one in told]
            cells = [size, ", ".join(f"{one:.2f}" for one in used), f"{max(used) / matrix:.1f}"]
            cells += [f"{first['peak'] - first['base']:.2f}"]
            cells += [f"{sum(one[part] for one in told):.1f}" for part in ("cpu", "passes", "kernel")]
            cells += [f"{first['seconds']:.1f}", ", ".join(f"{one['waited']:.1f}" for one in told)]
            sent = sum(one["sent"] for one in told) / arguments.passes
            cells += [f"{sent / 1e6:.0f}", f"{first['least'] / 1e6:.0f}"]
            print("| " + " | ".join(map(str, [*cells, first["sha256"]])) + " |", flush=True)


if __name__ == "__main__":
    main()
