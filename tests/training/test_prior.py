"""The prior has the weight of so many counted pairs, however often a word is visited."""

import numpy as np
import pytest

from gensim_hilbert.training.prior import STRONGEST_PRIOR, prior_of_visits, prior_strength


@pytest.mark.parametrize(("l2", "counts"), [(0, 0), (7.5, 7.5), ("auto", 25 * np.sqrt(2))])
def test_visits_of_an_epoch_have_the_whole_prior(l2, counts):
    visits = np.array([4.0, 900, 10_000, 225])
    weights = prior_of_visits(l2, 200, visits, pairs=6)
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights * visits / 2, counts * np.sqrt(visits / visits.mean()), rtol=1e-5)


def test_words_that_hardly_occur_have_no_infinite_prior():
    weights = prior_of_visits("auto", 100, np.array([1e-9, 0.0, 500.0]), pairs=6)
    assert np.isfinite(weights).all()


def test_little_text_is_not_all_prior():
    visits = np.full(5, 4.0)
    weights = prior_of_visits("auto", 100, visits, pairs=6)
    np.testing.assert_allclose(weights * visits / 2, STRONGEST_PRIOR * 6 * visits, rtol=1e-5)
    assert prior_strength("auto", 100, evidence=24) == STRONGEST_PRIOR
