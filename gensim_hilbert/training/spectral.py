"""Where factorisation starts: the truncated SVD of phi, bounded below, weighted as the objective weighs words.

sqrt(a_i b_j) max(phi_ij, least), biases taken off phi, is a rough quadratic stand-in for the loss; `least` is what psi
is at a PMI of 0, also for pairs that do not occur. Its best rank-d factors, by randomised SVD in four sweeps over the
shards, are about as good as what seven passes make of a random start.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from gensim_hilbert.training.shards import Shard
from gensim_hilbert.training.team import Room, Team

OVERSAMPLING = 20
SPARSE = 1 / 25  # of cells: where fewer are not zero, a sparse product on the host is faster than a dense one
LONGEST = 0.9  # rows are shortened to this: exp is unforgiving at first


def spectral_start(
    team: Team, vector_size: int, generator: torch.Generator
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Row blocks of covectors and vectors."""
    shards, size = team.shards, team.shards.size
    rank = min(vector_size + OVERSAMPLING, size)
    a, b = (shards.blocks(side) for side in shards.objective.weights)
    root_a, root_b = [block.sqrt() for block in a], [block.sqrt() for block in b]
    start, least = shards.objective.start, shards.objective.psi_offset
    biases = None if start is None else [shards.blocks(side) for side in start]

    def sweep(right: list[torch.Tensor], transposed: bool) -> list[torch.Tensor]:
        """The weighted table, or its transpose, times a matrix given by row blocks."""
        out = [torch.zeros(len(block), rank, device=block.device) for block in (b if transposed else a)]

        def multiply(shard: Shard, room: Room) -> None:
            i, j = shard.i, shard.j
            phi = shards.objective.phi(shard)
            if biases is not None:
                phi = phi - shard.plus(biases[0][i], biases[1][j])
            values = phi.clamp_(min=least) * shard.outer(root_a[i], root_b[j])
            to, by = (j, i) if transposed else (i, j)
            if not least and is_sparse(shard):
                table = sparse_table(shard, values)
                out[to] += torch.from_numpy((table.T if transposed else table) @ right[by].numpy())
                return
            dense = room.psi_of(shard).zero_()
            if least:
                dense.add_(least * root_a[i][:, None]).mul_(root_b[j])
            dense.view(-1)[shard.places] = values
            out[to].addmm_(dense.T if transposed else dense, right[by])

        for _ in team.map(multiply, shards.latin()):
            pass
        return out

    def orthonormal(blocks: list[torch.Tensor]) -> list[torch.Tensor]:
        basis = torch.linalg.qr(solvable(torch.cat(blocks)))[0].contiguous().to(a[0].device)  # LAPACK's is by columns
        return list(torch.split(basis, [len(block) for block in blocks]))

    noise = torch.randn(size, rank, generator=generator).to(a[0].device)
    basis = orthonormal(sweep(list(torch.split(noise, [len(block) for block in b])), transposed=False))
    basis = orthonormal(sweep(orthonormal(sweep(basis, transposed=True)), transposed=False))
    projected = sweep(basis, transposed=True)
    parts = torch.linalg.svd(solvable(torch.cat(projected)), full_matrices=False)
    right, strength, mix = (part.to(a[0].device) for part in parts)
    root = strength[:vector_size].sqrt()
    covectors = [(block @ mix.T[:, :vector_size]) * root for block in basis]
    vectors = list(torch.split(right[:, :vector_size] * root, [len(block) for block in b]))
    return [shortened(x, r) for x, r in zip(covectors, root_a, strict=True)], [
        shortened(x, r) for x, r in zip(vectors, root_b, strict=True)
    ]


def is_sparse(shard: Shard) -> bool:
    """Whether it is on the host, and worth a sparse product."""
    return shard.values.device.type == "cpu" and len(shard.values) < SPARSE * shard.cells


def sparse_table(shard: Shard, values: torch.Tensor) -> sparse.csr_array:
    """Values for the pairs of a shard that occur."""
    places = np.divmod(shard.places.numpy(), len(shard.b))
    return sparse.coo_array((values.numpy(), places), shape=(len(shard.a), len(shard.b))).tocsr()


def solvable(x: torch.Tensor) -> torch.Tensor:
    """On the host where the device is Apple's GPU, which has no decompositions."""
    return x.cpu() if x.device.type == "mps" else x


def shortened(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Rows divided by their weight, none longer than LONGEST; zero for words without weight."""
    rows = torch.where(weight[:, None] > 0, rows / weight.clamp_min(1e-30)[:, None], torch.zeros_like(rows))
    lengths: torch.Tensor = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    return rows * (LONGEST / lengths.clamp_min(1e-9)).clamp_max(1)
