"""Factors that are made of n-grams: the gradient, the prior and the start, by both solvers."""

from itertools import product

import numpy as np
import pytest
import torch
from ngrams import WORDS, dense, vectors_of
from scipy import sparse
from tables import random_table, store

from gensim_hilbert import PairCounts
from gensim_hilbert._gibbs import SAMPLERS, Gibbs
from gensim_hilbert.objectives import SGNS, Hilbert, Swivel
from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.factorization import Factorization


def trained(composition: Composition | None, sampler: str, parameters: np.ndarray, words: int, rate: float = 0.2):
    random = np.random.default_rng(4)
    w = random.normal(size=(words, 6)).astype(np.float32) * 0.3
    z = parameters.copy()
    v = z if composition is None else np.empty((words, 6), dtype=np.float32)
    p = np.arange(1, words + 1.0)
    made = {} if composition is None else {"composition": composition, "parameters": z}
    kernel = Gibbs(w, v, p, p**0.75, candidates=3, sampler=sampler, window=3, **made)
    ids = np.full(400, words, dtype=np.uint32)
    ids[3:-3] = random.integers(0, words, size=394)
    for seed in range(3):
        kernel.train(ids, 3, 397, rate, seed)
    kernel.settle_all()
    return w, v, z


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_words_that_share_nothing_learn_as_without_subwords(sampler):
    buckets = [np.arange(5 * k, 5 * k + 4) for k in range(9)]
    composition = Composition(buckets)
    assert composition.rows == 9
    start = np.random.default_rng(5).normal(size=(9, 6)).astype(np.float32) * 0.3
    plain, made = trained(None, sampler, start, 9), trained(composition, sampler, start, 9)
    for ours, expected in zip(made, plain, strict=True):
        np.testing.assert_allclose(ours, expected[: len(ours)], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_shared_rows_move_with_every_word_they_are_part_of(sampler):
    vectors = vectors_of(WORDS, bucket=60)
    composition, start = vectors.composition, vectors.parameters
    _, v, z = trained(composition, sampler, start, len(WORDS))
    np.testing.assert_allclose(dense(composition) @ z, v, rtol=1e-4, atol=1e-5)
    # A word moves its rows alike; each row has the sum of what its words have done.
    moves = np.linalg.lstsq((dense(composition) > 0).T.astype(float), z - start, rcond=None)
    assert composition.rows > len(WORDS)
    np.testing.assert_allclose((dense(composition) > 0).T @ moves[0], z - start, atol=1e-4)
    assert np.abs(z - start).min(axis=1).max() > 0.01


@pytest.mark.parametrize("objective", [Hilbert(), SGNS(), Swivel()])
@pytest.mark.parametrize("n", [1, 4])
def test_the_gradient_is_that_of_the_loss_by_what_is_learnt(objective, n):
    words = [a + b for a, b in product(["run", "sun", "fun", "walk"], ["ning", "ner", "s", "ny", ""])]
    composition = vectors_of(words).composition
    fit = Factorization(
        objective.bind(store(random_table(len(words), least=1), words)), 5, l2=3, n=n, composition=composition
    )
    mixture = torch.from_numpy(dense(composition)).double()
    learnt = fit.v.rows[0].double().requires_grad_()
    v = mixture @ learnt
    # Each block against one block of the other side, as in a row of a Latin square. Derivatives by psi have been
    # compared with the paper's formulas elsewhere.
    total = torch.zeros((), dtype=torch.float64)
    for i in range(n):
        shard = fit.shards[i, (i + 1) % n]
        _, slope = fit.dense.loss(shard, fit.w[i], fit.v[shard.j])
        fit.v.step(shard.j, fit.gradients(shard, fit.w[i], fit.v[shard.j], 0).to_v, rate=0.1, number=0)
        psi = fit.w[i].double() @ v[shard.j :: n].T
        total = total + (fit.dense.scale * slope[:, : psi.shape[1]].double() * psi).sum()
    total.backward()
    torch.testing.assert_close(fit.v._pieces_gradient().double(), learnt.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n", [1, 4])
def test_pieces_move_once_all_blocks_have_had_their_visit(n):
    """By Adam, with their prior; and rows are composed of what they have become."""
    words = [a + b for a, b in product(["run", "sun", "fun", "walk"], ["ning", "ner", "s", "ny", ""])]
    composition = vectors_of(words).composition
    bound = Hilbert().bind(store(random_table(len(words), least=1), words))
    fit = Factorization(bound, 5, l2=3, n=n, composition=composition)
    pieces, blocks = fit.v.rows[0].clone(), fit.v.blocks.clone()
    gradient = torch.randn(blocks.shape, generator=torch.Generator().manual_seed(1))
    for k in range(n):
        fit.v.step(k, gradient[k], rate=0.1, number=0)
        assert torch.equal(fit.v.rows[0], pieces)
        assert torch.equal(fit.v.blocks, blocks)
    fit.v.move_together(rate=0.1, number=0)
    mixture = dense(composition)
    slope = mixture.T @ fit.shards.restored(gradient) + fit.v.priors[0].numpy()[:, None] * pieces.numpy()
    expected = pieces.numpy() - 0.1 * slope / (np.abs(slope) + 1e-8)  # the first step of Adam
    np.testing.assert_allclose(fit.v.rows[0].numpy(), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(fit.shards.restored(fit.v.blocks), mixture @ fit.v.rows[0].numpy(), rtol=1e-4, atol=1e-5)


def test_a_word_that_shares_nothing_has_the_prior_of_a_word():
    """Its vector is the mean of m rows of one prior each; their sum of squares is least where they are all the same."""
    composition = Composition([np.arange(9 * k, 9 * k + 4 + k) for k in range(4)])
    words = [f"w{k}" for k in range(4)]
    made, plain = (
        Factorization(Hilbert().bind(store(random_table(len(words), least=1), words)), 3, l2=2, n=2, composition=given)
        for given in (composition, None)
    )
    np.testing.assert_allclose(made.v.priors[0].numpy(), plain.shards.restored(plain.v.priors), rtol=1e-5)


def test_a_start_is_explained_by_what_words_share():
    stems, endings = ["walk", "jump", "climb", "think", "dream", "shout"], ["ing", "ers", "able", "edly", "less"]
    words = [stem + ending for stem, ending in product(stems, endings)]
    vectors = vectors_of(words, bucket=100_000, size=8)
    fit = Factorization(
        Hilbert().bind(store(random_table(len(words), least=1), words)), 8, n=2, composition=vectors.composition
    )
    random = torch.Generator().manual_seed(0)
    of_stems, of_endings = (torch.randn(len(parts), 8, generator=random) for parts in (stems, endings))
    wanted = torch.stack([of_stems[s] + of_endings[e] for s in range(len(stems)) for e in range(len(endings))])
    rows = fit.v.mixture.explain(fit.shards.arranged(wanted.numpy())).numpy()
    vectors.parameters = rows
    assert np.linalg.norm(vectors.vectors - wanted.numpy()) < 0.2 * np.linalg.norm(wanted.numpy())
    assert cosine(vectors["dreaming"], wanted[words.index("dreaming")].numpy()) > 0.99
    assert cosine(vectors["dreamings"], wanted[words.index("dreaming")].numpy()) > 0.8


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


def test_a_model_of_subwords_is_found_and_with_it_words_it_has_not_seen():
    """Words of a stem and an ending, each with a vector; pairs as that model has them; some words are held out."""
    random = np.random.default_rng(6)
    letters = np.array(list("abcdefghijklmnoprstuvw"))
    stems, endings = (sorted({"".join(random.choice(letters, 4)) for _ in range(count)}) for count in (24, 14))
    words = [stem + ending for stem, ending in product(stems, endings)]
    of_stems, of_endings = (random.normal(size=(len(parts), 6)) for parts in (stems, endings))
    v = np.repeat(of_stems, len(endings), axis=0) + np.tile(of_endings, (len(stems), 1))
    held_out, seen = np.split(random.permutation(len(words)), [40])
    w = random.normal(size=(len(seen), 6)) / 6
    p = random.dirichlet(np.full(len(seen), 5.0))
    table = np.outer(p, p) * np.exp(w @ v[seen].T)
    table /= table.sum()
    known = [words[k] for k in seen]
    store = PairCounts.from_scipy(sparse.coo_array(random.poisson(table * 3e7)), known, scale=1)
    # PMI is psi less a number for each context and each term: two dimensions more.
    vectors = vectors_of(known, bucket=100_000, size=8)
    fit = Factorization(Hilbert().bind(store), 8, l2=20, passes=200, composition=vectors.composition)
    fit.run(fit.steps)
    covectors, vectors.parameters = fit.result()[:2]
    contexts, terms = table.sum(axis=1, keepdims=True), table.sum(axis=0)
    assert correlation(covectors @ vectors.vectors.T, np.log(table / (contexts * terms))) > 0.99
    guessed = covectors @ np.array([vectors[words[k]] for k in held_out]).T
    truth = w @ v[held_out].T - np.log(contexts[:, 0] / p)[:, None]
    assert correlation(*(side - side.mean(axis=0) for side in (guessed, truth))) > 0.9


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(x.ravel(), y.ravel())[0, 1])
