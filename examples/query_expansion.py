"""Find texts that do not contain the words of a query, but words that go with all of them.

python examples/query_expansion.py [QUERY] [TEXT]        by default the news texts that come with Gensim

Covector . vector is PMI, and PMIs can be added: the words with the highest sums over a query are those that become most
likely, compared with how often they occur anyway. (This is Naive Bayes, which assumes that the words of the query are
independent of each other.) They are not synonyms, as neighbours by cosine would be, but words of the same topic.
"""

import math
import sys
from collections import Counter

import numpy as np
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_hilbert import HilbertMLE

query = simple_preprocess(sys.argv[1] if len(sys.argv) > 1 else "emergency homes")
with open(sys.argv[2] if len(sys.argv) > 2 else datapath("lee_background.cor"), encoding="utf-8") as file:
    lines = file.read().splitlines()
texts = [simple_preprocess(line) for line in lines]
model = HilbertMLE(texts, vector_size=50, min_count=10, seed=1)

known = [word for word in query if word in model.wv]
if not known:
    sys.exit(f"no word of {' '.join(query)!r} occurs often enough in this text")
psi = model.wv.vectors @ model.covectors[known].sum(axis=0)
best = [k for k in np.argsort(-psi) if model.wv.index_to_key[k] not in query][:8]
expansion = {model.wv.index_to_key[k]: 0.5 * psi[k] / psi[best[0]] for k in best}  # words of the query have 1
print(f"{' '.join(query)}, expanded by {', '.join(expansion)}")

holding = Counter(word for text in texts for word in set(text))


def score(text, weights):
    """Return the TF-IDF score of a text, with one weight per word of the query."""
    found = Counter(text)
    idf = {word: math.log(len(texts) / holding[word]) for word in weights if word in found}
    return sum(weights[word] * idf[word] * (1 + math.log(found[word])) for word in idf) / math.log(10 + len(text))


weights = {**expansion, **dict.fromkeys(known, 1.0)}
order = sorted(range(len(texts)), key=lambda number: -score(texts[number], weights))
print("texts that only the expansion finds:")
for number in [number for number in order if not set(query) & set(texts[number])][:3]:
    print(f"  {lines[number][:100]}")
