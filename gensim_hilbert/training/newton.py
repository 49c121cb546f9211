"""Vectors at the minimum of the Hilbert loss for covectors that stay as they are: one convex problem per vector.

With n_i the count of context i, the loss of a vector v, whose term has the multiplier b, is that of training:

    f(v) = sum_i a_i b exp(w_i . v) - t . v + lambda / 2 |v|^2,    t = sum_i s_i w_i

The sum is over all contexts, those with n_i = 0 included. Many problems are solved at a time by Newton's method, each
step by conjugate gradients, whose preconditioner is the diagonal of the Hessian at v = 0: the axes are chosen such that
this Hessian is diagonal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse

CELLS = 1 << 22  # Vectors times contexts whose psi is computed at a time.
TOLERANCE = 1e-9  # Gradient at the end, relative to that at v = 0, both measured by the preconditioner.
MOST_STEPS = 200  # Newton steps; 5 to 15 are usual.
MOST_DIRECTIONS = 60  # Conjugate gradients per Newton step, which need not be exact.
SUFFICIENT = 1e-4  # Share of the decrease that the slope promises, at least.
LONGEST = 4.0  # By how much a step may raise psi; further out, exp is nothing like its tangent.


class Solution(NamedTuple):
    """Vectors at the minimum.

    Attributes
    ----------
    vectors : array
        One row per problem.
    gradients : array
        How large the gradient of each is, relative to that at v = 0.
    losses : array
        The value of f for each.
    """

    vectors: np.ndarray
    gradients: np.ndarray
    losses: np.ndarray


class FixedCovectors:
    """Finds vectors for covectors that stay as they are.

    Parameters
    ----------
    covectors : array
        One covector per context.
    multipliers : array
        The number a_i of each context; contexts where it is 0 are left out.
    metric : array
        The matrix G of the prior, lambda / 2 v^T G^-1 v.
    device : device, optional
        Where to compute.
    """

    def __init__(
        self,
        covectors: np.ndarray,
        multipliers: np.ndarray,
        metric: np.ndarray,
        device: torch.device | None = None,
    ):
        self.device = torch.device("cpu") if device is None or device.type == "mps" else device  # mps has no float64
        self.size = len(covectors)
        self.occurring = np.flatnonzero(multipliers > 0)
        self.a = torch.from_numpy(multipliers[self.occurring].astype(np.float64)).to(self.device)
        w = torch.from_numpy(covectors[self.occurring].astype(np.float64)).to(self.device)
        squares, axes = torch.linalg.eigh(torch.from_numpy(metric).to(self.device))
        root = axes * squares.clamp_min(0).sqrt()
        w = w @ root
        self.curvature, turn = torch.linalg.eigh((w.T * self.a) @ w)  # The Hessian at 0 for b = 1.
        self.curvature.clamp_(min=0)
        self.axes = root @ turn  # Vectors are these axes times what is solved for.
        self.w = w @ turn
        self.rough_w = self.w.float()  # For the Hessian, which need not be exact.

    def linear(self, values: np.ndarray, contexts: np.ndarray, starts: np.ndarray) -> torch.Tensor:
        """Return t of each vector, given s in CSR form: one row per vector, one column per context."""
        numbers = np.full(self.size, -1, dtype=np.int64)
        numbers[self.occurring] = np.arange(len(self.occurring))
        shape = len(starts) - 1, len(self.occurring)
        table = sparse.csr_array((values, numbers[contexts], starts), shape=shape)
        return torch.from_numpy(table @ self.w.cpu().numpy()).to(self.device)

    def solve(
        self, linear: torch.Tensor, multipliers: np.ndarray, priors: np.ndarray, tolerance: float = TOLERANCE
    ) -> Solution:
        """Return vectors at the minimum.

        Parameters
        ----------
        linear : tensor
            What `linear` has returned, one row per vector.
        multipliers, priors : array
            The numbers b and lambda of each vector. Where b is 0, the vector is 0.
        tolerance : float
            How large the gradient may be at the end, relative to that at v = 0.
        """
        b = torch.from_numpy(np.asarray(multipliers, dtype=np.float64)).to(self.device)
        prior = torch.from_numpy(np.asarray(priors, dtype=np.float64)).to(self.device)
        x = torch.zeros_like(linear)
        gradients, losses = torch.zeros_like(b), torch.zeros_like(b)
        there = torch.nonzero(b > 0)[:, 0]
        for some in torch.split(there, max(1, CELLS // max(1, len(self.a)))):
            x[some], gradients[some], losses[some] = self._minimise(linear[some], b[some], prior[some], tolerance)
        return Solution((x @ self.axes.T).cpu().numpy(), gradients.cpu().numpy(), losses.cpu().numpy())

    def _minimise(
        self, linear: torch.Tensor, b: torch.Tensor, prior: torch.Tensor, tolerance: float
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Take Newton steps until all problems are solved; those that are drop out."""
        solution, remaining, losses = torch.zeros_like(linear), torch.ones_like(b), torch.zeros_like(b)
        active = torch.arange(len(b), device=self.device)
        x = solution.clone()
        diagonal = b[:, None] * self.curvature + prior[:, None]
        diagonal += 1e-14 * diagonal.amax(dim=1, keepdim=True)
        scale = norm(linear - b[:, None] * (self.a @ self.w), diagonal).clamp_min(1e-300)
        psi = linear.new_zeros(len(b), len(self.a))
        for _ in range(MOST_STEPS):
            mass = torch.exp(psi).mul_(self.a).mul_(b[:, None])
            slope = mass @ self.w - linear + prior[:, None] * x
            share = norm(slope, diagonal) / scale
            going = share > tolerance
            solution[active], remaining[active] = x, share
            losses[active] = mass.sum(dim=1) - dot(linear, x) + prior / 2 * dot(x, x)
            if not going.any():
                break
            active, x, linear, b, prior, diagonal, scale, psi, mass, slope, share = (
                part[going] for part in (active, x, linear, b, prior, diagonal, scale, psi, mass, slope, share)
            )
            step = self._newton_step(mass, slope, prior, diagonal, share)
            rise = step @ self.w.T
            length = self._step_length(psi, rise, mass, x, step, slope, linear, b, prior)
            x = x + length[:, None] * step
            psi.addcmul_(rise, length[:, None])
        return solution, remaining, losses

    def _newton_step(
        self, mass: torch.Tensor, slope: torch.Tensor, prior: torch.Tensor, diagonal: torch.Tensor, share: torch.Tensor
    ) -> torch.Tensor:
        """Solve Hessian . step = -slope by conjugate gradients, the more exactly the nearer the minimum is."""
        step, residual = torch.zeros_like(slope), -slope
        goal = torch.clamp(share.sqrt(), max=0.1) * norm(slope, diagonal)
        scaled = residual / diagonal
        direction, product = scaled.clone(), dot(residual, scaled)
        mass = mass.float()
        for _ in range(MOST_DIRECTIONS):
            going = norm(residual, diagonal) > goal
            if not going.any():
                break
            curved = (direction.float() @ self.rough_w.T).mul_(mass) @ self.rough_w
            image = curved.double() + prior[:, None] * direction
            length = torch.where(going, product / dot(direction, image).clamp_min(1e-300), 0.0)[:, None]
            step += length * direction
            residual -= length * image
            scaled = residual / diagonal
            before, product = product, dot(residual, scaled)
            direction = scaled + (product / before.clamp_min(1e-300))[:, None] * direction
        return step

    def _step_length(
        self,
        psi: torch.Tensor,
        rise: torch.Tensor,
        mass: torch.Tensor,
        x: torch.Tensor,
        step: torch.Tensor,
        slope: torch.Tensor,
        linear: torch.Tensor,
        b: torch.Tensor,
        prior: torch.Tensor,
    ) -> torch.Tensor:
        """Return how far to go along each step, so that the loss falls by a share of what the slope promises."""
        promised, curvature = dot(slope, step), prior * dot(step, step)
        straight = prior * dot(x, step) - dot(linear, step)
        length = (LONGEST / rise.amax(dim=1).clamp_min(1e-300)).clamp(max=1.0)
        before = mass.sum(dim=1)
        # Differences below the rounding of the sums are no reason to stop.
        noise = 1e-14 * (before + dot(linear, x).abs())
        for _ in range(60):
            now = torch.exp(psi + length[:, None] * rise).mul_(self.a).mul_(b[:, None]).sum(dim=1)
            change = now - before + length * straight + length**2 / 2 * curvature
            short = change > SUFFICIENT * length * promised + noise
            if not short.any():
                break
            length = torch.where(short, length / 2, length)
        return length


def dot(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the product of each row with the same row of another matrix."""
    return (x * y).sum(dim=1)


def norm(slope: torch.Tensor, diagonal: torch.Tensor) -> torch.Tensor:
    """Return the length of gradients, in the metric of the preconditioner."""
    return (slope.square() / diagonal).sum(dim=1).sqrt()
