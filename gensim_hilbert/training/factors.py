"""One side of a factorisation, covectors or vectors: rows of words in strided blocks, with prior and optimiser."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch.optim.adam import adam

from gensim_hilbert.training.device import Each, wide

BETAS = (0.9, 0.99)
FUSED = ("cpu", "cuda")  # where torch makes one pass over memory of Adam's step, which takes its time for that


class Moments:
    """Adam's state for one block of rows."""

    def __init__(self, rows: torch.Tensor):
        self.first, self.second = torch.zeros_like(rows), torch.zeros_like(rows)
        self.steps = 0

    def step(self, rows: torch.Tensor, gradient: torch.Tensor, rate: float, lock: torch.Tensor | None) -> None:
        """Move the rows; those with lock 0 stay."""
        before = rows if lock is None else rows.clone()
        fused = rows.device.type in FUSED
        adam(
            [rows],
            [gradient],
            [self.first],
            [self.second],
            [],
            [torch.full((), float(self.steps), device=rows.device if fused else "cpu")],
            fused=fused,
            amsgrad=False,
            beta1=BETAS[0],
            beta2=BETAS[1],
            lr=rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )
        self.steps += 1
        if lock is not None:
            torch.lerp(before, rows, lock, out=rows)

    def turn(self, axes: torch.Tensor) -> None:
        """Follow the rows to other axes; variances turn as if components were independent."""
        self.first, self.second = self.first @ axes, self.second @ axes**2


class Factor:
    """The rows of one side, those of the words [k::n] in block k.

    Parameters
    ----------
    name : str
        Of its arrays in a checkpoint.
    blocks : list of tensors
        The rows to start from.
    priors : list of tensors
        Weights of a Gaussian prior on vectors, a column for each block.
    vector_size : int
        How much of a row is a vector.
    locks : list of tensors, optional
        Factors of 0 to 1 for the updates of rows.
    """

    together = False  # whether all blocks move at once

    def __init__(
        self,
        name: str,
        blocks: list[torch.Tensor],
        priors: list[torch.Tensor],
        vector_size: int,
        locks: list[torch.Tensor] | None = None,
    ):
        self.name, self.blocks, self.priors, self.vector_size, self.locks = name, blocks, priors, vector_size, locks
        self.reset_moments()

    def __getitem__(self, k: int) -> torch.Tensor:
        return self.blocks[k]

    @property
    def rows(self) -> list[torch.Tensor]:
        """What is learnt, and what goes to checkpoints: the blocks themselves."""
        return self.blocks

    def reset_moments(self) -> None:
        """Forget what the optimiser has learnt."""
        self.moments = [Moments(rows) for rows in self.rows]

    def prior(self, k: int) -> float:
        """Twice the loss of the prior on a block."""
        return squares(self.blocks[k][:, : self.vector_size], self.priors[k])

    def slope(self, k: int, room: torch.Tensor) -> torch.Tensor:
        """The gradient by the rows of a block, as far as it comes from the prior; the rest is to be added there."""
        gradient = room[: len(self.blocks[k])]
        torch.mul(self.blocks[k][:, : self.vector_size], self.priors[k], out=gradient[:, : self.vector_size])
        gradient[:, self.vector_size :] = 0
        return gradient

    def step(self, k: int, slope: torch.Tensor, rate: float) -> None:
        """Move the rows of a block."""
        lock = None if self.locks is None else self.locks[k]
        self.moments[k].step(self.blocks[k], slope, rate, lock)

    def step_together(self, rate: float) -> None:
        """Where blocks move together: now each has had its `step`."""

    def turn(self, axes: torch.Tensor, each: Each) -> None:
        """To other axes, `each` block by itself."""

        def turn_block(k: int) -> None:
            self.blocks[k] = self.blocks[k] @ axes
            self.moments[k].turn(axes)

        for _ in each(turn_block, range(len(self.blocks))):
            pass

    # ------------------------------------------------------------------ copies

    def copy(self) -> list[torch.Tensor]:
        """The rows, to step back to."""
        return [rows.clone() for rows in self.rows]

    def step_back(self, copy: list[torch.Tensor]) -> None:
        """Have the rows of a copy, and none of the optimiser's memory."""
        self.blocks = [rows.clone() for rows in copy]
        self.reset_moments()

    def moment_steps(self) -> list[int]:
        """Of each block."""
        return [moments.steps for moments in self.moments]

    def moment_arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Adam's memory, as a checkpoint keeps it."""
        yield f"{self.name}_first", joined([moments.first for moments in self.moments]).numpy()
        yield f"{self.name}_second", joined([moments.second for moments in self.moments]).numpy()

    def restore_moments(self, blocks_of: Callable[[str], list[torch.Tensor]], steps: list[int]) -> None:
        """What `moment_steps` and `moment_arrays` have told; `blocks_of` gives an array by its name, as blocks."""
        first, second = blocks_of(f"{self.name}_first"), blocks_of(f"{self.name}_second")
        for k, moments in enumerate(self.moments):
            moments.first, moments.second, moments.steps = first[k], second[k], steps[k]


def squares(x: torch.Tensor, weights: torch.Tensor) -> float:
    """The sum of the squares of a matrix, its rows weighted."""
    return float(wide(torch.linalg.vector_norm(x, dim=1)).square() @ wide(weights[:, 0]))


def joined(blocks: list[torch.Tensor]) -> torch.Tensor:
    """Blocks of rows as one matrix, on the host."""
    whole = torch.empty(sum(map(len, blocks)), blocks[0].shape[1])
    for k, block in enumerate(blocks):
        whole[k :: len(blocks)] = block.cpu()
    return whole
