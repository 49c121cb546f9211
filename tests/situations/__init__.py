"""Situations in which scripts that were written for Word2Vec find themselves: short functions of the model's class.

Each returns what a script would see. `outcome.py` reduces that to what two models must have in common, and
`differences.py` lists where ours differs on purpose.
"""

from situations import construction, corpora, files, states, training, vectors, vocabulary
from situations.outcome import SITUATIONS, Outcome, outcome_of

__all__ = [
    "SITUATIONS",
    "Outcome",
    "construction",
    "corpora",
    "files",
    "outcome_of",
    "states",
    "training",
    "vectors",
    "vocabulary",
]
