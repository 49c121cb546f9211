"""Count the word pairs of a small corpus that comes with Gensim, and show which words go together.

python examples/count_pairs.py [CORPUS] [DIRECTORY]
"""

import sys

import numpy as np
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_hilbert import PairCounts


class News:
    """Short news texts, one per line. The corpus can be iterated many times, as Gensim expects."""

    def __iter__(self):
        with open(datapath("lee_background.cor"), encoding="utf-8") as file:
            for line in file:
                yield simple_preprocess(line)


corpus = sys.argv[1] if len(sys.argv) > 1 else News()
directory = sys.argv[2] if len(sys.argv) > 2 else "demo.counts"

counts = PairCounts.from_corpus(corpus, window=5, min_count=5, directory=directory, overwrite=True)
table, words = counts.to_scipy(), counts.vocabulary.words
print(f"{counts.vocabulary.tokens:,} tokens, {len(counts):,} words, {table.nnz:,} pairs, in {directory}/")

for word in ("police", "australia", "bin"):
    if word in counts.vocabulary:
        row = table[[counts.vocabulary.id(word)]].tocoo()
        contexts = row.col[row.data >= 5]  # rarer pairs say little
        pmi = np.array([counts.pmi(words[context], word) for context in contexts])
        best = [f"{words[contexts[k]]} {pmi[k]:.1f}" for k in np.argsort(-pmi)[:5]]
        print(f"PMI with {word}: {', '.join(best)}")
