"""All objectives on one table of counts, side by side with the programs that they are the matrix form of.

    python benchmarks/family.py [CORPUS] [--vector-size 100] [--max-final-vocab 15000] [--only NAME ...] [--glove DIR]
                                [--mittens 2000]

Prints the paper's intrinsic table. Objectives are given as `--objective` of the command line takes them. The counts are
made once, with window 5 and sample = 1e-4; GloVe's own program, where `--glove` names the folder of its compiled
programs, trains on these very counts. gensim's SGNS and fastText read the text, with the same words, window, sample
and 5 negatives. `--mittens N` compares with a second implementation of GloVe, which holds the whole table densely, on
the N most frequent words. Every model is trained and scored in a process of its own. A peer that is not installed is
skipped; `make bench-peers` installs the peers.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial

import systems
from children import answer, scores_of_child, train_and_score
from inputs import DATA, TEXT8, corpus_parser, require, write_lines
from peers import add_glove_option, installed
from score_table import table

OBJECTIVES = ("hilbert", "sgns", "glove(x_max=10)", "lds(x_max=10)", "swivel", "ppmi-svd")
PEERS = {"gensim": systems.sgns, "fasttext": systems.fasttext}


def objective(store: str, size: int, text: str):
    from gensim_hilbert import HilbertMLE, PairCounts
    from gensim_hilbert.training.gauge import summed

    model = HilbertMLE.from_counts(PairCounts.open(store), objective=text, vector_size=size, progress=False)
    both = summed(model.syn1neg, model.wv.vectors)
    return model.wv.index_to_key, {text: model.wv.vectors, f"{text}, vectors='v+w'": both}


def glove_program(store: str, size: int, programs: str):
    """GloVe's own, on the same counts; it writes the sum of both."""
    from gensim_hilbert import PairCounts

    with tempfile.TemporaryDirectory() as folder:
        vocabulary, records = f"{folder}/vocabulary", f"{folder}/records"
        PairCounts.open(store).to_glove(records, vocabulary)
        names, vectors = systems.glove_fit(vocabulary, records, folder, size, 1, programs)
    return names, {"GloVe's own program": vectors}


def mittens(store: str, size: int, words: int):
    """Both on the most frequent words alone."""
    from mittens import GloVe as Peer

    from gensim_hilbert import HilbertMLE, PairCounts
    from gensim_hilbert.training.gauge import summed

    counts = PairCounts.open(store)
    table, names = counts.to_scipy()[:words, :words], counts.vocabulary.words[:words]
    peer = Peer(n=size, xmax=10, max_iter=1000, display_progress=0).fit(table.toarray())
    few = PairCounts.from_scipy(table, names, scale=counts.scale)
    ours = HilbertMLE.from_counts(few, objective="glove(x_max=10)", vector_size=size, progress=False)
    both = summed(ours.syn1neg, ours.wv.vectors)
    return names, {f"mittens, {words} words": peer, f"glove(x_max=10), vectors='v+w', {words} words": both}


TRAINERS = {"objective": objective, "glove_program": glove_program, "mittens": mittens, **PEERS}


def main() -> None:
    parser = corpus_parser(__doc__, TEXT8, vector_size=100, max_final_vocab=15_000)
    parser.add_argument("--only", nargs="*", default=[*OBJECTIVES, *PEERS], help="objectives, or " + ", ".join(PEERS))
    add_glove_option(parser)
    parser.add_argument("--mittens", type=int, metavar="WORDS", help="compare with mittens on so many words")
    options = parser.parse_args()
    if options.child:
        return answer(partial(train_and_score, TRAINERS), options.child)
    require(options.corpus, DATA)
    from gensim_hilbert import PairCounts

    size = options.vector_size
    with tempfile.TemporaryDirectory() as folder:
        plain, store = f"{folder}/corpus.txt", f"{folder}/counts"
        write_lines(options.corpus, plain)
        counts = PairCounts.from_corpus(
            plain, directory=store, max_final_vocab=options.max_final_vocab, window=systems.WINDOW,
            sample=systems.SAMPLE, progress=False,
        )  # fmt: skip
        tasks = [
            [name, plain, size, options.max_final_vocab, 1] if name in PEERS else ["objective", store, size, name]
            for name in options.only
            if installed(name)
        ]
        if options.glove:
            tasks.append(["glove_program", store, size, str(options.glove)])
        if options.mittens and installed("mittens"):
            tasks.append(["mittens", store, size, options.mittens])
        if not tasks:
            sys.exit("No system is left to run.")
        rows = {name: [row] for task in tasks for name, row in scores_of_child(__file__, *task).items()}
    print(f"{options.corpus.name}, {len(counts):,} words, {size} dimensions\n")
    print(table(rows))


if __name__ == "__main__":
    main()
