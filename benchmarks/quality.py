"""Vectors against peers: the paper's similarity sets and analogies, same text, window and size, in one run.

    python benchmarks/quality.py [CORPUS] [--vector-size 300] [--max-final-vocab 50000] [--seeds 3] [--only NAME ...]

HilbertMLE and gensim's SGNS (5 negatives, 5 epochs) always, fastText (PyPI `fasttext`) where it is installed; all with
sample = 1e-4. Every model is trained and scored in a process of its own. Mean and standard deviation over seeds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import smart_open
from scores import DATA, scores

SAMPLE, EPOCHS, NEGATIVE, WINDOW = 1e-4, 5, 5, 5


def hilbert(path: str, size: int, words: int, seed: int):
    from gensim_hilbert import HilbertMLE
    from gensim_hilbert.training.gauge import summed

    model = HilbertMLE(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2
    )
    both = summed(model.syn1neg, model.wv.vectors)
    return model.wv.index_to_key, {"HilbertMLE": model.wv.vectors, "HilbertMLE, vectors='v+w'": both}


def sgns(path: str, size: int, words: int, seed: int):
    from gensim.models import Word2Vec

    model = Word2Vec(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2,
        sg=1, negative=NEGATIVE, epochs=EPOCHS,
    )  # fmt: skip
    return model.wv.index_to_key, {"gensim SGNS": model.wv.vectors}


def fasttext(path: str, size: int, words: int, seed: int):
    import fasttext as peer

    from gensim_hilbert import Vocabulary

    kept = Vocabulary.from_corpus(path, max_final_vocab=words)
    model = peer.train_unsupervised(
        path, model="skipgram", dim=size, ws=WINDOW, neg=NEGATIVE, epoch=EPOCHS, t=SAMPLE, thread=2, verbose=0,
        minCount=int(kept.counts.min()), seed=seed,
    )  # fmt: skip
    names = [word for word in model.words if word in kept]
    return names, {"fastText": np.array([model.get_word_vector(word) for word in names])}


TRAINERS = {"hilbert": hilbert, "sgns": sgns, "fasttext": fasttext}


def child(name: str, path: str, size: int, words: int, seed: int) -> None:
    start = time.perf_counter()
    names, models = TRAINERS[name](path, size, words, seed)
    seconds = time.perf_counter() - start
    print(json.dumps({key: {"seconds": seconds, **scores(names, vectors)} for key, vectors in models.items()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", type=Path, default=DATA / "corpora" / "wiki2019_25m.txt.gz")
    parser.add_argument("--vector-size", type=int, default=300)
    parser.add_argument("--max-final-vocab", type=int, default=50_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=TRAINERS, default=list(TRAINERS))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(*json.loads(options.child))
    if not options.corpus.exists():
        sys.exit(f"{options.corpus} is not there; name a corpus, or set GENSIM_HILBERT_DATA")
    rows: dict[str, list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        plain = f"{folder}/corpus.txt"
        with smart_open.open(options.corpus, "rb") as source, open(plain, "wb") as target:
            while block := source.read(1 << 20):
                target.write(block)
        for seed in range(1, options.seeds + 1):
            for name in options.only:
                call = json.dumps([name, plain, options.vector_size, options.max_final_vocab, seed])
                done = subprocess.run(
                    [sys.executable, __file__, "--child", call], stdout=subprocess.PIPE, text=True, check=False
                )
                if done.returncode:
                    print(f"{name} did not run", file=sys.stderr)
                    continue
                for key, row in json.loads(done.stdout.splitlines()[-1]).items():
                    rows.setdefault(key, []).append(row)
                    print(f"seed {seed}, {key}: {json.dumps(row)}", file=sys.stderr, flush=True)
    columns = [key for key in next(iter(rows.values()))[0] if key != "seconds"]
    print(f"{options.corpus.name}, {options.max_final_vocab:,} words at most, {options.vector_size} dimensions\n")
    print(f"| | seeds | s | {' | '.join(columns)} |\n|---|---|---|{'---|' * len(columns)}")
    for name, runs in rows.items():
        cells = [f"{np.mean([r[c] for r in runs]):.3f} ± {np.std([r[c] for r in runs]):.3f}" for c in columns]
        seconds = np.mean([run["seconds"] for run in runs])
        print(f"| {name} | {len(runs)} | {seconds:.0f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
