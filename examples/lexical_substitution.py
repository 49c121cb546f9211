"""Find words that can replace a word in a sentence: vectors tell which are like it, covectors which fit the context.

python examples/lexical_substitution.py [SENTENCE WORD] [TEXT]        by default the news texts that come with Gensim

The four measures are those of Melamud, Levy and Dagan, "A simple word embedding model for lexical substitution" (2015).
For a word t in a context C, a substitute s is scored by cos(s, t) and by cos(s, c) for the covectors of all c in C.
"""

import sys

import numpy as np
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_hilbert import HilbertMLE

arguments = sys.argv[1:]
with open(arguments.pop() if len(arguments) % 2 else datapath("lee_background.cor"), encoding="utf-8") as file:
    model = HilbertMLE([simple_preprocess(line) for line in file], vector_size=50, min_count=10, seed=1)
questions = [arguments] if arguments else [
    ("palestinian gunmen killed israeli settlers", "killed"),
    ("fires killed volunteer firefighters", "killed"),
]  # fmt: skip

words = model.wv.index_to_key
vectors = model.wv.get_normed_vectors()
covectors = model.covectors.get_normed_vectors()


def scores(target, context):
    """Yield each measure's name, and its scores of all words of the vocabulary."""
    similar = vectors @ vectors[model.wv.get_index(target)]
    fitting = vectors @ covectors[[model.wv.get_index(word) for word in context]].T
    n = len(context)
    yield "without context", similar
    yield "add", (similar + fitting.sum(axis=1)) / (n + 1)
    yield "balAdd", (n * similar + fitting.sum(axis=1)) / (2 * n)
    similar, fitting = (similar + 1) / 2, (fitting + 1) / 2  # so that products make sense
    yield "mult", (similar * fitting.prod(axis=1)) ** (1 / (n + 1))
    yield "balMult", (similar**n * fitting.prod(axis=1)) ** (1 / (2 * n))


for sentence, target in questions:
    context = [word for word in simple_preprocess(sentence) if word in model.wv and word != target]
    if target not in model.wv or not context:
        sys.exit(f"{target!r} or all words around it are too rare in this text")
    print(sentence.replace(target, target.upper()))
    for name, score in scores(target, context):
        best = [words[k] for k in np.argsort(-score) if words[k] not in (target, *context)]
        print(f"  {name:15}  {', '.join(best[:6])}")
