"""The choice of A among all W A and V A^-T, which have the same psi = W V^T.

In the canonical gauge the second moments of both factors are diagonal and in descending order, and a rule determines
signs. Two runs that have found the same psi then have the same vectors. The strength s of each axis is divided: with m
for the mean strength,

    covectors have  (1 - g) s + g m,    vectors  s / ((1 - g) s + g m),

times a constant. This does not change psi, but the cosines of vectors. At g = 1 vectors have the whole strength, at
g = 0 none. In between, axes that are much stronger than m g / (1 - g) are equally long, so that no few of them decide
which words are alike, and much weaker ones, which are mostly noise, are as short as they are weak.

The scale c makes both factors equally long on the whole, so that neither the gauge nor the number of words decides how
long vectors are. Networks that read them as they are depend on it.

If a model had vectors before, the result is turned onto them: both factors are multiplied by the same orthogonal
matrix, which changes neither psi nor any length or angle.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from gensim_hilbert.training.device import Each, threads, wide
from gensim_hilbert.training.fit import Anchor, Fitted

ROWS = 1 << 12  # Rows that are converted to float64 at a time.
LEAST_STRENGTH = 1e-7  # Axes that are weaker than this part of the strongest are none: float32 has no more digits.


def canonical(w: torch.Tensor, v: torch.Tensor, gauge: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return W and V with the same psi and length, whose second moments are those of the module's docstring."""
    w, v = w.clone(), v.clone()
    canonical_(w, v, gauge)
    return w, v


def canonical_(w: torch.Tensor, v: torch.Tensor, gauge: float) -> None:
    """Do the same as `canonical` in place."""
    for side, axes in zip((w, v), canonical_axes(w, v, gauge), strict=True):
        turn_(side, axes)


def canonical_axes(
    w: torch.Tensor, v: torch.Tensor, gauge: float, each: Each = map
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the matrices by which to multiply W and V; they follow from second moments, some rows at a time."""
    to_w, r_w = whitening(w, each)
    to_v, r_v = whitening(v, each)
    left, strength, right = torch.linalg.svd(r_w @ r_v.T)
    of_w, of_v = divided(strength, gauge)
    scale = (of_w.norm() / of_v.norm()).sqrt() if strength.any() else 1.0
    to_w, to_v = to_w @ left * (of_w / scale), to_v @ right.T * (of_v * scale)
    # Signs are such that third moments over vectors are positive, which noise rarely flips.
    third = sum(each(lambda rows: (rows.double() @ to_v).pow_(3).sum(dim=0), torch.split(v, ROWS)))
    sign = torch.where(torch.as_tensor(third) < 0, -1.0, 1.0).double()
    return to_w * sign, to_v * sign


def divided(strength: torch.Tensor, gauge: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what covectors and vectors have of the strength of each axis, by the module's docstring."""
    there = strength > LEAST_STRENGTH * strength.max()
    if not there.any():
        return torch.zeros_like(strength), torch.zeros_like(strength)
    of_w = torch.where(there, (1 - gauge) * strength + gauge * strength[there].mean(), 0.0)
    return of_w, torch.where(there, strength / of_w, 0.0)


def turn_(rows: torch.Tensor, axes: torch.Tensor, each: Each = map) -> None:
    """Multiply rows by a matrix in place: vectors, or the rows that vectors are made of."""
    for _ in each(lambda some: some.copy_(some.double() @ axes), torch.split(rows, ROWS)):
        pass


def whitening(x: torch.Tensor, each: Each = map) -> tuple[torch.Tensor, torch.Tensor]:
    """Return A with (X A)^T X A = 1, and R with X = X A R; axes that X does not have are left out of both."""
    lengths, axes = principal_lengths(moments_of(x, each))
    return axes * inverse(lengths), (axes * lengths).T


def principal_lengths(moments: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the roots of the eigenvalues of X^T X, 0 for axes that X does not have, and the axes."""
    squares, axes = torch.linalg.eigh(moments)
    lengths = squares.clamp_min(0).sqrt()
    return torch.where(lengths > LEAST_STRENGTH * lengths.max(), lengths, 0.0), axes


def inverse(lengths: torch.Tensor) -> torch.Tensor:
    """Return 1 / lengths, and 0 where they are 0."""
    return torch.where(lengths > 0, 1 / lengths.clamp_min(1e-300), 0.0)


def moments_of(x: torch.Tensor, each: Each = map) -> torch.Tensor:
    """Return X^T X in float64."""
    return torch.as_tensor(sum(each(second_moments, torch.split(x, ROWS))))


def second_moments(rows: torch.Tensor) -> torch.Tensor:
    """Return X^T X of some rows in float64."""
    rows = rows.double()
    return rows.T @ rows


def balancing(w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return factors for the axes of W, by which those of V are divided, that make both about equally strong.

    They are powers of two, so that multiplying and dividing again loses no digits (except of denormal numbers). If W is
    zero, vectors get about the length 1, whatever their scale.
    """
    w_squares, v_squares = (np.einsum("ij,ij->j", side, side, dtype=np.float64) for side in (w, v))
    if not w_squares.any() and v_squares.any():
        length = math.sqrt(v_squares.sum() / len(v))
        return np.full(len(v_squares), 2.0 ** max(-32, min(32, round(math.log2(length)))), dtype=np.float32)
    there = (w_squares > 0) & (v_squares > 0)
    ratio = np.divide(v_squares, w_squares, out=np.ones_like(w_squares), where=there)
    exponents = np.round(np.log2(ratio) / 4).clip(-32, 32)
    return np.asarray(np.exp2(exponents), dtype=np.float32)


def summed(w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return vectors plus covectors, centred. The sums average out noise, but are no factors of psi any more.

    Covectors are first given the second moments of the vectors, by symmetric roots, so that the sums have the gauge of
    the vectors. Then they are rotated so that they agree best with the vectors (orthogonal Procrustes), because psi is
    often negative along its strongest axis, which a plain sum would cancel.
    """
    covectors, vectors = torch.from_numpy(w), torch.from_numpy(v)
    (w_lengths, w_axes), (v_lengths, v_axes) = (principal_lengths(moments_of(side)) for side in (covectors, vectors))
    like_vectors = (w_axes * inverse(w_lengths)) @ w_axes.T @ (v_axes * v_lengths) @ v_axes.T
    parts = zip(torch.split(covectors, ROWS), torch.split(vectors, ROWS), strict=True)
    both = torch.as_tensor(sum(some.double().T @ others.double() for some, others in parts))
    total = v + w @ (like_vectors @ procrustes(like_vectors.T @ both)).float().numpy()
    return np.ascontiguousarray(total - total.mean(axis=0))


def turn_onto(anchor: Anchor, fitted: Fitted, vectors: np.ndarray) -> Fitted:
    """Return a result whose `vectors`, which are made of its parameters, come as near to the anchor as a turn can."""
    sides = [torch.tensor(side) for side in (fitted.covectors, fitted.parameters)]
    with threads(1):  # The result is then rounded the same for any number of threads.
        axes = nearest_turn(anchor, torch.from_numpy(vectors))
        for side in sides:
            turn_(side, axes)
    return fitted._replace(covectors=sides[0].numpy(), parameters=sides[1].numpy())


def nearest_turn(anchor: Anchor, vectors: torch.Tensor) -> torch.Tensor:
    """Return the orthogonal matrix Q for which V Q is nearest to the anchor.

    Long vectors have more weight: they are those about which much is known.
    """
    moments = torch.zeros(vectors.shape[1], vectors.shape[1], dtype=torch.float64)
    parts = (torch.split(torch.as_tensor(part), ROWS) for part in (anchor.rows, anchor.vectors))
    for rows, old in zip(*parts, strict=True):
        moments += vectors[rows].double().T @ old.double()
    return procrustes(moments)


def procrustes(moments: torch.Tensor) -> torch.Tensor:
    """Return the orthogonal matrix Q for which X Q is nearest to Y, given X^T Y."""
    left, _, right = torch.linalg.svd(moments)
    return torch.as_tensor(left @ right)


def joint_moments(block: torch.Tensor) -> torch.Tensor:
    """Return X^T X of a block, computed in float32, on the host in float64."""
    return wide(block.T @ block).cpu()


def principal_axes(moments: torch.Tensor) -> torch.Tensor:
    """Return in float32 an orthogonal matrix that makes second moments diagonal, strongest axis first."""
    axes: torch.Tensor = torch.linalg.eigh(moments)[1]
    return axes.flip(1).float()
