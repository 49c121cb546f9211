"""Values of settings that are chosen by the text: `sample`, `temperature` and `gauge`.

How they were chosen is in benchmarks/RESULTS.md, "Defaults against defaults".
"""

from __future__ import annotations

import numpy as np

from gensim_hilbert.vocabulary import Vocabulary

AUTO = "auto"
SMALL_TEXT = 20_000_000  # A text of fewer tokens is small.
# Nothing is removed from a small text, and frequent words have nearly their full weight: they show what kind of words
# their neighbours are. A large text shows it in any case, and similarity gains if frequent words count for less. So it
# does in a small text that has lost them, because the user has given a sample.
SAMPLE_OF_SMALL, SAMPLE = 0.0, 1e-3
TEMPERATURE_OF_WHOLE_SMALL, TEMPERATURE = 1.1, 1.25
# In a language. In small texts with all of their words, a lower one is better for kinds of words and for analogies.
GAUGE_OF_WHOLE_SMALL, GAUGE = 0.25, 0.35


def is_small(vocabulary: Vocabulary) -> bool:
    """Return whether a text has few tokens."""
    return vocabulary.text_size < SMALL_TEXT


def automatic_sample(vocabulary: Vocabulary, solver: str) -> float:
    """Return the frequency above which words are thinned out; 0 for not at all. Gibbs has gensim's default."""
    return SAMPLE_OF_SMALL if solver == "factorization" and is_small(vocabulary) else SAMPLE


def is_whole_small(vocabulary: Vocabulary, sample: float) -> bool:
    """Return whether a text is small, and `sample` removes nothing from it."""
    return not sample and is_small(vocabulary)


def automatic_temperature(vocabulary: Vocabulary, sample: float) -> float:
    """Return the temperature of the objective hilbert, for a text that `sample` thins out unless it is 0."""
    return TEMPERATURE_OF_WHOLE_SMALL if is_whole_small(vocabulary, sample) else TEMPERATURE


def automatic_gauge(vocabulary: Vocabulary, sample: float) -> float:
    """Return the gauge: that of a language, or the evenness of the words where that is higher.

    In a language a few words are very frequent, and the strongest axes tell little more than how words go with these.
    A low gauge makes up for it. The nodes of a graph are visited about equally often. There the strongest axes are the
    communities, and a high gauge keeps weak axes, which are mostly single edges, from blurring them.
    """
    usual = GAUGE_OF_WHOLE_SMALL if is_whole_small(vocabulary, sample) else GAUGE
    return max(usual, evenness(vocabulary.counts))


def evenness(counts: np.ndarray) -> float:
    """Return exp(entropy) / V: the number of equally frequent words of the same entropy, as a share of all words.

    It is 1 if all words are equally frequent, and below 0.3 in texts of more than a thousand words.
    """
    p = counts[counts > 0] / max(1, counts.sum())
    return min(1.0, float(np.exp(-(p * np.log(p)).sum())) / max(1, len(counts)))
