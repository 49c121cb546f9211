"""Train a saved model on new text, which may contain new words.

python examples/continue_training.py [OLD NEW]        by default two halves of the news texts that come with Gensim

The model keeps its pair counts. Those of new text are added, and all of them are fitted. So training on one text and
then on another is the same as training on both: nothing is forgotten, and the order does not matter. Only words that
are too rare in each text alone are missing.
"""

import os
import sys
import tempfile

import numpy as np
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_hilbert import HilbertMLE


def read(path):
    with open(path, encoding="utf-8") as file:
        return [simple_preprocess(line) for line in file]


if len(sys.argv) == 3:
    old, new = map(read, sys.argv[1:])
else:
    news = read(datapath("lee_background.cor"))
    old, new = news[:150], news[150:]

with tempfile.TemporaryDirectory() as folder:
    HilbertMLE(old, vector_size=50, min_count=5, seed=1).save_pretrained(os.path.join(folder, "news"))
    model = HilbertMLE.from_pretrained(os.path.join(folder, "news"))  # another day
    known = set(model.wv.index_to_key)

    model.build_vocab(new, update=True)
    model.train(new, total_examples=len(new), epochs=model.epochs)

    fresh = [word for word in model.wv.index_to_key if word not in known]
    print(f"{len(known):,} words, and {len(fresh):,} new ones")
    for word in sorted(fresh, key=lambda word: -model.wv.get_vecattr(word, "count"))[:4]:
        print(f"  like {word}: {', '.join(other for other, _ in model.wv.most_similar(word, topn=5))}")

    both = HilbertMLE(old + new, vector_size=50, min_count=5, seed=1)
    shared = [word for word in model.wv.index_to_key if word in both.wv][:300]
    psi = [(m.covectors[shared] @ m.wv[shared].T).ravel() for m in (model, both)]
    print(f"PMI of frequent words, correlated with training on all text at once: {np.corrcoef(psi)[0, 1]:.3f}")
