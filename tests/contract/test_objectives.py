"""What every objective keeps to, those of the package and one of a user's: the paper's mathematics, and the model's."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers import Recorder
from own_objective import WeightedLeastSquares
from scipy import sparse
from torch.nn.functional import softplus

import gensim_hilbert.objectives as family
from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.objectives import LDS, PPMI, SGNS, GloVe, Hilbert, Objective, Swivel, named
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.fit import Start
from gensim_hilbert.training.from_counts import make_fit
from gensim_hilbert.training.kernels import KERNELS
from gensim_hilbert.training.shards import Shard

OBJECTIVES = [
    Hilbert(),
    Hilbert(temperature=2.0),
    SGNS(),
    SGNS(negative=2, ns_exponent=1.0),
    GloVe(),
    GloVe(x_max=10, alpha=0.5),
    LDS(x_max=10),
    Swivel(),
    PPMI(),
    PPMI(shift=1.5),
    WeightedLeastSquares(),
]
every_objective = pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
SIZE, RANK = 31, 4
Gradients = tuple[float, torch.Tensor, torch.Tensor]


def store(table: np.ndarray) -> PairCounts:
    """With occurrences as large as the counts of pairs, so that words are as frequent as they should be."""
    return PairCounts.from_scipy(sparse.coo_array(table), [f"w{k}" for k in range(len(table))], scale=1)


def random_table(size: int, least: int = 0) -> np.ndarray:
    random = np.random.default_rng(0)
    contexts, terms = (random.exponential(size=size) + 0.1 for _ in range(2))
    return random.poisson(np.outer(contexts, terms) * 20) + least


@pytest.fixture(scope="module")
def counts() -> PairCounts:
    """Many zeros, a few counts in the millions, and a word that never occurs."""
    table = random_table(SIZE)
    table[3, 4] = table[4, 3] = 5_000_000
    table[7] = table[:, 7] = 0
    return store(table)


# ---------------------------------------------------------------------------------------------------- the paper


def paper_loss(objective: Objective, counts: PairCounts, psi: torch.Tensor) -> torch.Tensor:
    """As it is printed, over all cells at once."""
    n = torch.tensor(counts.to_scipy().toarray(), dtype=torch.float64)
    there, total = n > 0, n.sum()
    n_i, n_j = n.sum(dim=1, keepdim=True), n.sum(dim=0, keepdim=True)
    chance = n_i * n_j / total
    pmi = torch.where(there, (n / chance).log(), 0.0)
    match objective:
        case Hilbert(temperature=tau):
            multiplier = (chance / total) ** (1 / tau)
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


def differentiate(bound: Objective, w: torch.Tensor, v: torch.Tensor, n: int = 1) -> Gradients:
    """The loss and its gradients, by n x n shards, in float64."""
    kernel = KERNELS[bound.kernel](RANK, "float32")
    loss, to_w, to_v = 0.0, torch.zeros_like(w), torch.zeros_like(v)
    for i in range(n):
        for j in range(n):
            rows, columns, values = bound.positives(i, j, n)
            a, b = (torch.from_numpy(side) for side in (bound.contexts[i::n], bound.terms[j::n]))
            places = torch.from_numpy(rows.astype(np.int64) * len(b) + columns)
            psi = torch.empty(len(a), len(b), dtype=torch.float64)
            kernel.forward(w[i::n], v[j::n], psi)
            loss += bound.differentiate_(psi, Shard(i, j, a, b, places, torch.from_numpy(values))).loss
            kernel.backward(psi, (w[i::n], v[j::n]), (to_w[i::n], to_v[j::n]), 1.0)
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
def test_cells_of_pairs_that_do_not_occur(objective, counts):
    """The last column of the paper's table."""
    bound = objective.bind(counts)
    rows, columns, values = bound.positives(0, 0, 1)
    a, b = torch.from_numpy(bound.contexts), torch.from_numpy(bound.terms)
    psi = torch.randn(SIZE, SIZE, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    d = psi.clone()
    shard = Shard(0, 0, a, b, torch.from_numpy(rows.astype(np.int64) * SIZE + columns), torch.from_numpy(values))
    bound.differentiate_(d, shard)
    table = counts.to_scipy().toarray()
    zero = torch.from_numpy(table == 0)
    n_i, n_j = (torch.from_numpy(side) for side in (counts.marginals.contexts, counts.marginals.terms))
    chance = torch.outer(n_i, n_j) / counts.total
    u = torch.from_numpy(counts.vocabulary.counts.astype(np.float64))
    match objective:
        case Hilbert(temperature=tau):
            expected = chance ** (1 / tau) * psi.exp()
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


@every_objective
def test_at_full_rank_psi_is_phi_and_reads_as_pmi(objective, device):
    table = random_table(12, least=1)
    counts = store(table)
    bound = objective.bind(counts)
    fit = make_fit(bound, 12, l2=0, passes=4000, final_rate=1e-4, device=device)
    fit.run(fit.steps)
    covectors, vectors, biases = fit.result()[:3]
    rows, columns, values = bound.positives(0, 0, 1)
    order = np.lexsort((columns, rows))
    places = torch.from_numpy(rows.astype(np.int64) * 12 + columns)[order]
    a, b = torch.from_numpy(bound.contexts), torch.from_numpy(bound.terms)
    phi = bound.phi(Shard(0, 0, a, b, places, torch.from_numpy(values)[order])).numpy().reshape(12, 12)
    product = covectors @ vectors.T
    psi = product if biases is None else product + biases[0][:, None] + biases[1]
    assert np.abs(psi - phi).max() < 1e-3
    pmi = np.log(table * table.sum() / np.outer(table.sum(axis=1), table.sum(axis=0)))
    read = product - bound.psi_offset
    offsets = bound.offsets(biases)
    if offsets is not None:
        read = read - offsets[0][:, None] - offsets[1]
    positive = pmi > -bound.psi_offset if isinstance(objective, PPMI) else np.ones_like(pmi, dtype=bool)
    assert np.abs(read - pmi)[positive].max() < 1e-3


@every_objective
def test_sharding_does_not_change_the_loss(objective, counts, device):
    random = np.random.default_rng(0)
    vectors = [random.normal(size=(SIZE, RANK)).astype(np.float32) * 0.3 for _ in range(2)]
    fits = [Factorization(objective.bind(counts), RANK, n=n, start=Start(*vectors), device=device) for n in (1, 2, 4)]
    losses = [fit.evaluate().loss for fit in fits]
    assert losses[1:] == pytest.approx([losses[0]] * 2, rel=1e-5)


@every_objective
def test_what_is_found_does_not_depend_on_shards(objective, device):
    counts = store(clustered_table())

    def fitted(n: int) -> np.ndarray:
        fit = make_fit(objective.bind(counts), 5, n=n, passes=600 // n, device=device)
        fit.run(fit.steps)
        covectors, vectors = fit.result()[:2]
        return covectors @ vectors.T

    assert np.corrcoef(fitted(1).ravel(), fitted(2).ravel())[0, 1] > 0.97


def clustered_table(size: int = 60) -> np.ndarray:
    """Words of three kinds, each among its own."""
    random = np.random.default_rng(3)
    kind = np.arange(size) % 3
    return random.poisson(np.where(kind[:, None] == kind, 60, 6) * np.outer(*[random.exponential(size=size) + 0.3] * 2))


@every_objective
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


def test_the_biases_of_glove_are_the_logarithms_of_frequencies(device):
    """From biases of zero, as GloVe's own program has them; the paper's figure."""
    random = np.random.default_rng(1)
    frequencies = 1 / (1 + np.arange(80))
    table = random.poisson(np.outer(frequencies, frequencies) * 1e7 * random.lognormal(0, 0.5, size=(80, 80)))
    counts = store(table)
    nothing = [random.normal(size=(80, 3)).astype(np.float32) * 0.1 for _ in range(2)]
    start = Start(*nothing, (np.zeros(80), np.zeros(80)))
    fit = Factorization(GloVe(x_max=10).bind(counts), 3, passes=1500, start=start, device=device)
    fit.run(fit.steps)
    biases = fit.result()[2]
    for side, marginal in zip(biases, (table.sum(axis=1), table.sum(axis=0)), strict=True):
        expected = np.log(marginal) - np.log(table.sum()) / 2
        assert np.corrcoef(side, expected)[0, 1] > 0.95


def test_glove_against_mittens():
    """Another implementation: the same loss at the same point, and no lower one after as many iterations."""
    peer = pytest.importorskip("mittens", reason="mittens is not installed: pip install mittens")
    table = clustered_table().astype(float)
    random = np.random.default_rng(0)
    w, v = (random.normal(size=(60, 5)) * 0.1 for _ in range(2))
    biases = random.normal(size=60), random.normal(size=60)
    start = {"W": w, "C": v, "bw": biases[0][:, None], "bc": biases[1][:, None]}
    theirs = peer.GloVe(n=5, xmax=10, max_iter=500, display_progress=0, test_mode=True)
    theirs.fit(table.copy(), fixed_initialization={name: array.copy() for name, array in start.items()})
    bound = GloVe(x_max=10).bind(store(clustered_table()))
    scale = bound.scale / 60**2 * 2  # mittens halves the loss
    fit = Factorization(bound, 5, l2=0, passes=500, start=Start(w, v, biases))
    assert fit.evaluate().loss == pytest.approx(scale * theirs.errors[0], rel=1e-5)
    fit.run(fit.steps)
    assert fit.evaluate().loss < scale * theirs.errors[-1]


def test_the_svd_is_the_best_approximation(device):
    counts = store(clustered_table())
    bound = PPMI(shift=2).bind(counts)
    fit = make_fit(bound, 6, gauge=0.25)
    fit.run(fit.steps)
    covectors, vectors = fit.result()[:2]
    left, strength, right = np.linalg.svd(bound.table_for_svd().toarray())
    np.testing.assert_allclose(covectors @ vectors.T, left[:, :6] * strength[:6] @ right[:6], atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), strength[:6] ** 0.25, rtol=1e-4)
    by_shards = Factorization(bound, 6, l2=0, start=Start(covectors, vectors), device=device).evaluate().loss
    assert fit.evaluate().loss == pytest.approx(by_shards, rel=1e-5)


# ---------------------------------------------------------------------------------------------------- the model

OPTIONS = {"vector_size": 8, "min_count": 1, "sample": 0, "seed": 3, "epochs": 4}


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    """Animals eat, machines run; and everything is."""
    random = np.random.default_rng(0)
    kinds = (["cat", "dog", "cow", "eats", "sleeps", "drinks"], ["car", "bus", "mill", "runs", "stops", "turns"])
    return [list(random.choice([*kinds[k % 2], "the", "is"], size=8)) for k in range(1500)]


@pytest.fixture(scope="module", params=OBJECTIVES, ids=repr)
def model(request, sentences) -> HilbertMLE:
    recorder = Recorder()
    model = HilbertMLE(sentences, objective=request.param, callbacks=[recorder], **OPTIONS)
    model.recorder = recorder
    return model


def test_a_model_learns_what_goes_with_what(model):
    assert model.wv.similarity("cat", "cow") > model.wv.similarity("cat", "bus") + 0.1
    found = model.most_cooccurring("cat", topn=14)
    assert found == sorted(found, key=lambda pair: -pair[1])
    assert found == [(word, pytest.approx(model.pmi(word, "cat"), abs=1e-5)) for word, _ in found]
    animals = {"cat", "dog", "cow", "eats", "sleeps", "drinks"}
    assert {word for word, _ in found[:5]} <= animals
    (first, chance), *_ = model.predict_output_word(["eats", "sleeps"], topn=3)
    assert first in animals | {"the", "is"}
    assert 0 < chance < 1
    together = [(value, model.counts.pmi(word, "cat")) for word, value in found if model.counts.count(word, "cat")]
    assert len(together) >= 8
    assert np.corrcoef(*zip(*together, strict=True))[0, 1] > 0.5


def test_callbacks_see_every_epoch(model):
    assert model.recorder.events == ["train begins", *["epoch begins", "epoch ends"] * 4, "train ends"]
    assert all(np.isfinite(vectors).all() for vectors in model.recorder.vectors)
    np.testing.assert_array_equal(model.recorder.vectors[-1], model.wv.vectors)


def test_a_saved_model_is_the_same(model, tmp_path):
    recorder = model.__dict__.pop("recorder")
    model.save(str(tmp_path / "model"))
    model.recorder = recorder
    loaded = HilbertMLE.load(str(tmp_path / "model"))
    assert loaded.objective == model.objective
    np.testing.assert_array_equal(loaded.wv.vectors, model.wv.vectors)
    for ours, expected in ((loaded.context_biases, model.context_biases), (loaded.term_biases, model.term_biases)):
        assert (ours is None) == (expected is None) == (KERNELS[model.objective.kernel].extra == 0)
        if ours is not None:
            np.testing.assert_array_equal(ours, expected)
    assert loaded.pmi("cat", "eats") == model.pmi("cat", "eats")


@every_objective
def test_interrupted_training_ends_with_the_same_bits(objective, sentences, tmp_path):
    class Interrupt(Exception):
        pass

    class Stop(Recorder):
        def on_epoch_end(self, model):
            super().on_epoch_end(model)
            if len(self.vectors) == 2:
                raise Interrupt

    def trained(callbacks=(), **options):
        return HilbertMLE(sentences[:300], objective=objective, callbacks=callbacks, **OPTIONS, **options)

    whole = trained()
    with pytest.raises(Interrupt):
        trained([Stop()], checkpoint=tmp_path)
    rest = Recorder()
    again = trained([rest], checkpoint=tmp_path)
    assert len(rest.vectors) == 3
    np.testing.assert_array_equal(again.wv.vectors, whole.wv.vectors)
    np.testing.assert_array_equal(again.syn1neg, whole.syn1neg)
    if whole.biases is not None:
        np.testing.assert_array_equal(again.term_biases, whole.term_biases)


@pytest.mark.parametrize("objective", [SGNS(), GloVe(), LDS(), WeightedLeastSquares()], ids=repr)
def test_training_goes_on_from_vectors_that_were_set(objective, sentences):
    model = HilbertMLE(sentences, objective=objective, compute_loss=True, **OPTIONS)
    loss = model.get_latest_training_loss()
    psi = model.syn1neg @ model.wv.vectors.T
    model.wv.vectors, model.syn1neg = model.wv.vectors.copy(), model.syn1neg.copy()
    model.wv.vectors[0, 0] += 1e-3  # somebody has set them
    model.train(sentences[:1], total_examples=1, epochs=1, start_alpha=1e-6, end_alpha=1e-7, compute_loss=True)
    np.testing.assert_allclose(model.syn1neg @ model.wv.vectors.T, psi, atol=0.02)
    assert model.get_latest_training_loss() == pytest.approx(loss, rel=0.2)


@every_objective
@pytest.mark.parametrize("sentences", [[["a", "a"]], [["a", "b"]], [["a", "b", "c"]] * 50], ids=len)
def test_almost_nothing_to_learn_from(objective, sentences):
    model = HilbertMLE(sentences, objective=objective, **OPTIONS)
    assert np.isfinite(model.wv.vectors).all()
    assert math.isfinite(model.pmi("a", "a"))


@every_objective
def test_words_that_come_later(objective, sentences):
    model = HilbertMLE(sentences[:300], objective=objective, **OPTIONS)
    more = [["cat", "purrs", "the", "dog"]] * 20
    model.build_vocab(more, update=True)
    model.pmi("cat", "purrs")
    model.train(more, total_examples=20, epochs=1)
    assert model.pmi("cat", "purrs") > model.pmi("bus", "purrs")


# ---------------------------------------------------------------------------------------------------- names


def test_each_name_is_a_file():
    files = {path.stem.replace("_", "-") for path in Path(family.__file__).parent.glob("*.py")} - {"--init--"}
    assert set(family.CLASSES) == files
    for name, kind in family.CLASSES.items():
        assert type(named(name)) is getattr(family, kind)


@pytest.mark.parametrize("objective", OBJECTIVES[:-1], ids=repr)
def test_an_objective_reads_as_it_is_written(objective):
    name = next(name for name, kind in family.CLASSES.items() if kind == type(objective).__name__)
    bracket = repr(objective).partition("(")[2]
    assert named(f"{name}({bracket}") == objective
    assert named(objective) is objective


def test_settings_come_from_the_arguments_that_have_their_names():
    assert HilbertMLE(objective="sgns", negative=12, ns_exponent=1).objective == SGNS(12, 1)
    assert HilbertMLE(temperature=2, threshold=1e-3).objective == Hilbert(2, 1e-3)
    assert HilbertMLE(objective="sgns(negative=12)").negative == 12
    assert HilbertMLE(objective=Hilbert(temperature=2)).temperature == 2
    with pytest.warns(UserWarning, match="no use for negative"):
        assert HilbertMLE(objective="glove", negative=12).objective == GloVe()
    with pytest.warns(UserWarning, match="'ppmi-svd' has no use for l2"):
        HilbertMLE(objective="ppmi-svd", l2=3.0)
    with pytest.warns(UserWarning, match="no use for temperature"):
        HilbertMLE(objective="sgns", temperature=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "word2vec"}, "one of hilbert, sgns, .*'word2vec'"),
        ({"objective": "glove(xmax=10)"}, "glove has no xmax; its settings are x_max, alpha"),
        ({"objective": "glove(10)"}, "reads? like"),
        ({"objective": "glove(x_max=__import__('os'))"}, "reads? like"),
        ({"objective": "glove(x_max=10"}, "reads? like"),
        ({"objective": "glove(x_max='a')"}, "x_max of objective glove must be a number, got 'a'"),
        ({"objective": "glove(x_max=-1)"}, "x_max must be more than 0, got -1"),
        ({"objective": "ppmi-svd(shift=0)"}, "shift must be more than 0, got 0"),
        ({"objective": "sgns", "negative": 0}, "negative must be more than 0, got 0"),
        ({"objective": "glove", "solver": "gibbs"}, "'gibbs' does not fit .*'glove'"),
        ({"objective": Hilbert(temperature=2), "temperature": 3}, r"temperature is given twice: as 3.*temperature=2"),
    ],
)
def test_bad_settings_are_told_before_any_work(options, message):
    with pytest.raises(ValueError, match=message):
        HilbertMLE(**options)


def test_the_example_runs(capsys):
    runpy.run_module("own_objective", run_name="__main__")
    assert "laden" in capsys.readouterr().out.splitlines()[2]


def test_an_objective_must_be_a_dataclass():
    class Bare(WeightedLeastSquares):
        pass

    for bad in (Bare(), 5, GloVe):
        with pytest.raises(TypeError, match="decorated with @dataclass"):
            HilbertMLE(objective=bad)


def test_vectors_that_are_solved_for_at_once_cannot_be_locked(sentences):
    model = HilbertMLE(objective="ppmi-svd", **OPTIONS)
    model.build_vocab(sentences)
    model.wv.vectors_lockf = np.zeros(len(model.wv), dtype=np.float32)
    with pytest.raises(ValueError, match="cannot be locked"):
        model.train(sentences, total_examples=len(sentences), epochs=1)
