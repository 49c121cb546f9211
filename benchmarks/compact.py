"""Scores and sizes of smaller files: fewer bits, words and dimensions, each written, loaded again and scored.

    python benchmarks/compact.py [CORPUS] [--vector-size 300] [--max-final-vocab 50000] [--model FOLDER]

FOLDER is a model folder; if it does not exist, a model is trained on CORPUS and saved there.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import mean

from gensim.models import KeyedVectors
from inputs import DATA, corpus_parser, require

from gensim_hilbert import HilbertMLE
from gensim_hilbert.evaluation import analogies, find_data, similarity, sts
from gensim_hilbert.export import export, load_vectors

MEGABYTE = 1e6


def variants(size: int, words: int) -> list[tuple[str, dict]]:
    """Return the options of each file, by what they are called in the table."""
    return [
        ("float32", {}),
        ("float16", {"dtype": "float16"}),
        ("int8", {"dtype": "int8"}),
        (f"{size // 2} dimensions", {"pca": size // 2}),
        (f"{size // 2} dimensions, int8", {"pca": size // 2, "dtype": "int8"}),
        (f"{size // 4} dimensions", {"pca": size // 4}),
        (f"{words // 2:,} words", {"max_vocab": words // 2}),
        (f"{words // 2:,} words, int8", {"max_vocab": words // 2, "dtype": "int8"}),
    ]


def scores(vectors: KeyedVectors, data) -> str:
    """Return the mean similarity, the share of its pairs that are known, the analogies, and the mean of STS."""
    found = similarity(vectors, data)
    known = sum(one.covered for one in found) / sum(one.pairs for one in found)
    answered = analogies(vectors, data)
    cells = [f"{mean(one.rho for one in found):.3f}", f"{known:.1%}", *(f"{one.accuracy:.3f}" for one in answered)]
    if data.sts:
        cells.append(f"{mean(one.pearson.value for one in sts(vectors, data)['encode']):.3f}")
    return " | ".join(cells)


def main() -> None:
    parser = corpus_parser(__doc__, vector_size=300, max_final_vocab=50_000)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    require(options.corpus, options.data)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.model or Path(temporary) / "model"
        if not folder.exists():
            sizes = {"vector_size": options.vector_size, "max_final_vocab": options.max_final_vocab}
            model = HilbertMLE(corpus_file=str(options.corpus), **sizes, sample=1e-4, workers=-1)
            model.save_pretrained(folder, counts=False)
        model, data = HilbertMLE.from_pretrained(folder), find_data(options.data)
        sets = [*data.analogy, *(["STS"] if data.sts else [])]
        print(f"{len(model.wv):,} words, {model.vector_size} dimensions\n")
        print(f"| file | model folder MB | model2vec MB | similarity | pairs known | {' | '.join(sets)} |")
        print("|---|---|---|---|---|" + "---|" * len(sets))
        for name, how in variants(model.vector_size, len(model.wv)):
            ours, theirs = Path(temporary) / "ours", Path(temporary) / "theirs"
            export(model, ours, "folder", **how)
            export(model, theirs, "model2vec", skip_unfit=True, **how)
            megabytes = [sum(file.stat().st_size for file in place.iterdir()) / MEGABYTE for place in (ours, theirs)]
            found = scores(load_vectors(ours), data)
            print(f"| {name} | {megabytes[0]:.1f} | {megabytes[1]:.1f} | {found} |", flush=True)


if __name__ == "__main__":
    main()
