"""Hilbert-MLE by factorisation, against mathematics."""

import numpy as np
import pytest
import torch
from scipy import sparse

from gensim_hilbert import PairCounts
from gensim_hilbert.objectives import Hilbert
from gensim_hilbert.training import factors, spectral
from gensim_hilbert.training.device import products_in
from gensim_hilbert.training.factorization import Factorization, shards_a_side
from gensim_hilbert.training.fit import Start
from gensim_hilbert.training.gauge import canonical
from gensim_hilbert.training.shards import Shard


def store(table: np.ndarray) -> PairCounts:
    return PairCounts.from_scipy(sparse.coo_array(table), [f"w{k}" for k in range(len(table))], scale=1)


def random_table(size: int, seed: int = 0, least: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    rates = np.outer(random.exponential(size=size) + 0.1, random.exponential(size=size) + 0.1) * 20
    return random.poisson(rates) + least


@pytest.fixture(scope="module")
def table():
    return random_table(40)


def pmi_of(table: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(table * table.sum() / np.outer(table.sum(axis=1), table.sum(axis=0)))


def loss_of(table: np.ndarray, psi: torch.Tensor, temperature: float, threshold: float = 0.0) -> torch.Tensor:
    """The paper's loss, as it stands there, but for the scale of the multipliers and words below the threshold."""
    p = torch.tensor(table / table.sum(), dtype=torch.float64)
    p_i, p_j = p.sum(dim=1), p.sum(dim=0)
    if threshold:
        a, b = (side * (threshold / side).pow(1 - 1 / temperature).clamp(max=1) for side in (p_i, p_j))
    else:
        a, b = p_i ** (1 / temperature), p_j ** (1 / temperature)
    multiplier = torch.outer(a / a.mean(), b / b.mean())
    return (multiplier * (psi.exp() - p / torch.outer(p_i, p_j) * psi)).sum()


@pytest.mark.parametrize("temperature", [1.0, 1.25, 2.0, 3.0])
@pytest.mark.parametrize("threshold", [0.0, 0.02, 0.9])
@pytest.mark.parametrize("n", [1, 3])
def test_gradients_equal_autograd_and_finite_differences(table, temperature, threshold, n):
    def true_loss(psi: torch.Tensor) -> torch.Tensor:
        return loss_of(table, psi, temperature, threshold)

    objective = Hilbert(temperature, threshold).bind(store(table))
    random = torch.Generator().manual_seed(0)
    w, v = (torch.randn(40, 7, generator=random, dtype=torch.float64) * 0.3 for _ in range(2))
    w.requires_grad_()
    loss = true_loss(w @ v.T)
    loss.backward()
    ours = torch.zeros(40, 7, dtype=torch.float64)
    total = 0.0
    for i in range(n):
        for j in range(n):
            rows, columns, values = objective.positives(i, j, n)
            a, b = (torch.from_numpy(side) for side in (objective.contexts[i::n], objective.terms[j::n]))
            places = torch.from_numpy(rows.astype(np.int64) * len(b) + columns)
            psi = w.detach()[i::n] @ v[j::n].T
            total += objective.differentiate_(psi, Shard(i, j, a, b, places, torch.from_numpy(values))).loss
            ours[i::n] += psi @ v[j::n]
    torch.testing.assert_close(ours, w.grad)
    assert total == pytest.approx(float(loss.detach()))
    step = torch.zeros_like(v)
    step[3, 2] = 1e-5
    ahead, behind = (float(true_loss(w.detach() @ (v + s).T)) for s in (step, -step))
    v_gradient = torch.autograd.functional.jacobian(lambda x: true_loss(w.detach() @ x.T), v)
    assert (ahead - behind) / 2e-5 == pytest.approx(float(v_gradient[3, 2]), rel=1e-6)


@pytest.mark.parametrize("temperature", [1.0, 1.25, 2.0])
def test_at_full_rank_the_fit_is_the_pmi_and_probabilities_add_up_to_one(temperature, device):
    table = random_table(12, least=1)
    fit = Factorization(Hilbert(temperature).bind(store(table)), 12, l2=0, passes=6000, final_rate=1e-4, device=device)
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    assert np.abs(covectors @ vectors.T - pmi_of(table)).max() < 1e-3
    assert fit.evaluate().unitarity == pytest.approx(1, abs=1e-3)
    p_i, p_j = table.sum(axis=1) / table.sum(), table.sum(axis=0) / table.sum()
    assert (np.outer(p_i, p_j) * np.exp(covectors @ vectors.T)).sum() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("temperature", [1.0, 1.25, 2.0])
def test_pmi_of_words_that_are_one_in_a_billion_is_reached_and_not_passed(temperature, device):
    table = np.array([[2e9, 1e9, 1, 1], [1e9, 2e9, 1, 1], [1, 1, 1, 30], [1, 1, 30, 1]]).astype(np.int64)
    pmi = pmi_of(table.astype(np.float64))
    assert pmi.max() > 18
    fit = Factorization(Hilbert(temperature).bind(store(table)), 4, l2=0, passes=6000, final_rate=1e-4, device=device)
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    assert np.abs((covectors @ vectors.T - pmi)[[2, 3], [3, 2]]).max() < 0.01


def drawn_from_a_model(size: int, rank: int, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of pairs whose PMI is of low rank, and that PMI."""
    random = np.random.default_rng(1)
    w, v = random.normal(size=(size, rank)) * 0.5, random.normal(size=(size, rank)) * 0.5
    p = random.dirichlet(np.ones(size) * 3)
    joint = np.outer(p, p) * np.exp(w @ v.T)
    return random.multinomial(pairs, (joint / joint.sum()).ravel()).reshape(size, size), pmi_of(joint)


def test_a_known_low_rank_model_is_found_again(device):
    table, truth = drawn_from_a_model(150, 4, 30_000_000)
    fit = Factorization(Hilbert().bind(store(table)), 6, passes=300, device=device)
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    assert np.corrcoef((covectors @ vectors.T).ravel(), truth.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("fused", [True, False])
def test_steps_are_those_of_adam_and_locks_shorten_them(fused, device, monkeypatch):
    if not fused:
        monkeypatch.setattr(factors, "FUSED", ())
    random = torch.Generator().manual_seed(5)
    start, *gradients = torch.randn(8, 37, 11, generator=random, dtype=torch.float64)
    lock = torch.linspace(0, 1, 37)[:, None]
    free, locked = (start.float().to(device) for _ in range(2))
    moments, others = factors.Moments(free), factors.Moments(locked)
    m = v = torch.zeros_like(start)
    rows = start
    for t, gradient in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * gradient, 0.99 * v + 0.01 * gradient**2
        step = -0.3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.99**t)).sqrt() + 1e-8)
        before = locked.cpu().double()
        given = gradient.float().to(device)
        moments.step(free, given, 0.3, None)
        others.step(locked, given, 0.3, lock.to(device))
        rows = rows + step
        torch.testing.assert_close(free.cpu().double(), rows, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(locked.cpu().double(), before + lock * step, rtol=1e-5, atol=1e-5)
    assert torch.equal(locked[0].cpu(), start[0].float())


def test_sharding_does_not_change_the_objective(device):
    counts = store(drawn_from_a_model(40, 5, 100_000)[0])  # from noise alone, there are several optima to arrive at
    random = np.random.default_rng(0)
    start = Start(*(random.normal(size=(40, 5)).astype(np.float32) * 0.2 for _ in range(2)))
    losses = [Factorization(Hilbert().bind(counts), 5, n=n, start=start, device=device).evaluate() for n in (1, 2, 4)]
    for report in losses[1:]:
        assert report.loss == pytest.approx(losses[0].loss, rel=1e-6)
        assert report.unitarity == pytest.approx(losses[0].unitarity, rel=1e-6)
    fits = [Factorization(Hilbert().bind(counts), 5, n=n, passes=600 // n, device=device) for n in (1, 2)]
    psis = []
    for fit in fits:
        fit.run(fit.steps)
        covectors, vectors = fit.result()[:2]
        psis.append(covectors @ vectors.T)
    assert np.corrcoef(psis[0].ravel(), psis[1].ravel())[0, 1] > 0.999


def test_same_seed_same_bits_other_seed_same_vectors_up_to_noise(table, device):
    def vectors(seed: int) -> np.ndarray:
        fit = Factorization(Hilbert().bind(store(table)), 5, seed=seed, device=device)
        fit.run(fit.steps)
        return fit.result()[1]

    first = vectors(1)
    np.testing.assert_array_equal(first, vectors(1))
    other = vectors(2)
    assert not np.array_equal(first, other)
    assert np.corrcoef(first.ravel(), other.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("gauge", [0.0, 1.0])
def test_a_fit_from_vectors_starts_where_they_came_from_whatever_their_gauge(table, gauge, device):
    options = {"l2": table.sum() / 10_000, "device": device}
    first = Factorization(Hilbert().bind(store(table)), 5, gauge=gauge, **options)
    first.run(first.steps)
    covectors, vectors = first.result()[:2]
    again = Factorization(Hilbert().bind(store(table)), 5, start=Start(covectors, vectors), **options)
    assert again.evaluate().loss == pytest.approx(first.evaluate().loss, rel=5e-4)
    for ours, expected in zip(again.result()[:2], (covectors, vectors), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_the_canonical_gauge_keeps_psi_and_is_unique():
    random = torch.Generator().manual_seed(0)
    w, v = torch.randn(50, 6, generator=random) * 3, torch.randn(50, 6, generator=random)
    mix = torch.randn(6, 6, generator=random)
    one, two = canonical(w, v, 0.5), canonical(w @ mix, v @ torch.linalg.inv(mix).T, 0.5)
    torch.testing.assert_close(one[0] @ one[1].T, w @ v.T, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(one[1], two[1], rtol=1e-3, atol=1e-3)
    moments = one[0].T @ one[0]
    torch.testing.assert_close(moments, one[1].T @ one[1], rtol=1e-3, atol=1e-3)
    assert torch.all(torch.diff(torch.diag(moments)) <= 0)
    torch.testing.assert_close(moments, torch.diag(torch.diag(moments)), rtol=1e-3, atol=1e-3)
    flat = canonical(w, v, 0.25)
    torch.testing.assert_close(flat[0] @ flat[1].T, w @ v.T, rtol=1e-4, atol=1e-4)
    strength = torch.diag(moments)
    torch.testing.assert_close(flat[1].T @ flat[1], torch.diag(strength**0.5), rtol=1e-3, atol=1e-3)


def test_divergence_is_stepped_back_from(table, caplog, device):
    fit = Factorization(Hilbert().bind(store(table)), 5, rate=200.0, passes=40, device=device)
    fit.run(fit.steps)
    assert any("diverged" in message for message in caplog.messages)
    covectors, vectors = fit.result()[:2]
    assert np.isfinite(covectors).all()
    assert np.isfinite(vectors).all()
    assert fit.evaluate().unitarity == pytest.approx(1, abs=0.5)


def test_unseen_words_and_more_dimensions_than_words(device):
    table = np.zeros((4, 4), dtype=int)
    table[0, 1] = table[1, 0] = 5
    table[0, 2] = table[2, 0] = 3
    fit = Factorization(Hilbert().bind(store(table)), 10, device=device)
    fit.run(fit.steps)
    vectors = fit.result().parameters
    assert vectors.shape == (4, 10)
    assert np.isfinite(vectors).all()
    assert np.abs(vectors[3]).max() < 1e-12


def clustered_table(size: int = 60) -> np.ndarray:
    """Words of three kinds, each among its own."""
    random = np.random.default_rng(3)
    kind = np.arange(size) % 3
    return random.poisson(np.where(kind[:, None] == kind, 60, 6) * np.outer(*[random.exponential(size=size) + 0.3] * 2))


def test_a_threshold_spares_the_words_below_it(table):
    p = table.sum(axis=1) / table.sum()
    threshold = float(np.median(p))
    contexts = Hilbert(2.0, threshold).bind(store(table)).contexts
    paper, plain = Hilbert(2.0).bind(store(table)).contexts, Hilbert(1.0).bind(store(table)).contexts
    for reference, words in ((plain, p < threshold), (paper, p > threshold)):
        ratio = contexts[words] / reference[words]
        np.testing.assert_allclose(ratio, ratio[0])
    assert contexts.mean() == pytest.approx(1)


@pytest.mark.parametrize("precision", ["tf32", "bf16"])
def test_lower_precision_fits_about_the_same(precision, device):
    counts = store(clustered_table())

    def fitted(precision: str) -> tuple[np.ndarray, float]:
        fit = Factorization(Hilbert().bind(counts), 5, n=2, passes=100, precision=precision, device=device)
        fit.run(fit.steps)
        covectors, vectors = fit.result()[:2]
        return covectors @ vectors.T, fit.evaluate().loss

    before = torch.get_float32_matmul_precision()
    (exact, exact_loss), (about, about_loss) = fitted("float32"), fitted(precision)
    assert np.corrcoef(exact.ravel(), about.ravel())[0, 1] > 0.99
    assert about_loss == pytest.approx(exact_loss, abs=1e-3)
    assert torch.get_float32_matmul_precision() == before


def test_the_precision_of_other_products_comes_back_also_after_an_error(table, monkeypatch):
    before = torch.get_float32_matmul_precision()
    seen = []
    fit = Factorization(Hilbert().bind(store(table)), 5, precision="tf32")
    assert torch.get_float32_matmul_precision() == before

    def fail(*args):
        seen.append(torch.get_float32_matmul_precision())
        raise RuntimeError("out of memory")

    monkeypatch.setattr(fit.objective, "differentiate_", fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        fit.run(fit.steps)
    assert seen == ["high"]
    assert torch.get_float32_matmul_precision() == before
    with products_in("float32"):
        assert torch.get_float32_matmul_precision() == before


@pytest.mark.parametrize("share", [0.0, 1.0])  # of cells, below which a product is sparse: none is, all are
def test_training_starts_from_the_best_factors_of_weighted_positive_pmi(share, monkeypatch):
    monkeypatch.setattr(spectral, "SPARSE", share)
    monkeypatch.setattr(spectral, "LONGEST", 1e9)
    table = np.random.default_rng(3).poisson(0.7, size=(22, 22)) + np.eye(22, dtype=int)
    p = table / table.sum()
    weights = [side**0.8 / (side**0.8).mean() for side in (p.sum(axis=1), p.sum(axis=0))]
    root = np.sqrt(np.outer(*weights))
    left, strength, right = np.linalg.svd(root * np.maximum(pmi_of(table), 0))
    best = (left[:, :6] * strength[:6]) @ right[:6] / root
    fit = Factorization(Hilbert().bind(store(table)), 6, n=2, device="cpu")
    w, v = fit.result()[:2]
    np.testing.assert_allclose(w @ v.T, best, atol=1e-4)


def test_shards_are_of_a_size_that_suits_the_device():
    for size in (10, 1024, 1025, 10_000, 50_000):
        n = shards_a_side(size, 64)
        assert size <= 1024 * n
        assert n == 1 or size > 512 * n
    assert shards_a_side(400_000, 64) == 64  # the store has no more
    gb = 1 << 30
    # More where one would not fit into a GPU's memory, but none smaller than on a CPU.
    for size in (1025, 10_000, 50_000, 100_000, 400_000):
        assert shards_a_side(size, 64, 10 * gb) == shards_a_side(size, 64)
    assert shards_a_side(2_000_000, 64, 10 * gb) == 128
    assert shards_a_side(400_000, 64, gb // 10) == 256
    assert shards_a_side(100_000, 64, -1) == 128


def test_training_stops_when_it_has_converged_however_it_is_cut(device):
    counts = store(clustered_table())

    def fitted(tolerance: float, piece: int | None = None) -> Factorization:
        fit = Factorization(Hilbert().bind(counts), 5, n=2, passes=400, tolerance=tolerance, device=device)
        for _ in range(0, fit.steps, piece or fit.steps):
            fit.run(piece or fit.steps)
        assert fit.steps_done == fit.end
        return fit

    whole, early = fitted(0), fitted(1e-4)
    assert whole.steps_done == whole.steps
    assert early.steps_done < 0.8 * early.steps
    assert early.evaluate().loss == pytest.approx(whole.evaluate().loss, abs=1e-5)
    pieces = fitted(1e-4, piece=3)
    assert pieces.steps_done == early.steps_done
    np.testing.assert_array_equal(pieces.result()[1], early.result()[1])
    assert pieces.run(10) == pieces.report == early.report


def test_reports_tell_the_loss_of_the_pass(table):
    fit = Factorization(Hilbert().bind(store(table)), 5, n=2, rate=1e-9)  # nothing moves
    seen = []
    report = fit.run(4, seen.append)
    exact = fit.evaluate()
    assert [r.passes for r in seen] == [0.5, 1.0]
    assert seen[-1] == report
    assert report.loss == pytest.approx(exact.loss, rel=1e-5)
    assert report.unitarity == pytest.approx(exact.unitarity, rel=1e-5)
    assert report.gradient > 0


def test_bad_arguments():
    counts = store(random_table(5))
    with pytest.raises(ValueError, match=r"0\.5"):
        Hilbert(0.5)
    for threshold in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match=f"threshold.*{threshold}"):
            Hilbert(2.0, threshold)
    with pytest.raises(ValueError, match="'half'"):
        Factorization(Hilbert().bind(counts), 2, precision="half")
    with pytest.raises(ValueError, match="cuda:99"):
        Factorization(Hilbert().bind(counts), 2, device="cuda:99")
