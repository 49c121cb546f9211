"""One side of a factorization, covectors or vectors: rows of words in blocks, with their prior and optimiser."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch.optim.adam import adam

from gensim_hilbert._pairs import adam_step
from gensim_hilbert.training.device import Each, multiplied, wide

BETAS = (0.9, 0.99)


class Factor:
    """The rows of one side, those of block k in `rows[k]`.

    Parameters
    ----------
    name : str
        Name of its arrays in a checkpoint.
    rows : tensor, (n, rows per block, width)
        The rows to start from; changed in place.
    priors : tensor, (n, rows per block)
        Weight of the Gaussian prior on each vector.
    vector_size : int
        How many numbers of a row are its vector.
    locks : tensor, (n, rows per block), optional
        Factors of 0 to 1 for the updates of rows.
    """

    moves_together = False  # Whether all blocks move at once, after each of them had a gradient.

    def __init__(
        self,
        name: str,
        rows: torch.Tensor,
        priors: torch.Tensor,
        vector_size: int,
        locks: torch.Tensor | None = None,
    ):
        self.name, self.rows, self.priors, self.vector_size, self.locks = name, rows, priors, vector_size, locks
        self.first, self.second = torch.zeros_like(rows), torch.zeros_like(rows)
        self.steps = [0] * len(rows)

    @property
    def blocks(self) -> torch.Tensor:
        """The rows of all words, (n, rows per block, width)."""
        return self.rows

    def __getitem__(self, k: int) -> torch.Tensor:
        return self.blocks[k]

    def step_all(self, gradient: torch.Tensor, rate: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Do the same as `step` for all blocks at once, on any device and without waiting for it."""
        self.steps = [steps + 1 for steps in self.steps]
        return torch_step(
            self.rows, gradient, self.first, self.second, self.priors, self.vector_size, rate, self.steps[0], self.locks
        )

    def step(self, k: int, gradient: torch.Tensor, rate: float) -> tuple[float, float]:
        """Move the rows of a block by Adam; `gradient` is without the prior's.

        Returns twice the prior's loss before the step, and the squared norm of the gradient, the prior's included.
        """
        self.steps[k] += 1
        parts = self.rows[k], gradient, self.first[k], self.second[k], self.priors[k]
        rows, slope, first, second, priors = (part.numpy() for part in parts)
        lock = None if self.locks is None else self.locks[k].numpy()
        return adam_step(rows, slope, first, second, priors, self.vector_size, *BETAS, rate, self.steps[k], lock)

    def move_together(self, rate: float) -> None:
        """Where blocks move together, move them: each has had its `step`."""

    def prior(self) -> float:
        """Return twice the loss of the prior."""
        return weighted_squares(self.rows[..., : self.vector_size], self.priors)

    def turn(self, axes: torch.Tensor, each: Each) -> None:
        """Turn rows and moments to other axes; second moments turn as if components were independent."""
        squares = axes**2

        def turn_block(k: int) -> None:
            for part, by in ((self.rows[k], axes), (self.first[k], axes), (self.second[k], squares)):
                part.copy_(multiplied(part, by))

        for _ in each(turn_block, range(len(self.rows))):
            pass

    def release_moments(self) -> None:
        """Give back the memory of the optimiser: no more steps are made."""
        self.first = self.second = self.rows.new_empty(0)

    # ------------------------------------------------------------------ checkpoints

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the arrays that a checkpoint keeps."""
        for suffix, part in (("", self.rows), ("_first", self.first), ("_second", self.second)):
            yield f"{self.name}{suffix}", part.cpu().numpy()

    def restore(self, array: Callable[[str], np.ndarray], steps: list[int]) -> None:
        """Go on from the arrays of a checkpoint and Adam's step count for each block."""
        for suffix, part in (("", self.rows), ("_first", self.first), ("_second", self.second)):
            part.copy_(torch.from_numpy(array(f"{self.name}{suffix}")))
        self.steps = list(steps)


def torch_step(
    rows: torch.Tensor,
    gradient: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    priors: torch.Tensor,
    vector_size: int,
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
        beta1=BETAS[0],
        beta2=BETAS[1],
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
