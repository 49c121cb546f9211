"""Strided shards of the pairs that occur, on their way from the store to the device.

Words are arranged in n blocks: block k holds the words k, k + n, k + 2n, ... All blocks have the same number of rows;
the last row of some blocks is padding, with zeros everywhere.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import DTypeLike

from gensim_hilbert._pairs import sparse_matrices
from gensim_hilbert.objectives import Objective
from gensim_hilbert.training.device import sent
from gensim_hilbert.training.division import Division
from gensim_hilbert.training.order import reversed_digits
from gensim_hilbert.training.pairs import HostPairs
from gensim_hilbert.training.ranks import ALONE, Ranks

SLAB = 1 << 26  # Bytes that are requested from the system at once.
ALIGNMENT = 64  # Bytes.
BYTES_PER_PAIR = 8


class Shard(NamedTuple):
    """The cells [i::n, j::n]: numbers of their rows and columns, and the pairs that occur.

    `selves` are the pairs of a word with itself that do not occur. Their psi may be very large, since a word is like
    itself, so they are never left to samples.
    """

    i: int
    j: int
    a: torch.Tensor
    b: torch.Tensor
    pairs: HostPairs
    selves: HostPairs | None = None


class Slabs:
    """Memory for arrays that stay. Allocated among short-lived arrays, they would leave gaps larger than themselves."""

    def __init__(self) -> None:
        self.free, self.lock = np.empty(0, dtype=np.uint8), Lock()

    def empty(self, size: int, dtype: DTypeLike) -> np.ndarray:
        """Return an array that lies in a slab."""
        wanted = size * np.dtype(dtype).itemsize
        padded = -(-wanted // ALIGNMENT) * ALIGNMENT
        with self.lock:
            if padded > len(self.free):
                self.free = np.empty(max(SLAB, padded), dtype=np.uint8)
            room, self.free = self.free[:wanted], self.free[padded:]
        return room.view(dtype)

    def keep(self, x: np.ndarray) -> np.ndarray:
        """Return a copy that lies in a slab."""
        copy = self.empty(len(x), x.dtype)
        copy[:] = x
        return copy


class Shards:
    """Reads shards, and keeps them in memory if those of this rank fit into `memory_gb`."""

    def __init__(self, objective: Objective, n: int, device: torch.device, memory_gb: float, ranks: Ranks = ALONE):
        self.objective, self.n, self.device, self.size = objective, n, device, len(objective.counts)
        self.rows = -(-self.size // n)
        self.division = Division(ranks, n)
        self.pairs = objective.counts.manifest["entries"] * (2 if objective.counts.symmetric else 1)  # At most.
        share = len(self.division.own) / n
        fits = share * (BYTES_PER_PAIR * self.pairs + 4 * n * self.size) < memory_gb * (1 << 30)
        self.cache: dict[tuple[int, int], HostPairs] | None = {} if fits else None
        self.slabs = Slabs()
        self._arrange_words()
        sides = objective.contexts, objective.terms
        self.context_sums, self.term_sums = ([float(side[k::n].sum()) for k in range(n)] for side in sides)

    def by_chance(self, i: int, j: int) -> float:
        """Return the sum of a_i b_j over the cells of a shard, its mass where psi is 0."""
        return self.context_sums[i] * self.term_sums[j]

    def on_host(self) -> Shards:
        """Return the same shards, sharing what is kept of them in memory, with all numbers on the host."""
        twin = copy.copy(self)
        twin.device = torch.device("cpu")
        twin._arrange_words()
        return twin

    def _arrange_words(self) -> None:
        """Send the numbers of words to the device, as a whole and by blocks."""
        self.a, self.b = self.arranged(self.objective.contexts), self.arranged(self.objective.terms)
        self._blocks_of_words = self.a.unbind(), self.b.unbind()

    def arranged(self, array: np.ndarray) -> torch.Tensor:
        """Return the rows of an array, one per word, in blocks on the device: (n, rows, ...) in float32."""
        blocks = torch.empty(self.n, self.rows, *array.shape[1:])
        return sent(self._fill(blocks, array, range(self.n)), self.device)

    def own_blocks(self, array: np.ndarray) -> torch.Tensor:
        """Return the rows of an array that this rank has, in blocks on the host."""
        return self._fill(self.division.empty(self.rows, *array.shape[1:]), array, self.division.numbers())

    def _fill(self, blocks: torch.Tensor, array: np.ndarray, numbers: Iterable[int]) -> torch.Tensor:
        blocks.zero_()
        for slot, k in enumerate(numbers):
            part = array[k :: self.n]
            blocks[slot, : len(part)] = torch.from_numpy(np.asarray(part, dtype=np.float32))
        return blocks

    def restored(self, blocks: Iterable[torch.Tensor]) -> np.ndarray:
        """Return rows in blocks as an array with one row per word; an empty one if there are no blocks."""
        whole = np.empty((0, 0), dtype=np.float32)
        for k, block in enumerate(blocks):
            if not k:
                whole = np.empty((self.size, *block.shape[1:]), dtype=np.float32)
            part = whole[k :: self.n]
            part[:] = block[: len(part)].cpu().numpy()
        return whole

    def __getitem__(self, key: tuple[int, int]) -> Shard:
        """Return one shard; several threads may read at once."""
        i, j = key
        (kept,) = self.pairs_of([key])
        pairs = HostPairs(kept.matrix, kept.width)  # What a copy computes is not kept.
        of_rows, of_columns = self._blocks_of_words
        return Shard(i, j, of_rows[i], of_columns[j], pairs, pairs.missing_selves() if i == j else None)

    def pairs_of(self, keys: list[tuple[int, int]]) -> list[HostPairs]:
        """Return the pairs of some shards, as they are kept; those that are not yet are read together."""
        if self.cache is None:
            return self._load(keys)
        missing = [key for key in keys if key not in self.cache]
        if missing:
            self.cache.update(zip(missing, self._load(missing), strict=True))
        return [self.cache[key] for key in keys]

    def _load(self, keys: list[tuple[int, int]]) -> list[HostPairs]:
        """Read shards from the store."""
        empty = np.empty if self.cache is None else self.slabs.empty
        table = self.objective.read_shards(keys, self.n, empty)
        starts = empty(table.starts.size, np.int32).reshape(table.starts.shape)
        starts[:] = table.starts
        return [HostPairs(matrix, self.rows) for matrix in sparse_matrices(starts, table.columns, table.values)]

    def latin(self, offsets: Iterable[int] | None = None) -> list[tuple[int, int]]:
        """Return all shards as a Latin square: n in a row share neither rows nor columns.

        In each row, block i of rows meets block i + offset of columns, for offsets in the given order, or in that of
        their reversed digits, in which blocks rarely have to travel.
        """
        return [
            (i, (i + offset) % self.n)
            for offset in (reversed_digits(self.n) if offsets is None else offsets)
            for i in range(self.n)
        ]
