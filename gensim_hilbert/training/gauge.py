"""psi = W V^T is unchanged by W A, V A^-T: choosing A.

The balanced gauge gives both factors the same second moments, diagonal and in descending order, with signs by rule. Two
runs that have found the same psi then have the same vectors.
"""

from __future__ import annotations

import torch


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


def principal_axes(blocks: list[torch.Tensor]) -> torch.Tensor:
    """An orthogonal matrix that makes the joint second moments of all rows diagonal, strongest first."""
    moments = sum((block.T @ block).double() for block in blocks)
    assert isinstance(moments, torch.Tensor)
    axes: torch.Tensor = torch.linalg.eigh(moments.cpu())[1]
    return axes.flip(1).to(blocks[0])
