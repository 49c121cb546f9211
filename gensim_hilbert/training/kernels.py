"""Kernels compute psi from the rows of two words, and turn derivatives by psi into gradients by these rows.

    product         psi = w.v
    biased          psi = w.v + b_i + b_j
    squared-norm    psi = |w + v|^2 / 2 + C, which is w.v plus half the squared norms: biases that are not free

If rows hold more than a vector, a bias or C, it is in a column after the vector. Products may have low precision;
biases are large, and are added in float32.
"""

from __future__ import annotations

import numpy as np
import torch

from gensim_hilbert.objectives import Biases
from gensim_hilbert.training.device import Each, sent, wide
from gensim_hilbert.training.gauge import balancing, canonical_axes, joint_moments, principal_axes
from gensim_hilbert.training.pairs import AnyPairs
from gensim_hilbert.training.shards import Shards

Pair = tuple[torch.Tensor, torch.Tensor]


class Product:
    """psi = w.v, the product of two rows."""

    extra = 0  # columns after the vector

    def __init__(self, vector_size: int, precision: str):
        self.vector_size = vector_size
        self.low = torch.bfloat16 if precision == "bf16" else None

    @property
    def is_plain(self) -> bool:
        """Whether psi is nothing but the product, in float32."""
        return not self.extra and self.low is None

    def _product(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Return x y^T in the precision that was asked for."""
        if self.low is None:
            return x @ y.mT
        return (x.to(self.low) @ y.to(self.low).mT).to(x.dtype)

    def psi(self, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Return the psi of all rows of both sides."""
        return self._product(w, v)

    def slopes(self, slope: torch.Tensor, rows: torch.Tensor, others: torch.Tensor, of_contexts: bool) -> torch.Tensor:
        """Return the gradient by `rows`, given the derivatives by their psi with some rows `others`."""
        return self._product(slope, others.mT)

    def pair_psi(self, w: torch.Tensor, v: torch.Tensor, pairs: AnyPairs) -> torch.Tensor:
        """Return the psi of the pairs that occur."""
        return pairs.products(w, v, self.vector_size)

    def add_pair_slopes(
        self,
        slope: torch.Tensor,
        pairs: AnyPairs,
        w: torch.Tensor,
        v: torch.Tensor,
        to_w: torch.Tensor,
        to_v: torch.Tensor,
    ) -> None:
        """Add to the gradients of both sides what the pairs that occur contribute."""
        pairs.add_gradients(slope, w, v, to_w, to_v, self.vector_size)

    def columns(self, biases: Biases | None, squares: float) -> Biases:
        """Return what rows hold after the vectors, one number per context and per term.

        `squares` is the mean over words of the squared lengths of a word's two vectors.
        """
        raise NotImplementedError("rows hold nothing but vectors")

    def balancing(self, w: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """Return factors for the axes of W, by which those of V are divided, that make the prior small, or None."""
        return balancing(w, v)

    def biases(self, w: np.ndarray, v: np.ndarray) -> Biases | None:
        """Return what is added to w.v, per context and per term, or None."""
        return None

    def axes(self, w: torch.Tensor, v: torch.Tensor, gauge: float, each: Each = map) -> Pair:
        """Return the matrices that turn both sides to the canonical gauge."""
        return canonical_axes(w[:, : self.vector_size], v[:, : self.vector_size], gauge, each)


class Biased(Product):
    """psi = w.v + b_i + b_j, where biases are learnt."""

    extra = 1

    def psi(self, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Return the products plus one bias per row and one per column."""
        d = self.vector_size
        return super().psi(w[..., :d], v[..., :d]).add_(w[..., d:]).add_(v[..., None, :, d])

    def slopes(self, slope: torch.Tensor, rows: torch.Tensor, others: torch.Tensor, of_contexts: bool) -> torch.Tensor:
        """Return the gradient; that by a bias is the sum of the row's derivatives."""
        vectors = super().slopes(slope, rows, others[..., : self.vector_size], of_contexts)
        return torch.cat([vectors, slope.sum(dim=-1, keepdim=True)], dim=-1)

    def pair_psi(self, w: torch.Tensor, v: torch.Tensor, pairs: AnyPairs) -> torch.Tensor:
        """Return the products plus the biases of both words."""
        d = self.vector_size
        return super().pair_psi(w, v, pairs).add_(w[:, d][pairs.row_numbers]).add_(v[:, d][pairs.column_numbers])

    def add_pair_slopes(
        self,
        slope: torch.Tensor,
        pairs: AnyPairs,
        w: torch.Tensor,
        v: torch.Tensor,
        to_w: torch.Tensor,
        to_v: torch.Tensor,
    ) -> None:
        """Add the gradients by vectors, and those by biases."""
        super().add_pair_slopes(slope, pairs, w, v, to_w, to_v)
        to_w[:, self.vector_size].index_add_(0, pairs.row_numbers, slope)
        to_v[:, self.vector_size].index_add_(0, pairs.column_numbers, slope)

    def columns(self, biases: Biases | None, squares: float) -> Biases:
        """Return the biases."""
        assert biases is not None
        return biases

    def biases(self, w: np.ndarray, v: np.ndarray) -> Biases | None:
        """Return the last columns."""
        return w[:, -1].copy(), v[:, -1].copy()


class SquaredNorm(Biased):
    """psi = |w + v|^2 / 2 + C, where C is learnt.

    C is a column of the covectors. All rows of a block move by the mean of their gradients. Blocks are alike, and learn
    the same C up to noise.
    """

    def psi(self, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Return the products, half the squared norms, and C, which stands with contexts; terms have a 0."""
        d = self.vector_size
        of_rows, of_columns = (half_squares(side[..., :d]).add_(side[..., d]) for side in (w, v))
        products = Product.psi(self, w[..., :d], v[..., :d])
        return products.add_(of_rows[..., None]).add_(of_columns[..., None, :])

    def slopes(self, slope: torch.Tensor, rows: torch.Tensor, others: torch.Tensor, of_contexts: bool) -> torch.Tensor:
        """Return the gradient by the products, by the norms and, for contexts, by C."""
        gradient = super().slopes(slope, rows, others, of_contexts)
        self._add_norms(rows, gradient, of_contexts)
        return gradient

    def pair_psi(self, w: torch.Tensor, v: torch.Tensor, pairs: AnyPairs) -> torch.Tensor:
        """Return the products, half the squared norms, and C."""
        d = self.vector_size
        of_contexts, of_terms = half_squares(w[:, :d]).add_(w[:, d]), half_squares(v[:, :d])
        psi = Product.pair_psi(self, w, v, pairs)
        return psi.add_(of_contexts[pairs.row_numbers]).add_(of_terms[pairs.column_numbers])

    def add_pair_slopes(
        self,
        slope: torch.Tensor,
        pairs: AnyPairs,
        w: torch.Tensor,
        v: torch.Tensor,
        to_w: torch.Tensor,
        to_v: torch.Tensor,
    ) -> None:
        """Add the gradients by the products, by the norms and by C."""
        fresh = torch.zeros_like(to_w), torch.zeros_like(to_v)
        super().add_pair_slopes(slope, pairs, w, v, *fresh)
        self._add_norms(w, fresh[0], True)
        self._add_norms(v, fresh[1], False)
        to_w.add_(fresh[0])
        to_v.add_(fresh[1])

    def _add_norms(self, rows: torch.Tensor, out: torch.Tensor, of_contexts: bool) -> None:
        """Given sums of derivatives in the last column, add the gradient by norms; put that by C in their place."""
        d = self.vector_size
        sums = out[..., d].clone()
        out[..., :d].addcmul_(sums[..., None], rows[..., :d])
        out[..., d] = sums.mean(dim=-1, keepdim=True) if of_contexts else 0.0

    def columns(self, biases: Biases | None, squares: float) -> Biases:
        """Return the C with which biases are right on average, and zeros."""
        assert biases is not None
        constant = np.mean(biases[0]) + np.mean(biases[1]) - squares / 2
        return np.full(len(biases[0]), constant), np.zeros(len(biases[1]))

    def balancing(self, w: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """Return None: norms are part of psi, so that axes cannot be scaled."""
        return None

    def biases(self, w: np.ndarray, v: np.ndarray) -> Biases | None:
        """Return half the squared norms, those of contexts plus C."""
        return (w[:, :-1] ** 2).sum(axis=1) / 2 + w[:, -1].mean(), (v[:, :-1] ** 2).sum(axis=1) / 2

    def axes(self, w: torch.Tensor, v: torch.Tensor, gauge: float, each: Each = map) -> Pair:
        """Return principal axes for both sides; norms are part of psi, so that axes can only be rotated."""
        sides = [w[:, : self.vector_size], v[:, : self.vector_size]]
        axes = principal_axes(torch.as_tensor(sum(each(joint_moments, sides)))).double()
        return axes, axes


KERNELS: dict[str, type[Product]] = {"product": Product, "biased": Biased, "squared-norm": SquaredNorm}


def half_squares(rows: torch.Tensor) -> torch.Tensor:
    """Return half the squared norm of each row."""
    return rows.square().sum(dim=-1).div_(2)


def with_columns(kernel: Product, shards: Shards, w: torch.Tensor, v: torch.Tensor, biases: Biases | None) -> Pair:
    """Return blocks of vectors of this rank as blocks of rows on the device, with biases if the kernel has any."""
    sides = [w, v]
    if kernel.extra:
        division = shards.division
        places, wider = [(k, division.slot(k)) for k in division.own], (shards.rows, w.shape[-1] + kernel.extra)
        squares = [(k, float(wide(w[slot]).square().sum() + wide(v[slot]).square().sum())) for k, slot in places]
        columns = kernel.columns(biases, sum(division.by_block(squares)) / shards.size)
        sides = [
            torch.cat([side, shards.own_blocks(column)[..., None]], dim=-1, out=division.empty(*wider))
            for side, column in zip(sides, columns, strict=True)
        ]
    return sent(sides[0], shards.device), sent(sides[1], shards.device)
