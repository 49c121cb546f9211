"""The pairs of a shard that occur: products of their rows, and what a derivative by psi adds to the rows' gradients.

On the host the loops are in Cython, one thread per shard; on other devices they are gathers and scatters in torch.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch

from gensim_hilbert._pairs import add_products, hide_pairs, hide_pairs_of, pair_products, transpose
from gensim_hilbert.objectives import Pairs


class HostPairs:
    """Pairs in CSR form: those of row i have the columns `columns[starts[i] : starts[i + 1]]`."""

    def __init__(self, starts: np.ndarray, columns: np.ndarray, values: torch.Tensor, width: int):
        self.starts, self.columns, self.values, self.width = starts, columns, values, width

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def row_numbers(self) -> torch.Tensor:
        """The row of each pair."""
        return torch.from_numpy(np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts)))

    @cached_property
    def column_numbers(self) -> torch.Tensor:
        """The column of each pair."""
        return torch.from_numpy(self.columns)

    def with_words(self, a: torch.Tensor, b: torch.Tensor) -> Pairs:
        """Return the values of all pairs beside the numbers of their rows and columns."""
        return Pairs(self.values, a.index_select(0, self.row_numbers), b.index_select(0, self.column_numbers))

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
        turned = self.transposed(slopes)
        add_products(turned[2], w.numpy(), vector_size, turned[0], turned[1], to_v.numpy())

    def transposed(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return starts, row numbers and values of the transposed CSR matrix."""
        starts = np.empty(self.width + 1, dtype=np.int32)
        rows, turned = np.empty(len(self), dtype=np.int32), np.empty(len(self), dtype=np.float32)
        transpose(self.starts, self.columns, values, starts, rows, turned)
        return starts, rows, turned

    def hide_in_columns(self, x: torch.Tensor, columns: np.ndarray) -> None:
        """Set to 0, in a matrix of all rows and some columns, the cells of pairs that occur."""
        slots = np.full(self.width, -1, dtype=np.int32)
        slots[columns] = np.arange(len(columns), dtype=np.int32)
        hide_pairs(x.numpy(), self.starts, self.columns, slots, 0.0)

    def hide_in_rows(self, x: torch.Tensor, rows: np.ndarray) -> None:
        """Set to 0, in a matrix of some rows and all columns, the cells of pairs that occur."""
        hide_pairs_of(x.numpy(), self.starts, self.columns, rows, 0.0)

    @property
    def places(self) -> torch.Tensor:
        """Where the pairs stand in the flattened shard."""
        return self.row_numbers.long() * self.width + self.column_numbers
