"""Search texts by what they mean, with vectors that are trained on these texts alone.

python examples/semantic_search.py [QUERY] [TEXTS]      by default the news texts that come with Gensim, one per line
"""

import sys

import numpy as np
import smart_open
from gensim.test.utils import datapath

from gensim_hilbert import HilbertMLE

query = sys.argv[1] if len(sys.argv) > 1 else "players of a cricket team"
path = sys.argv[2] if len(sys.argv) > 2 else datapath("lee_background.cor")
model = HilbertMLE(corpus_file=path, tokenizer="words", vector_size=50, min_count=5, seed=1)
with smart_open.open(path, encoding="utf-8") as file:
    texts = file.read().splitlines()
vectors = model.encode(texts)
cosines = vectors @ model.encode(query)
print(f"texts like {query!r}:")
for number in np.argsort(-cosines)[:3]:
    print(f"  {cosines[number]:.2f}  {texts[number][:100]}")
print(f"texts with words that go with {query!r}:")
for number, score in model.rank(query, texts, topn=3):
    print(f"  {score:.2f}  {texts[number][:100]}")
