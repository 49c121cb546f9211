"""Vectors of texts: how fast they are made, and how good they are, beside a loop in Python, model2vec and fastText.

    python benchmarks/text_encode.py [CORPUS] [--model PATH] [--only speed sts linear] [--vector-size 300] [--repeat 3]

A model is trained on CORPUS, unless --model names a folder of `save_pretrained`, which is created if it does not exist.

speed    Lines of CORPUS are encoded by one thread: by `HilbertMLE.encode`, by a loop over gensim's KeyedVectors, by
         gensim's `get_mean_vector`, and by model2vec with the same vectors exported. The best of several runs counts.
         All have to be on one thread: OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false.
sts      Semantic textual similarity. fastText makes sentence vectors of the same word vectors in its own way.
linear   Logistic regressions on vectors of the texts of AG News and IMDB.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import smart_open
from inputs import DATA, corpus_parser, require
from peers import installed

from gensim_hilbert import HilbertMLE
from gensim_hilbert.evaluation import find_data
from gensim_hilbert.evaluation.classification import read
from gensim_hilbert.evaluation.examples import TOKENS
from gensim_hilbert.evaluation.linear import score_texts
from gensim_hilbert.evaluation.sts import read_sentence_pairs, readings, score_sentences
from gensim_hilbert.evaluation.tables import as_markdown
from gensim_hilbert.evaluation.text_tables import linear_table, sts_tables
from gensim_hilbert.export import export

SECTIONS = ("speed", "sts", "linear")
LINES = 20_000


def trained(corpus: Path, folder: Path | None, size: int) -> HilbertMLE:
    if folder is not None and folder.exists():
        return HilbertMLE.from_pretrained(folder)
    model = HilbertMLE(corpus_file=str(corpus), vector_size=size, workers=2)
    if folder is not None:
        model.save_pretrained(folder)
    return model


def python_loop(model: HilbertMLE, texts: list[str]) -> np.ndarray:
    """What users write: the mean of the vectors of known words, of length 1."""
    vectors, found = model.wv, np.zeros((len(texts), model.vector_size), dtype=np.float32)
    for number, text in enumerate(texts):
        known = [vectors[word] for word in text.split() if word in vectors]
        if known:
            mean = np.mean(known, axis=0)
            found[number] = mean / np.linalg.norm(mean)
    return found


def get_mean_vector(model: HilbertMLE, texts: list[str]) -> np.ndarray:
    return np.array(
        [model.wv.get_mean_vector(text.split(), pre_normalize=False, post_normalize=True) for text in texts]
    )


def static_model(model: HilbertMLE, folder: str, **options: bool):
    from model2vec import StaticModel

    export(model, folder, format="model2vec", skip_unfit=True, **options)
    return StaticModel.from_pretrained(folder)


def seconds(task: Callable[[], object], repeat: int) -> tuple[float, float]:
    """The least wall time and the least CPU time of several runs, after one that is not measured."""
    task()
    wall, cpu = [], []
    for _ in range(repeat):
        started, begun = time.perf_counter(), time.process_time()
        task()
        wall.append(time.perf_counter() - started)
        cpu.append(time.process_time() - begun)
    return min(wall), min(cpu)


def speed(model: HilbertMLE, corpus: Path, repeat: int) -> None:
    with smart_open.open(corpus, "rt", encoding="utf-8") as file:
        texts = [line.rstrip("\n") for line in islice(file, LINES)]
    tokens = sum(len(text.split()) for text in texts)
    with tempfile.TemporaryDirectory() as folder:
        peer = static_model(model, f"{folder}/static")
        some = [text.split() for text in texts[:1000]]
        difference = float(np.abs(peer.encode(texts[:1000]) - model.encode(some)).max())
        tasks: dict[str, Callable[[], object]] = {
            "encode": lambda: model.encode(texts, workers=1),
            "encode, mean": lambda: model.encode(texts, weighting="mean", workers=1),
            "loop over KeyedVectors": lambda: python_loop(model, texts),
            "get_mean_vector": lambda: get_mean_vector(model, texts),
            "model2vec": lambda: peer.encode(texts, use_multiprocessing=False),
        }
        found = {name: seconds(task, repeat) for name, task in tasks.items()}
    print(f"{len(texts):,} texts, {tokens:,} words; model2vec differs from encode by at most {difference:.1e}\n")
    print("| | wall s | CPU s | CPU µs per text | CPU against encode |\n|---|---|---|---|---|")
    for name, (wall, cpu) in found.items():
        print(f"| {name} | {wall:.3f} | {cpu:.3f} | {cpu / len(texts) * 1e6:.1f} | {cpu / found['encode'][1]:.1f} |")
    print(flush=True)


def contenders(model: HilbertMLE, folder: str) -> dict[str, Callable[[list[str]], np.ndarray]]:
    """What makes unit vectors of texts."""
    found = dict(readings(model.wv, model._preparation()))
    static = static_model(model, f"{folder}/static", lowercase=True, split_punctuation=True)
    found["model2vec export"] = lambda texts: np.asarray(static.encode(texts, use_multiprocessing=False))
    if installed("fasttext"):
        import fasttext

        export(model, f"{folder}/vectors.bin", format="fasttext", skip_unfit=True)
        peer = fasttext.load_model(f"{folder}/vectors.bin")
        found["fastText sentence vectors"] = lambda texts: unit(
            np.array([peer.get_sentence_vector(" ".join(TOKENS.findall(text.lower()))) for text in texts])
        )
    return found


def unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def main() -> None:
    parser = corpus_parser(__doc__, vector_size=300, repeat=3)
    parser.add_argument("--model", type=Path, help="folder of the model, which is created if it does not exist")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    options = parser.parse_args()
    require(options.corpus)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    model = trained(options.corpus, options.model, options.vector_size)
    if "speed" in options.only:
        speed(model, options.corpus, options.repeat)
    if {"sts", "linear"}.isdisjoint(options.only):
        return
    require(DATA)
    data = find_data(DATA)
    with tempfile.TemporaryDirectory() as folder:
        ways = contenders(model, folder)
        if "sts" in options.only:
            sets = {name: read_sentence_pairs(path) for name, path in data.sts.items()}
            rows = {
                way: [score_sentences(name, pairs, encode) for name, pairs in sets.items()]
                for way, encode in ways.items()
            }
            print("\n\n".join(map(as_markdown, sts_tables(rows))), flush=True)
        if "linear" in options.only:
            parts = {name: read(name, paths) for name, paths in data.classification.items()}
            del ways["encode, common of set"]
            found = {
                way: [score_texts(name, split, encode) for name, split in parts.items()] for way, encode in ways.items()
            }
            print("\n" + as_markdown(linear_table(found)), flush=True)


if __name__ == "__main__":
    main()
