"""Analogies against gensim: the same questions, the same vectors, the same answers, in one run.

    python benchmarks/evaluation.py [VECTORS] [--data DIR] [--every 25]

VECTORS is any file of vectors; without one, 50,000 words of Wikipedia get 300 random numbers each: as slow, but wrong.
We answer all questions of BATS, by both methods; gensim's `evaluate_word_analogies` (3CosAdd) and `most_similar_cosmul`
every 25th, since they take minutes. Of several right answers the first is expected, as gensim knows no others.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from inputs import DATA, WIKIPEDIA, require

from gensim_hilbert import Vocabulary
from gensim_hilbert.evaluation import analogies, find_data, similarity
from gensim_hilbert.evaluation.analogy import read_questions
from gensim_hilbert.export import load_vectors


def random_vectors() -> KeyedVectors:
    corpus = DATA / "corpora" / WIKIPEDIA
    require(corpus)
    words = Vocabulary.from_corpus(corpus, max_final_vocab=50_000).words
    vectors = KeyedVectors(300)
    vectors.add_vectors(words, np.random.default_rng(1).standard_normal((len(words), 300)).astype(np.float32))
    return vectors


def write_questions(path: Path, target: Path, every: int) -> None:
    """Some of the questions, with one answer each."""
    questions = read_questions(path)
    with open(target, "w", encoding="utf-8") as file:
        section = None
        for place in range(0, len(questions.given), every):
            if questions.section[place] != section:
                section = questions.section[place]
                file.write(f": {questions.sections[section]}\n")
            file.write(" ".join((*questions.given[place], questions.answers[place][0])) + "\n")


def gensims_products(vectors: KeyedVectors, path: Path) -> list[bool]:
    """Which questions `most_similar_cosmul` has right."""
    questions = read_questions(path)
    right = []
    for (a, b, c), (d,) in zip(questions.given, questions.answers, strict=True):
        if all(word in vectors for word in (a, b, c, d)):
            right.append(vectors.most_similar_cosmul(positive=[b, c], negative=[a], topn=1)[0][0] == d)
    return right


def clock(function, *arguments):
    start = time.perf_counter()
    found = function(*arguments)
    return found, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", nargs="?", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--every", type=int, default=25)
    options = parser.parse_args()
    require(options.data)
    vectors = load_vectors(options.vectors, trust_pickle=True) if options.vectors else random_vectors()
    data = find_data(options.data)
    bats = replace(data, analogy={"BATS": data.analogy["BATS"]})
    print(f"{len(vectors):,} words, {vectors.vector_size} dimensions\n")
    print("| | questions | s | ms a question | times as fast | same answers |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        some = Path(folder) / "some.txt"
        write_questions(bats.analogy["BATS"], some, options.every)
        part = replace(data, analogy={"some": some})
        for method, name in (("add", "evaluate_word_analogies"), ("mul", "most_similar_cosmul")):
            (ours,), whole = clock(analogies, vectors, bats, method)
            (mine,) = analogies(vectors, part, method)
            if method == "add":
                (_, sections), theirs = clock(vectors.evaluate_word_analogies, str(some))
                wrong = {tuple(word.lower() for word in question) for question in sections[-1]["incorrect"]}
                questions = read_questions(some)
                known = zip(questions.given, questions.answers, mine.right, strict=True)
                right = [(*given, *answer) not in wrong for given, answer, is_right in known if is_right >= 0]
            else:
                right, theirs = clock(gensims_products, vectors, some)
            same = int((np.array(right) == (mine.right[mine.right >= 0] > 0)).sum())
            pace, peer = whole / ours.covered, theirs / len(right)
            print(
                f"| gensim_hilbert, {method} | {ours.covered} | {whole:.1f} | {1e3 * pace:.3f} | {peer / pace:.0f} | |"
            )
            print(f"| gensim {name} | {len(right)} | {theirs:.1f} | {1e3 * peer:.3f} | | {same} of {len(right)} |")
    scores, seconds = clock(similarity, vectors, data)
    print(f"\n{len(scores)} similarity sets with 1,000 resamples each: {seconds:.1f} s")


if __name__ == "__main__":
    main()
