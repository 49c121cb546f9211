"""Subwords: HilbertMLE with and without them, and fastText, on one text; words never seen are scored, too.

    python benchmarks/subwords.py [CORPUS] [--vector-size 100] [--max-final-vocab 15000] [--only NAME ...]

All see the same words and window, with sample = 1e-4; the Gibbs solver and fastText have 5 negatives and 5 epochs.
"RARE, all" is Spearman over all pairs of Rare Words, most of which have a word that is not in the vocabulary; without
subwords those have no vectors. "centred" is the same less the mean of known words, and that of others: vectors may have
a component in common that tells frequent words from rare ones, which goes with the scores but says nothing of likeness.
Seconds are of the processor; fastText's include counting words, which takes few. Every model is trained in a process of
its own, by two threads. fastText is skipped if it is not installed; `make bench-peers` installs it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
import systems
from children import ChildFailed, answer, ask_child
from inputs import DATA, TEXT8, corpus_parser, require, write_lines
from peers import installed
from scoring import all_pairs, scores
from systems import EPOCHS, SAMPLE, WINDOW


def hilbert(path: str, size: int, words: int, **options: object):
    from gensim_hilbert import HilbertMLE

    model = HilbertMLE(vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, workers=2, **options)
    model.build_vocab(corpus_file=path)
    start = time.process_time()
    model.train(corpus_file=path, total_words=model.corpus_total_words, epochs=EPOCHS)
    seconds = time.process_time() - start
    return model.wv.index_to_key, model.wv.vectors, model.wv.__getitem__ if model.subwords else None, seconds


def fasttext(path: str, size: int, words: int):
    start = time.process_time()
    names, models, vector_of = systems.fasttext(path, size, words, seed=1)
    return names, models["fastText"], vector_of, time.process_time() - start


MODELS: dict[str, tuple[Callable[..., tuple], dict[str, object]]] = {
    "factorization": (hilbert, {}),
    "factorization, subwords": (hilbert, {"subwords": True}),
    "gibbs": (hilbert, {"solver": "gibbs"}),
    "gibbs, subwords": (hilbert, {"solver": "gibbs", "subwords": True}),
    "fastText": (fasttext, {}),
}


def child(name: str, path: str, size: int, words: int) -> dict[str, float]:
    """Train and score, in a process of its own."""
    train, options = MODELS[name]
    names, vectors, vector_of, seconds = train(path, size, words, **options)
    result = {"CPU s": seconds} | scores(names, vectors)
    for column, centred in (("RARE, all", False), ("centred", True)):
        result[column] = np.nan if vector_of is None else all_pairs(vector_of, names, centred)
    return result


def main() -> None:
    parser = corpus_parser(__doc__, TEXT8, vector_size=100, max_final_vocab=15_000)
    parser.add_argument("--only", nargs="*", choices=MODELS, default=list(MODELS))
    options = parser.parse_args()
    if options.child:
        return answer(child, options.child)
    require(options.corpus, DATA)
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        plain = f"{folder}/corpus.txt"
        write_lines(options.corpus, plain)
        for name in options.only:
            if not installed(MODELS[name][0].__name__):
                continue
            try:
                rows[name] = ask_child(__file__, name, plain, options.vector_size, options.max_final_vocab)
            except ChildFailed as failure:
                print(failure, file=sys.stderr)
                continue
            print(f"{name}: {json.dumps(rows[name])}", file=sys.stderr, flush=True)
    columns = ["CPU s", "mean", "MENd", "S999", "RARE", "RARE, all", "centred", "Google", "BATS"]
    print(f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name, row in rows.items():
        print(f"| {name} | {row['CPU s']:.0f} | {' | '.join(f'{row[column]:.3f}' for column in columns[1:])} |")


if __name__ == "__main__":
    main()
