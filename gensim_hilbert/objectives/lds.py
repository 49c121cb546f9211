"""LDS, the "squared norm" objective of the random walk model of discourse: GloVe's loss with norms instead of biases.

    L = sum_ij h(N_ij) (psi_ij + C - ln N_ij)^2,    psi_ij = |w_i + v_j|^2 / 2,    C learnt
    dL/dpsi_ij = 2 h(N_ij) [psi_ij + C - ln N_ij],  0 at N = 0

The factor 1/2 makes w_i.v_j comparable with PMI: |w + v|^2 / 2 = w.v + |w|^2 / 2 + |v|^2 / 2. Norms grow with
frequency, as biases do. Only rotations leave psi unchanged, so `gauge` has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensim_hilbert.objectives import Biases
from gensim_hilbert.objectives.glove import GloVe, log_or_zero


@dataclass
class LDS(GloVe):
    """psi is the logarithm of counts up to a constant. The parameters are those of GloVe."""

    kernel = "squared-norm"
    ignored_options = ("gauge", *GloVe.ignored_options)

    @property
    def start(self) -> Biases:
        """C, chosen so that the rarest words need no norm."""
        least = [log_or_zero(side)[side > 0].min() for side in (self.contexts, self.terms)]
        return np.full(len(self.contexts), least[0]), np.full(len(self.terms), least[1])

    def offsets(self, biases: Biases | None) -> Biases | None:
        """Return the part of the words' log frequencies that is not in their norms."""
        assert biases is not None
        return log_or_zero(self.contexts) - biases[0], log_or_zero(self.terms) - biases[1]
