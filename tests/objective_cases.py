"""Objectives that contracts are tested with: all of them, or one for each kernel where training takes long."""

from __future__ import annotations

import pytest
from own_objective import WeightedLeastSquares

from gensim_hilbert.objectives import LDS, PPMI, SGNS, GloVe, Hilbert, Swivel

# One for each kernel (product, biased, squared norm), and the one that is solved at once.
TYPICAL = [Hilbert(), GloVe(x_max=10, alpha=0.5), LDS(x_max=10), PPMI(shift=1.5)]
OTHERS = [
    Hilbert(temperature=2.0),
    Hilbert(temperature=2.0, threshold=0.02),
    SGNS(),
    SGNS(negative=2, ns_exponent=1.0),
    GloVe(),
    Swivel(),
    PPMI(),
    WeightedLeastSquares(),
]
OBJECTIVES = [*TYPICAL, *OTHERS]
TYPICAL_FIRST = [*TYPICAL, *(pytest.param(objective, marks=pytest.mark.slow) for objective in OTHERS)]
every_objective = pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
typical_objectives = pytest.mark.parametrize("objective", TYPICAL_FIRST, ids=repr)  # the others are slow
