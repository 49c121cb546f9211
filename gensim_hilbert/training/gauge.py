"""psi = W V^T is unchanged by W A, V A^-T: choosing A.

The balanced gauge gives both factors the same second moments, diagonal and in descending order, with signs by rule. Two
runs that have found the same psi then have the same vectors.
"""

from __future__ import annotations

import numpy as np
import torch

from gensim_hilbert.training.device import wide


def balanced(w: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The same psi with W^T W = V^T V = diagonal, in O(V d^2)."""
    q_w, r_w = torch.linalg.qr(w.double())
    q_v, r_v = torch.linalg.qr(v.double())
    left, strength, right = torch.linalg.svd(r_w @ r_v.T)
    root = strength.sqrt()
    unused = w.shape[1] - len(root)  # more dimensions than words
    w, v = (torch.nn.functional.pad(side, (0, unused)) for side in ((q_w @ left) * root, (q_v @ right.T) * root))
    # The sign of an axis: its third moment over vectors is positive, which noise hardly flips.
    sign = torch.where((v**3).sum(dim=0) < 0, -1.0, 1.0).double()
    return (w * sign).float(), (v * sign).float()


def summed(w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors plus covectors, centred: averages their noise, but is no longer a factor of psi.

    Covectors are turned first to where they agree with vectors best (orthogonal Procrustes): psi is often negative
    along its strongest axis, and a plain sum would cancel it.
    """
    left, _, right = np.linalg.svd(w.T.astype(np.float64) @ v)
    total = v + w @ (left @ right).astype(np.float32)
    return np.ascontiguousarray(total - total.mean(axis=0))


def principal_axes(blocks: list[torch.Tensor]) -> torch.Tensor:
    """An orthogonal matrix that makes the joint second moments of all rows diagonal, strongest first."""
    moments = sum(wide(block.T @ block) for block in blocks)
    assert isinstance(moments, torch.Tensor)
    axes: torch.Tensor = torch.linalg.eigh(moments.cpu())[1]
    return axes.flip(1).to(blocks[0])
