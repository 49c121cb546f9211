"""psi = W V^T is unchanged by W A, V A^-T: choosing A.

In the canonical gauge the second moments of both factors are diagonal and in descending order, with signs by rule: two
runs that have found the same psi then have the same vectors. How each axis' strength s is shared out, s^g to vectors
and s^(1 - g) to covectors, leaves psi alone too, but not the cosines of vectors. At 1/2 the factors are balanced;
below, weak axes say more, and vectors tell better what words are like, less well how they relate.
"""

from __future__ import annotations

import numpy as np
import torch

from gensim_hilbert.training.device import Each, wide

# See benchmarks/RESULTS.md.
GAUGE = {"factorization": 0.3, "gibbs": 0.5}
ROWS = 1 << 14  # in float64 at a time


def canonical(w: torch.Tensor, v: torch.Tensor, gauge: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The same psi with W^T W = S^(2 - 2g) and V^T V = S^(2g), S diagonal, in O(V d^2)."""
    w, v = w.clone(), v.clone()
    canonical_(w, v, gauge)
    return w, v


def canonical_(w: torch.Tensor, v: torch.Tensor, gauge: float) -> None:
    """The same in place."""
    for side, axes in zip((w, v), canonical_axes(w, v, gauge), strict=True):
        turn_(side, axes)


def canonical_axes(w: torch.Tensor, v: torch.Tensor, gauge: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The matrices that take W and V there, by second moments, so that only some rows are held in float64."""
    to_w, r_w = whitening(w)
    to_v, r_v = whitening(v)
    left, strength, right = torch.linalg.svd(r_w @ r_v.T)
    to_w, to_v = to_w @ left * strength ** (1 - gauge), to_v @ right.T * strength**gauge
    # The sign of an axis: its third moment over vectors is positive, which noise hardly flips.
    third = sum((rows.double() @ to_v).pow_(3).sum(dim=0) for rows in torch.split(v, ROWS))
    sign = torch.where(torch.as_tensor(third) < 0, -1.0, 1.0).double()
    return to_w * sign, to_v * sign


def turn_(rows: torch.Tensor, axes: torch.Tensor) -> None:
    """Multiply by a matrix, in place: vectors, or what they are made of, which turns alike."""
    for some in torch.split(rows, ROWS):
        some.copy_(some.double() @ axes)


def whitening(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A with (X A)^T X A = 1, and R with X = X A R; axes that X does not have are left out of both."""
    moments = torch.zeros(x.shape[1], x.shape[1], dtype=torch.float64)
    for rows in torch.split(x, ROWS):
        moments += rows.double().T @ rows.double()
    squares, axes = torch.linalg.eigh(moments)
    lengths = squares.clamp_min(0).sqrt()
    there = lengths > 1e-7 * lengths.max()  # float32 has no more digits
    return axes * torch.where(there, 1 / lengths.clamp_min(1e-300), 0.0), (axes * (lengths * there)).T


def balancing(w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """By what to multiply the axes of W, and divide those of V, to have both about as strong.

    These are powers of two, so that no digit is lost on the way there and back, but of numbers next to nothing.
    """
    w_squares, v_squares = (np.einsum("ij,ij->j", side, side, dtype=np.float64) for side in (w, v))
    there = (w_squares > 0) & (v_squares > 0)
    ratio = np.divide(v_squares, w_squares, out=np.ones_like(w_squares), where=there)
    exponents = np.round(np.log2(ratio) / 4).clip(-32, 32)
    return np.asarray(np.exp2(exponents), dtype=np.float32)


def summed(w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors plus covectors, centred: averages their noise, but is no longer a factor of psi.

    Covectors are turned first to where they agree with vectors best (orthogonal Procrustes): psi is often negative
    along its strongest axis, and a plain sum would cancel it.
    """
    w, v = (side.numpy() for side in canonical(torch.from_numpy(w), torch.from_numpy(v), 0.5))
    left, _, right = np.linalg.svd(w.T.astype(np.float64) @ v)
    total = v + w @ (left @ right).astype(np.float32)
    return np.ascontiguousarray(total - total.mean(axis=0))


def principal_axes(blocks: list[torch.Tensor], each: Each = map) -> torch.Tensor:
    """An orthogonal matrix that makes the joint second moments of all rows diagonal, strongest first."""
    moments = torch.as_tensor(sum(each(lambda block: wide(block.T @ block), blocks)))
    axes: torch.Tensor = torch.linalg.eigh(moments.cpu())[1]
    return axes.flip(1).to(blocks[0])
