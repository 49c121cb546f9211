"""Every objective, those of the package and one of a user's, is the paper's mathematics."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from objective_cases import OBJECTIVES, every_objective, typical_objectives
from own_objective import WeightedLeastSquares
from tables import clustered_table, pmi_of, random_table, store
from torch.nn.functional import softplus

from gensim_hilbert import PairCounts
from gensim_hilbert._pairs import SparseMatrix
from gensim_hilbert.objectives import PPMI, SGNS, GloVe, Hilbert, Objective, Pairs, Swivel
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.fit import Start
from gensim_hilbert.training.from_counts import make_fit
from gensim_hilbert.training.gradients import DenseGradients, SampledGradients
from gensim_hilbert.training.kernels import KERNELS
from gensim_hilbert.training.pairs import DevicePairs, HostPairs
from gensim_hilbert.training.shards import Shards

SIZE, RANK = 31, 4
Gradients = tuple[float, torch.Tensor, torch.Tensor]


@pytest.fixture(scope="module")
def counts() -> PairCounts:
    """Many zeros, a few counts in the millions, and a word that never occurs."""
    table = random_table(SIZE)
    table[3, 4] = table[4, 3] = 5_000_000
    table[7] = table[:, 7] = 0
    return store(table)


def tempered(p: torch.Tensor, objective: Hilbert) -> torch.Tensor:
    """p to the power of 1 / temperature; but words below the threshold, relative to it, have their p."""
    power = 1 / (1.1 if objective.temperature == "auto" else objective.temperature)  # Of a small text.
    if not objective.threshold:
        return p**power
    return p * (objective.threshold / p).pow(1 - power).clamp(max=1)


def paper_loss(objective: Objective, counts: PairCounts, psi: torch.Tensor) -> torch.Tensor:
    """As it is printed, over all cells at once."""
    n = torch.tensor(counts.to_scipy().toarray(), dtype=torch.float64)
    there, total = n > 0, n.sum()
    n_i, n_j = n.sum(dim=1, keepdim=True), n.sum(dim=0, keepdim=True)
    chance = n_i * n_j / total
    pmi = torch.where(there, (n / chance).log(), 0.0)
    match objective:
        case Hilbert():
            multiplier = tempered(n_i / total, objective) * tempered(n_j / total, objective)
            return (multiplier * (psi.exp() - torch.where(there, pmi.exp(), 0.0) * psi)).sum()
        case SGNS(negative=k, ns_exponent=power):
            u = torch.tensor(counts.vocabulary.counts, dtype=torch.float64)[:, None]
            noise = torch.where(u > 0, u**power, 0.0)
            return (n * softplus(-psi) + k * n_j * noise / noise.sum() * softplus(psi)).sum()
        case GloVe(x_max=x_max, alpha=alpha):
            h = (n / x_max).pow(alpha).clamp(max=1)
            return (h * (psi - torch.where(there, n.log(), 0.0)) ** 2).sum()
        case Swivel():
            bound = softplus(psi - (1 / chance).log())
            return torch.where(there, n.sqrt() / 2 * (psi - pmi) ** 2, bound).sum()
        case PPMI(shift=k):
            return ((psi - torch.where(there, (pmi - math.log(k)).clamp(min=0), 0.0)) ** 2).sum()
        case WeightedLeastSquares(exponent=power):
            return (n**power * torch.where(there, psi - pmi, 0.0) ** 2).sum()
    raise NotImplementedError(objective)


def psi_of(kernel: str, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Of rows that hold a vector and, but for the plain product, one number more."""
    if kernel == "product":
        return w @ v.T
    if kernel == "biased":
        return w[:, :-1] @ v[:, :-1].T + w[:, -1:] + v[:, -1]
    return (w[:, None, :-1] + v[None, :, :-1]).square().sum(dim=2) / 2 + w[:, -1].mean()


def rows_for(objective: Objective) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(0)
    width = RANK + KERNELS[objective.kernel].extra
    w, v = (torch.randn(SIZE, width, generator=random, dtype=torch.float64) * 0.7 for _ in range(2))
    if objective.kernel == "squared-norm":
        w[:, -1], v[:, -1] = 1.3, 0
    return w, v


def pairs_in(bound: Objective, i: int = 0, j: int = 0, n: int = 1) -> HostPairs:
    """The pairs that occur in a shard, in float64."""
    table = bound.positives(i, j, n)
    matrix = SparseMatrix(table.starts.astype(np.int32), table.columns, table.values.astype(np.float32))
    pairs = HostPairs(matrix, len(bound.terms[j::n]))
    pairs.values = torch.from_numpy(table.values.astype(np.float64))
    return pairs


def differentiate(bound: Objective, w: torch.Tensor, v: torch.Tensor, n: int = 1) -> Gradients:
    """The loss and its gradients, by n x n shards, in float64: pairs that occur first, then all others."""
    kernel = KERNELS[bound.kernel](RANK, "float32")
    loss, to_w, to_v = 0.0, torch.zeros_like(w), torch.zeros_like(v)
    for i in range(n):
        for j in range(n):
            known = pairs_in(bound, i, j, n)
            pairs = DevicePairs([known], torch.device("cpu"))
            a, b = (torch.from_numpy(side) for side in (bound.contexts[i::n], bound.terms[j::n]))
            rows, others = w[i::n], v[j::n]
            psi = kernel.pair_psi(rows, others, pairs)
            loss += float(bound.differentiate_pairs_(psi, pairs.with_words(a, b)).loss)
            kernel.add_pair_slopes(psi, pairs, rows, others, to_w[i::n], to_v[j::n])
            if bound.has_background:
                slope = kernel.psi(rows, others)
                losses = bound.differentiate_background_(slope, a[:, None], b[None])
                assert (losses is slope) == bound.background_is_its_derivative
                losses.view(-1)[known.places] = slope.view(-1)[known.places] = 0
                loss += float(losses.sum())
                to_w[i::n] += kernel.slopes(slope, rows, others, True)
                to_v[j::n] += kernel.slopes(slope.T, others, rows, False)
    return loss, to_w, to_v


@every_objective
@pytest.mark.parametrize("n", [1, 3])
def test_loss_and_gradients_are_those_of_the_paper(objective, counts, n):
    bound = objective.bind(counts)
    w, v = rows_for(objective)
    ours, to_w, to_v = differentiate(bound, w, v, n)
    w.requires_grad_()
    v.requires_grad_()
    loss = paper_loss(objective, counts, psi_of(objective.kernel, w, v))
    loss.backward()
    scale = ours / float(loss.detach())  # losses are scaled to weights with a mean of 1
    assert scale > 0
    constant = objective.kernel == "squared-norm"  # is one number for all rows
    expected = w.grad[:, :-1] if constant else w.grad
    torch.testing.assert_close(to_w[:, : expected.shape[1]], scale * expected, rtol=1e-9, atol=1e-9 * to_w.abs().max())
    torch.testing.assert_close(to_v, scale * v.grad, rtol=1e-9, atol=1e-9 * to_v.abs().max())
    if constant and n == 1:
        assert float(to_w[0, -1]) == pytest.approx(scale * float(w.grad[:, -1].sum()) / SIZE)


@every_objective
def test_gradients_are_finite_differences(objective, counts):
    bound = objective.bind(counts)
    w, v = rows_for(objective)
    _, to_w, to_v = differentiate(bound, w, v)
    for side, gradient in ((w, to_w), (v, to_v)):
        for row, column in ((3, 1), (4, 0), (11, 2), (7, 0)):  # large counts, usual ones, none
            before = float(side[row, column])
            losses = []
            for step in (1e-5, -1e-5):
                side[row, column] = before + step
                losses.append(differentiate(bound, w, v)[0])
            side[row, column] = before
            slope = (losses[0] - losses[1]) / 2e-5
            assert slope == pytest.approx(float(gradient[row, column]), rel=1e-5, abs=1e-9 * abs(losses[0]) / 1e-5)


@every_objective
def test_gradients_of_pairs_that_do_not_occur(objective, counts):
    """The last column of the paper's table."""
    bound = objective.bind(counts)
    a, b = torch.from_numpy(bound.contexts), torch.from_numpy(bound.terms)
    psi = torch.randn(SIZE, SIZE, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    d = psi.clone()
    if bound.has_background:
        bound.differentiate_background_(d, a[:, None], b[None])
    else:
        d.zero_()
    table = counts.to_scipy().toarray()
    zero = torch.from_numpy(table == 0)
    n_i, n_j = (torch.from_numpy(side) for side in (counts.marginals.contexts, counts.marginals.terms))
    chance = torch.outer(n_i, n_j) / counts.total
    u = torch.from_numpy(counts.vocabulary.counts.astype(np.float64))
    match objective:
        case Hilbert():
            expected = torch.outer(*(tempered(side / counts.total, objective) for side in (n_i, n_j))) * psi.exp()
        case SGNS(ns_exponent=power):
            expected = torch.outer(torch.where(u > 0, u**power, 0.0), n_j) * psi.sigmoid()
        case Swivel():
            expected = (psi + chance.log()).sigmoid()
        case PPMI():
            expected = 2 * psi
        case _:
            expected = torch.zeros_like(psi)
    if expected.any():
        expected *= float(d[zero].sum() / expected[zero].sum())
    torch.testing.assert_close(d[zero], expected[zero], rtol=1e-9, atol=1e-12)


def phi_of(bound: Objective) -> np.ndarray:
    """The optimum of psi in each cell of a table without zeros."""
    size, pairs = len(bound.counts), pairs_in(bound)
    phi = torch.empty(size, size, dtype=torch.float64)
    a, b = torch.from_numpy(bound.contexts), torch.from_numpy(bound.terms)
    known = Pairs(pairs.values, a[pairs.row_numbers], b[pairs.column_numbers])
    phi.view(-1)[pairs.places] = bound.phi(known)
    return phi.numpy()


def assert_reads_as_pmi(product: np.ndarray, bound: Objective, biases, table: np.ndarray, tolerance: float) -> None:
    """Products of vectors, less the objective's offsets, are PMI; positive PMI has only that."""
    read = product - bound.psi_offset
    offsets = bound.offsets(biases)
    if offsets is not None:
        read = read - offsets[0][:, None] - offsets[1]
    pmi = pmi_of(table)
    compared = pmi > -bound.psi_offset if isinstance(bound, PPMI) else np.full_like(pmi, True, dtype=bool)
    assert np.abs(read - pmi)[compared].max() < tolerance


@pytest.mark.parametrize("objective", [one for one in OBJECTIVES if one.kernel == "product"], ids=repr)
def test_phi_reads_as_pmi(objective):
    table = random_table(12, least=1)
    bound = objective.bind(store(table))
    assert_reads_as_pmi(phi_of(bound), bound, None, table, tolerance=1e-6)


@typical_objectives
def test_at_full_rank_psi_is_phi_and_reads_as_pmi(objective, device):
    table = random_table(12, least=1)
    bound = objective.bind(store(table))
    fit = make_fit(bound, 12, l2=0, passes=2500, final_rate=1e-4, device=device)
    fit.run(fit.steps)
    covectors, vectors, biases = fit.result()[:3]
    product = covectors @ vectors.T
    psi = product if biases is None else product + biases[0][:, None] + biases[1]
    assert np.abs(psi - phi_of(bound)).max() < 1e-3
    assert_reads_as_pmi(product, bound, biases, table, tolerance=1e-3)


@every_objective
@pytest.mark.parametrize("background", ["dense", "all drawn"])
def test_gradients_of_shards_add_up_to_those_of_the_paper(objective, counts, background):
    """In float32, with padding, by the code that trains."""
    if background != "dense" and isinstance(objective, PPMI):
        pytest.skip("is solved at once, and never sampled")
    n, bound = 3, objective.bind(counts)
    rows = rows_for(objective)
    loss, *expected = differentiate(bound, *rows)
    kernel, shards = KERNELS[bound.kernel](RANK, "float32"), Shards(bound, n, torch.device("cpu"), memory_gb=1)
    if background == "dense":
        gradients = DenseGradients(bound, kernel, shards)
    else:
        gradients = SampledGradients(bound, kernel, shards, shards.rows, seed=1)
    w, v = (shards.arranged(side.numpy()) for side in rows)
    to_w, to_v, total = torch.zeros_like(w), torch.zeros_like(v), 0.0
    for i, j in shards.latin():
        found = gradients(shards[i, j], w[i], v[j], 0)
        assert found.error == pytest.approx(0, abs=1e-6 * found.cost.loss**2)
        total += found.cost.loss
        to_w[i] += found.to_w * SIZE / n
        to_v[j] += found.to_v * SIZE / n
    assert total == pytest.approx(loss, rel=1e-5)
    for found, exact in zip((to_w, to_v), expected, strict=True):
        vectors = torch.from_numpy(shards.restored(found)).double()
        if objective.kernel == "squared-norm":  # whose constant moves by the mean over a block
            vectors, exact = vectors[:, :-1], exact[:, :-1]
        # A level that is taken off millions of counts, and added again, costs digits.
        tolerance = 1e-5 if background == "dense" else 1e-3
        torch.testing.assert_close(vectors, exact, rtol=10 * tolerance, atol=tolerance * float(exact.abs().max()))


@every_objective
def test_sharding_does_not_change_the_loss(objective, counts, device):
    random, bound = np.random.default_rng(0), objective.bind(counts)
    start = Start(*(random.normal(size=(SIZE, RANK)).astype(np.float32) * 0.3 for _ in range(2)))
    fits = [Factorization(bound, RANK, l2=0, n=n, start=start, device=device) for n in (1, 2, 4)]
    rows = (torch.from_numpy(fits[0].shards.restored(side.blocks)).double() for side in (fits[0].w, fits[0].v))
    exact = differentiate(bound, *rows)[0] / SIZE**2
    whole, *others = (fit.evaluate() for fit in fits)
    for report in (whole, *others):
        assert report.loss == pytest.approx(exact, rel=1e-5)
        assert report.unitarity == pytest.approx(whole.unitarity, rel=1e-5, nan_ok=True)


@typical_objectives
def test_what_is_found_does_not_depend_on_shards(objective, device):
    counts = store(clustered_table())

    def fitted(n: int) -> np.ndarray:
        fit = make_fit(objective.bind(counts), 5, n=n, passes=300 // n, device=device)
        fit.run(fit.steps)
        covectors, vectors = fit.result()[:2]
        return covectors @ vectors.T

    assert np.corrcoef(fitted(1).ravel(), fitted(2).ravel())[0, 1] > 0.97


@typical_objectives
def test_losses_fall_from_the_start_and_much_too_high_rates_are_survived(objective, counts, device, caplog):
    if isinstance(objective, PPMI):
        pytest.skip("has no rate")
    counts = store(clustered_table())
    fit = make_fit(objective.bind(counts), 5, passes=200, device=device)
    first = fit.evaluate().loss
    fit.run(fit.steps)
    assert fit.evaluate().loss < first
    assert not any("diverged" in message for message in caplog.messages)
    wild = make_fit(objective.bind(counts), 5, rate=200.0, passes=100, device=device)
    wild.run(wild.steps)
    assert all(np.isfinite(side).all() for side in wild.result()[:2])
    assert wild.evaluate().loss < 3 * abs(first)
