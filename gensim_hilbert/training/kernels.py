"""What psi is of the rows of two words, and how a derivative by psi goes back to them.

    product         psi = w.v
    biased          psi = w.v + b_i + b_j
    squared-norm    psi = |w + v|^2 / 2 + C, which is w.v plus half the squared norms: biases that are not free

Where rows hold more than a vector, the rest stands in a column after it: a bias, or C. Products may be of low
precision; biases are large, and are added in float32.
"""

from __future__ import annotations

import numpy as np
import torch

from gensim_hilbert.objectives import Biases
from gensim_hilbert.training.gauge import canonical_axes, principal_axes

Pair = tuple[torch.Tensor, torch.Tensor]


class Product:
    """psi = w.v, the product of two rows."""

    extra = 0  # columns

    def __init__(self, vector_size: int, precision: str):
        self.vector_size = vector_size
        self.low = torch.bfloat16 if precision == "bf16" else None

    def _lowered(self, x: torch.Tensor) -> torch.Tensor:
        return x if self.low is None else x.to(self.low)

    def forward(self, w: torch.Tensor, v: torch.Tensor, psi: torch.Tensor) -> None:
        """Fill psi."""
        if self.low is None:
            torch.mm(w, v.T, out=psi)
        else:
            psi.copy_(torch.mm(self._lowered(w), self._lowered(v).T))

    def backward(self, d: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> Pair:
        """The derivatives by rows of what has derivatives d by psi."""
        low = self._lowered(d)
        return torch.mm(low, self._lowered(v)), torch.mm(low.T, self._lowered(w))

    def extended(self, w: np.ndarray, v: np.ndarray, biases: Biases | None) -> Biases:
        """Rows of vectors as rows of this kernel."""
        return w, v

    def biases(self, w: np.ndarray, v: np.ndarray) -> Biases | None:
        """What is added to w.v, by rows of this kernel: for each context and for each term."""
        return None

    def axes(self, w: torch.Tensor, v: torch.Tensor, gauge: float) -> Pair:
        """What leads, on either side, to the canonical gauge of all vectors with the same psi."""
        return canonical_axes(w[:, : self.vector_size], v[:, : self.vector_size], gauge)


class Biased(Product):
    """psi = w.v + b_i + b_j, biases being free."""

    extra = 1

    def forward(self, w: torch.Tensor, v: torch.Tensor, psi: torch.Tensor) -> None:
        """The product, and a bias a row and a column."""
        d = self.vector_size
        super().forward(w[:, :d], v[:, :d], psi)
        psi.add_(w[:, d:]).add_(v[:, d])

    def backward(self, d: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> Pair:
        """Biases get the sums of their row or column."""
        to_w, to_v = super().backward(d, w[:, : self.vector_size], v[:, : self.vector_size])
        return torch.column_stack([to_w, d.sum(dim=1)]), torch.column_stack([to_v, d.sum(dim=0)])

    def extended(self, w: np.ndarray, v: np.ndarray, biases: Biases | None) -> Biases:
        """Vectors, then the bias."""
        assert biases is not None
        return np.column_stack([w, biases[0]]), np.column_stack([v, biases[1]])

    def biases(self, w: np.ndarray, v: np.ndarray) -> Biases | None:
        """The last columns."""
        return w[:, -1].copy(), v[:, -1].copy()


class SquaredNorm(Biased):
    """psi = |w + v|^2 / 2 + C, which is learnt.

    C is a column of covectors, whose rows in a block all move by the mean of what each would: blocks are alike, and
    learn the same C but for noise.
    """

    def forward(self, w: torch.Tensor, v: torch.Tensor, psi: torch.Tensor) -> None:
        """The product, half the squared norms, and C."""
        d = self.vector_size
        Product.forward(self, w[:, :d], v[:, :d], psi)
        psi.add_(half_squares(w[:, :d]).add_(w[:, d])[:, None]).add_(half_squares(v[:, :d]))

    def backward(self, d: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> Pair:
        """By the product and by the norms."""
        to_w, to_v = super().backward(d, w, v)
        rows, columns = to_w[:, -1:].clone(), to_v[:, -1:].clone()
        to_w.addcmul_(rows, w)
        to_v.addcmul_(columns, v)
        to_w[:, -1], to_v[:, -1] = rows.mean(), 0
        return to_w, to_v

    def extended(self, w: np.ndarray, v: np.ndarray, biases: Biases | None) -> Biases:
        """The C with which biases are right on average."""
        assert biases is not None
        squares = sum(float(np.square(side, dtype=np.float64).sum()) for side in (w, v)) / len(w)
        constant = np.mean(biases[0]) + np.mean(biases[1]) - squares / 2
        return np.column_stack([w, np.full(len(w), constant)]), np.column_stack([v, np.zeros(len(v))])

    def biases(self, w: np.ndarray, v: np.ndarray) -> Biases | None:
        """Half the squared norms; C goes to contexts."""
        return (w[:, :-1] ** 2).sum(axis=1) / 2 + w[:, -1].mean(), (v[:, :-1] ** 2).sum(axis=1) / 2

    def axes(self, w: torch.Tensor, v: torch.Tensor, gauge: float) -> Pair:
        """Only principal axes: norms are part of psi."""
        axes = principal_axes([w[:, : self.vector_size], v[:, : self.vector_size]]).double()
        return axes, axes


KERNELS: dict[str, type[Product]] = {"product": Product, "biased": Biased, "squared-norm": SquaredNorm}


def half_squares(rows: torch.Tensor) -> torch.Tensor:
    """Half the squared norm of each row."""
    return rows.square().sum(dim=1).div_(2)
