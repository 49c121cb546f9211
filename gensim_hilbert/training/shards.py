"""Strided shards of the positives, on their way from the store to the device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch

from gensim_hilbert.objectives.hilbert import Hilbert

Entries = tuple[torch.Tensor, torch.Tensor]  # places in the flattened shard, values


class Shards:
    """Reads shards ahead in a thread, and keeps them in memory where all of them fit into `memory_gb`."""

    def __init__(self, objective: Hilbert, n: int, device: torch.device, memory_gb: float):
        self.objective, self.n, self.device = objective, n, device
        bytes_needed = 12 * objective.counts.manifest["entries"] * (2 if objective.counts.symmetric else 1)
        self.cache: dict[tuple[int, int], Entries] | None = {} if bytes_needed < memory_gb * (1 << 30) else None
        self.size = len(objective.counts)

    def load(self, i: int, j: int) -> Entries:
        """One shard, on the host; pinned where it will travel."""
        rows, columns, values = self.objective.positives(i, j, self.n)
        width = len(range(j, self.size, self.n))
        places = torch.from_numpy(rows.astype(np.int64) * width + columns)
        weights = torch.from_numpy(values.astype(np.float32))
        if self.device.type == "cuda":
            places, weights = places.pin_memory(), weights.pin_memory()
        return places, weights

    def stream(self, order: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, torch.Tensor, torch.Tensor]]:
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
                    yield here[0], here[1], places, values
                here, ahead = following, waiting

    def _ask(self, key: tuple[int, int], reader: ThreadPoolExecutor) -> Future[Entries] | Entries:
        if self.cache is not None and key in self.cache:
            return self.cache[key]
        return reader.submit(self.load, *key)
