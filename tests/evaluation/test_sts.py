"""Semantic textual similarity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from gensim_hilbert.evaluation import Data, compare_sts, find_data, sts
from gensim_hilbert.evaluation.significance import resampled_pearson
from gensim_hilbert.evaluation.sts import score_sentences
from gensim_hilbert.evaluation.text_tables import sts_tables


@pytest.fixture(scope="module")
def pairs(news):
    """Parts of articles: the more two of them have in common, the higher the score."""
    rng = np.random.default_rng(1)
    found = []
    for article in news[:150]:
        shared = int(rng.integers(0, 20))
        other = [word for word in news[int(rng.integers(150, 300))] if word not in article]
        found.append((" ".join(article[:20]), " ".join(article[:shared] + other[: 20 - shared]), float(shared)))
    return found


@pytest.fixture
def data(pairs, tmp_path):
    folder = tmp_path / "eval" / "sts"
    folder.mkdir(parents=True)
    for number, name in enumerate(("sts2012_a", "sts2012_b", "sts2013_c", "other")):
        lines = ["\t".join(map(str, pair)) for pair in pairs[number::4]]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return find_data(tmp_path)


def test_scores_are_scipys(news_model, data, pairs):
    found = sts(news_model.wv, data)
    assert list(found) == ["encode", "encode, common of set", "mean"]
    (score,) = (one for one in found["encode"] if one.name == "sts2012_b")
    left, right, gold = zip(*pairs[1::4], strict=True)
    cosines = (news_model.encode(left) * news_model.encode(right)).sum(axis=1)
    assert score.pearson.value == pytest.approx(pearsonr(gold, cosines).statistic, abs=1e-5)
    assert score.spearman.value == pytest.approx(spearmanr(gold, cosines).statistic, abs=1e-3)
    assert score.pearson.low < score.pearson.value < score.pearson.high
    assert score.pairs == score.covered == len(gold)
    common = news_model.encode([*left, *right], common="texts")
    (score,) = (one for one in found["encode, common of set"] if one.name == "sts2012_b")
    cosines = (common[: len(left)] * common[len(left) :]).sum(axis=1)
    assert score.pearson.value == pytest.approx(pearsonr(gold, cosines).statistic, abs=1e-5)


def test_means_are_those_of_years(news_model, data):
    pearson, spearman = sts_tables(sts(news_model.wv, data))
    row = {name: score.value for name, score in pearson.scores["encode"].items()}
    assert row["2012"] == pytest.approx((row["sts2012_a"] + row["sts2012_b"]) / 2)
    assert row["2013"] == pytest.approx(row["sts2013_c"])
    assert row["mean of years"] == pytest.approx((row["2012"] + row["2013"]) / 2)
    assert row["mean of sets"] == pytest.approx((row["sts2012_a"] + row["sts2012_b"] + row["sts2013_c"]) / 3)
    assert spearman.title == "STS, Spearman"


def test_the_bootstrap_is_that_of_numpy():
    rng = np.random.default_rng(2)
    gold = rng.normal(size=60)
    scores = [gold + rng.normal(size=60), rng.normal(size=60)]
    found = resampled_pearson(gold, scores, seed=1)
    draws = np.random.default_rng(1).integers(60, size=(1000, 60))
    for values, correlations in zip(scores, found, strict=True):
        expected = [np.corrcoef(gold[rows], values[rows])[0, 1] for rows in draws]
        np.testing.assert_allclose(correlations, expected, atol=1e-10)


def test_sentences_without_known_words_count_with_cosine_0(news_model):
    pairs = [("the court", "the court", 5.0), ("qqqqq", "the court", 0.0), ("police", "the fire", 2.0)]
    found = score_sentences("some", pairs, news_model.encode)
    assert (found.pairs, found.covered) == (3, 2)
    assert found.cosines[1] == 0
    same = compare_sts(found, found, "pearson")
    assert (same.value, same.p) == (0, 1)


@pytest.mark.parametrize("text", ["a\tb\n", "a\tb\tc\n", "a\tb\tnan\n", ""])
def test_a_malformed_file_is_named(news_model, tmp_path, text):
    (tmp_path / "bad.tsv").write_text(text)
    with pytest.raises(ValueError, match=r"bad\.tsv.*(expected sentence|no pairs)"):
        sts(news_model.wv, Data(sts={"bad": tmp_path / "bad.tsv"}))
