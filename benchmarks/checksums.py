"""Print checksums of counts and vectors, to show that a change of the code changes no result.

    python benchmarks/checksums.py

Run it before and after a change on the same machine: the lines must be equal. The texts come with Gensim.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
import warnings
from pathlib import Path

import numpy as np
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_hilbert import HilbertMLE, PairCounts

MODELS = {
    "default": {},
    "two epochs, no word thinned out": {"epochs": 2, "sample": 0},
    "vectors + covectors": {"vectors": "v+w"},
    "subwords": {"subwords": True, "bucket": 5_000},
    "sgns": {"objective": "sgns"},
    "glove": {"objective": "glove(x_max=10)"},
    "lds": {"objective": "lds"},
    "swivel": {"objective": "swivel"},
    "ppmi-svd": {"objective": "ppmi-svd"},
    "gibbs": {"solver": "gibbs", "workers": 1},
    "gibbs with subwords": {"solver": "gibbs", "workers": 1, "subwords": True, "bucket": 5_000},
}


def checksum(*arrays: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()[:16]


def main() -> None:
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    lee = Path(datapath("lee_background.cor"))
    with tempfile.TemporaryDirectory() as folder:
        for sample in (0, 1e-3):
            counts = PairCounts.from_corpus(lee, directory=Path(folder) / str(sample), sample=sample, progress=False)
            print(f"{counts.fingerprint[:16]}  counts, sample={sample}")
    texts = [simple_preprocess(line) for line in lee.read_text(encoding="utf-8").splitlines()]
    for name, options in MODELS.items():
        model = HilbertMLE(texts, vector_size=20, min_count=10, seed=1, progress=False, **options)
        print(f"{checksum(model.syn1neg, model.wv.vectors)}  {name}", flush=True)
    model.train(texts[:50], total_examples=50, epochs=1)
    print(f"{checksum(model.syn1neg, model.wv.vectors)}  {name}, trained on")


if __name__ == "__main__":
    main()
