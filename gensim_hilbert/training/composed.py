"""A side of a factorisation whose rows are made of others: V = G Z, where Z is learnt.

The gradient by Z is G^T times that by V, and takes all blocks of V. So blocks keep the gradients of their visits; when
each has had one, as it has after a stretch of a Latin square, Z takes a step, and V is made anew. These are as many
steps for each row as without a composition.

Without a prior nothing would be shared, since every word has a row of its own in Z, which could hold all of its vector.
The prior is therefore on Z: V then has the covariance of G G^T, and words that share rows expect to be alike. A row
counts as a word with the weight of all words that it is part of; its prior is multiplied by its share in them, so that
the vector of a word that shares no rows has the prior it would have otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from scipy import sparse
from torch.nn.functional import embedding_bag

from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.device import Each, threads
from gensim_hilbert.training.factors import Factor, squares

ITERATIONS = 20  # of least squares


class Bags:
    """A sparse matrix, multiplied row by row: rounded the same for any number of threads."""

    def __init__(self, matrix: sparse.csr_array, device: torch.device):
        parts = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data
        self.offsets, self.rows, self.weights = (torch.from_numpy(part).to(device) for part in parts)

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        return embedding_bag(
            self.rows, x, self.offsets, mode="sum", per_sample_weights=self.weights, include_last_offset=True
        )

    def total(self, x: torch.Tensor) -> torch.Tensor:
        """The same as if all entries were 1."""
        return embedding_bag(self.rows, x, self.offsets, mode="sum", include_last_offset=True)


class Mixture:
    """The matrix G of a composition, for words in n strided blocks, one block after the other."""

    def __init__(self, composition: Composition, n: int, device: torch.device):
        shape = len(composition.offsets) - 1, composition.rows
        parts = composition.weights, composition.pieces.astype(np.int64), composition.offsets
        matrix = sparse.csr_array(parts, shape=shape)[np.concatenate([np.arange(shape[0])[k::n] for k in range(n)])]
        self.sizes = [len(range(k, shape[0], n)) for k in range(n)]
        self.forward, self.backward = Bags(matrix, device), Bags(matrix.T.tocsr(), device)
        self.parts = torch.from_numpy(composition.parts[:, None]).to(device)

    def explain(self, blocks: list[torch.Tensor]) -> torch.Tensor:
        """The shortest Z with G Z = V, or nearly: by conjugate gradients, which begin with what many words share."""
        rest = torch.cat(blocks)
        x = torch.zeros_like(rest)
        direction, squares = rest.clone(), rest.square().sum(dim=0)
        for _ in range(ITERATIONS):
            step = self.forward @ (self.backward @ direction / self.parts)
            length = squares / (direction * step).sum(dim=0).clamp_min(1e-30)
            x.addcmul_(direction, length)
            rest.addcmul_(step, length, value=-1)
            before, squares = squares, rest.square().sum(dim=0)
            direction = rest + direction * (squares / before.clamp_min(1e-30))
        return self.backward @ x / self.parts


class Composed(Factor):
    """The rows of one side, those of the words [k::n] in block k, made of others.

    Parameters
    ----------
    name : str
        Of its arrays in a checkpoint.
    mixture : Mixture
        Of which.
    learnt : tensor
        Those to start from.
    priors : list of tensors
        Weights of a Gaussian prior on the vector of each word, a column for each block.
    vector_size : int
        How much of a row is a vector.
    """

    together = True

    def __init__(self, name: str, mixture: Mixture, learnt: torch.Tensor, priors: list[torch.Tensor], vector_size: int):
        self.name, self.mixture, self.learnt, self.vector_size = name, mixture, learnt, vector_size
        weights = torch.cat(priors).square()  # words have priors by the roots of their weights
        self.priors = [mixture.backward @ weights / mixture.backward.total(weights).clamp_min(1e-30).sqrt()]
        self.reset_moments()
        self._compose()

    @property
    def rows(self) -> list[torch.Tensor]:
        """What is learnt: one block."""
        return [self.learnt]

    def _compose(self) -> None:
        self.blocks = list(torch.split(self.mixture.forward @ self.learnt, self.mixture.sizes))
        with threads(1):  # to be rounded the same for any number
            self.squares = squares(self.learnt[:, : self.vector_size], self.priors[0])

    def reset_moments(self) -> None:
        """Forget what the optimiser has learnt, and gradients."""
        super().reset_moments()
        self.gradient = self.learnt.new_zeros(sum(self.mixture.sizes), self.learnt.shape[1])

    def prior(self, k: int) -> float:
        """A part of that on all blocks."""
        return self.squares / len(self.blocks)

    def slope(self, k: int, room: torch.Tensor) -> torch.Tensor:
        """Nothing yet: the prior comes later. What is added stays here."""
        return torch.split(self.gradient, self.mixture.sizes)[k].zero_()

    def step(self, k: int, slope: torch.Tensor, rate: float) -> None:
        """Not before all blocks have their slopes."""

    def step_together(self, rate: float) -> None:
        """Move what is learnt, and make all blocks anew."""
        self.moments[0].step(self.learnt, self._whole_slope(), rate, None)
        self._compose()

    def _whole_slope(self) -> torch.Tensor:
        """The gradient by what is learnt, that of the prior included."""
        slope = self.mixture.backward @ self.gradient
        slope[:, : self.vector_size].addcmul_(self.priors[0], self.learnt[:, : self.vector_size])
        return slope

    def turn(self, axes: torch.Tensor, each: Each) -> None:
        """To other axes, all at once; between passes, so that gradients are of no use any more."""
        self.learnt = self.learnt @ axes
        self.moments[0].turn(axes)
        self._compose()

    # ------------------------------------------------------------------ copies

    def step_back(self, copy: list[torch.Tensor]) -> None:
        """Have the rows of a copy, and none of the optimiser's memory."""
        self.learnt = copy[0].clone()
        self.reset_moments()
        self._compose()

    def moment_arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """And the gradients of blocks, which a stretch may have begun to collect."""
        yield from super().moment_arrays()
        yield f"{self.name}_gradient", self.gradient.cpu().numpy()

    def restore_moments(self, blocks_of: Callable[[str], list[torch.Tensor]], steps: list[int]) -> None:
        """What `moment_steps` and `moment_arrays` have told."""
        super().restore_moments(blocks_of, steps)
        (self.gradient,) = blocks_of(f"{self.name}_gradient")
