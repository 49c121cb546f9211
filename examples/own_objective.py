"""Fit something of your own: an objective is a loss of psi = covector . vector, and its derivative.

python examples/own_objective.py
"""

from dataclasses import dataclass

from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_hilbert import HilbertMLE
from gensim_hilbert.objectives import Objective


@dataclass
class WeightedLeastSquares(Objective):
    """N^exponent (psi - PMI)^2, over the pairs that occur.

    `shard.values` are the counts N of these pairs; `shard.a` and `shard.b` a number for each row and each column, such
    that a_i b_j is what chance would count. `Objective` says what else can be chosen: biases, weights, a start ...
    """

    exponent: float = 0.5

    def prepare(self):
        """What is needed of all counts: here the scale by which cells weigh 1 on average, as the prior expects."""
        contexts, _ = self.sums(lambda counts: counts**self.exponent)
        self.scale = len(contexts) ** 2 / contexts.sum()

    def phi(self, shard):
        """What psi should be: PMI."""
        return (shard.values / shard.outer(shard.a, shard.b)).log()

    def differentiate_(self, psi, shard):
        """Turn psi into the derivative, 2 N^exponent (psi - phi), in place; return the loss."""
        return shard.squares_(psi, self.scale * shard.values**self.exponent, self.phi(shard))


if __name__ == "__main__":
    with open(datapath("lee_background.cor"), encoding="utf-8") as file:
        news = [simple_preprocess(line) for line in file]
    model = HilbertMLE(news, objective=WeightedLeastSquares(exponent=0.75), vector_size=30, min_count=10)
    for word in ("police", "australia", "bin"):
        found = ", ".join(f"{context} {pmi:.1f}" for context, pmi in model.most_cooccurring(word, topn=5))
        print(f"PMI with {word}: {found}")
