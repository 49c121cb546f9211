"""Strided shards of the positives, on their way from the store to the device."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock

import numpy as np
import torch

from gensim_hilbert.objectives import Cost, Objective
from gensim_hilbert.training.device import wide

Entries = tuple[torch.Tensor, torch.Tensor]  # places in the flattened shard, values
SLAB = 1 << 26  # bytes: the system gives and takes back so many at once
ALIGNED = 64  # bytes


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


class Slabs:
    """Memory for what stays. Among arrays that come and go, it would leave gaps several times as large as itself."""

    def __init__(self) -> None:
        self.free, self.lock = torch.empty(0, dtype=torch.uint8), Lock()

    def keep(self, x: torch.Tensor) -> torch.Tensor:
        """A copy."""
        size = -(-x.nbytes // ALIGNED) * ALIGNED
        with self.lock:
            if size > len(self.free):
                self.free = torch.empty(max(SLAB, size), dtype=torch.uint8)
            room, self.free = self.free[: x.nbytes], self.free[size:]
        return room.view(x.dtype).copy_(x)


class Shards:
    """Reads shards, and keeps them in memory where all of them fit into `memory_gb`."""

    def __init__(self, objective: Objective, n: int, device: torch.device, memory_gb: float):
        self.objective, self.n, self.device = objective, n, device
        bytes_needed = 12 * objective.counts.manifest["entries"] * (2 if objective.counts.symmetric else 1)
        self.cache: dict[tuple[int, int], Entries] | None = {} if bytes_needed < memory_gb * (1 << 30) else None
        self.slabs, self.size = Slabs(), len(objective.counts)
        self.a, self.b = self.blocks(objective.contexts), self.blocks(objective.terms)

    def blocks(self, array: np.ndarray, n: int | None = None) -> list[torch.Tensor]:
        """The rows [k::n] of an array, on the device; by default n is that of shards a side."""
        whole, n = torch.from_numpy(np.require(array, np.float32, ["C", "W"])).to(self.device), n or self.n
        return [whole[k::n].clone() for k in range(n)]

    def __getitem__(self, key: tuple[int, int]) -> Shard:
        """One shard, on the device."""
        return self.made_of(self.read(*key), *key)

    def made_of(self, entries: Entries, i: int, j: int) -> Shard:
        """The shard, on the device, that has these entries."""
        places, values = (part.to(self.device, non_blocking=True) for part in entries)
        return Shard(i, j, self.a[i], self.b[j], places, values)

    def read(self, i: int, j: int) -> Entries:
        """The entries of a shard, on the host; several threads may read at once."""
        entries = None if self.cache is None else self.cache.get((i, j))
        if entries is None:
            entries = self._load(i, j)
            if self.cache is not None:
                self.cache[i, j] = entries
        return entries

    def _load(self, i: int, j: int) -> Entries:
        """From the store to the host; pinned where it will travel."""
        rows, columns, values = self.objective.positives(i, j, self.n)
        places = torch.from_numpy(rows.astype(np.int64) * len(self.b[j]) + columns)
        weights = torch.from_numpy(values.astype(np.float32))
        if self.device.type == "cuda":
            return places.pin_memory(), weights.pin_memory()
        return (places, weights) if self.cache is None else (self.slabs.keep(places), self.slabs.keep(weights))

    def latin(self, numbers: Callable[[int], Iterable[int]] = range) -> list[tuple[int, int]]:
        """All shards as a Latin square: n in a row share neither rows nor columns. `numbers(n)` may be in any order."""
        return [(i, (i + offset) % self.n) for offset in numbers(self.n) for i in numbers(self.n)]
