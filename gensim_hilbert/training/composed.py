"""A side of a factorisation whose rows are composed of pieces: V = G Z, where Z is learnt.

The gradient by Z is G^T times the gradient by V, for which all blocks of V are needed. So each block keeps the gradient
of its visit. After one row of a Latin square every block has been visited; then Z takes a step, and V is composed
anew. These are as many steps for each row as without a composition.

Every word has a row of its own in Z, which could hold its whole vector. So without a prior, words would share nothing.
The prior is therefore on Z: V then has the covariance G G^T, which makes words alike that share rows. A row is treated
as a word with the weight of all words that it is part of. Its prior is multiplied by its share in them, so that the
vector of a word that shares no rows has the same prior as without a composition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from scipy import sparse
from torch.nn.functional import embedding_bag

from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.device import Each, threads
from gensim_hilbert.training.factors import Factor
from gensim_hilbert.training.shards import Shards

ITERATIONS = 20  # of conjugate gradients


class Bags:
    """A sparse matrix for products that are computed row by row, and so rounded the same for any number of threads."""

    def __init__(self, matrix: sparse.csr_array, device: torch.device):
        parts = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data
        self.offsets, self.rows, self.weights = (torch.from_numpy(part).to(device) for part in parts)

    def __matmul__(self, x: torch.Tensor) -> torch.Tensor:
        return embedding_bag(
            self.rows, x, self.offsets, mode="sum", per_sample_weights=self.weights, include_last_offset=True
        )

    def total(self, x: torch.Tensor) -> torch.Tensor:
        """Return the product with a matrix whose entries are 1 in the same places."""
        return embedding_bag(self.rows, x, self.offsets, mode="sum", include_last_offset=True)


class Mixture:
    """The matrix G of a composition, for words in blocks, with one row of zeros for each row of padding."""

    def __init__(self, composition: Composition, shards: Shards):
        size, n = len(composition.offsets) - 1, shards.n
        parts = composition.weights, composition.pieces.astype(np.int64), composition.offsets
        matrix = sparse.csr_array(parts, shape=(size, composition.rows))
        matrix.resize(n * shards.rows, composition.rows)
        order = np.arange(n * shards.rows).reshape(shards.rows, n).T.reshape(-1)  # Row k n + i is row k of block i.
        matrix = matrix[order]
        self.blocks = n, shards.rows
        self.forward, self.backward = Bags(matrix, shards.device), Bags(matrix.T.tocsr(), shards.device)
        self.parts = torch.from_numpy(composition.parts[:, None]).to(shards.device)

    def compose(self, pieces: torch.Tensor) -> torch.Tensor:
        """Return the vectors G Z in blocks."""
        return (self.forward @ pieces).view(*self.blocks, -1)

    def explain(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the shortest Z with G Z = V, or nearly, by conjugate gradients: what many words share comes first."""
        rest = vectors.reshape(-1, vectors.shape[-1]).clone()
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
    """The rows of one side, composed of pieces that words share; the pieces are what is learnt.

    Parameters
    ----------
    name : str
        Name of its arrays in a checkpoint.
    mixture : Mixture
        Which pieces make up which rows.
    pieces : tensor, (pieces, width)
        The pieces to start from; changed in place.
    priors : tensor, (n, rows per block)
        Weight of a Gaussian prior on the vector of each word.
    vector_size : int
        How many numbers of a row are its vector.
    """

    moves_together = True

    def __init__(self, name: str, mixture: Mixture, pieces: torch.Tensor, priors: torch.Tensor, vector_size: int):
        weights = priors.reshape(-1, 1).square()  # Priors of words go by the roots of their weights.
        shared = mixture.backward @ weights / mixture.backward.total(weights).clamp_min(1e-30).sqrt()
        self.mixture, self.composed = mixture, mixture.compose(pieces)
        super().__init__(name, pieces[None], shared.reshape(1, -1), vector_size)
        self.gradient = torch.zeros_like(self.composed)
        self.squares = self.prior()

    @property
    def blocks(self) -> torch.Tensor:
        """The composed rows of all words, (n, rows per block, width)."""
        return self.composed

    def all_blocks(self) -> Iterator[torch.Tensor]:
        """Yield the rows of all words in blocks."""
        return iter(self.composed)

    def __getitem__(self, k: int) -> torch.Tensor:
        return self.composed[k]

    def step_all(self, gradient: torch.Tensor, rate: float, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Move the pieces by the gradients of all blocks, and compose all rows anew."""
        self.gradient.copy_(gradient)
        prior, squares = super().step_all(self._pieces_gradient()[None], rate, number)
        self.composed = self.mixture.compose(self.rows[0])
        return prior, squares

    def step(self, k: int, gradient: torch.Tensor, rate: float, number: int) -> tuple[float, float]:
        """Keep the gradient until all blocks have theirs; return a part of the prior's loss, and a squared norm."""
        self.gradient[k] = gradient
        return self.squares / len(self.composed), float(torch.linalg.vector_norm(gradient)) ** 2

    def move_together(self, rate: float, number: int) -> None:
        """Move the pieces, and compose all rows anew."""
        super().step(0, self._pieces_gradient(), rate, number)
        self._compose()

    def _pieces_gradient(self) -> torch.Tensor:
        """Return the gradient by the pieces, G^T times that by the rows."""
        return self.mixture.backward @ self.gradient.view(-1, self.gradient.shape[-1])

    def _compose(self) -> None:
        self.composed = self.mixture.compose(self.rows[0])
        with threads(1):  # The sum is then rounded the same for any number of threads.
            self.squares = self.prior()

    def turn(self, axes: torch.Tensor, each: Each) -> None:
        """Turn the pieces; between passes, so that gradients are not needed any more."""
        super().turn(axes, each)
        self._compose()

    # ------------------------------------------------------------------ checkpoints

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the arrays of the pieces, and the gradients that a row of shards may have begun to collect."""
        yield from super().arrays()
        yield f"{self.name}_gradient", self.gradient.cpu().numpy()

    def restore(self, array: Callable[[str], np.ndarray]) -> None:
        """Go on from the arrays of a checkpoint."""
        super().restore(array)
        self.gradient.copy_(torch.from_numpy(array(f"{self.name}_gradient")))
        self._compose()
