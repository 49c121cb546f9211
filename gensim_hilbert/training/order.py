"""The order in which a pass visits the shards, and the order of blocks that goes with it.

A pass has n rows of shards, one for each offset: block i of the covectors meets block (i + offset) mod n of the
vectors. The offsets are in a nested random order. With n a power of two, all offsets of one parity come first, then all
of the other; within each half, first all that are alike modulo 4, then the others; and so on. Which comes first is
random. As long as offsets are alike modulo N, the blocks of one remainder modulo N only meet those of one other
remainder. So if each of N ranks has the blocks of one remainder, blocks travel only N - 1 times in a pass.

For n = 64, the next pass begins with offsets that are alike modulo 8 to those with which this one ends, so that 2, 4 or
8 ranks need not send anything in between. If there are fewer offsets, they share fewer digits: there have to be some to
choose from. All else is random: in their natural order, or with 0 always first, analogies are worse
(benchmarks/RESULTS.md).

Blocks are divided among ranks in the order of their reversed digits, in which the blocks of each remainder stand side
by side. If n is no power of two, its prime factors take the place of 2, smaller ones first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

MOST_LINKED = 3  # Digits in which the first offsets of a pass are like the last ones of the pass before, at most.
LEAST_CHOICE = 8  # Offsets at least that share these digits.


def offsets_of_pass(n: int, seed: int, number: int) -> list[int]:
    """Return all offsets in the nested random order of the pass with this number."""
    draws = np.random.default_rng([seed, number])
    factors = prime_factors(n)
    first, last = (_first_digits(factors[: linked_digits(n)], seed, number + k) for k in range(2))
    return _nested(factors, lambda size: [int(k) for k in draws.permutation(size)], first, last)


def offset_before_pass(n: int, seed: int, number: int) -> int:
    """Return the offset at which blocks have met last before a pass, or 0 before the first."""
    return offsets_of_pass(n, seed, number - 1)[-1] if number else 0


def reversed_digits(n: int) -> list[int]:
    """Return all blocks in the order of their reversed digits: for n = 8, 0 4 2 6 1 5 3 7."""
    return _nested(prime_factors(n), lambda size: list(range(size)))


def prime_factors(n: int) -> list[int]:
    """Return the prime factors of a number in ascending order."""
    factors, factor = [], 2
    while n > 1:
        while n % factor == 0:
            factors.append(factor)
            n //= factor
        factor += 1
    return factors


def linked_digits(n: int) -> int:
    """Return in how many digits the first offset of a pass is like the last one of the pass before."""
    factors = prime_factors(n)
    return sum(n // prod(factors[:digits]) >= LEAST_CHOICE for digits in range(1, MOST_LINKED + 1))


def _first_digits(factors: Sequence[int], seed: int, number: int) -> list[int]:
    """Return the lowest digits of the offset with which a pass begins, and the pass before it ends.

    The lowest digit is another one in each pass, because no pass can begin and end with the same. Others are random.
    """
    if not factors:
        return []
    start, draws = np.random.default_rng([seed]), np.random.default_rng([seed, number, 1])
    lowest = (int(start.integers(factors[0])) + number) % factors[0]
    return [lowest, *(int(draws.integers(factor)) for factor in factors[1:])]


def _nested(
    factors: Sequence[int], permute: Callable[[int], list[int]], first: Sequence[int] = (), last: Sequence[int] = ()
) -> list[int]:
    """Return all numbers below the product of the factors; those that share their lowest digits stand side by side.

    Each digit comes in the order that `permute` returns, except that the first and the last number have given digits.
    """
    if not factors:
        return [0]
    digits, (size, *others) = permute(factors[0]), factors
    for given, place in ((first, 0), (last, size - 1)):
        if given:
            digits.remove(given[0])
            digits.insert(place, given[0])
    return [
        digit + size * higher
        for place, digit in enumerate(digits)
        for higher in _nested(others, permute, first[1:] if place == 0 else (), last[1:] if place == size - 1 else ())
    ]


def divided(n: int, ranks: int) -> list[int]:
    """Return where the blocks of each rank begin in the order of reversed digits, and n.

    No rank has more than its share, rounded up. Within that, each boundary is where the fewest blocks have to cross it.
    """
    largest, factors = -(-n // ranks), prime_factors(n)

    def crossings(boundary: int) -> int:
        """Return about how many blocks cross a boundary in a pass: at each change of a digit, parts of a group do."""
        total, groups = 0, 1
        for factor in factors:
            before = boundary % (n // groups)
            total += groups * (factor - 1) * min(before, n // groups - before)
            groups *= factor
        return total

    def between(first: int, last: int, parts: int) -> list[int]:
        """Return the inner boundaries of some ranks."""
        if parts == 1:
            return []
        left, right = parts // 2, parts - parts // 2
        least, most = max(first + left, last - largest * right), min(last - right, first + largest * left)
        even = first + (last - first) * left / parts
        middle = min(range(least, most + 1), key=lambda boundary: (crossings(boundary), abs(boundary - even)))
        return [*between(first, middle, left), middle, *between(middle, last, right)]

    return [0, *between(0, n, ranks), n]
