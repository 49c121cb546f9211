"""Tagging, and the most frequent tag as its baseline."""

from __future__ import annotations

import pytest
from helpers import DATA
from tagged_texts import SETTINGS, tagged_sentences

from gensim_hilbert.evaluation import Data, find_data, most_frequent_tag, tagging
from gensim_hilbert.evaluation.examples import Example, Split
from gensim_hilbert.evaluation.tagging import baseline
from gensim_hilbert.evaluation.words import Words


def test_the_most_frequent_tag(ten_vectors):
    train = [Example(["word1", "word1", "word2", "x"], ["A", "B", "B", "C"]), Example(["word1", "y"], ["A", "C"])]
    test = [Example(["word1", "word2", "x", "z", "!"], ["A", "B", "C", "C", "C"])]
    data = Split(train, [Example(["z", "."], ["O", "O"])], test)
    assert baseline(data, SETTINGS, None, None) == 3 / 5  # z was O, and ! is as most are, A
    assert baseline(data, SETTINGS, None, Words(ten_vectors)) == 4 / 5  # x, y and z are one word, mostly C
    assert baseline(data, SETTINGS, "O", None) == pytest.approx(2 * 3 / (4 + 5))


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "extrinsic").exists(), reason="needs the Brown corpus and SemCor: GENSIM_HILBERT_DATA")
def test_the_most_frequent_tag_on_the_papers_data():
    """.9349 and .6126 in the paper, whose vocabulary of 50,000 words is not to be had."""
    found = most_frequent_tag(find_data(DATA))
    assert found["Brown"] == pytest.approx(0.9349, abs=0.01)
    assert found["SemCor"] == pytest.approx(0.6126, abs=0.02)


def test_tagging_through_files(ten_vectors, tmp_path):
    path = tmp_path / "brown.txt"
    rows = [[f"{w.upper()}\t-\t{t}" for w, t in zip(*example, strict=True)] for example in tagged_sentences(60, 1)]
    path.write_text("\n\n".join("\n".join(row) for row in rows) + "\n\n", encoding="utf-8")
    data = Data(tagging={"Brown": (path,)})
    (score,) = tagging(ten_vectors, data, quick=True, seeds=1, cache=tmp_path / "cache")
    assert score.examples == (37, 5, 18)
    assert 0 < score.mean <= 1
    assert len(list((tmp_path / "cache").glob("*.json"))) == 1
