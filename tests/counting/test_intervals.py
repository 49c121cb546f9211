"""Intervals for PMI hold the truth as often as they say, on tables drawn from known probabilities."""

import math

import numpy as np
import pytest

from gensim_hilbert import PairCounts
from gensim_hilbert.counting.association import pmi_intervals
from gensim_hilbert.counting.intervals import Meetings, PmiInterval, meeting_weight, pmi_quantiles, trigamma_inverse
from gensim_hilbert.counting.settings import Window

TABLES = 6000


def tables(rng, both, context, term):
    """Draw one table of four cells per expected number of meetings `both`, with words of given frequencies."""
    pmi = rng.uniform(-1, 1, len(both))
    joint = context * term * np.exp(pmi)
    total = np.round(both / joint)
    cells = rng.poisson(
        (joint * total, (context - joint) * total, (term - joint) * total, (1 - context - term + joint) * total)
    )
    return pmi, Meetings(cells[0], cells[0] + cells[1], cells[0] + cells[2], cells.sum(axis=0))


@pytest.mark.parametrize("frequencies", [(0.001, 0.001), (0.03, 0.003), (0.2, 0.2)], ids=str)
@pytest.mark.parametrize("size", [1, 5, 30, 1000])
def test_coverage(size, frequencies):
    rng = np.random.default_rng(size)
    pmi, meetings = tables(rng, np.exp(rng.uniform(np.log(size), np.log(4 * size), TABLES)), *frequencies)
    for level, least, most in ((0.95, 0.93, 0.97), (0.8, 0.77, 0.84)):
        low, high = pmi_quantiles(meetings, level)
        assert least <= np.mean((low <= pmi) & (pmi <= high)) <= most


def test_bounds_are_the_quantiles_of_the_posterior():
    """The closed form agrees with draws from the Dirichlet distribution that it stands for."""
    rng = np.random.default_rng(1)
    for both, context, term, total in [(0, 40, 90, 1e4), (1, 30, 30, 1e5), (7, 50, 20, 2e3), (300, 1e3, 2e3, 1e5)]:
        cells = np.array([both, context - both, term - both, total - context - term + both]) + 0.5
        draws = rng.dirichlet(cells, 100_000)
        pmi = np.log(draws[:, 0] / (draws[:, 0] + draws[:, 1]) / (draws[:, 0] + draws[:, 2]))
        low, high = pmi_quantiles(Meetings(both, context, term, total), 0.9)
        expected_low, expected_high = np.quantile(pmi, (0.05, 0.95))
        assert high == pytest.approx(expected_high, abs=0.05)
        assert low == (-np.inf if both == 0 else pytest.approx(expected_low, abs=0.05))


@pytest.mark.parametrize("window", [(5, 5), (5, 0)], ids=["symmetric", "asymmetric"])
@pytest.mark.parametrize("sample", [0, 0.03], ids=["counted", "in expectation"])
def test_coverage_of_texts(window, sample):
    """Sentences of two words, at all distances of the window, are drawn from a known table and counted."""
    rng = np.random.default_rng(3)
    words, sentences = 12, 4000
    joint = rng.gamma(1.0, size=(words, words))
    joint /= joint.sum()
    both_orders = (joint + joint.T) / 2 if window[0] == window[1] else joint
    held = []
    for _ in range(8):
        drawn = rng.choice(words * words, sentences, p=joint.ravel())
        gaps = rng.integers(0, 5, sentences)
        text = [[f"w{k // words}", *["unknown"] * gap, f"w{k % words}"] for k, gap in zip(drawn, gaps, strict=True)]
        counts = PairCounts.from_corpus(
            [*text, *([word] for k in range(words) for word in [f"w{k}"])], window=window, min_count=1, oov="gap",
            trim_rule=lambda word, count, least: 1 if word == "unknown" else 2, progress=False,
        )  # fmt: skip
        names = counts.vocabulary.words
        rows = [int(word[1:]) for word in names]
        if sample:
            counts = counts.expected(sample)
        kept = counts._keep if sample else np.ones(words)
        truth = both_orders[np.ix_(rows, rows)] * kept[:, None] * kept
        pmi = np.log(truth * truth.sum() / truth.sum(axis=1, keepdims=True) / truth.sum(axis=0))
        i, j = np.indices(pmi.shape)
        found = pmi_intervals(counts, i, j, counts.to_scipy().toarray())
        held.append((found.low <= pmi) & (pmi <= found.high))
    one = counts.pmi(names[2], names[5], interval=0.95)
    assert one == pytest.approx([part[2, 5] for part in found])
    assert one.value == counts.pmi(names[2], names[5])
    assert 0.93 <= np.mean(held) <= 0.97


def test_coverage_of_words_with_themselves():
    """In a symmetric table, a word that meets itself is its own context twice: to its left and to its right."""
    rng = np.random.default_rng(4)
    words, held = 100, []
    joint = rng.dirichlet(np.full(words * words, 2.0)).reshape(words, words)
    truth = np.diag(joint) / ((joint + joint.T).sum(axis=1) / 2) ** 2
    k = np.arange(words)
    for _ in range(10):
        met = rng.multinomial(150_000, joint.ravel()).reshape(words, words).astype(float)
        counts = PairCounts.from_scipy(met + met.T, [str(word) for word in range(words)])
        rows = np.array([int(word) for word in counts.vocabulary.words])
        found = pmi_intervals(counts, k, k, counts.to_scipy().diagonal())
        pmi = np.log(truth[rows])
        held.append((found.low <= pmi) & (pmi <= found.high))
    assert 0.93 <= np.mean(held) <= 0.97


def test_a_pair_that_never_occurs_has_an_upper_bound(counts):
    table = counts.to_scipy().toarray()
    names = counts.vocabulary.words
    frequent, rare = np.argwhere(table == 0)[[0, -1]]
    bounds = []
    for i, j in (frequent, rare):
        found = counts.pmi(names[i], names[j], interval=0.95)
        assert isinstance(found, PmiInterval)
        assert found[:2] == (-math.inf, -math.inf)
        bounds.append(found.high)
    assert bounds[0] < bounds[1] < math.inf, "that frequent words never meet says more"


def test_more_probable_intervals_are_wider_and_more_text_makes_them_narrower(counts):
    one, other = counts.vocabulary.words[1], counts.vocabulary.words[7]
    widths = [np.ptp(counts.pmi(one, other, interval=level)[1:]) for level in (0.5, 0.95, 0.999)]
    assert widths == sorted(widths)
    twice = (counts + counts).pmi(one, other, interval=0.95)
    assert np.ptp(twice[1:]) == pytest.approx(widths[1] / math.sqrt(2), rel=0.05)


def test_words_without_contexts():
    counts = PairCounts.from_scipy(np.array([[0.0, 3, 0], [3, 0, 0], [0, 0, 0]]), ["a", "b", "c"])
    for table in (counts, counts.expected(0.5)):
        value, low, high = table.pmi("a", "c", interval=0.95)
        assert value == low == -math.inf
        assert high > 0


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, float("nan"), True])
def test_levels_are_probabilities(counts, level):
    word = counts.vocabulary.words[0]
    with pytest.raises(ValueError, match=r"interval must be a probability .*such as 0\.95, got"):
        counts.pmi(word, word, interval=level)


def test_weight_of_a_meeting():
    assert meeting_weight(Window.parse(5, "flat")) == 1
    assert meeting_weight(Window.parse(3, [2, 2, 2])) == 2
    assert meeting_weight(Window.parse(5, "dynamic")) == pytest.approx((25 + 16 + 9 + 4 + 1) / 25 / 3)
    assert meeting_weight(Window((), (), 60)) == 1


def test_trigamma_inverse():
    from scipy.special import polygamma

    shapes = np.geomspace(0.1, 1e10, 50)
    np.testing.assert_allclose(trigamma_inverse(polygamma(1, shapes)), shapes, rtol=1e-6)
