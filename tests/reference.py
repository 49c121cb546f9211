"""Slow oracles in plain Python. Each says what the fast code must do, in as few lines as possible."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction


def sentences_of(text: bytes, errors: str = "strict") -> list[list[str]]:
    """One sentence a line, split as `str.split()` does; a byte order mark is no text."""
    lines = [line.decode("utf-8", errors) for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    return [line.split() for line in lines if line.split()]


def weight(rule, size: int, distance: int) -> Fraction:
    """What a context at this distance counts."""
    if rule == "flat":
        return Fraction(1)
    if rule == "dynamic":
        return Fraction(size - distance + 1, size)
    if rule == "harmonic":
        return Fraction(1, distance)
    return Fraction(rule[distance - 1])


def pairs_of(sentences, words, left: int, right: int, rule, oov: str = "remove") -> dict[tuple[int, int], Fraction]:
    """{(context, term): weight}, ids by place in `words`, zeros left out."""
    index = {word: k for k, word in enumerate(words)}
    table: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for sentence in sentences:
        ids = [index.get(word) for word in sentence]
        if oov == "remove":
            ids = [id for id in ids if id is not None]
        for place, term in enumerate(ids):
            for other, context in enumerate(ids):
                distance = place - other  # positive: the context is to the left
                size = left if distance > 0 else right
                if term is None or context is None or not 0 < abs(distance) <= size:
                    continue
                numbers = rule[distance < 0] if isinstance(rule, tuple) else rule
                table[context, term] += weight(numbers, size, abs(distance))
    return {key: value for key, value in table.items() if value}


def gensim_vocabulary(sentences, **rules) -> tuple[list[str], list[int]]:
    """The words and counts that gensim's own `build_vocab` ends up with."""
    from gensim.models import Word2Vec

    trim_rule = rules.pop("trim_rule", None)
    model = Word2Vec(vector_size=1, **rules)
    model.build_vocab(sentences, trim_rule=trim_rule)
    return model.wv.index_to_key, [model.wv.get_vecattr(word, "count") for word in model.wv.index_to_key]


def word_counts(sentences) -> Counter[str]:
    return Counter(word for sentence in sentences for word in sentence)


_MASK = (1 << 64) - 1


def _fold(a: int, b: int) -> int:
    product = (a & _MASK) * (b & _MASK)
    return (product & _MASK) ^ (product >> 64)


def draw(seed: int, place: int) -> int:
    """The 32-bit number that decides whether subsampling keeps the token at this place of the corpus."""
    salt_a, salt_b = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
    return _fold(_fold(seed ^ salt_a, salt_b) ^ place, salt_a) >> 32


# ---------------------------------------------------------------------------------------------------- factorisation
# The pairs of a shard are (row, column, value) triples here.


def pair_products(w, v, d: int, pairs) -> list[float]:
    """For each pair, the product of the first d numbers of its two rows."""
    return [sum(float(w[i][k]) * float(v[j][k]) for k in range(d)) for i, j, _ in pairs]


def sums_of_products(pairs, right, rows: int, d: int) -> list[list[float]]:
    """A sparse matrix of so many rows times the first d columns of a dense one."""
    sums = [[0.0] * d for _ in range(rows)]
    for i, j, value in pairs:
        for k in range(d):
            sums[i][k] += float(value) * float(right[j][k])
    return sums


def adam_row(x, gradient, first, second, prior, d, betas, rate, step, lock=1.0):
    """One row after a step of Adam: its numbers and both moments, and the squared norm of its gradient.

    A Gaussian prior pulls the first d numbers to zero; a lock shortens the step.
    """
    moved, squares = ([], [], []), 0.0
    for k, number in enumerate(map(float, x)):
        slope = float(gradient[k]) + (prior * number if k < d else 0.0)
        m, v = betas[0] * first[k] + (1 - betas[0]) * slope, betas[1] * second[k] + (1 - betas[1]) * slope**2
        direction = m / (1 - betas[0] ** step) / ((v / (1 - betas[1] ** step)) ** 0.5 + 1e-8)
        for side, value in zip(moved, (number - lock * rate * direction, m, v), strict=True):
            side.append(value)
        squares += slope**2
    return *moved, squares
