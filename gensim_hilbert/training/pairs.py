"""The pairs of words that occur in a shard: products of their rows, and what they add to the rows' gradients.

On the host the loops are in Cython, one thread per shard; elsewhere they are gathers and sums over bags in torch.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from gensim_hilbert._pairs import (
    SparseMatrix,
    add_products,
    gather_words,
    hide_in_columns,
    hide_in_rows,
    pair_products,
    transpose,
)
from gensim_hilbert.objectives import Pairs
from gensim_hilbert.training.device import sent

CHUNK = 1 << 18  # Pairs whose rows are gathered at once on a device.


class AnyPairs(Protocol):
    """What kernels ask of pairs, wherever they are."""

    @property
    def row_numbers(self) -> torch.Tensor:
        """The row of each pair."""

    @property
    def column_numbers(self) -> torch.Tensor:
        """The column of each pair."""

    def products(self, w: torch.Tensor, v: torch.Tensor, vector_size: int) -> torch.Tensor:
        """Return w_i . v_j of all pairs, over the first `vector_size` columns."""

    def add_gradients(
        self,
        slope: torch.Tensor,
        w: torch.Tensor,
        v: torch.Tensor,
        to_w: torch.Tensor,
        to_v: torch.Tensor,
        vector_size: int,
    ) -> None:
        """Add `slope` times v_j to the row of w_i in `to_w`, and `slope` times w_i to that of v_j in `to_v`."""


class HostPairs:
    """Pairs in CSR form: those of row i have the columns `columns[starts[i] : starts[i + 1]]`, of `width` columns."""

    def __init__(self, matrix: SparseMatrix, width: int):
        self.matrix, self.width = matrix, width

    def __len__(self) -> int:
        return len(self.matrix)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the pairs of each row start, and where those of the last one end."""
        return self.matrix.starts

    @cached_property
    def columns(self) -> np.ndarray:
        """The column of each pair."""
        return self.matrix.columns

    @cached_property
    def values(self) -> torch.Tensor:
        """The value of each pair."""
        return torch.from_numpy(self.matrix.values)

    @cached_property
    def row_numbers(self) -> torch.Tensor:
        """The row of each pair."""
        return torch.from_numpy(np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts)))

    @cached_property
    def column_numbers(self) -> torch.Tensor:
        """The column of each pair."""
        return torch.from_numpy(self.columns)

    @property
    def places(self) -> torch.Tensor:
        """Where the pairs stand in the flattened shard."""
        return self.row_numbers.long() * self.width + self.column_numbers

    def with_words(self, a: torch.Tensor, b: torch.Tensor) -> Pairs:
        """Return the values of all pairs beside the numbers of their rows and columns."""
        return with_words([self.matrix], [(0, 0)], a[None], b[None])

    def products(self, w: torch.Tensor, v: torch.Tensor, vector_size: int) -> torch.Tensor:
        """Return w_i . v_j of all pairs, over the first `vector_size` columns."""
        psi = torch.empty(len(self))
        pair_products(w.numpy(), v.numpy(), vector_size, self.starts, self.columns, psi.numpy())
        return psi

    def add_gradients(
        self,
        slope: torch.Tensor,
        w: torch.Tensor,
        v: torch.Tensor,
        to_w: torch.Tensor,
        to_v: torch.Tensor,
        vector_size: int,
    ) -> None:
        """Add `slope` times v_j to the row of w_i in `to_w`, and `slope` times w_i to that of v_j in `to_v`."""
        slopes = slope.numpy()
        add_products(slopes, v.numpy(), vector_size, self.starts, self.columns, to_w.numpy())
        starts, rows, turned = self.transposed(slopes)
        add_products(turned, w.numpy(), vector_size, starts, rows, to_v.numpy())

    def transposed(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return starts, row numbers and values of the transposed CSR matrix."""
        starts = np.empty(self.width + 1, dtype=np.int32)
        rows, turned = np.empty(len(self), dtype=np.int32), np.empty(len(self), dtype=np.float32)
        transpose(self.starts, self.columns, values, starts, rows, turned)
        return starts, rows, turned

    def missing_selves(self) -> HostPairs:
        """Return the pairs of a row with the column of the same number that are not among these, with values of 0."""
        are_missing = np.ones(len(self.starts) - 1, dtype=bool)
        rows = np.repeat(np.arange(len(are_missing)), np.diff(self.starts))
        are_missing[rows[rows == self.columns]] = False
        starts = np.concatenate([[0], np.cumsum(are_missing)]).astype(np.int32)
        columns = np.flatnonzero(are_missing).astype(np.int32)
        return HostPairs(SparseMatrix(starts, columns, np.zeros(len(columns), dtype=np.float32)), self.width)

    def hide(self, x: torch.Tensor, numbers: np.ndarray, of_rows: bool) -> None:
        """Set the cells of pairs that occur to 0, in a matrix of all rows (else all columns) by some of the others."""
        if of_rows:
            slots = np.full(self.width, -1, dtype=np.int32)
            slots[numbers] = np.arange(len(numbers), dtype=np.int32)
            hide_in_rows(x.numpy(), self.starts, self.columns, slots)
        else:
            hide_in_columns(x.numpy(), self.starts, self.columns, numbers)


class DevicePairs:
    """The pairs of several shards on any device, with rows and columns numbered as in the concatenated blocks.

    The k-th shard has the rows of the k-th block in `w` and the columns of the k-th block in `v`.
    """

    def __init__(self, shards: Iterable[HostPairs], device: torch.device):
        parts = list(shards)
        rows, width = len(parts[0].starts) - 1, parts[0].width
        counts = np.concatenate([np.diff(part.starts) for part in parts])
        columns = np.concatenate([part.columns.astype(np.int64) + k * width for k, part in enumerate(parts)])
        row_numbers = np.repeat(np.arange(len(parts) * rows), counts)
        order = np.argsort(columns, kind="stable")
        by_column = np.bincount(columns, minlength=len(parts) * width)
        self.values = sent(torch.cat([part.values for part in parts]), device)
        self.row_numbers, self.column_numbers, self.order, self.starts, self.column_starts = (
            sent(torch.from_numpy(array), device)
            for array in (row_numbers, columns, order, starts_of(counts), starts_of(by_column))
        )

    def __len__(self) -> int:
        return len(self.values)

    def with_words(self, a: torch.Tensor, b: torch.Tensor) -> Pairs:
        """Return the values of all pairs beside the numbers of their rows and columns."""
        return Pairs(self.values, a[self.row_numbers], b[self.column_numbers])

    def products(self, w: torch.Tensor, v: torch.Tensor, vector_size: int) -> torch.Tensor:
        """Return w_i . v_j of all pairs, over the first `vector_size` columns."""
        w, v = w[:, :vector_size], v[:, :vector_size]
        parts = zip(torch.split(self.row_numbers, CHUNK), torch.split(self.column_numbers, CHUNK), strict=True)
        return torch.cat([(w[rows] * v[columns]).sum(dim=1) for rows, columns in parts])

    def add_gradients(
        self,
        slope: torch.Tensor,
        w: torch.Tensor,
        v: torch.Tensor,
        to_w: torch.Tensor,
        to_v: torch.Tensor,
        vector_size: int,
    ) -> None:
        """Add `slope` times v_j to the row of w_i in `to_w`, and `slope` times w_i to that of v_j in `to_v`."""
        w, v = w[:, :vector_size], v[:, :vector_size]
        to_w[:, :vector_size] += bag_sums(self.column_numbers, v, self.starts, slope)
        to_v[:, :vector_size] += bag_sums(self.row_numbers[self.order], w, self.column_starts, slope[self.order])


def with_words(matrices: list[SparseMatrix], keys: list[tuple[int, int]], a: torch.Tensor, b: torch.Tensor) -> Pairs:
    """Return the values of the pairs of several shards beside the numbers of their rows and columns, by blocks."""
    total = sum(map(len, matrices))
    found = Pairs(torch.empty(total), torch.empty(total), torch.empty(total))
    gather_words(matrices, keys, a.numpy(), b.numpy(), *(part.numpy() for part in found))
    return found


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Return where each of some consecutive groups starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)])


def bag_sums(numbers: torch.Tensor, rows: torch.Tensor, starts: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return weighted sums of rows: a sparse matrix in CSR form times a dense one, in the same order on every run."""
    sums: torch.Tensor = embedding_bag(
        numbers, rows.contiguous(), starts, mode="sum", per_sample_weights=weights, include_last_offset=True
    )
    return sums
