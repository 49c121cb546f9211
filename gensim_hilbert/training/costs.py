"""What a visit of a shard takes, by which `background="auto"` chooses between all cells and a sample of them.

Prices on the host are nanoseconds of one core. They were fitted to the times of 24 shards of 63 to 1,023 rows, with 50
to 300 dimensions, and are within a tenth of most of them (benchmarks/RESULTS.md). Only their ratios matter, which
differ less between machines than speed does. Prices on a GPU have not been measured: they follow from 20 TFLOP/s and
500 GB/s.
"""

from __future__ import annotations

from typing import NamedTuple


class Prices(NamedTuple):
    """Nanoseconds for a shard, for each of its cells that is computed, and for each pair that occurs.

    Those of cells and pairs have a part that grows with the number of dimensions.
    """

    shard: float
    cell: float
    cell_dimension: float
    pair: float
    pair_dimension: float

    def of(self, cells: float, pairs: float, vector_size: int) -> float:
        """Return the nanoseconds for one shard."""
        for_cells = cells * (self.cell + self.cell_dimension * vector_size)
        return self.shard + for_cells + pairs * (self.pair + self.pair_dimension * vector_size)


DENSE = Prices(58_000, 1.2, 0.052, 8.4, 0.0)
SAMPLED = Prices(154_000, 1.4, 0.071, 8.9, 0.098)
COMPILED = Prices(26_000, 1.1, 0.033, 6.8, 0.091)
DENSE_ON_GPU = Prices(0, 0.05, 0.0003, 0.1, 0.024)
SAMPLED_ON_GPU = Prices(0, 0.1, 0.0004, 0.1, 0.024)

WORTH = 2.0  # All cells are visited if that takes up to so many times as long: the gradients are then exact.


def prefers_dense(sampled: Prices, dense: Prices, rows: int, columns: int, pairs: float, vector_size: int) -> bool:
    """Whether to visit all cells of shards with so many rows, columns to draw, and pairs that occur on average."""
    cells, drawn = rows**2, rows * min(columns, rows)
    return dense.of(cells, pairs, vector_size) <= WORTH * sampled.of(drawn, pairs, vector_size)
