"""Vectors made of n-grams: against gensim's own sums, autograd, and tables that were drawn from such a model."""

from itertools import product

import numpy as np
import pytest
import torch
from gensim.models.fasttext import FastTextKeyedVectors
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gensim_hilbert import PairCounts
from gensim_hilbert._gibbs import SAMPLERS, Gibbs
from gensim_hilbert.objectives import SGNS, Hilbert, Swivel
from gensim_hilbert.training.checkpoint import Checkpoint, Saved
from gensim_hilbert.training.composition import Composition
from gensim_hilbert.training.factorization import Factorization
from gensim_hilbert.training.team import Room
from gensim_hilbert.vectors.subwords import SubwordVectors

WORDS = ["running", "runner", "run", "sunning", "aaaaaaaa", "a", "naïve", "日本語", "sun", "sunny"]


def vectors_of(words: list[str], bucket: int = 5000, min_n: int = 3, max_n: int = 6, size: int = 6) -> SubwordVectors:
    vectors = SubwordVectors(size, min_n, max_n, bucket)
    vectors.index_to_key, vectors.key_to_index = list(words), {word: row for row, word in enumerate(words)}
    vectors.resize_vectors(seed=1)
    return vectors


def dense(composition: Composition) -> np.ndarray:
    """G."""
    words = len(composition.offsets) - 1
    return sparse.csr_array(
        (composition.weights, composition.pieces.astype(int), composition.offsets), shape=(words, composition.rows)
    ).toarray()


@settings(deadline=None)
@given(
    words=st.lists(st.text("abñ", min_size=1, max_size=9), min_size=1, max_size=12, unique=True),
    bucket=st.integers(1, 200),
    shortest=st.integers(1, 4),
    more=st.integers(0, 3),
)
def test_a_vector_is_the_mean_that_gensim_computes(words, bucket, shortest, more):
    """With buckets that several n-grams or several words share, and words whose n-grams repeat."""
    vectors = vectors_of(words, bucket, shortest, shortest + more)
    parameters = np.random.default_rng(2).normal(size=vectors.parameters.shape).astype(np.float32)
    vectors.parameters = parameters
    ours = vectors.vectors
    FastTextKeyedVectors.adjust_vectors(vectors)
    np.testing.assert_array_equal(ours, vectors.vectors)
    np.testing.assert_array_equal(vectors.parameters, parameters)
    mixture = dense(vectors.composition)
    np.testing.assert_allclose(mixture.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(mixture @ parameters, ours, rtol=1e-4, atol=1e-5)


def test_what_is_one_row_is_the_mean_of_what_somebody_has_set():
    vectors = vectors_of(WORDS)
    vectors.vectors_ngrams[:] = np.random.default_rng(3).normal(size=vectors.vectors_ngrams.shape)
    vectors.adjust_vectors()
    before = vectors.vectors
    vectors.parameters = vectors.parameters
    words = [word for word in WORDS if word != "aaaaaaaa"]  # there, one counts several times
    rows = [vectors.key_to_index[word] for word in words]
    np.testing.assert_allclose(vectors.vectors[rows], before[rows], rtol=1e-4, atol=1e-5)


def test_n_grams_never_seen_do_not_turn_a_vector():
    vectors = vectors_of(["running", "runner"], bucket=2_000_000)
    long = vectors.get_vector("runnerzzzzzz", norm=True)
    assert np.linalg.norm(long) == pytest.approx(1, rel=1e-5)
    assert not vectors["zzzzzz"].any()
    assert not vectors.get_vector("zzzzzz", norm=True).any(), "no NaN"
    assert vectors.most_similar("zzzzzz", topn=1)[0][1] == 0
    with pytest.raises(KeyError):
        vectors.get_vector(7)


def test_new_words_leave_old_rows_as_they_are():
    vectors = vectors_of(WORDS[:4])
    before = {word: vectors[word].copy() for word in ("running", "unrunning")}
    vectors.index_to_key.append("walking")
    vectors.key_to_index["walking"] = 4
    used = vectors.composition.used(vectors.bucket)
    old = vectors.vectors_ngrams[used].copy()
    vectors.resize_vectors(seed=1)
    np.testing.assert_array_equal(vectors.vectors_ngrams[used], old)
    np.testing.assert_array_equal(vectors["running"], before["running"])
    assert vectors["walking"].any()
    assert len(vectors.vectors) == len(vectors.vectors_vocab) == 5


# ------------------------------------------------------------------ the Gibbs kernel


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


# ------------------------------------------------------------------ factorisation


def random_counts(words: list[str]) -> PairCounts:
    random = np.random.default_rng(0)
    rates = np.outer(random.exponential(size=len(words)) + 0.1, random.exponential(size=len(words)) + 0.1) * 20
    return PairCounts.from_scipy(sparse.coo_array(random.poisson(rates) + 1), words, scale=1)


@pytest.mark.parametrize("objective", [Hilbert(), SGNS(), Swivel()])
@pytest.mark.parametrize("n", [1, 4])
def test_the_gradient_is_that_of_the_loss_by_what_is_learnt(objective, n):
    words = [a + b for a, b in product(["run", "sun", "fun", "walk"], ["ning", "ner", "s", "ny", ""])]
    composition = vectors_of(words).composition
    fit = Factorization(objective.bind(random_counts(words)), 5, l2=3, n=n, composition=composition)
    covectors = [rows.double() for rows in fit.w.blocks]
    mixture = torch.from_numpy(dense(composition)).double()
    learnt = fit.v.learnt.double().requires_grad_()
    v = mixture @ learnt
    # Each block against one block of the other side, as in a stretch of a Latin square; `differentiate_` has been
    # compared with autograd elsewhere, and gives the gradient by psi here.
    pairs = [(i, (i + 1) % n) for i in range(n)]
    total = torch.zeros((), dtype=torch.float64)
    for i, j in pairs:
        shard = fit.shards[i, j]
        psi = covectors[shard.i] @ v[shard.j :: n].T
        slope = psi.detach().float().clone()
        fit.objective.differentiate_(slope, shard)
        total = total + (slope.double() * psi).sum() * n / len(words)
        fit._differentiate(shard, Room(torch.empty(shard.cells), torch.empty(len(shard.a), 5), torch.empty(0)))
    (total + 0.5 * (fit.v.priors[0].double() * learnt.square()).sum()).backward()
    torch.testing.assert_close(fit.v._whole_slope().double(), learnt.grad, rtol=1e-4, atol=1e-4)


def test_a_fit_goes_on_from_the_middle_of_a_stretch(tmp_path):
    """Where some blocks have had their visit, and others not."""
    words = [a + b for a, b in product(["run", "sun", "fun", "walk"], ["ning", "ner", "s", "ny", ""])]
    composition = vectors_of(words).composition

    def fit(saved: Saved | None = None) -> Factorization:
        objective = Hilbert().bind(random_counts(words))
        return Factorization(objective, 5, n=4, passes=6, composition=composition, saved=saved)

    whole, cut = fit(), fit()
    whole.run(whole.steps)
    cut.run(2 * 16 + 3)
    assert cut.steps_done % cut.n == 3
    checkpoint = Checkpoint(tmp_path, {"settings": {}})
    checkpoint.write(1, *cut.state())
    again = fit(checkpoint.load())
    again.run(again.steps)
    for ours, expected in zip(again.result()[:2], whole.result()[:2], strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_a_word_that_shares_nothing_has_the_prior_of_a_word():
    """Its vector is the mean of m rows of one prior each; their sum of squares is least where they are all the same."""
    composition = Composition([np.arange(9 * k, 9 * k + 4 + k) for k in range(4)])
    words = [f"w{k}" for k in range(4)]
    made, plain = (
        Factorization(Hilbert().bind(random_counts(words)), 3, l2=2, n=2, composition=given)
        for given in (composition, None)
    )
    ours = made.v.priors[0].reshape(-1)
    for k in range(2):
        torch.testing.assert_close(ours[k::2], plain.v.priors[k].reshape(-1))


def test_a_start_is_explained_by_what_words_share():
    stems, endings = ["walk", "jump", "climb", "think", "dream", "shout"], ["ing", "ers", "able", "edly", "less"]
    words = [stem + ending for stem, ending in product(stems, endings)]
    vectors = vectors_of(words, bucket=100_000, size=8)
    fit = Factorization(Hilbert().bind(random_counts(words)), 8, n=2, composition=vectors.composition)
    random = torch.Generator().manual_seed(0)
    of_stems, of_endings = (torch.randn(len(parts), 8, generator=random) for parts in (stems, endings))
    wanted = torch.stack([of_stems[s] + of_endings[e] for s in range(len(stems)) for e in range(len(endings))])
    rows = fit.v.mixture.explain([wanted[0::2], wanted[1::2]]).numpy()
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
