"""Run a script that was written for gensim's Word2Vec with HilbertMLE: only the import changes.

python examples/replace_word2vec.py [TEXT]        one sentence per line; by default the news texts that come with Gensim
"""

import os
import sys
import tempfile

from gensim.models import Word2Vec
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_hilbert import HilbertMLE

with open(sys.argv[1] if len(sys.argv) > 1 else datapath("lee_background.cor"), encoding="utf-8") as file:
    sentences = [simple_preprocess(line) for line in file]


def script(Word2Vec, folder):
    """Do what many scripts do that were written for gensim."""
    model = Word2Vec(sentences, vector_size=50, window=5, min_count=10, sg=1, negative=5, epochs=5, seed=1, workers=1)
    model.save(os.path.join(folder, "news.model"))
    model = Word2Vec.load(os.path.join(folder, "news.model"))
    model.wv.save_word2vec_format(os.path.join(folder, "news.bin"), binary=True)
    for word in words_to_look_at(model):
        near = ", ".join(f"{other} {cosine:.2f}" for other, cosine in model.wv.most_similar(word, topn=5))
        print(f"  like {word}: {near}")
    return model


def words_to_look_at(model):
    """Return the words below, or for another text two words that are neither rare nor very frequent."""
    return [word for word in ("police", "australia") if word in model.wv] or model.wv.index_to_key[50:52]


for kind in (Word2Vec, HilbertMLE):
    print(f"{kind.__module__}.{kind.__name__}")
    with tempfile.TemporaryDirectory() as folder:
        model = script(kind, folder)

# Only HilbertMLE can tell this: which words go with a word, and how much more often than by chance.
for word in words_to_look_at(model):
    beside = ", ".join(f"{other} {pmi:.1f}" for other, pmi in model.most_cooccurring(word, topn=5))
    print(f"  goes with {word}: {beside}")
