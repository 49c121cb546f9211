"""The sections on counted PMI and its fit, and on biases."""

from __future__ import annotations

import numpy as np

from gensim_hilbert.markup import number
from gensim_hilbert.report.pairs import agreement, bands
from gensim_hilbert.report.sections import (
    PICTURE_HEIGHT,
    PICTURE_WIDTH,
    Section,
    common_range,
    figure,
    heat_map,
    missing,
    pictures,
)
from gensim_hilbert.report.subject import Subject
from gensim_hilbert.report.svg import Axes
from gensim_hilbert.report.text import table

HISTOGRAM_BINS = 64


def histogram(subject: Subject) -> Section:
    """Show the paper's figure 2A: the PMI of all pairs that occur, and the fitted psi over it."""
    name = "PMI"
    if subject.without_pmi:
        return Section(name, "How PMI is distributed is not known", missing(subject.without_pmi))
    pairs = subject.pairs
    low, middle, high = (float(value) for value in np.percentile(pairs.pmi, [25, 50, 75]))
    title = f"Half of all pairs have a PMI between {number(low)} and {number(high)}; the median is {number(middle)}"
    text = (
        "<p>Pointwise mutual information, PMI, says how much more often two words meet than they would by chance: 0 is "
        "chance, 1 is 2.7 times as often, 2 is 7.4 times, and −1 is 2.7 times more rarely. It is counted from the "
        "text; its fit is the product of a covector and a vector.</p>"
        "<p>Only pairs that meet at all can be counted, and rare words that happen to meet once thereby seem to belong "
        "together. A fit that also accounts for all the pairs that never met lies lower.</p>"
    )
    span = common_range(pairs.pmi, pairs.psi)
    edges = np.linspace(*span, HISTOGRAM_BINS + 1)
    shares = [100 * np.histogram(values, edges)[0] / len(pairs) for values in (pairs.pmi, pairs.psi)]
    top = max(float(share.max()) for share in shares)
    axes = Axes(
        PICTURE_WIDTH,
        PICTURE_HEIGHT,
        "Histograms of counted PMI and of its fit",
        span,
        (0, 1.05 * top),
        "PMI",
        "% of pairs",
    )
    axes.steps(edges, shares[0], "counted-area")
    axes.steps(edges, shares[1], "fitted-line")
    axes.upright(0, "rule")
    axes.legend([("counted-area", "counted"), ("fitted", "fitted")])
    outside = 100 * float(np.mean((pairs.pmi < span[0]) | (pairs.pmi > span[1])))
    caption = f"Drawn from {pairs.sample}. The axis leaves out {number(outside)}% of counted values, at its ends."
    rows = []
    for label, values in (("counted", pairs.pmi), ("fitted", pairs.psi)):
        facts = (values.mean(), values.std(), *np.percentile(values, [5, 50, 95]))
        rows.append((label, *(number(float(fact)) for fact in facts)))
    facts_table = table(("PMI", "mean", "deviation", "5%", "median", "95%"), rows, "PMI in numbers")
    return Section(name, title, text + pictures(figure(axes, caption), f"<div>{facts_table}</div>"))


def density(subject: Subject) -> Section:
    """Show psi against PMI, and their correlation by how much evidence there is for a pair."""
    name = "Fit"
    if subject.without_pmi:
        return Section(name, "How well PMI is fitted is not known", missing(subject.without_pmi))
    pairs = subject.pairs
    whole = agreement(pairs.pmi, pairs.psi)
    title = f"Fitted and counted PMI correlate at {number(whole.correlation)}"
    text = (
        "<p>The stronger the colour of a cell, the more pairs are in it; on the line, fit and count agree. The PMI of "
        "a pair that was seen but a few times is mostly luck, and vectors of few dimensions have no room for luck. How "
        "much the correlation depends on evidence is in the tables.</p>"
    )
    axes = heat_map(pairs.pmi, pairs.psi, "counted PMI", "fitted PMI", "Fitted against counted PMI")
    occurrences = subject.model.counts.vocabulary.counts
    rarer = np.minimum(occurrences[pairs.contexts], occurrences[pairs.terms])
    tables = "".join(
        table(
            (heading, "pairs", "r", "bias", "spread"),
            [(band, *row_of(pairs.pmi[mask], pairs.psi[mask])) for band, mask in bands(values)]
            + [("all", *row_of(pairs.pmi, pairs.psi))],
            f"Correlation by {heading}",
        )
        for heading, values in (("the rarer word occurs", rarer), ("weight of the pair", pairs.counts))
    )
    note = (
        "<figcaption>r is Pearson’s correlation, bias the mean of fit − count, and spread its standard deviation. The "
        "weight of a pair is how often it was seen, nearer words counting more.</figcaption>"
    )
    caption = f"Drawn from {pairs.sample}."
    return Section(name, title, text + pictures(figure(axes, caption), f"<figure>{tables}{note}</figure>"))


def row_of(pmi: np.ndarray, psi: np.ndarray) -> tuple[str, ...]:
    """Return one row of a table of agreement."""
    found = agreement(pmi, psi)
    return f"{found.pairs:,}", number(found.correlation), number(found.bias), number(found.spread)


def biases(subject: Subject) -> Section | None:
    """Show GloVe's biases against those that PMI would have, as in the paper's figure 2B; None without biases."""
    name = "Biases"
    learnt = {side: getattr(subject.model, f"{side}_biases", None) for side in ("context", "term")}
    learnt = {side: values for side, values in learnt.items() if values is not None}
    if not learnt:
        return None
    if subject.counts is None:
        return Section(name, "What the biases mean is not known", missing(subject.without_pmi))
    text = (
        "<p>This objective has a number for each word besides its vector, its bias. If products are to be PMI, biases "
        "must be ln N<sub>i</sub> − ½ ln N, by how often the word occurs in pairs, N<sub>i</sub>, of all pairs, N. "
        "That is the line.</p>"
    )
    drawn, correlations = [], []
    for side, values in learnt.items():
        weights = subject.counts.marginals.contexts if side == "context" else subject.counts.marginals.terms
        seen = weights > 0
        expected = np.log(weights[seen]) - 0.5 * np.log(subject.counts.total)
        found = np.asarray(values, dtype=np.float64)[: len(weights)][seen]
        how = agreement(expected, found)
        correlations.append(number(how.correlation))
        axes = heat_map(expected, found, "ln Nᵢ − ½ ln N", "bias", f"Biases of {side}s against frequency", alike=True)
        facts = f"correlation {number(how.correlation)}, mean difference {number(how.bias)}"
        drawn.append(figure(axes, f"Biases of {how.pairs:,} words as {side}s: {facts}."))
    title = f"Biases and the frequency of words correlate at {' and '.join(correlations)}"
    return Section(name, title, text + pictures(*drawn))
