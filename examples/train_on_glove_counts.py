"""Train on what GloVe's `vocab_count` and `cooccur` have counted.

python examples/train_on_glove_counts.py [VOCAB.TXT COOCCURRENCE.BIN]

Without arguments, such files are first made from the news texts that come with Gensim, with GloVe's window and weights.
"""

import os
import sys
import tempfile

from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_hilbert import HilbertMLE, PairCounts


def write_glove_files(vocabulary, cooccurrence):
    with open(datapath("lee_background.cor"), encoding="utf-8") as file:
        news = [simple_preprocess(line) for line in file]
    counts = PairCounts.from_corpus(news, window=10, weights="harmonic", min_count=10, oov="gap")
    counts.to_glove(cooccurrence, vocabulary)


with tempfile.TemporaryDirectory() as folder:
    if len(sys.argv) == 3:
        vocabulary, cooccurrence = sys.argv[1:]
    else:
        vocabulary, cooccurrence = os.path.join(folder, "vocab.txt"), os.path.join(folder, "cooccurrence.bin")
        write_glove_files(vocabulary, cooccurrence)
    counts = PairCounts.from_glove(cooccurrence, vocabulary)

model = HilbertMLE.from_counts(counts, vector_size=50, seed=1)
print(f"{len(counts):,} words, total weight {counts.total:,.0f}")
for word in model.wv.index_to_key[100:104]:
    like = ", ".join(other for other, _ in model.wv.most_similar(word, topn=5))
    beside = ", ".join(other for other, _ in model.most_cooccurring(word, topn=5))
    print(f"{word}: like {like}; goes with {beside}")
