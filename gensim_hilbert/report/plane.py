"""The layout of words on a plane that reports and the explorer share."""

from __future__ import annotations

import logging
from typing import NamedTuple

import numpy as np

from gensim_hilbert.report.layout import embed, principal_plane

logger = logging.getLogger(__name__)

EXACT_WORDS = 1500  # for which exact t-SNE takes less time than it takes to load a library
NEIGHBOURS = 15


class Plane(NamedTuple):
    """Two coordinates per word, and the name of the method that found them."""

    places: np.ndarray
    method: str


def lay_out(unit: np.ndarray) -> Plane:
    """Lay words out on a plane by their directions, so that those with like vectors are near each other.

    Few words are laid out by exact t-SNE, many by UMAP, which needs the extra [explore]; without it, by their two
    principal axes. The same directions give the same layout.
    """
    if len(unit) <= EXACT_WORDS:
        return Plane(embed(unit), "t-SNE")
    try:
        from umap import UMAP
    except ImportError as error:
        logger.warning(
            "%s words are laid out by principal axes, for want of UMAP (%s): pip install 'gensim-hilbert[explore]'",
            f"{len(unit):,}",
            error,
        )
        return Plane(principal_plane(unit), "PCA")
    # With a seed, UMAP runs on one thread. It starts from principal axes, as t-SNE does.
    start = 10 * principal_plane(unit)
    places = UMAP(n_neighbors=NEIGHBOURS, min_dist=0.05, init=start, random_state=1, n_jobs=1).fit_transform(unit)
    return Plane(np.asarray(places, dtype=np.float64), "UMAP")
