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
from gensim_hilbert.training.gauge import balancing, canonical_axes, principal_axes

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

    def backward(self, d: torch.Tensor, rows: Pair, slopes: Pair, scale: float) -> None:
        """Add to slopes the derivatives, by rows of both sides, of what has derivatives `scale` d by psi."""
        (w, v), (to_w, to_v) = rows, slopes
        if self.low is None and to_w.is_contiguous():  # a product into parts of rows is lost on some of Apple's systems
            to_w.addmm_(d, v, alpha=scale)
            to_v.addmm_(d.T, w, alpha=scale)
        else:
            low = self._lowered(d)
            to_w.add_(torch.mm(low, self._lowered(v)), alpha=scale)
            to_v.add_(torch.mm(low.T, self._lowered(w)), alpha=scale)

    def extended(self, w: np.ndarray, v: np.ndarray, biases: Biases | None) -> Biases:
        """Rows of vectors as rows of this kernel."""
        return w, v

    def balancing(self, w: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """By what to multiply the axes of W, and divide those of V, so that a prior weighs little; None keeps them."""
        return balancing(w, v)

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

    def backward(self, d: torch.Tensor, rows: Pair, slopes: Pair, scale: float) -> None:
        """Biases get the sums of their row or column."""
        super().backward(d, self._vectors(rows), self._vectors(slopes), scale)
        slopes[0][:, -1].add_(d.sum(dim=1), alpha=scale)
        slopes[1][:, -1].add_(d.sum(dim=0), alpha=scale)

    def _vectors(self, rows: Pair) -> Pair:
        return rows[0][:, : self.vector_size], rows[1][:, : self.vector_size]

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

    def backward(self, d: torch.Tensor, rows: Pair, slopes: Pair, scale: float) -> None:
        """By the product and by the norms."""
        (w, v), (to_w, to_v) = self._vectors(rows), self._vectors(slopes)
        Product.backward(self, d, (w, v), (to_w, to_v), scale)
        by_row, by_column = d.sum(dim=1), d.sum(dim=0)
        to_w.addcmul_(by_row[:, None], w, value=scale)
        to_v.addcmul_(by_column[:, None], v, value=scale)
        slopes[0][:, -1].add_(by_row.mean(), alpha=scale)

    def extended(self, w: np.ndarray, v: np.ndarray, biases: Biases | None) -> Biases:
        """The C with which biases are right on average."""
        assert biases is not None
        squares = sum(float(np.square(side, dtype=np.float64).sum()) for side in (w, v)) / len(w)
        constant = np.mean(biases[0]) + np.mean(biases[1]) - squares / 2
        return np.column_stack([w, np.full(len(w), constant)]), np.column_stack([v, np.zeros(len(v))])

    def balancing(self, w: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """Norms are part of psi."""
        return None

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
