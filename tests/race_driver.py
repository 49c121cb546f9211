"""Lets two processes write one result at the same time, again and again: `python race_driver.py PAIRS SEED`.

One line of JSON per kind of result tells the pairs that did not end with one success and one clear error.
"""

from __future__ import annotations

import json
import logging
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click.testing
from scipy import sparse

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.cli import cli

TEXTS = ["a b c d e f g h\n" * 30, "h g f e d c b a x y z\n" * 20]
CLEAR = (FileExistsError, RuntimeError)


def actions(folder: Path) -> dict[str, tuple[Callable[[Path, int], object], Callable[[Path], object]]]:
    """For each kind of result: how the one or the other process makes it, and which of them has made it."""
    texts = [folder / f"{k}.txt" for k in range(2)]
    for path, text in zip(texts, TEXTS, strict=True):
        path.write_text(text)
    options = {"min_count": 1, "workers": 1}
    stores = [PairCounts.from_corpus(path, directory=folder / f"store{k}", **options) for k, path in enumerate(texts)]
    fingerprints = {store.fingerprint: k for k, store in enumerate(stores)}
    models = [HilbertMLE(corpus_file=str(path), vector_size=4, epochs=1, passes=1, **options) for path in texts]

    def count(path: Path, k: int) -> None:
        PairCounts.from_corpus(texts[k], directory=path, progress=False, **options)

    def merge(path: Path, k: int) -> None:
        PairCounts.merge([stores[k]], directory=path, workers=1)

    def take_over(path: Path, k: int) -> None:
        PairCounts.from_scipy(sparse.eye_array(4 + k), list("abcde")[: 4 + k], directory=path)

    def save(path: Path, k: int) -> None:
        models[k].save(str(path), overwrite=False)

    def train(path: Path, k: int) -> None:
        arguments = ["train", str(texts[k]), "-o", str(path), "--vector-size=4", "--epochs=1", "--passes=1"]
        done = click.testing.CliRunner().invoke(cli, [*arguments, "--min-count=1", "--workers=1", "--no-progress"])
        if done.exception:
            raise done.exception

    def winner_of_counts(path: Path) -> int:
        counts = PairCounts.open(path)
        counts.verify()
        return fingerprints[counts.fingerprint]

    def winner_of_matrices(path: Path) -> int:
        return len(PairCounts.open(path)) - 4

    def winner_of_models(path: Path) -> int:
        model = HilbertMLE.from_pretrained(path) if path.is_dir() else HilbertMLE.load(str(path))
        winner = len(model.wv) == len(models[1].wv)
        if model.counts.fingerprint != models[winner].counts.fingerprint:
            raise ValueError("counts of the other model")
        return int(winner)

    return {
        "count": (count, winner_of_counts),
        "merge": (merge, winner_of_counts),
        "from_scipy": (take_over, winner_of_matrices),
        "save": (save, winner_of_models),
        "train": (train, winner_of_models),
    }


def run_pair(act: Callable[[Path, int], object], path: Path, delays: list[float]) -> list[int]:
    """Start both processes; returns their exit codes: 0 after success, 3 after a clear error."""
    begin = time.monotonic() + 0.01
    children = []
    for k, delay in enumerate(delays):
        child = os.fork()
        if not child:
            code = 1
            try:
                time.sleep(max(0.0, begin + delay - time.monotonic()))
                act(path, k)
                code = 0
            except CLEAR as error:
                code = 3 if str(error) else 1
            except BaseException as error:
                print(repr(error), file=sys.stderr)
            os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def main(pairs: int, seed: int) -> None:
    logging.disable(logging.WARNING)
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as scratch:
        for name, (act, winner) in actions(Path(scratch)).items():
            wrong = []
            began = time.monotonic()
            act(Path(scratch, f"{name}-alone"), 0)
            length = time.monotonic() - began
            for number in range(pairs):
                path = Path(scratch, f"{name}-{number}")
                codes = run_pair(act, path, [0.0, draw.uniform(0, 1.5 * length)])
                try:
                    if sorted(codes) != [0, 3] or winner(path) != codes.index(0):
                        wrong.append(f"{codes}, {winner(path)}")
                except Exception as error:
                    wrong.append(f"{codes}, {error!r}")
                left = [other for other in os.listdir(scratch) if path.name in other and "." in other]
                wrong += [f"left behind: {other}" for other in left if other != f"{path.name}.counts"]
            print(json.dumps({"result": name, "pairs": pairs, "wrong": wrong}), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
