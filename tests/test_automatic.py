"""What is chosen by the text: the formulas, who wins if a value is given, and that the choice is a good one."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.automatic import automatic_gauge, automatic_sample, automatic_temperature, evenness
from gensim_hilbert.objectives import GloVe, Hilbert
from gensim_hilbert.vocabulary import Vocabulary

OPTIONS = {"workers": 1, "seed": 1, "progress": False}


def words_of(counts, tokens=0):
    return Vocabulary([f"w{k}" for k in range(len(counts))], counts, tokens=tokens)


def kinds_and_topics(sentences=2000, topics=20, seed=1):
    """Sentences of one topic each; the word before a word tells its kind, but only in 8 of 10 cases."""
    random = np.random.default_rng(seed)
    text = []
    for topic, *draws in random.integers(1 << 30, size=(sentences, 19)):
        kinds, others, words = np.reshape(draws, (3, 6))
        marks = np.where(others % 10 < 7, kinds % 3, others % 3)
        text.append([
            word
            for mark, kind, number in zip(marks, kinds % 3, words % 8, strict=True)
            for word in (f"mark{mark}", f"{topic % topics}-{kind}-{number}")
        ])  # fmt: skip
    return text


def walks_on_groups(nodes=400, groups=8, seed=1):
    """Random walks on a graph, half of whose edges lead to any node, the others to nodes of the same group."""
    random = np.random.default_rng(seed)
    near = [set() for _ in range(nodes)]
    for node in range(nodes):
        for other in (
            *(groups * random.integers(nodes // groups, size=3) + node % groups),
            *random.integers(nodes, size=3),
        ):
            near[node].add(int(other))
            near[int(other)].add(node)
    edges, walks = [sorted(one) for one in near], []
    for start in np.tile(np.arange(nodes), 10):
        walk = [int(start)]
        for draw in random.random(39):
            walk.append(edges[walk[-1]][int(draw * len(edges[walk[-1]]))])
        walks.append([f"node-{node % groups}-{node}" for node in walk])
    return walks


def share_of_words_among_their_own(model):
    """The share of the five nearest neighbours that have the same label, the middle part of a word's name."""
    words = [word for word in model.wv.index_to_key if "-" in word]
    unit = np.array([model.wv.get_vector(word, norm=True) for word in words])
    labels = np.array([word.split("-")[1] for word in words])
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2)
    nearest = np.argpartition(-cosines, 5, axis=1)[:, :5]
    return (labels[nearest] == labels[:, None]).mean()


# ------------------------------------------------------------------------------------------------ the formulas


def test_small_texts_are_not_thinned_out_and_hardly_tempered():
    least, large = (Vocabulary(["a"], [5], tokens=tokens) for tokens in (19_999_999, 20_000_000))
    assert [automatic_sample(one, "factorization") for one in (least, large)] == [0, 1e-3]
    assert [automatic_sample(one, "gibbs") for one in (least, large)] == [1e-3, 1e-3]
    assert [automatic_temperature(one, sample=0) for one in (least, large)] == [1.1, 1.25]
    assert [automatic_temperature(one, sample=1e-3) for one in (least, large)] == [1.25, 1.25]
    assert automatic_temperature(words_of([20_000_000]), sample=0) == 1.25, "counts of words stand for unknown tokens"


def test_evenness_is_the_share_of_equally_frequent_words_with_the_same_entropy():
    assert evenness(np.full(7, 3)) == pytest.approx(1)
    assert evenness(np.array([5, 5, 0, 0])) == pytest.approx(0.5)
    assert evenness(np.array([2, 1, 1])) == pytest.approx(2**1.5 / 3)
    assert evenness(np.zeros(3, dtype=int)) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([1000, *[1] * 99], (0.25, 0.35)), ([1, 1, 1, 0, 0], (0.6, 0.6)), ([4] * 9, (1, 1))],
    ids=["language", "between", "graph"],
)
def test_the_gauge_is_the_evenness_unless_that_is_low(counts, expected):
    found = [automatic_gauge(words_of(counts), sample) for sample in (0, 1e-3)]
    assert found == pytest.approx(expected)


# ------------------------------------------------------------------------------------------------ who decides


def chosen(model):
    return model.sample, model.temperature, model.gauge


def test_a_model_has_what_was_chosen_for_its_first_text_and_keeps_it(some_news, tmp_path, caplog, monkeypatch):
    model = HilbertMLE(**OPTIONS, vector_size=5)
    assert chosen(model) == ("auto", "auto", None)
    model.save_pretrained(tmp_path / "untrained")
    assert chosen(HilbertMLE.from_pretrained(tmp_path / "untrained")) == ("auto", "auto", None)
    model.build_vocab(some_news)
    with caplog.at_level(logging.INFO):
        model.train(some_news, total_examples=len(some_news), epochs=1)
    gauge = automatic_gauge(model._vocabulary(), 0)
    first = (0, 1.1, gauge)
    assert chosen(model) == first
    assert f"gauge={gauge:.3g} is chosen for this text" in caplog.text
    assert model.objective == Hilbert(temperature=1.1)
    monkeypatch.setattr("gensim_hilbert.automatic.SMALL_TEXT", 10)
    more = [["north", "south", "east", "west"]] * 30
    model.build_vocab(more, update=True)
    model.train(more, total_examples=len(more), epochs=1)
    assert chosen(model) == first
    model.save_pretrained(tmp_path / "trained")
    assert chosen(HilbertMLE.from_pretrained(tmp_path / "trained")) == first
    large = HilbertMLE(some_news, **OPTIONS, vector_size=5)
    assert chosen(large) == (1e-3, 1.25, automatic_gauge(large._vocabulary(), 1e-3))


@pytest.mark.parametrize(("occurrences", "expected"), [(1_500_000, False), (1000, True)])
def test_counts_of_words_tell_whether_a_single_draw_would_be_noise(occurrences, expected):
    text = [["one", "two", "three"]] * 10
    model = HilbertMLE(**OPTIONS, vector_size=5, passes=1)
    model.build_vocab_from_freq(dict.fromkeys(text[0], occurrences // 3))
    model.train(text, total_examples=len(text), epochs=1)
    assert model.thins_on_average is expected


def test_a_value_that_is_given_wins(some_news):
    given = {"sample": 1e-3, "temperature": 1.25, "gauge": 0.9}
    assert chosen(HilbertMLE(some_news, **OPTIONS, vector_size=5, **given)) == (1e-3, 1.25, 0.9)
    assert HilbertMLE(some_news, **OPTIONS, vector_size=5, objective=Hilbert(temperature=2)).temperature == 2
    ppmi = HilbertMLE(some_news, **OPTIONS, vector_size=5, objective="ppmi-svd")
    assert ppmi.gauge == HilbertMLE(some_news, **OPTIONS, vector_size=5).gauge
    assert HilbertMLE(some_news, **OPTIONS, vector_size=5, objective=GloVe()).temperature == "auto", "it has none"


def test_counts_bring_their_sample_and_the_rest_is_chosen(some_news):
    text = HilbertMLE(some_news, **OPTIONS, vector_size=5)
    counts = PairCounts.from_corpus(some_news, window=5, sample=0.01, seed=1, workers=1)
    model = HilbertMLE.from_counts(counts, **OPTIONS, vector_size=5)
    assert chosen(model) == (0.01, 1.25, automatic_gauge(text._vocabulary(), 0.01))
    same = HilbertMLE.from_counts(text.counts, **OPTIONS, vector_size=5)
    np.testing.assert_array_equal(same.wv.vectors, text.wv.vectors)
    imported = PairCounts.from_scipy(text.counts.to_scipy(), text.counts.vocabulary.words)
    assert HilbertMLE.from_counts(imported, **OPTIONS, vector_size=5).temperature == 1.1


def test_models_in_a_space_are_fitted_as_its_model_was(some_news):
    whole = HilbertMLE(some_news, **OPTIONS, vector_size=5, temperature=1.5, sample=0.01)
    inside = HilbertMLE(some_news, **OPTIONS, vector_size=5, covectors=whole)
    assert (inside.sample, inside.temperature) == (0.01, 1.5)


# ------------------------------------------------------------------------------------------------ what it is good for


def test_kinds_of_words_are_found_that_only_frequent_words_tell():
    text = kinds_and_topics()
    fixed = HilbertMLE(text, **OPTIONS, sample=1e-3, temperature=1.25)
    assert share_of_words_among_their_own(fixed) < 0.5
    assert share_of_words_among_their_own(HilbertMLE(text, **OPTIONS)) > 0.7


def test_groups_of_a_graph_are_found_although_half_of_its_edges_leave_them():
    walks = walks_on_groups()
    low, model = HilbertMLE(walks, **OPTIONS, gauge=0.3), HilbertMLE(walks, **OPTIONS)
    assert model.gauge > 0.9
    assert share_of_words_among_their_own(model) > share_of_words_among_their_own(low) + 0.05
