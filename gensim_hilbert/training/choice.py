"""The choice between the ways of computing gradients."""

from __future__ import annotations

from gensim_hilbert.training import costs
from gensim_hilbert.training.exponential import ExponentialGradients
from gensim_hilbert.training.gradients import DenseGradients, SampledGradients


def choose_gradients(
    dense: DenseGradients, background: str, columns: int, seed: int
) -> DenseGradients | SampledGradients:
    """Return how gradients are computed: in the way that is asked for, or for "auto" in the way that costs less."""
    objective, kernel, shards = dense.objective, dense.kernel, dense.shards
    on_host = shards.device.type == "cpu"
    compiled = on_host and objective.exponential_up_to is not None and kernel.is_plain
    if background == "auto":
        sampled = costs.COMPILED if compiled else costs.SAMPLED if on_host else costs.SAMPLED_ON_GPU
        exact = costs.DENSE if on_host else costs.DENSE_ON_GPU
        sizes = shards.rows, columns, shards.pairs / shards.n**2, kernel.vector_size
        background = "dense" if costs.prefers_dense(sampled, exact, *sizes) else "sampled"
    if background == "dense":
        return dense
    kind = ExponentialGradients if compiled else SampledGradients
    return kind(objective, kernel, shards, columns, seed)
