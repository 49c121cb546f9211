"""psi = W V^T is unchanged by W A, V A^-T: choosing A.

In the canonical gauge the second moments of both factors are diagonal and in descending order, with signs by rule: two
runs that have found the same psi then have the same vectors. How each axis' strength s is shared out, s^g to vectors
and s^(1 - g) to covectors, leaves psi alone too, but not the cosines of vectors. At 1/2 the factors are balanced;
below, weak axes say more, and vectors tell better what words are like, less well how they relate.
"""

from __future__ import annotations

import numpy as np
import torch

from gensim_hilbert.training.device import wide

# Chosen on the beginning of text8: see benchmarks/RESULTS.md.
GAUGE = {"factorization": 0.35, "gibbs": 0.5}


def canonical(w: torch.Tensor, v: torch.Tensor, gauge: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The same psi with W^T W = S^(2 - 2g) and V^T V = S^(2g), S diagonal, in O(V d^2)."""
    q_w, r_w = torch.linalg.qr(w.double())
    q_v, r_v = torch.linalg.qr(v.double())
    left, strength, right = torch.linalg.svd(r_w @ r_v.T)
    unused = w.shape[1] - len(strength)  # more dimensions than words
    w, v = (q_w @ left) * strength ** (1 - gauge), (q_v @ right.T) * strength**gauge
    w, v = (torch.nn.functional.pad(side, (0, unused)) for side in (w, v))
    # The sign of an axis: its third moment over vectors is positive, which noise hardly flips.
    sign = torch.where((v**3).sum(dim=0) < 0, -1.0, 1.0).double()
    return (w * sign).float(), (v * sign).float()


def summed(w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors plus covectors, centred: averages their noise, but is no longer a factor of psi.

    Covectors are turned first to where they agree with vectors best (orthogonal Procrustes): psi is often negative
    along its strongest axis, and a plain sum would cancel it.
    """
    w, v = (side.numpy() for side in canonical(torch.from_numpy(w), torch.from_numpy(v), 0.5))
    left, _, right = np.linalg.svd(w.T.astype(np.float64) @ v)
    total = v + w @ (left @ right).astype(np.float32)
    return np.ascontiguousarray(total - total.mean(axis=0))


def principal_axes(blocks: list[torch.Tensor]) -> torch.Tensor:
    """An orthogonal matrix that makes the joint second moments of all rows diagonal, strongest first."""
    moments = sum(wide(block.T @ block) for block in blocks)
    assert isinstance(moments, torch.Tensor)
    axes: torch.Tensor = torch.linalg.eigh(moments.cpu())[1]
    return axes.flip(1).to(blocks[0])
