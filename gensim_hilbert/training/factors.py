"""One side of a factorization, covectors or vectors: rows of words in blocks, with their prior and optimiser."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch.optim.adam import adam

from gensim_hilbert._pairs import adam_step
from gensim_hilbert.training.device import Each, multiplied, wide
from gensim_hilbert.training.division import ALIGNMENT, Division
from gensim_hilbert.training.ranks import ALONE

# Short memories: a row sees few of its pairs in each step, so that its gradients come in bursts. Second moments that
# follow them at once keep a burst from moving the row far, and from slowing it down for long afterwards. Objectives
# without a background learn from nothing but these bursts, and do better with long memories.
BETAS, BETAS_OF_PAIRS_ALONE = (0.8, 0.9), (0.9, 0.99)


class Factor:
    """The rows of one side, or of those of its blocks that this rank has; `places` tells where they stand in `rows`.

    Parameters
    ----------
    name : str
        Name of its arrays in a checkpoint.
    rows : tensor, (blocks of this rank and room for more, rows per block, width)
        The rows to start from; changed in place.
    priors : tensor, (n, rows per block)
        Weight of the Gaussian prior on each vector.
    vector_size : int
        How many numbers of a row are its vector.
    locks : tensor, (n, rows per block), optional
        Factors of 0 to 1 for the updates of rows.
    places : Division, optional
        Which blocks this rank has, and where; by default all of them, in their order.
    betas : tuple of float
        How much Adam's moments keep of what they were.
    """

    def __init__(
        self,
        name: str,
        rows: torch.Tensor,
        priors: torch.Tensor,
        vector_size: int,
        locks: torch.Tensor | None = None,
        places: Division | None = None,
        betas: tuple[float, float] = BETAS,
    ):
        self.betas = betas
        self.name, self.rows, self.priors, self.vector_size, self.locks = name, rows, priors, vector_size, locks
        self.first, self.second = zeros_like(rows), zeros_like(rows)
        self.places = Division(ALONE, len(rows)) if places is None else places

    @property
    def blocks(self) -> torch.Tensor:
        """The rows of the words of this rank, (blocks, rows per block, width)."""
        return self.rows[: len(self.places.own)]

    @property
    def parts(self) -> list[torch.Tensor]:
        """The rows and, until they are released, their moments."""
        return [part for part in (self.rows, self.first, self.second) if len(part)]

    def all_blocks(self) -> Iterator[torch.Tensor]:
        """Yield the rows of all words in blocks on rank 0, and send those of this rank elsewhere."""
        return self.places.gathered(self.__getitem__, self.rows[:1].new_empty(self.rows.shape[1:]))

    def __getitem__(self, k: int) -> torch.Tensor:
        return self.rows[self.places.slot(k)]

    def step_all(self, gradient: torch.Tensor, rate: float, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Do the same as `step` for all blocks at once, on any device and without waiting for it."""
        priors = self.places.select(self.priors)
        locks = None if self.locks is None else self.places.select(self.locks)
        rows, first, second = (part[: len(self.places.own)] for part in (self.rows, self.first, self.second))
        return torch_step(rows, gradient, first, second, priors, self.vector_size, self.betas, rate, number + 1, locks)

    def step(self, k: int, gradient: torch.Tensor, rate: float, number: int) -> tuple[float, float]:
        """Move the rows of a block by Adam for the time `number`, from 0; `gradient` is without the prior's.

        Returns twice the prior's loss before the step, and the squared norm of the gradient, the prior's included.
        """
        slot = self.places.slot(k)
        parts = self.rows[slot], gradient, self.first[slot], self.second[slot], self.priors[k]
        rows, slope, first, second, priors = (part.numpy() for part in parts)
        lock = None if self.locks is None else self.locks[k].numpy()
        return adam_step(rows, slope, first, second, priors, self.vector_size, *self.betas, rate, number + 1, lock)

    def prior(self) -> float:
        """Return twice the loss of the prior, over the blocks of all ranks."""
        blocks = ((k, self.rows[self.places.slot(k)]) for k in self.places.numbers())
        losses = [(k, weighted_squares(block[..., : self.vector_size], self.priors[k])) for k, block in blocks]
        return sum(self.places.by_block(losses))

    def turn(self, axes: torch.Tensor, each: Each) -> None:
        """Turn rows and moments to other axes; second moments turn as if components were independent."""
        squares = axes**2

        def turn_block(k: int) -> None:
            for part, by in ((self.rows[k], axes), (self.first[k], axes), (self.second[k], squares)):
                part.copy_(multiplied(part, by))

        for _ in each(turn_block, map(self.places.slot, self.places.numbers())):
            pass

    def release_moments(self) -> None:
        """Give back the memory of the optimiser: no more steps are made."""
        self.first = self.second = self.rows.new_empty(0)

    # ------------------------------------------------------------------ checkpoints

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the arrays that a checkpoint keeps, one per block with its moments, on rank 0; elsewhere send them."""
        example = self.rows.new_empty(3, *self.rows.shape[1:])
        for k, block in enumerate(self.places.gathered(self._with_moments, example)):
            yield f"{self.name}-{k}", block.numpy()

    def _with_moments(self, k: int) -> torch.Tensor:
        """Return a copy of a block and its moments on the host."""
        slot = self.places.slot(k)
        return torch.stack([part[slot] for part in (self.rows, self.first, self.second)]).cpu()

    def restore(self, array: Callable[[str], np.ndarray]) -> None:
        """Go on from the arrays of a checkpoint, which rank 0 reads for all."""

        def keep(k: int, block: torch.Tensor) -> None:
            for part, saved in zip((self.rows, self.first, self.second), block, strict=True):
                part[self.places.slot(k)].copy_(saved)

        example = self.rows.new_empty(3, *self.rows.shape[1:])
        self.places.scattered(lambda k: torch.from_numpy(array(f"{self.name}-{k}")), keep, example)


def zeros_like(rows: torch.Tensor) -> torch.Tensor:
    """Return zeros in the shape of `rows`, with blocks that are as far apart, because blocks may be aligned.

    On the host, the system clears memory when it is first used, by the thread that uses it.
    """
    if rows.device.type != "cpu":
        return torch.empty_strided(rows.shape, rows.stride(), dtype=rows.dtype, device=rows.device).zero_()
    size = 1 + sum((length - 1) * stride for length, stride in zip(rows.shape, rows.stride(), strict=True))
    memory = np.zeros(max(size, 0) + ALIGNMENT, dtype=np.float32)
    start = -memory.ctypes.data // memory.itemsize % ALIGNMENT
    return torch.from_numpy(memory[start:]).as_strided(rows.shape, rows.stride())


def torch_step(
    rows: torch.Tensor,
    gradient: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    priors: torch.Tensor,
    vector_size: int,
    betas: tuple[float, float],
    rate: float,
    step: int,
    lock: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Make the step of `adam_step` on any device."""
    vectors = rows[..., :vector_size]
    prior = (priors * vectors.square().sum(dim=-1)).sum()
    gradient[..., :vector_size].addcmul_(vectors, priors[..., None])
    before = None if lock is None else rows.clone()
    adam(
        [rows],
        [gradient],
        [first],
        [second],
        [],
        [torch.tensor(float(step - 1), device=rows.device if rows.device.type == "cuda" else "cpu")],
        fused=rows.device.type == "cuda",
        amsgrad=False,
        beta1=betas[0],
        beta2=betas[1],
        lr=rate,
        weight_decay=0.0,
        eps=1e-8,
        maximize=False,
    )
    if lock is not None and before is not None:
        torch.lerp(before, rows, lock[..., None], out=rows)
    return prior, gradient.square().sum()


def weighted_squares(x: torch.Tensor, weights: torch.Tensor) -> float:
    """Return the sum of the squares of rows, each row with its weight."""
    return float((wide(torch.linalg.vector_norm(x, dim=-1)).square() * wide(weights)).sum())
