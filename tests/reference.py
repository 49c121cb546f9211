"""Slow oracles in plain Python. Each says what the fast code must do, in as few lines as possible."""

from __future__ import annotations

import re
import unicodedata
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


# ---------------------------------------------------------------------------------------------------- factorization
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


# ---------------------------------------------------------------------------------------------------- words of text


def words_of(
    text: str,
    case: str = "fold",
    nfkc: bool = False,
    numbers: str = "keep",
    marks: bool = True,
    underscores: bool = False,
    min_length: int = 0,
    max_length: int = 0,
) -> list[str]:
    """The words that the tokenizer "words" finds, character by character."""
    if nfkc:
        text = unicodedata.normalize("NFKC", text)
    text = {"fold": str.casefold, "lower": str.lower, "keep": str}[case](text)
    found = [""]
    for c in text:
        category = unicodedata.category(c)
        is_mark = category[0] == "M" or c in "\u200c\u200d"
        is_digit = category == "Nd"
        starts = (category[0] in "LN" and not (is_digit and numbers == "drop")) or (underscores and c == "_")
        if starts or (marks and is_mark and found[-1]):
            found[-1] += c
        elif found[-1]:
            found.append("")
    if numbers == "fold":
        found = ["0" if word and all(category_is_digit_or_mark(c) for c in word) else word for word in found]
    return [
        word
        for word in found
        if word
        and len(word) >= min_length
        and (not max_length or len(word) <= max_length)
        and not (underscores and word.startswith("_"))
    ]


def category_is_digit_or_mark(c: str) -> bool:
    return unicodedata.category(c) == "Nd" or unicodedata.category(c)[0] == "M" or c in "\u200c\u200d"


def split_sentences(text: str, abbreviations) -> list[str]:
    """The sentences of lines of text by punctuation, blank ones left out."""
    sentences = []
    for line in text.split("\n"):
        start = 0
        for match in re.finditer(r"([.?!…。？！]+)[)\]\"'»’”」』）]*", line):
            marks, after = match[1], line[match.end() :]
            if not after or not (re.search("[。？！]", marks) or after[0].isspace()):
                continue
            if marks == "." and is_abbreviation(line[: match.start()], abbreviations):
                continue
            sentences.append(line[start : match.end()])
            start = match.end()
        sentences.append(line[start:])
    return [sentence for sentence in sentences if sentence.strip()]


def is_abbreviation(before: str, abbreviations) -> bool:
    """Whether the last word is a single letter or one of the abbreviations."""
    word = before[len(before) :]
    while before and (unicodedata.category(before[-1])[0] in "LMN" or before[-1] in "\u200c\u200d"):
        before, word = before[:-1], before[-1] + word
    is_letter = len(word) == 1 and unicodedata.category(word)[0] in "LN" and unicodedata.category(word) != "Nd"
    return is_letter or (word.isascii() and word.lower() in abbreviations)
