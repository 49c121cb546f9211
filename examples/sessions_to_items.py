"""Vectors of items from shopping sessions: what can take the place of an item, and what is bought with it.

    python examples/sessions_to_items.py [SESSIONS]

SESSIONS is a file with one session per line and items separated by white space. Without it, sessions are made up: each
has one brand of most things that a hobby needs, so that two brands of the same thing are never bought together.
"""

import random
import sys

from gensim_hilbert import HilbertMLE, PairCounts

HOBBIES = {
    "camping": ["tent", "stove", "lantern", "mat", "flask", "compass"],
    "painting": ["easel", "canvas", "brush", "oil", "varnish", "palette"],
    "cycling": ["helmet", "pump", "lock", "bottle", "gloves", "saddle"],
    "baking": ["tin", "whisk", "scale", "sieve", "mixer", "apron"],
}
BRANDS = ["alto", "brio", "cima", "dora"]


def made_up_sessions(number=4000, seed=1):
    """Return lists of items in any order."""
    draw = random.Random(seed)
    for _ in range(number):
        things = draw.sample(draw.choice([*HOBBIES.values()]), k=5)
        yield [f"{thing}-{draw.choice(BRANDS)}" for thing in things]


if len(sys.argv) > 1:
    with open(sys.argv[1], encoding="utf-8") as file:
        sessions = [line.split() for line in file]
else:
    sessions = list(made_up_sessions())

# The order of items in a session says nothing: all of them are contexts of each other, and count the same.
longest = max(map(len, sessions))
counts = PairCounts.from_corpus(sessions, window=max(1, longest - 1), weights="flat", min_count=5)
model = HilbertMLE.from_counts(counts, vector_size=min(100, max(2, len(counts) // 4)), gauge=0.5)

for item in model.wv.index_to_key[:3]:
    like = ", ".join(other for other, _ in model.wv.most_similar(item, topn=3))
    with_it = ", ".join(other for other, _ in model.most_cooccurring(item, topn=3))
    print(f"{item}: instead of it {like}; with it {with_it}")
