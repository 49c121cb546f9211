"""A GPU against the CPU: whether both learn the same, and how long a pass takes.

    python benchmarks/gpu.py [CORPUS] [--words 50000] [--vector-size 300] [--precision float32 tf32] [--against-cpu]
    python benchmarks/gpu.py --only agreement        # needs no data
    python benchmarks/gpu.py --device cpu --words 2000 --vector-size 50

agreement: every objective is fitted to a few of gensim's Lee texts, on the device and shard by shard on the CPU, with
the same seed and both backgrounds. The largest difference of psi is shown, relative to the largest psi, beside their
correlation; the script ends with an error if it is too large.

speed: a pass on the device over counts of the corpus, for both backgrounds and each precision. The first pass, which
also sends the pairs to the device, is shown by itself. `--against-cpu` adds a pass of the CPU with all cores.

Without a GPU there is nothing to do. `--device cpu` lets the CPU work as a GPU would, on whole rows of shards, which is
slower than its own way but tries out the same code.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from inputs import DATA, WIKIPEDIA
from kernels import keep_sample_size
from speed import say, seconds
from systems import SAMPLE

OBJECTIVES = ("hilbert", "sgns", "glove(x_max=10)", "lds", "swivel")
BACKGROUNDS = ("sampled", "dense")
# LDS has one constant for all words, which moves by the mean over one shard on the CPU and over a row of them here.
TOLERANCES = {"lds": 0.1}
TOLERANCE = 0.01


def find_device(name: str) -> str | None:
    """Return the device to measure, or None if there is no GPU."""
    from gensim_hilbert.training.device import choose_device

    try:
        found = str(choose_device(name))
    except ValueError as error:
        sys.exit(str(error))
    return None if name == "auto" and found == "cpu" else found


def fit_on(device: str, objective: Any, vector_size: int, *, in_rows: bool = True, **options: Any) -> Any:
    """Return a fit that goes through whole rows of shards at once, as on a GPU, or shard by shard as on the CPU."""
    from gensim_hilbert.training.batches import Batches
    from gensim_hilbert.training.factorization import Factorization

    fit = Factorization(objective, vector_size, device=device, **options)
    if in_rows and fit.batches is None:
        fit.batches = Batches(fit.gradients)
    return fit


def device_name(device: str) -> str:
    """Return what to call the device in tables."""
    import torch

    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    return {"mps": "Apple GPU", "cpu": "CPU, rows of shards"}.get(device, device)


def device_memory(device: str) -> float | None:
    """Return the gigabytes that were held on the device at most, where torch can tell."""
    import torch

    if device.startswith("cuda"):
        return torch.cuda.max_memory_allocated(device) / 1e9
    return torch.mps.driver_allocated_memory() / 1e9 if device == "mps" else None


# ---------------------------------------------------------------------------------------------------- agreement


def psi_of(fit: Any) -> np.ndarray:
    """Return psi of all pairs of words."""
    fitted = fit.result()
    psi = fitted.covectors @ fitted.parameters.T
    if fitted.biases is not None:
        psi = psi + fitted.biases[0][:, None] + fitted.biases[1]
    return np.asarray(psi, dtype=np.float64)


def agreement(device: str) -> bool:
    """Print how far the device and the CPU are apart; return whether that is close enough."""
    from gensim.test.utils import datapath
    from gensim.utils import simple_preprocess

    from gensim_hilbert import PairCounts
    from gensim_hilbert.objectives import named

    with open(datapath("lee_background.cor"), encoding="utf-8") as file:
        texts = [simple_preprocess(line) for line in file][:60]
    counts = PairCounts.from_corpus(texts, min_count=3, progress=False)
    print(f"{device_name(device)} and CPU, {len(counts)} words, 8 dimensions, 4 x 4 shards, 3 passes\n\n"
          "| objective | background | largest difference of psi | allowed | correlation | losses | |\n"
          "|---|---|---|---|---|---|---|")  # fmt: skip
    all_agree = True
    for objective in OBJECTIVES:
        for background in BACKGROUNDS:
            say(f"agreement: {objective}, {background}")
            make = partial(fit_on, objective=named(objective).bind(counts), vector_size=8, n=4, passes=3, columns=16,
                           background=background, seed=1)  # fmt: skip
            fits = make("cpu", in_rows=False), make(device)
            for fit in fits:
                fit.run(fit.steps)
            ours, theirs = map(psi_of, fits)
            difference = np.abs(ours - theirs).max() / np.abs(ours).max()
            correlation = np.corrcoef(ours.ravel(), theirs.ravel())[0, 1]
            allowed = TOLERANCES.get(objective, TOLERANCE)
            agrees = bool(difference <= allowed)
            all_agree &= agrees
            losses = " and ".join(f"{fit.report.loss:.5f}" for fit in fits)
            print(f"| `{objective}` | {background} | {difference:.1e} | {allowed} | {correlation:.6f} | {losses} | "
                  f"{'agree' if agrees else 'DIFFER'} |", flush=True)  # fmt: skip
    print()
    return all_agree


# ---------------------------------------------------------------------------------------------------- speed


def speed(device: str, options: argparse.Namespace) -> None:
    """Print how long passes take."""
    import torch

    from gensim_hilbert import PairCounts
    from gensim_hilbert.objectives import Hilbert

    say(f"speed: counting {options.corpus.name}")
    counts = PairCounts.from_corpus(options.corpus, max_final_vocab=options.words, sample=SAMPLE, progress=False)
    objective = Hilbert().bind(counts)
    print(f"{options.corpus.name}, {len(counts):,} words, {options.vector_size} dimensions, "
          f"torch {torch.__version__}\n\n"
          "| device | background | precision | shards | start s | first pass s | a pass s | passes | a model s | "
          f"peak GB of the device |\n|{'---|' * 10}")  # fmt: skip
    runs = [(device, True, background, precision) for background in BACKGROUNDS for precision in options.precision]
    if options.against_cpu:
        runs += [("cpu", False, background, "float32") for background in BACKGROUNDS]
    for where, in_rows, background, precision in runs:
        name = device_name(where) if in_rows else f"CPU, {torch.get_num_threads()} threads"
        say(f"speed: {name}, {background}, {precision}")
        if where.startswith("cuda"):
            torch.cuda.reset_peak_memory_stats(where)
        rules = {"background": background, "precision": precision, "memory_gb": options.memory_gb, "tolerance": 0}
        fits: list[Any] = []
        make = partial(fit_on, where, objective, options.vector_size, in_rows=in_rows, **rules)
        start = seconds(lambda make=make, fits=fits: fits.append(make()))
        fit = fits.pop()
        if background == "sampled":
            keep_sample_size(fit)
        # The host waits for the device once per row of shards, so these times are complete.
        first, *others = (seconds(partial(fit.run, fit.n**2)) for _ in range(min(3, fit.passes)))
        later = min(others, default=first)
        memory = device_memory(where) if in_rows else None
        cells = [
            name, background, precision, f"{fit.n} x {fit.n}", f"{start:.1f}", f"{first:.2f}", f"{later:.2f}",
            str(fit.passes), f"{start + first + later * (fit.passes - 1):.1f}",
            "" if memory is None else f"{memory:.2f}",
        ]  # fmt: skip
        print(f"| {' | '.join(cells)} |", flush=True)
    print("\nA model is the start and all passes, by these times; counting and the final change of axes come on top.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", type=Path, default=DATA / "corpora" / WIKIPEDIA)
    parser.add_argument("--device", default="auto", help="cuda, cuda:1, mps or cpu; by default the GPU that there is")
    parser.add_argument("--only", nargs="*", choices=["agreement", "speed"], default=["agreement", "speed"])
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--vector-size", type=int, default=300)
    parser.add_argument("--precision", nargs="+", choices=["float32", "tf32", "bf16"], default=["float32"])
    parser.add_argument("--memory-gb", type=float, default=2.0, help="memory for counts")
    parser.add_argument("--against-cpu", action="store_true", help="also measure the CPU with all cores")
    options = parser.parse_args()
    device = find_device(options.device)
    if device is None:
        print("There is no GPU here that torch can use: nothing was measured; --device cpu tries out the same code.")
        return
    if "speed" in options.only and not options.corpus.exists():
        sys.exit(f"{options.corpus} is not there; name a corpus, set GENSIM_HILBERT_DATA, or use --only agreement")
    all_agree = "agreement" not in options.only or agreement(device)
    if "speed" in options.only:
        speed(device, options)
    if not all_agree:
        sys.exit("The device and the CPU have not learnt the same: see DIFFER above.")


if __name__ == "__main__":
    main()
