"""The nested order of offsets: a permutation in which few blocks have to travel, however many ranks there are."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, prod

import pytest

from gensim_hilbert.training.order import divided, linked_digits, offsets_of_pass, prime_factors, reversed_digits

SIZES = (1, 2, 3, 5, 6, 8, 12, 16, 45, 64, 128)


def moves_per_pass(n: int, ranks: int, passes: int = 12) -> float:
    """How often a block changes its rank in a pass, on average from the first offset of the first pass."""
    blocks, bounds = reversed_digits(n), divided(n, ranks)
    rank_of = {blocks[position]: rank for rank in range(ranks) for position in range(*bounds[rank : rank + 2])}
    offsets = [offset for number in range(passes) for offset in offsets_of_pass(n, 1, number)]
    return (
        sum(
            rank_of[(block - before) % n] != rank_of[(block - after) % n]
            for before, after in pairwise(offsets)
            for block in range(n)
        )
        / passes
    )


@pytest.mark.parametrize("n", SIZES)
def test_each_pass_has_every_offset_once_in_another_order(n):
    orders = [offsets_of_pass(n, 1, number) for number in range(6)]
    assert all(sorted(order) == list(range(n)) for order in orders)
    assert n < 8 or len(set(map(tuple, orders))) == 6
    assert orders == [offsets_of_pass(n, 1, number) for number in range(6)]
    assert n < 8 or orders[0] != offsets_of_pass(n, 2, 0)


@pytest.mark.parametrize("n", SIZES)
def test_offsets_that_are_alike_stand_side_by_side(n):
    factors = prime_factors(n)
    assert prod(factors) == n
    for order in (reversed_digits(n), *(offsets_of_pass(n, seed, seed) for seed in range(5))):
        for level in range(len(factors)):
            modulus = prod(factors[:level])
            remainders = [offset % modulus for offset in order]
            assert sum(before != after for before, after in pairwise(remainders)) == modulus - 1


@pytest.mark.parametrize("n", SIZES)
def test_a_pass_begins_where_the_last_one_ended(n):
    modulus = prod(prime_factors(n)[: linked_digits(n)])
    assert {8: 1, 16: 2, 32: 4, 64: 8, 128: 8}.get(n, modulus) == modulus
    assert n // modulus >= min(n, 8), "there is something to choose from"
    for number in range(20):
        last, first = offsets_of_pass(n, 3, number)[-1], offsets_of_pass(n, 3, number + 1)[0]
        assert last % modulus == first % modulus


def test_the_first_offsets_are_random():
    assert {offsets_of_pass(64, seed, 0)[0] % 8 for seed in range(100)} == set(range(8))
    assert len({offsets_of_pass(64, seed, 0)[0] for seed in range(400)}) == 64


def test_reversed_digits_are_those_of_a_fast_fourier_transform():
    assert reversed_digits(8) == [0, 4, 2, 6, 1, 5, 3, 7]
    assert reversed_digits(64) == [int(f"{position:06b}"[::-1], 2) for position in range(64)]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 8, 45])
def test_no_rank_has_more_than_its_share_rounded_up(n, ranks):
    if ranks > n:
        return
    bounds = divided(n, ranks)
    shares = [last - first for first, last in pairwise(bounds)]
    assert (bounds[0], bounds[-1], len(shares)) == (0, n, ranks)
    assert min(shares) >= 1
    assert max(shares) == ceil(n / ranks)


@pytest.mark.parametrize(("n", "ranks"), [(16, 2), (64, 2), (64, 4), (64, 8), (128, 8)])
def test_powers_of_two_send_the_least_that_is_possible(n, ranks):
    # Every rank has to see every block, and a block is where it was at the end of the last pass.
    assert (ranks - 1) * n * 11 / 12 <= moves_per_pass(n, ranks) <= (ranks - 1) * n


@pytest.mark.parametrize(("ranks", "most"), [(3, 3.2), (5, 3.3), (6, 2.8), (7, 1.9), (12, 1.7), (16, 1.07)])
def test_other_numbers_of_ranks_send_a_few_times_as_much(ranks, most):
    assert moves_per_pass(64, ranks) <= most * (ranks - 1) * 64
    assert moves_per_pass(64, ranks) < 0.3 * 64 * 64 * (1 - 1 / ranks), "in a random order most blocks travel each time"
