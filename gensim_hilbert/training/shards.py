"""Strided shards of the positives, on their way from the store to the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch

from gensim_hilbert.objectives import Cost, Objective
from gensim_hilbert.training.device import wide

Entries = tuple[torch.Tensor, torch.Tensor]  # places in the flattened shard, values


@dataclass
class Shard:
    """What an objective sees of the cells [i::n, j::n]: a number a row and a column, and the pairs that occur.

    `places` are those of the pairs in the flattened shard, `values` what the objective keeps of their counts. The other
    methods are for writing objectives: sums are in float64.
    """

    i: int
    j: int
    a: torch.Tensor
    b: torch.Tensor
    places: torch.Tensor
    values: torch.Tensor

    @property
    def cells(self) -> int:
        """Their number, those of pairs that do not occur included."""
        return len(self.a) * len(self.b)

    def outer(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Products of a number a row and one a column, for the pairs that occur."""
        return self.at(rows[:, None] * columns)  # faster than to divide places

    def plus(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Sums of a number a row and one a column, for the pairs that occur."""
        return self.at(rows[:, None] + columns)

    def at(self, psi: torch.Tensor) -> torch.Tensor:
        """A matrix like the shard, for the pairs that occur."""
        return psi.view(-1)[self.places]

    def add_(self, psi: torch.Tensor, x: torch.Tensor) -> None:
        """Add a number for each pair that occurs to a matrix like the shard."""
        psi.view(-1).index_add_(0, self.places, x)

    def squares_(self, psi: torch.Tensor, weights: torch.Tensor, phi: torch.Tensor) -> Cost:
        """The loss `weights (psi - phi)^2` over the pairs that occur; psi becomes its derivative, 0 elsewhere."""
        gap = self.at(psi) - phi
        slope = weights * gap
        psi.zero_().view(-1)[self.places] = 2 * slope
        return Cost(self.dot(slope, gap))

    def total(self, psi: torch.Tensor) -> float:
        """The sum of a matrix like the shard."""
        return float(wide(psi.sum(dim=1)).sum())

    def sum(self, x: torch.Tensor) -> float:
        """Over the pairs that occur."""
        return float(wide(x).sum())

    def dot(self, x: torch.Tensor, y: torch.Tensor) -> float:
        """The sum of products over the pairs that occur."""
        return float(wide(x) @ wide(y))


class Shards:
    """Reads shards ahead in a thread, and keeps them in memory where all of them fit into `memory_gb`."""

    def __init__(self, objective: Objective, n: int, device: torch.device, memory_gb: float):
        self.objective, self.n, self.device = objective, n, device
        bytes_needed = 12 * objective.counts.manifest["entries"] * (2 if objective.counts.symmetric else 1)
        self.cache: dict[tuple[int, int], Entries] | None = {} if bytes_needed < memory_gb * (1 << 30) else None
        self.size = len(objective.counts)
        self.a, self.b = self.blocks(objective.contexts), self.blocks(objective.terms)

    def blocks(self, array: np.ndarray, n: int | None = None) -> list[torch.Tensor]:
        """The rows [k::n] of an array, on the device; by default n is that of shards a side."""
        whole, n = torch.from_numpy(np.require(array, np.float32, ["C", "W"])).to(self.device), n or self.n
        return [whole[k::n].clone() for k in range(n)]

    def load(self, i: int, j: int) -> Entries:
        """One shard, on the host; pinned where it will travel."""
        rows, columns, values = self.objective.positives(i, j, self.n)
        places = torch.from_numpy(rows.astype(np.int64) * len(self.b[j]) + columns)
        weights = torch.from_numpy(values.astype(np.float32))
        if self.device.type == "cuda":
            places, weights = places.pin_memory(), weights.pin_memory()
        return places, weights

    def stream(self, order: Iterable[tuple[int, int]]) -> Iterator[Shard]:
        """Shards in the given order, the next one being read while this one is used."""
        with ThreadPoolExecutor(1, thread_name_prefix="gensim_hilbert shards") as reader:
            ahead: Future[Entries] | Entries | None = None
            here: tuple[int, int] | None = None
            for following in [*order, None]:
                waiting = None if following is None else self._ask(following, reader)
                if here is not None and ahead is not None:
                    entries = ahead.result() if isinstance(ahead, Future) else ahead
                    if self.cache is not None:
                        self.cache[here] = entries
                    places, values = (part.to(self.device, non_blocking=True) for part in entries)
                    i, j = here
                    yield Shard(i, j, self.a[i], self.b[j], places, values)
                here, ahead = following, waiting

    def whole(self) -> Iterator[Shard]:
        """All shards, row by row."""
        return self.stream((i, j) for i in range(self.n) for j in range(self.n))

    def _ask(self, key: tuple[int, int], reader: ThreadPoolExecutor) -> Future[Entries] | Entries:
        if self.cache is not None and key in self.cache:
            return self.cache[key]
        return reader.submit(self.load, *key)
