"""Vectors against peers: the paper's similarity sets and analogies, same text, window and size, in one run.

    python benchmarks/quality.py [CORPUS] [--vector-size 300] [--max-final-vocab 50000] [--seeds 3] [--only NAME ...]
                                 [--glove DIR]

HilbertMLE with both solvers, with subwords, GloVe's objective and gensim's SGNS always; the original word2vec in C
and fastText where they are installed (`make bench-peers` installs both), GloVe where `--glove` names the folder of its
compiled programs. All see the same words and window. word2vec's kin and the Gibbs solver have 5
negatives, 5 epochs and sample = 1e-4; GloVe has its own defaults, but the x_max of 10 of its demo, made for corpora of
this size, and so has its objective here. word2vec in C and fastText take no seed: their runs differ by the timing of
two threads. Every model is trained and scored in a process of its own. Mean and standard deviation over seeds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import smart_open
from inputs import DATA, corpus_parser, require
from peers import add_glove_option, installed, word2vec_program

SAMPLE, EPOCHS, NEGATIVE, WINDOW = 1e-4, 5, 5, 5


def hilbert(path: str, size: int, words: int, seed: int):
    from gensim_hilbert import HilbertMLE
    from gensim_hilbert.training.gauge import summed

    model = HilbertMLE(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2
    )
    both = summed(model.syn1neg, model.wv.vectors)
    return model.wv.index_to_key, {"HilbertMLE": model.wv.vectors, "HilbertMLE, vectors='v+w'": both}


def gibbs(path: str, size: int, words: int, seed: int):
    from gensim_hilbert import HilbertMLE
    from gensim_hilbert.training.gauge import summed

    model = HilbertMLE(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2,
        solver="gibbs", negative=NEGATIVE, epochs=EPOCHS,
    )  # fmt: skip
    both = summed(model.syn1neg, model.wv.vectors)
    return model.wv.index_to_key, {"HilbertMLE, gibbs": model.wv.vectors, "HilbertMLE, gibbs, 'v+w'": both}


def subwords(path: str, size: int, words: int, seed: int):
    from gensim_hilbert import HilbertMLE

    model = HilbertMLE(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2,
        subwords=True,
    )  # fmt: skip
    return model.wv.index_to_key, {"HilbertMLE, `subwords=True`": model.wv.vectors}


def sgns(path: str, size: int, words: int, seed: int):
    from gensim.models import Word2Vec

    model = Word2Vec(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2,
        sg=1, negative=NEGATIVE, epochs=EPOCHS,
    )  # fmt: skip
    return model.wv.index_to_key, {"gensim SGNS": model.wv.vectors}


def our_glove(path: str, size: int, words: int, seed: int):
    from gensim_hilbert import HilbertMLE

    model = HilbertMLE(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=0, seed=seed, workers=2,
        objective="glove(x_max=10)", vectors="v+w",
    )  # fmt: skip
    return model.wv.index_to_key, {"GloVe, our objective": model.wv.vectors}


def word2vec(path: str, size: int, words: int, seed: int):
    from gensim.models import KeyedVectors

    kept = kept_words(path, words)
    with tempfile.TemporaryDirectory() as folder:
        call(word2vec_program(), train=path, output=f"{folder}/vectors.bin", size=size, window=WINDOW, sample=SAMPLE,
             cbow=0, hs=0, negative=NEGATIVE, iter=EPOCHS, threads=2, min_count=kept.counts.min(), binary=1,
             debug=0)  # fmt: skip
        vectors = KeyedVectors.load_word2vec_format(f"{folder}/vectors.bin", binary=True, unicode_errors="replace")
    names = [word for word in vectors.index_to_key if word in kept]  # all but its mark of a sentence's end
    return names, {"word2vec in C": vectors[names]}


def fasttext(path: str, size: int, words: int, seed: int):
    import fasttext as peer

    kept = kept_words(path, words)
    model = peer.train_unsupervised(
        path, model="skipgram", dim=size, ws=WINDOW, neg=NEGATIVE, epoch=EPOCHS, t=SAMPLE, thread=2, verbose=0,
        minCount=int(kept.counts.min()),
    )  # fmt: skip
    names = [word for word in model.words if word in kept]
    return names, {"fastText": np.array([model.get_word_vector(word) for word in names])}


def glove(path: str, size: int, words: int, seed: int, programs: str):
    kept = kept_words(path, words)
    with tempfile.TemporaryDirectory() as folder:
        vocabulary, records = f"{folder}/vocabulary", f"{folder}/records"
        call(f"{programs}/vocab_count", path, vocabulary, min_count=kept.counts.min(), verbose=0)
        call(f"{programs}/cooccur", path, records, vocab_file=vocabulary, window_size=WINDOW, memory=4.0, verbose=0,
             overflow_file=f"{folder}/overflow")  # fmt: skip
        names, vectors = glove_fit(vocabulary, records, folder, size, seed, programs)
    here = [k for k, name in enumerate(names) if name in kept]
    return [names[k] for k in here], {"GloVe": vectors[here]}


def glove_fit(vocabulary: str, records: str, folder: str, size: int, seed: int, programs: str):
    """GloVe's vectors from its counts: words, and sums of both sides; the last is its mark of unknown words."""
    shuffled = f"{folder}/shuffled"
    call(f"{programs}/shuffle", records, shuffled, memory=4.0, temp_file=f"{folder}/part", verbose=0, seed=seed)
    call(f"{programs}/glove", input_file=shuffled, vocab_file=vocabulary, save_file=f"{folder}/vectors", binary=0,
         vector_size=size, x_max=10, threads=2, verbose=0, seed=seed)  # fmt: skip
    with open(f"{folder}/vectors.txt", encoding="utf-8") as file:
        rows = [line.split(" ") for line in file]
    return [row[0] for row in rows], np.array([row[1:] for row in rows], dtype=np.float32)


def kept_words(path: str, words: int):
    """Ours: the least count among them gives peers the same ones."""
    from gensim_hilbert import Vocabulary

    return Vocabulary.from_corpus(path, max_final_vocab=words)


def write_lines(corpus: Path, plain: str) -> None:
    """The corpus as a plain file; lines of over 1,000 words are cut there, because peers drop or cut longer ones."""
    with smart_open.open(corpus, "rb") as source, open(plain, "wb") as target:
        rest = b""
        while block := source.read(1 << 24):
            *lines, rest = (rest + block).split(b"\n")
            if len(rest) > 1 << 22:  # the end of a huge line, cut between two words
                whole, _, rest = rest.rpartition(b" ")
                lines.append(whole)
            for line in lines:
                words = line.split()
                for start in range(0, len(words), 1000):
                    target.write(b" ".join(words[start : start + 1000]) + b"\n")
        target.write(rest + b"\n" if rest else b"")


def write_first_lines(corpus: Path, target: str, tokens: int) -> int:
    """Write the corpus as `write_lines` does, up to the line with the given token; return the tokens written."""
    plain, written = f"{target}.all", 0
    write_lines(corpus, plain)
    with open(plain, "rb") as source, open(target, "wb") as file:
        for line in source:
            written += len(line.split())
            file.write(line)
            if written >= tokens:
                break
    Path(plain).unlink()
    return written


def call(program: str, source: str = "/dev/null", target: str = "/dev/null", **options: object) -> None:
    """Run a program from file to file, with options as C programs of this kind take them: -name value."""
    words = [word for name, value in options.items() for word in (f"-{name.replace('_', '-')}", str(value))]
    with open(source, "rb") as stdin, open(target, "wb") as stdout:
        subprocess.run([program, *words], stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, check=True)


TRAINERS = {
    "hilbert": hilbert,
    "gibbs": gibbs,
    "subwords": subwords,
    "sgns": sgns,
    "our_glove": our_glove,
    "word2vec": word2vec,
    "fasttext": fasttext,
    "glove": glove,
}


def scores(names: list[str], matrix: np.ndarray) -> dict[str, float]:
    """The mean over similarity sets, each of them, and the analogies."""
    from gensim_hilbert.evaluation import analogies, find_data, similarity
    from gensim_hilbert.export.reading import keyed_vectors

    vectors, data = keyed_vectors("trained", names, matrix), find_data(DATA)
    found = {score.name: score.rho for score in similarity(vectors, data)}
    mean = {"mean": float(np.mean(list(found.values())))}
    return mean | found | {score.name: score.accuracy for score in analogies(vectors, data)}


def child(trainers: dict[str, Any], name: str, *arguments: object) -> None:
    """Train and score, in a process of its own."""
    start = time.perf_counter()
    names, models = trainers[name](*arguments)
    seconds = time.perf_counter() - start
    print(json.dumps({key: {"seconds": seconds, **scores(names, vectors)} for key, vectors in models.items()}))


def in_process(script: str, *arguments: object) -> dict[str, dict[str, float]]:
    """What `child` prints, by the names of its models; nothing where it has failed."""
    command = [sys.executable, script, "--child", json.dumps(arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"{arguments[0]} did not run", file=sys.stderr)
        return {}
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    for key, row in found.items():
        print(f"{key}: {json.dumps(row)}", file=sys.stderr, flush=True)
    return found


def print_table(rows: dict[str, list[dict[str, float]]]) -> None:
    """A line for each model, with means and deviations over its runs."""
    columns = [key for key in next(iter(rows.values()))[0] if key != "seconds"]
    print(f"| | runs | s | {' | '.join(columns)} |\n|---|---|---|{'---|' * len(columns)}")
    for name, runs in rows.items():
        several = len(runs) > 1
        cells = [
            f"{np.mean([r[c] for r in runs]):.3f}" + (f" ± {np.std([r[c] for r in runs]):.3f}" if several else "")
            for c in columns
        ]
        seconds = np.mean([run["seconds"] for run in runs])
        print(f"| {name} | {len(runs)} | {seconds:.0f} | {' | '.join(cells)} |")


def main() -> None:
    parser = corpus_parser(__doc__, vector_size=300, max_final_vocab=50_000, seeds=3)
    parser.add_argument("--only", nargs="*", choices=TRAINERS, default=list(TRAINERS))
    add_glove_option(parser)
    options = parser.parse_args()
    if options.child:
        return child(TRAINERS, *json.loads(options.child))
    require(options.corpus, DATA)
    systems = [name for name in options.only if (options.glove if name == "glove" else installed(name))]
    rows: dict[str, list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        plain = f"{folder}/corpus.txt"
        write_lines(options.corpus, plain)
        for seed in range(1, options.seeds + 1):
            for name in systems:
                arguments = [name, plain, options.vector_size, options.max_final_vocab, seed]
                if name == "glove":
                    arguments.append(str(options.glove))
                for key, row in in_process(__file__, *arguments).items():
                    rows.setdefault(key, []).append(row)
    if not rows:
        sys.exit("No system has run.")
    print(f"{options.corpus.name}, {options.max_final_vocab:,} words at most, {options.vector_size} dimensions\n")
    print_table(rows)


if __name__ == "__main__":
    main()
