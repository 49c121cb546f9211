"""Vectors that follow from the spelling of words, after factorization."""

from itertools import product

import numpy as np
import pytest
import torch
from ngrams import WORDS, dense, vectors_of
from scipy import sparse
from tables import random_table, store

from gensim_hilbert import PairCounts
from gensim_hilbert.objectives import SGNS, Hilbert, Swivel
from gensim_hilbert.training import spelling
from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.spelling import Spelling, correction

STEMS, ENDINGS = ["walk", "jump", "climb", "think", "dream", "shout"], ["ing", "ers", "able", "edly", "less"]
INFLECTED = [stem + ending for stem, ending in product(STEMS, ENDINGS)]


def random_vectors(words: int, size: int = 6) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(words, size)).astype(np.float32)


@pytest.mark.parametrize("bucket", [40, 5000])
def test_n_grams_have_the_most_probable_rows(bucket, monkeypatch):
    """The gradient of the sum of squares is zero there, by autograd."""
    monkeypatch.setattr(spelling, "TOLERANCE", 1e-6)
    composition, vectors = vectors_of(INFLECTED, bucket).composition, random_vectors(len(INFLECTED))
    weights = np.random.default_rng(4).uniform(0.1, 3, size=len(INFLECTED))
    found = Spelling(composition, weights)
    ngrams, own = found.regress(torch.from_numpy(vectors))
    shares = torch.from_numpy(dense(composition)[:, len(INFLECTED) :]).double()
    variances = (shares > 0).sum(dim=0).double() ** spelling.USERS_EXPONENT
    variances[composition.begins] *= spelling.BEGINNING_VARIANCE
    assert 0 < composition.begins.sum() < len(variances)
    precision = weights**spelling.FREQUENCY_EXPONENT
    variance = spelling.OWN_VARIANCE * precision.mean() / precision
    g = ngrams.double().requires_grad_()
    rest = torch.from_numpy(vectors).double() - shares @ g
    ridge = (shares.square() @ variances).mean()
    prior = ridge * (g.square() / variances[:, None]).sum()
    (0.5 * (rest.square().sum(dim=1) / torch.from_numpy(variance)).sum() + 0.5 * prior).backward()
    assert g.grad.abs().max() < 1e-3 * (shares.T @ torch.from_numpy(vectors).double()).abs().max()
    np.testing.assert_allclose(own.numpy(), rest.detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("columns", [4, 64])
def test_rows_make_up_the_vectors_less_most_of_their_own_parts(columns, monkeypatch):
    monkeypatch.setattr(spelling, "COLUMNS", columns)
    monkeypatch.setattr(spelling, "TOLERANCE", 1e-6)
    vectors = vectors_of(WORDS)
    wanted = random_vectors(len(WORDS))
    found = Spelling(vectors.composition, np.ones(len(WORDS)))
    ngrams, own = found.regress(torch.from_numpy(wanted))
    vectors.parameters = found.split(wanted)
    expected = wanted - (1 - spelling.OWN_SHARE) * own.numpy()
    np.testing.assert_allclose(vectors.vectors, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(vectors.vectors_ngrams[vectors.composition.shared], ngrams.numpy(), atol=1e-5)


def test_rare_words_follow_their_spelling_more_than_frequent_ones():
    composition, vectors = vectors_of(INFLECTED).composition, random_vectors(len(INFLECTED))
    weights = np.ones(len(INFLECTED))
    weights[7] = 81
    of_frequent = Spelling(composition, weights).regress(torch.from_numpy(vectors))[1][7]
    of_others = Spelling(composition, np.ones(len(INFLECTED))).regress(torch.from_numpy(vectors))[1][7]
    assert of_frequent.norm() < 0.8 * of_others.norm()


def test_words_that_are_spelt_alike_explain_a_word_never_seen():
    vectors = vectors_of(INFLECTED, bucket=100_000, size=8)
    random = np.random.default_rng(0)
    of_stems, of_endings = (random.normal(size=(len(parts), 8)) for parts in (STEMS, ENDINGS))
    wanted = np.repeat(of_stems, len(ENDINGS), axis=0) + np.tile(of_endings, (len(STEMS), 1))
    vectors.parameters = Spelling(vectors.composition, np.ones(len(INFLECTED))).split(wanted)
    assert np.linalg.norm(vectors.vectors - wanted) < 0.3 * np.linalg.norm(wanted)
    assert cosine(vectors["dreaming"], wanted[INFLECTED.index("dreaming")]) > 0.95
    assert cosine(vectors["dreamings"], wanted[INFLECTED.index("dreaming")]) > 0.8


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


@pytest.mark.parametrize("words", [[], ["a"], ["apple", "orbit"]])
def test_words_that_share_no_n_grams(words):
    composition = Composition([np.arange(9 * k, 9 * k + 4) for k in range(len(words))])
    wanted = random_vectors(len(words))
    rows = Spelling(composition, np.ones(len(words))).split(wanted)
    np.testing.assert_allclose(composition.vectors(rows), spelling.OWN_SHARE * wanted, rtol=1e-5)


def test_words_without_weight_and_vectors_of_zero_are_no_trouble():
    composition = vectors_of(INFLECTED).composition
    weights = np.ones(len(INFLECTED))
    weights[:5] = 0
    assert np.isfinite(Spelling(composition, weights).split(random_vectors(len(INFLECTED)))).all()
    assert not Spelling(composition, weights).split(np.zeros((len(INFLECTED), 3), dtype=np.float32)).any()


@pytest.mark.parametrize("words", [4, 500])
def test_covectors_are_corrected_for_what_vectors_have_lost(words, monkeypatch):
    """By weighted least squares; also if there are fewer words than dimensions."""
    monkeypatch.setattr(spelling, "ROWS", 100)
    random = np.random.default_rng(8)
    before, weights = random_vectors(words), random.uniform(0.1, 2, size=words)
    after = (before * [1, 0.5, 0.5, 0.7, 0.2, 1] + 0.1 * random.normal(size=before.shape)).astype(np.float32)
    root = np.sqrt(weights)[:, None]
    expected = np.linalg.lstsq(root * after, root * before, rcond=None)[0].T
    np.testing.assert_allclose(correction(before, after, weights), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("objective", [Hilbert(), SGNS(), Swivel()])
def test_a_fit_is_that_without_subwords_split(objective, monkeypatch):
    """In the canonical gauge, of the vectors that the rows make up."""
    monkeypatch.setattr(spelling, "TOLERANCE", 1e-6)
    bound = objective.bind(store(random_table(len(INFLECTED), least=1), INFLECTED))
    vectors = vectors_of(INFLECTED, size=5)
    plain, made = (
        Factorization(bound, 5, n=4, passes=3, composition=composition) for composition in (None, vectors.composition)
    )
    for fit in (plain, made):
        fit.run(fit.steps)
    w, v = plain.result()[:2]
    covectors, vectors.parameters = made.result()[:2]
    split = vectors.composition.vectors(Spelling(vectors.composition, bound.weights[1]).split(v))
    psi = w @ correction(v, split, bound.weights[1]) @ split.T
    np.testing.assert_allclose(covectors @ vectors.vectors.T, psi, rtol=1e-2, atol=1e-3)
    for moments in (covectors.T @ covectors, vectors.vectors.T @ vectors.vectors):
        np.testing.assert_allclose(moments, np.diag(np.diag(moments)), atol=1e-3 * moments.max())
    assert made.evaluate().loss == plain.evaluate().loss


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
    counts = PairCounts.from_scipy(sparse.coo_array(random.poisson(table * 3e7)), known, scale=1)
    # PMI is psi less a number for each context and each term: two dimensions more.
    vectors = vectors_of(known, bucket=100_000, size=8)
    fit = Factorization(Hilbert().bind(counts), 8, l2=20, passes=200, composition=vectors.composition)
    fit.run(fit.steps)
    covectors, vectors.parameters = fit.result()[:2]
    contexts, terms = table.sum(axis=1, keepdims=True), table.sum(axis=0)
    assert correlation(covectors @ vectors.vectors.T, np.log(table / (contexts * terms))) > 0.98
    guessed = covectors @ np.array([vectors[words[k]] for k in held_out]).T
    truth = w @ v[held_out].T - np.log(contexts[:, 0] / p)[:, None]
    assert correlation(*(side - side.mean(axis=0) for side in (guessed, truth))) > 0.9


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(x.ravel(), y.ravel())[0, 1])
