"""Fit an objective of your own: a loss of psi = covector . vector, and its derivative.

python examples/own_objective.py
"""

from dataclasses import dataclass

from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_hilbert import HilbertMLE
from gensim_hilbert.objectives import Objective, least_squares_


@dataclass
class WeightedLeastSquares(Objective):
    """The sum of N^exponent (psi - PMI)^2 over the pairs that occur.

    `pairs.values` are the counts N of pairs that occur. `pairs.a` and `pairs.b` are two numbers for each pair, one of
    its context and one of its term, whose product is the count that would be expected by chance. The docstring of
    `Objective` says what else can be chosen: a loss for pairs that do not occur, biases, weights, a start ...
    """

    exponent: float = 0.5

    has_background = False  # pairs that do not occur have no loss

    def prepare(self):
        """Compute the scale with which cells have a mean weight of 1, as the prior expects it."""
        contexts, _ = self.sums(lambda counts: counts**self.exponent)
        self.scale = len(contexts) ** 2 / contexts.sum()

    def phi(self, pairs):
        """Return what psi should be: PMI."""
        return (pairs.values / (pairs.a * pairs.b)).log()

    def differentiate_pairs_(self, psi, pairs):
        """Turn psi into the derivative, 2 N^exponent (psi - phi), in place; return the loss."""
        return least_squares_(psi, self.scale * pairs.values**self.exponent, self.phi(pairs))


if __name__ == "__main__":
    with open(datapath("lee_background.cor"), encoding="utf-8") as file:
        news = [simple_preprocess(line) for line in file]
    model = HilbertMLE(news, objective=WeightedLeastSquares(exponent=0.75), vector_size=30, min_count=10)
    for word in ("police", "australia", "bin"):
        found = ", ".join(f"{context} {pmi:.1f}" for context, pmi in model.most_cooccurring(word, topn=5))
        print(f"PMI with {word}: {found}")
