"""The systems that are compared: each trains on a plain file, with the same words, window and number of dimensions.

word2vec's kin have 5 negatives, 5 epochs and sample = 1e-4. The Gibbs solver has the same, but 10 epochs, which take
half the time of 5 epochs of SGNS or less. GloVe has its own defaults, but the x_max of 10 of its demo, made for corpora
of this size, and so has its objective here. word2vec in C and fastText take no seed: their runs differ by the timing of
two threads.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from children import end_with_parent
from peers import word2vec_program

SAMPLE, EPOCHS, NEGATIVE, WINDOW = 1e-4, 5, 5, 5


class Trained(NamedTuple):
    """Words and, by name, the vectors that a system makes of them; with subwords, also the vector of any word."""

    words: list[str]
    models: dict[str, np.ndarray]
    vector_of: Callable[[str], np.ndarray] | None = None


def hilbert(path: str, size: int, words: int, seed: int) -> Trained:
    return factorized("HilbertMLE", path, size, words, seed)


def thorough(path: str, size: int, words: int, seed: int) -> Trained:
    return factorized("HilbertMLE, `passes=32`", path, size, words, seed, passes=32)


def factorized(name: str, path: str, size: int, words: int, seed: int, passes: int | None = None) -> Trained:
    from gensim_hilbert import HilbertMLE
    from gensim_hilbert.training.gauge import summed

    model = HilbertMLE(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2,
        passes=passes,
    )  # fmt: skip
    both = summed(model.syn1neg, model.wv.vectors)
    return Trained(model.wv.index_to_key, {name: model.wv.vectors, f'{name}, `vectors="v+w"`': both})


def gibbs(path: str, size: int, words: int, seed: int) -> Trained:
    from gensim_hilbert import HilbertMLE
    from gensim_hilbert.training.gauge import summed

    model = HilbertMLE(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2,
        solver="gibbs", negative=NEGATIVE, epochs=10,
    )  # fmt: skip
    both = summed(model.syn1neg, model.wv.vectors)
    models = {"HilbertMLE, gibbs": model.wv.vectors, 'HilbertMLE, gibbs, `vectors="v+w"`': both}
    return Trained(model.wv.index_to_key, models)


def subwords(path: str, size: int, words: int, seed: int) -> Trained:
    return spelt("HilbertMLE, `subwords=True`", path, size, words, seed)


def thorough_subwords(path: str, size: int, words: int, seed: int) -> Trained:
    return spelt("HilbertMLE, `subwords=True, passes=32`", path, size, words, seed, passes=32)


def spelt(name: str, path: str, size: int, words: int, seed: int, passes: int | None = None) -> Trained:
    from gensim_hilbert import HilbertMLE

    model = HilbertMLE(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2,
        subwords=True, passes=passes,
    )  # fmt: skip
    return Trained(model.wv.index_to_key, {name: model.wv.vectors}, model.wv.__getitem__)


def sgns(path: str, size: int, words: int, seed: int) -> Trained:
    from gensim.models import Word2Vec

    model = Word2Vec(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=SAMPLE, seed=seed, workers=2,
        sg=1, negative=NEGATIVE, epochs=EPOCHS,
    )  # fmt: skip
    return Trained(model.wv.index_to_key, {"gensim SGNS": model.wv.vectors})


def our_glove(path: str, size: int, words: int, seed: int) -> Trained:
    from gensim_hilbert import HilbertMLE

    model = HilbertMLE(
        corpus_file=path, vector_size=size, max_final_vocab=words, window=WINDOW, sample=0, seed=seed, workers=2,
        objective="glove(x_max=10)", vectors="v+w",
    )  # fmt: skip
    return Trained(model.wv.index_to_key, {"GloVe, our objective": model.wv.vectors})


def word2vec(path: str, size: int, words: int, seed: int) -> Trained:
    from gensim.models import KeyedVectors

    kept = kept_words(path, words)
    with tempfile.TemporaryDirectory() as folder:
        call(word2vec_program(), train=path, output=f"{folder}/vectors.bin", size=size, window=WINDOW, sample=SAMPLE,
             cbow=0, hs=0, negative=NEGATIVE, iter=EPOCHS, threads=2, min_count=kept.counts.min(), binary=1,
             debug=0)  # fmt: skip
        vectors = KeyedVectors.load_word2vec_format(f"{folder}/vectors.bin", binary=True, unicode_errors="replace")
    names = [word for word in vectors.index_to_key if word in kept]  # all but its mark of a sentence's end
    return Trained(names, {"word2vec in C": vectors[names]})


def fasttext(path: str, size: int, words: int, seed: int) -> Trained:
    import fasttext as peer

    kept = kept_words(path, words)
    model = peer.train_unsupervised(
        path, model="skipgram", dim=size, ws=WINDOW, neg=NEGATIVE, epoch=EPOCHS, t=SAMPLE, thread=2, verbose=0,
        minCount=int(kept.counts.min()),
    )  # fmt: skip
    names = [word for word in model.words if word in kept]
    models = {"fastText": np.array([model.get_word_vector(word) for word in names])}
    return Trained(names, models, model.get_word_vector)


def glove(path: str, size: int, words: int, seed: int, programs: str) -> Trained:
    kept = kept_words(path, words)
    with tempfile.TemporaryDirectory() as folder:
        vocabulary, records = f"{folder}/vocabulary", f"{folder}/records"
        call(f"{programs}/vocab_count", path, vocabulary, min_count=kept.counts.min(), verbose=0)
        call(f"{programs}/cooccur", path, records, vocab_file=vocabulary, window_size=WINDOW, memory=4.0, verbose=0,
             overflow_file=f"{folder}/overflow")  # fmt: skip
        names, vectors = glove_fit(vocabulary, records, folder, size, seed, programs)
    here = [k for k, name in enumerate(names) if name in kept]
    return Trained([names[k] for k in here], {"GloVe": vectors[here]})


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
    """The words that we keep; the least of their counts gives peers the same ones."""
    from gensim_hilbert import Vocabulary

    return Vocabulary.from_corpus(path, max_final_vocab=words)


def call(program: str, source: str = "/dev/null", target: str = "/dev/null", **options: object) -> None:
    """Run a program from file to file, with options as C programs of this kind take them: -name value."""
    words = [word for name, value in options.items() for word in (f"-{name.replace('_', '-')}", str(value))]
    with open(source, "rb") as stdin, open(target, "wb") as stdout:
        command = [program, *words]
        subprocess.run(
            command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, check=True, preexec_fn=end_with_parent
        )


TRAINERS: dict[str, Callable[..., Trained]] = {
    "hilbert": hilbert,
    "thorough": thorough,
    "gibbs": gibbs,
    "subwords": subwords,
    "thorough_subwords": thorough_subwords,
    "sgns": sgns,
    "our_glove": our_glove,
    "word2vec": word2vec,
    "fasttext": fasttext,
    "glove": glove,
}
OUR_SYSTEMS = ("hilbert", "thorough", "gibbs", "subwords", "thorough_subwords", "our_glove")
