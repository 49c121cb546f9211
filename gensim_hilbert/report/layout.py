"""Words on a plane: near each other if their vectors are alike, and no word on top of another."""

from __future__ import annotations

import numpy as np

PERPLEXITY = 15.0  # about the number of neighbours that a word tries to keep
STEPS = 600
FARTHEST = 90.0  # a word that is farther from where it belongs says nothing any more
MANY_ROWS = 10  # per dimension
EXAGGERATION, EARLY_STEPS = 8.0, 150  # groups form first, while neighbours attract each other too much


def embed(unit: np.ndarray) -> np.ndarray:
    """Return two coordinates per row, by exact t-SNE; it starts from principal axes, so that it is deterministic."""
    n = len(unit)
    if n < 4:
        return np.column_stack([np.arange(n), np.zeros(n)]).astype(float)
    closeness = affinities(2 - 2 * (unit @ unit.T).astype(np.float64))
    places = principal_plane(unit) * 1e-2
    velocity, gains = np.zeros_like(places), np.ones_like(places)
    rate = max(n / EXAGGERATION, 20.0)
    for step in range(STEPS):
        distances = squared_distances(places)
        heavy = 1 / (1 + distances)
        np.fill_diagonal(heavy, 0)
        pull = closeness * (EXAGGERATION if step < EARLY_STEPS else 1.0) - heavy / heavy.sum()
        pull *= heavy
        gradient = 4 * (pull.sum(axis=1)[:, None] * places - pull @ places)
        gains = np.maximum(np.where(gradient * velocity < 0, gains + 0.2, gains * 0.8), 0.01)
        velocity = (0.5 if step < EARLY_STEPS else 0.8) * velocity - rate * gains * gradient
        places = places + velocity
        places -= places.mean(axis=0)
    return np.asarray(places)


def squared_distances(rows: np.ndarray) -> np.ndarray:
    """Return the squared distance of each row to each other row."""
    squares = (rows**2).sum(axis=1)
    return np.asarray(np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0))


def principal_plane(unit: np.ndarray) -> np.ndarray:
    """Return coordinates on the two strongest axes, scaled to a deviation of 1, with signs by a rule."""
    centred = unit - unit.mean(axis=0)
    plane = np.zeros((len(unit), 2))
    found = min(2, *unit.shape)
    if len(unit) > MANY_ROWS * unit.shape[1]:  # The axes of the moments are the same, and take a tenth of the time.
        plane[:, :found] = centred @ np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :found]
    else:
        left, strength, _ = np.linalg.svd(centred, full_matrices=False)
        plane[:, :found] = left[:, :found] * strength[:found]
    plane *= np.sign(plane[np.abs(plane).argmax(axis=0), np.arange(2)])
    return np.asarray(plane / max(float(plane.std()), 1e-12), dtype=np.float64)


def affinities(distances: np.ndarray) -> np.ndarray:
    """Return how likely each row is to choose another as its neighbour, made symmetric, with the sum 1.

    Each row's width is such that its choice is as uncertain as one among PERPLEXITY rows; found by bisection.
    """
    n = len(distances)
    wanted = np.log(min(PERPLEXITY, (n - 1) / 3))
    low, high, sharpness = np.zeros(n), np.full(n, np.inf), np.ones(n)
    others = distances + np.diag(np.full(n, np.inf))
    others -= others.min(axis=1, keepdims=True)
    for _ in range(60):
        weights = np.exp(-others * sharpness[:, None])
        total = weights.sum(axis=1)
        finite = np.where(np.isfinite(others), others, 0)
        entropy = np.log(total) + sharpness * (weights * finite).sum(axis=1) / total
        too_wide = entropy > wanted
        low, high = np.where(too_wide, sharpness, low), np.where(too_wide, high, sharpness)
        sharpness = np.where(np.isinf(high), sharpness * 2, (low + high) / 2)
    chosen = weights / total[:, None]
    return np.asarray(np.maximum((chosen + chosen.T) / (2 * n), 1e-12))


def place(places: np.ndarray, sizes: np.ndarray, width: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres of boxes of these sizes on a canvas, and which of them found room.

    One after the other, each goes to the free spot nearest to where it belongs.
    """
    half, canvas = sizes / 2, np.array([width, height])
    scaled = (places - places.min(axis=0)) / np.maximum(np.ptp(places, axis=0), 1e-12)
    ranks = places.argsort(axis=0).argsort(axis=0) / max(1, len(places) - 1)
    # Ranks fill the corners that a round cloud leaves empty.
    middles = half + (0.5 * scaled + 0.5 * ranks) * (canvas - sizes)
    found = np.zeros(len(places), dtype=bool)
    spots = nearby()
    for k in range(len(places)):
        others, reach = middles[:k][found[:k]], half[:k][found[:k]] + half[k]
        for start in range(0, len(spots), 64):  # most find one among the first
            some = middles[k] + spots[start : start + 64]
            inside = ((some >= half[k]) & (some <= canvas - half[k])).all(axis=1)
            covered = (np.abs(some[:, None] - others) < reach).all(axis=2).any(axis=1)
            free = np.flatnonzero(inside & ~covered)
            if len(free):
                middles[k], found[k] = some[free[0]], True
                break
    return middles, found


def nearby() -> np.ndarray:
    """Return the moves that a box may make, shortest first."""
    x, y = np.meshgrid(np.arange(-FARTHEST, FARTHEST + 1, 3.0), np.arange(-FARTHEST, FARTHEST + 1, 2.0))
    ways = np.column_stack([x.ravel(), y.ravel()])
    length = np.hypot(*ways.T)
    return ways[np.argsort(length, kind="stable")][: int((length <= FARTHEST).sum())]
