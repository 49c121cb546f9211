"""The model folders that are kept in tests/formats/v1: every array that the format has, and odd words.

    python tests/frozen_models.py

writes them anew, which is right only for a new schema, in a new folder beside v1.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from gensim_hilbert import HilbertMLE

FOLDER = Path(__file__).parent / "formats" / "v1"
WORDS = ["the", "New York", "a\nb", "", "日本"]
MODELS = {
    "model": {"objective": "glove(x_max=10)", "sample": 1e-3},
    "subword_model": {"subwords": True, "bucket": 6, "solver": "gibbs", "objective": "hilbert(temperature=1.25)"},
}


def make(name: str) -> HilbertMLE:
    """A model whose numbers are set, since those of a training differ between processors."""
    sentences = [WORDS, WORDS[:3], WORDS[:1]]
    model = HilbertMLE(vector_size=2, min_count=1, seed=3, workers=1, epochs=1, comment=name, **MODELS[name])
    model.build_vocab(sentences)
    model.train(sentences, total_examples=3, epochs=1)
    numbers = np.arange(100, dtype=np.float32) / 8
    model.syn1neg[:] = numbers[:10].reshape(5, 2)
    if name == "model":
        model.wv.vectors[:] = -numbers[:10].reshape(5, 2)
        model.wv.vectors_lockf = numbers[:5].copy()
        model.biases = numbers[10:15].copy(), numbers[15:20].copy()
        model.offsets = numbers[20:25].astype(np.float64), numbers[25:30].astype(np.float64)
    else:
        model.wv.vectors_vocab[:] = numbers[10:20].reshape(5, 2)
        model.wv.vectors_ngrams[:] = numbers[20:32].reshape(6, 2)
        model.wv.adjust_vectors()
    return model


if __name__ == "__main__":
    for name in MODELS:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        make(name).save_pretrained(FOLDER / name)
