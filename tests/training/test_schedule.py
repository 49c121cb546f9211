"""How much work a fit takes, and when it has converged."""

import pytest

from gensim_hilbert.training.schedule import (
    LEAST_UPDATES,
    MOST_UPDATES,
    MUCH_EVIDENCE,
    USUAL_UPDATES,
    Schedule,
    first_rate,
    shards_per_side,
    updates_for,
)


def make_schedule(**options) -> Schedule:
    return Schedule(**{"rate": 0.4, "final_rate": 0.05, "passes": 32, "steps_per_pass": 9, "tolerance": 1e-3} | options)


def test_shards_are_of_a_size_that_suits_the_device():
    for size in (10, 1024, 1025, 10_000, 50_000):
        n = shards_per_side(size, 64)
        assert size <= 1024 * n
        assert n == 1 or size > 512 * n
    assert shards_per_side(400_000, 64) == 64  # the store has no more
    gb = 1 << 30
    # More where one would not fit into a GPU's memory, but none smaller than on a CPU.
    for size in (1025, 10_000, 50_000, 100_000, 400_000):
        assert shards_per_side(size, 64, 10 * gb) == shards_per_side(size, 64)
    assert shards_per_side(2_000_000, 64, 10 * gb) == 128
    assert shards_per_side(400_000, 64, gb // 10) == 256
    assert shards_per_side(100_000, 64, -1) == 128


def test_more_text_is_worth_more_updates_up_to_a_bound():
    updates = [updates_for(pairs, 1000) for pairs in (0, 10, 1e5, 1e6, 1e7, MUCH_EVIDENCE, 1e12)]
    assert updates == sorted(updates)
    assert (updates[0], updates[1], updates[-2], updates[-1]) == (LEAST_UPDATES, LEAST_UPDATES, *[MOST_UPDATES] * 2)
    assert LEAST_UPDATES < updates_for(1e6, 1000) < updates_for(1e7, 1000) < MOST_UPDATES


def test_thin_evidence_is_worth_fewer_updates():
    assert updates_for(1e7, 1_000) == updates_for(1e7, 7_000) > updates_for(1e7, 100_000) > updates_for(1e7, 500_000)


def test_rates_are_lower_where_there_are_more_dimensions_or_many_updates():
    assert first_rate(400, 32) == first_rate(100, 32) / 2 == first_rate(400, USUAL_UPDATES)
    assert first_rate(100, 2 * USUAL_UPDATES) == first_rate(100, USUAL_UPDATES) / 2


def test_rates_fall_from_the_first_to_the_last():
    schedule = make_schedule()
    rates = [schedule.rate_at(step) for step in range(schedule.steps + 1)]
    assert rates == sorted(rates, reverse=True)
    assert (rates[0], rates[-1]) == (pytest.approx(0.4), pytest.approx(0.02))
    assert schedule.end == schedule.steps == 32 * 9


def test_after_convergence_rates_go_on_from_where_they_are_and_end_a_quarter_later():
    schedule = make_schedule()
    before = schedule.rate_at(18 * 9)
    schedule.converged = 18 * 9
    assert schedule.end == (18 + 8) * 9
    rates = [schedule.rate_at(step) for step in range(18 * 9, schedule.end + 1)]
    assert rates == sorted(rates, reverse=True)
    assert (rates[0], rates[-1]) == (pytest.approx(before), pytest.approx(0.02))


def passes_until_convergence(schedule: Schedule, losses: list[float]) -> int | None:
    for done in range(1, len(losses) + 1):
        if schedule.look_for_convergence(losses[:done], loss_without_vectors=1.0):
            assert schedule.converged == done * schedule.steps_per_pass
            return done
    return None


def test_training_has_converged_when_the_loss_hardly_falls():
    falling = [1 - 0.02 * k for k in range(32)]
    flat = [0.5] * 32
    assert passes_until_convergence(make_schedule(), falling) is None
    assert passes_until_convergence(make_schedule(), flat) == 16, "half of all passes are made"
    assert passes_until_convergence(make_schedule(tolerance=0), flat) is None
    late = falling[:18] + [falling[18]] * 14
    assert passes_until_convergence(make_schedule(), late) == 22, "two stretches of two passes are level"
    assert passes_until_convergence(make_schedule(), falling[:24] + [falling[24]] * 8) is None, "nothing is saved"
    noisy = [0.5 + 0.1 * (-1) ** k for k in range(32)]
    assert passes_until_convergence(make_schedule(), noisy) == 16, "one pass may end above the one before"


def test_convergence_is_found_once():
    schedule = make_schedule()
    assert schedule.look_for_convergence([0.5] * 16, 1.0)
    assert not schedule.look_for_convergence([0.5] * 17, 1.0)
    assert schedule.converged == 16 * 9
