"""Draws of columns: their probabilities, and what they depend on."""

from __future__ import annotations

import numpy as np
import pytest

from gensim_hilbert.training.background import Sampler, inclusion, uniform


@pytest.fixture
def weights():
    return 1 / np.arange(1, 201) ** 1.1


def test_probabilities_are_proportional_to_weights_up_to_one(weights):
    chances = inclusion(weights, 40)
    assert chances.sum() == pytest.approx(40)
    assert chances.max() == 1
    below = chances < 1
    assert np.ptp(chances[below] / weights[below]) < 1e-12
    assert (weights[~below] > weights[below].max()).all()


def test_words_without_weight_are_never_drawn():
    chances = inclusion(np.array([0.0, 3.0, 0.0, 1.0]), 5)
    assert chances.tolist() == [0, 1, 0, 1]
    assert Sampler(np.array([0.0, 3.0, 0.0, 1.0]), 1).chances[[0, 2]].tolist() == [0, 0]


def test_a_word_is_drawn_as_often_as_its_probability_says(weights):
    sampler = Sampler(weights, 25)
    times = np.zeros(len(weights))
    for k in range(2000):
        drawn = sampler.draw((k + 0.5) / 2000)
        assert len(drawn.numbers) == 25 == len(set(drawn.numbers.tolist()))
        np.testing.assert_allclose(drawn.weights, 1 / sampler.chances[drawn.numbers], rtol=1e-6)
        times[drawn.numbers] += 1
    np.testing.assert_allclose(times / 2000, sampler.chances, atol=1.1e-3)


def test_draws_are_a_function_of_their_key_and_look_random():
    assert uniform(1, 2, 3, 4, 0) == uniform(1, 2, 3, 4, 0)
    numbers = np.array([uniform(1, number, i, j, 0) for number in range(10) for i in range(20) for j in range(20)])
    assert len(set(numbers.tolist())) == len(numbers)
    assert numbers.mean() == pytest.approx(0.5, abs=0.02)
    assert np.histogram(numbers, bins=10, range=(0, 1))[0].min() > 300
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.05
