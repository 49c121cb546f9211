"""Similarity: Spearman's correlation, its coverage and its errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from embeddings import some_pairs
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from helpers import keyed
from scipy.stats import spearmanr

from gensim_hilbert.evaluation import Data, analogies, compare_similarity, find_data, similarity
from gensim_hilbert.evaluation.summary import similarity_table


@pytest.mark.parametrize("case", [str, str.upper, str.lower])
def test_spearman_is_gensims_and_scipys(case):
    vectors = some_pairs(case=case)
    scores = {score.name: score for score in similarity(vectors, find_data())}
    for name, file in (("WS353", "wordsim353.tsv"), ("S999", "simlex999.txt")):
        _, (rho, _), unknown = vectors.evaluate_word_pairs(datapath(file))
        assert scores[name].rho == pytest.approx(rho, abs=1e-6)
        assert 100 * (1 - scores[name].covered / scores[name].pairs) == pytest.approx(unknown)
    found = scores["WS353"]
    there = ~np.isnan(found.cosines)
    assert found.rho == pytest.approx(spearmanr(found.gold[there], found.cosines[there]).statistic, abs=1e-12)
    assert found.low < found.rho < found.high
    assert found.rho > 0.3


def test_a_vector_of_zeros_is_like_nothing():
    vectors = some_pairs()
    vectors.vectors[vectors.key_to_index["tiger"]] = 0
    assert not any(math.isnan(score.rho) for score in similarity(vectors, find_data()))


def test_a_set_without_covered_pairs_has_no_score(tmp_path, caplog):
    (tmp_path / "other.tsv").write_text("chat\tchien\t3\nun\tdeux\t5\n", encoding="utf-8")
    data = find_data()
    scores = similarity(some_pairs(), Data(similarity={**data.similarity, "other": tmp_path / "other.tsv"}))
    assert [math.isnan(score.rho) for score in scores] == [False, False, True]
    assert (scores[2].covered, scores[2].pairs) == (0, 2)
    assert "other has no score: 0 of its 2 pairs are covered" in caplog.text
    with pytest.raises(ValueError, match="none of the 2 pairs has both words among"):
        similarity(some_pairs(), Data(similarity={"other": tmp_path / "other.tsv"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat\tdog\t3\ncat dog 3\n", "line 2: expected word, word, score between tabs, got 'cat dog 3'"),
        ("cat\tdog\tmuch\n", "line 1: expected"),
        ("cat\tdog\t3\t4\n", "line 1: expected"),
        ("cat\tdog\tnan\n", "line 1: expected"),
        ("# nothing\n\n", "holds no pairs"),
    ],
)
def test_wrong_columns(text, message, tmp_path):
    path = tmp_path / "set.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        similarity(some_pairs(), Data(similarity={"set": path}))


def test_what_cannot_be_evaluated():
    with pytest.raises(TypeError, match="vectors must be KeyedVectors"):
        similarity(np.zeros((3, 4)), find_data())
    with pytest.raises(ValueError, match="there are no words"):
        similarity(KeyedVectors(10), find_data())
    vectors = some_pairs()
    vectors.vectors = vectors.vectors[:-1]
    with pytest.raises(ValueError, match=r"there are \d+ words, but \d+ vectors"):
        similarity(vectors, find_data())
    vectors = some_pairs()
    vectors.vectors[5, 3] = np.nan
    with pytest.raises(ValueError, match="and 0 others are not finite"):
        analogies(vectors, find_data())
    with pytest.raises(TypeError, match="words must be str"):
        similarity(keyed([1, 2], np.ones((2, 3))), find_data())


def test_a_real_difference_is_told_from_chance():
    data = Data(similarity={"WS353": find_data().similarity["WS353"]})
    good, same, bad = (similarity(some_pairs(noise=n, seed=2), data)[0] for n in (0.5, 0.5, 6))
    assert compare_similarity(good, same) == (0, 0, 0, 1, good.covered)
    differs = compare_similarity(good, bad)
    assert differs.p < 0.001
    assert 0 < differs.low < differs.value < differs.high
    assert differs.value == pytest.approx(good.rho - bad.rho)
    back = compare_similarity(bad, good)
    assert back.value == -differs.value
    assert back.p == pytest.approx(differs.p)


def test_means_of_embeddings_that_cover_no_pairs_in_common(tmp_path):
    words = [f"w{k}" for k in range(20)]
    random = np.random.default_rng(1)
    halves = [keyed(words[start : start + 10], random.normal(size=(10, 5))) for start in (0, 10)]
    rows = [f"w{k}\tw{k + 1}\t{k}\n" for k in range(19)]
    sets = {}
    for name in ("one", "two"):
        sets[name] = tmp_path / name
        sets[name].write_text("".join(rows), encoding="utf-8")
    scores = {str(k): similarity(half, Data(similarity=sets)) for k, half in enumerate(halves)}
    table = similarity_table(scores)
    assert list(table.columns) == ["one", "two", "mean"]
    assert not any(found.real for found in table.comparisons)
    assert table.coverage("one") == "9/19"


def test_the_rate_of_false_alarms():
    from gensim_hilbert.evaluation.similarity import SimilarityScore

    random = np.random.default_rng(5)
    alarms = 0
    for _ in range(200):
        gold = random.normal(size=80)
        sides = [gold + 1.5 * random.normal(size=80) for _ in range(2)]
        scores = [SimilarityScore("s", 0, 0, 0, 80, 80, gold, side) for side in sides]
        alarms += compare_similarity(*scores).p < 0.05
    assert 2 <= alarms <= 22  # 10 are expected; a fair test is outside once in thousands of times
