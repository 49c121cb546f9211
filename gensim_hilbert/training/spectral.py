"""The start of factorization: a truncated SVD of phi, bounded below and weighted as the objective weights words.

The matrix sqrt(a_i b_j) max(phi_ij, least) gives a rough quadratic approximation of the loss. Biases are subtracted
from phi, and `least` is the psi of a pair whose PMI is 0; pairs that do not occur have this value, too. The best
factors of rank d are found by randomised SVD in four sweeps over the pairs that occur. The constant `least` contributes
a matrix of rank one, so that only the excess of entries above it is multiplied.

The bounded table may have fewer than d axes. Along the others, vectors start at zero and covectors at short random
values: psi is the same, and these axes can be learnt.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from gensim_hilbert._pairs import SparseMatrix, add_block_products, weigh_excess, with_values
from gensim_hilbert.training.device import multiplied
from gensim_hilbert.training.gauge import second_moments
from gensim_hilbert.training.order import reversed_digits
from gensim_hilbert.training.pairs import with_words
from gensim_hilbert.training.ring import Ring
from gensim_hilbert.training.shards import Slabs
from gensim_hilbert.training.team import Team

OVERSAMPLING = 20
LONGEST = 0.9  # Longer rows are shortened to this length, because exp(psi) could be huge at first.
FAINT = 0.01  # Size of covectors along axes that the table does not have.
SWEEPS = 4
SHARDS_AT_ONCE = 16  # By one thread, without coming back to Python, at most.
PAIRS_AT_ONCE = 1 << 17  # In shards that are read together, about; on the way they take 30 bytes per pair.
SPREAD = 0x9E3779B1  # Keeps the seeds of blocks apart from each other, and from other seeds that users may choose.


def spectral_start(
    team: Team, vector_size: int, seed: int, progress: Callable[[int, int], None] | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return this rank's blocks of covectors and vectors, with as many axes as there are words at most.

    The shards must be on the host. Other axes are zero. `progress` is called after each row of shards in each sweep,
    with the number of those that are done and of all.
    """
    shards = team.shards
    division, own = shards.division, shards.division.own
    rank = min(vector_size + OVERSAMPLING, shards.size)
    root_a, root_b = (shards.arranged(side).sqrt() for side in shards.objective.weights)
    start, least = shards.objective.start, shards.objective.psi_offset
    biases = None if start is None else [shards.arranged(side) for side in start]

    n, rows_done = shards.n, 0
    kept: dict[tuple[int, int], SparseMatrix] = {}  # What `excess` has returned, if there is memory for it.
    room = Slabs()

    def tell(rows: int) -> None:
        """Tell that further rows of shards are done."""
        nonlocal rows_done
        for _ in range(rows):
            rows_done += 1
            if progress:
                progress(rows_done, SWEEPS * n)

    def excess(keys: list[tuple[int, int]]) -> list[SparseMatrix]:
        """Return the weighted phi of the pairs of shards, less what all pairs have."""
        if keys[0] in kept:  # By the first sweep, as all others.
            return [kept[key] for key in keys]
        matrices = [pairs.matrix for pairs in shards.pairs_of(keys)]
        phi = shards.objective.phi(with_words(matrices, keys, shards.a, shards.b))
        if biases is not None:
            added = with_words(matrices, keys, *biases)
            phi = phi - added.a - added.b
        values = phi.numpy()
        weigh_excess(matrices, keys, root_a.numpy(), root_b.numpy(), least, values)
        if shards.cache is None:
            return with_values(matrices, values)
        found = with_values(matrices, room.keep(values))
        kept.update(zip(keys, found, strict=True))
        return found

    def sweep(right: torch.Tensor, transposed: bool) -> torch.Tensor:
        """Multiply the weighted table, or its transpose, by a matrix; what has columns travels from rank to rank."""
        mine, other = (root_b, root_a) if transposed else (root_a, root_b)
        out, ring = division.empty(shards.rows, right.shape[-1]), Ring(division.ranks, n)
        total: torch.Tensor | None = None
        if least:
            total = division.sum_in_order(other[k] @ right[division.slot(k)] for k in own)

        def begin(k: int) -> None:
            block = out[division.slot(k)].zero_()
            if total is not None:
                block += least * mine[k][:, None] * total

        factor, sums = right.numpy(), out.numpy()

        def multiply(keys: list[tuple[int, int]]) -> None:
            """Multiply shards that have one block of the result in common, in this order."""
            i, j = keys[0]
            if transposed:
                blocks, block = [division.slot(i) for i, _ in keys], ring.slot(j)
            else:
                blocks, block = [ring.slot(j) for _, j in keys], division.slot(i)
            add_block_products(excess(keys), blocks, factor, transposed, sums[block])

        def multiply_some(k: int, offsets: list[int]) -> list[int]:
            """Multiply some shards for block k of the result."""
            if offsets is pieces[0]:
                begin(k)
            multiply([((k - offset) % n, k) if transposed else (k, (k + offset) % n) for offset in offsets])
            return offsets

        moving = [out if transposed else right]
        if division.ranks.size == 1:
            most = SHARDS_AT_ONCE if kept else PAIRS_AT_ONCE * n**2 // max(shards.pairs, 1)
            at_once = max(1, min(SHARDS_AT_ONCE, most))
            offsets = reversed_digits(n)  # as in shards.latin()
            pieces = [offsets[first : first + at_once] for first in range(0, n, at_once)]
            links = [(k, piece) for piece in pieces for k in range(n)]
            for number, piece in enumerate(team.chains(multiply_some, links), 1):
                if number % n == 0:
                    tell(len(piece))
        else:
            for _ in team.each(begin, own):
                pass
            visits = ring.map(team, moving, lambda shard: multiply([(shard.i, shard.j)]), shards.latin())
            for number, _ in enumerate(visits, 1):
                if number % len(own) == 0:
                    tell(1)
        if transposed:
            ring.align(0, moving)
        return out

    def listed(blocks: torch.Tensor) -> list[torch.Tensor]:
        """Return the blocks of this rank in the order in which sums are added."""
        return [blocks[division.slot(k)] for k in own]

    def moments(blocks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return axes and squared strengths of a matrix, strongest first, by its second moments in float64."""
        squares, axes = division.sum_in_order(team.each(second_moments, listed(blocks)), torch.linalg.eigh)
        return axes.flip(1), squares.flip(0).clamp_min(0)

    def orthonormal(blocks: torch.Tensor) -> torch.Tensor:
        """Make the columns an orthonormal basis, in place; columns that are missing are zero."""
        axes, squares = moments(blocks)
        whitened = (axes * inverse_roots(squares)).float()
        for _ in team.each(lambda block: block.copy_(multiplied(block, whitened)), listed(blocks)):
            pass
        return blocks

    def scaled_back(blocks: torch.Tensor, turn: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Return the rows of one side along the axes that are kept; along others they are zero."""
        rows = division.empty(shards.rows, vector_size)

        def turn_block(k: int) -> None:
            slot = division.slot(k)
            rows[slot].zero_()
            rows[slot, :, : turn.shape[1]] = shortened(multiplied(blocks[slot], turn), weights[k])

        for _ in team.each(turn_block, own):
            pass
        return rows

    def noise(columns: int, purpose: int) -> torch.Tensor:
        """Return random numbers, which depend on the seed and the block only."""
        blocks = division.empty(shards.rows, columns)

        def fill(k: int) -> None:
            mixed = (seed + SPREAD * (2 * k + purpose)) % 2**32  # torch uses so many bits of a seed.
            blocks[division.slot(k)].normal_(generator=torch.Generator().manual_seed(mixed))

        for _ in team.each(fill, own):
            pass
        return blocks

    # Never more than three matrices of this size are in memory: they are among the largest of all.
    basis = noise(rank, 0)
    for transposed in (False, True, False):
        basis = orthonormal(sweep(basis, transposed))
    projected = sweep(basis, transposed=True)
    axes, squares = moments(projected)
    # The projected table is R S M^T with singular values S: covectors are the basis times M S^(1/2), vectors R S^(1/2).
    axes, squares = axes[:, :vector_size], squares[:vector_size]
    w = scaled_back(basis, (axes * squares**0.25).float(), root_a)
    del basis
    v = scaled_back(projected, (axes * inverse_roots(squares).sqrt()).float(), root_b)
    unused = torch.nonzero(~is_there(squares)).view(-1)
    if len(unused):
        # Axes that are zero on both sides would stay so: the gradient of each is a multiple of the other.
        faint = noise(len(unused), 1)
        for k in own:
            slot = division.slot(k)
            w[slot][:, unused] = FAINT * faint[slot] * (root_a[k] > 0)[:, None]
    return w, v


def inverse_roots(squares: torch.Tensor) -> torch.Tensor:
    """Return one over the root of each number, or 0 where float32 has no digits left."""
    return torch.where(is_there(squares), squares.clamp_min(1e-300).rsqrt(), 0.0)


def is_there(squares: torch.Tensor) -> torch.Tensor:
    """Tell for each axis, by its squared strength, whether it is more than what float32 leaves by rounding."""
    return squares > 1e-12 * squares.max()


def shortened(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return rows divided by their weight, none longer than LONGEST; zero for words without weight."""
    rows = torch.where(weight[..., None] > 0, rows / weight.clamp_min(1e-30)[..., None], torch.zeros_like(rows))
    lengths: torch.Tensor = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
    return rows * (LONGEST / lengths.clamp_min(1e-9)).clamp_max(1)
