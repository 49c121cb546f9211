"""Trains in a process and then in its children, forked or spawned: `python fork_driver.py METHOD FOLDER`.

One line of JSON tells what went wrong. It is a process of its own because the tests let torch use one thread only.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import sys
from pathlib import Path

import numpy as np
from gensim.test.utils import common_texts

from gensim_hilbert import HilbertMLE

SOLVERS = ("factorization", "gibbs")
SECONDS = 150  # for each child; a hang is told as an error
kept: list[HilbertMLE] = []  # models that a process still has when it ends


def train(solver: str) -> HilbertMLE:
    """A model that depends on nothing but its solver."""
    # This is so many words that torch divides its operations.
    texts = common_texts * 20 + [[f"w{k}", f"w{k + 1}", f"w{k * 7 % 4000}"] for k in range(4000)]
    options = {"passes": 1} if solver == "factorization" else {}
    return HilbertMLE(
        texts, solver=solver, vector_size=16, min_count=1, epochs=2, workers=1, sample=0, seed=3, **options
    )


def work(folder: str, solver: str) -> HilbertMLE:
    """What users do in children: train, load, query, go on, and send the model back."""
    logging.disable()
    model, loaded = train(solver), HilbertMLE.load(os.path.join(folder, solver))
    assert len(loaded.wv.most_similar("human")) == 10
    assert np.isfinite(loaded.pmi("human", "interface"))
    loaded.train(common_texts, total_examples=len(common_texts), epochs=1)
    kept.append(loaded)
    return model


def main(method: str, folder: Path) -> list[str]:
    """Return what went wrong."""
    import torch

    torch.set_num_threads(2)
    logging.disable()
    wrong = []
    own = {solver: train(solver) for solver in SOLVERS}
    for solver, model in own.items():
        model.save(str(folder / solver))
    pool = multiprocessing.get_context(method).Pool(2)
    try:
        asked = {solver: pool.apply_async(work, (str(folder), solver)) for solver in SOLVERS}
        for solver, result in asked.items():
            model = result.get(SECONDS)
            if not np.allclose(model.wv.vectors, own[solver].wv.vectors, atol=1e-4):
                wrong.append(f"{solver} does not give the vectors that it gives in the parent")
            model.train(common_texts, total_examples=len(common_texts), epochs=1)
            if not np.isfinite(model.wv["human"]).all():
                wrong.append(f"{solver} cannot go on in the parent")
        pool.close()
        pool.join()  # Children end by themselves, with models that they have kept.
    except Exception as error:
        wrong.append(repr(error))
        pool.terminate()
    return wrong


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))
