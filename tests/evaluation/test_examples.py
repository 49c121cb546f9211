"""Examples are read and split as scikit-learn does."""

from __future__ import annotations

import numpy as np
import pytest

from gensim_hilbert.evaluation.examples import Example, Rows, read_sentences, read_texts, split, train_test_split
from gensim_hilbert.evaluation.words import Words


def test_splits_are_scikit_learns():
    peer = pytest.importorskip("sklearn.model_selection", reason="scikit-learn is not installed")
    examples = [Example([str(k)], ["x"]) for k in range(1001)]
    for share, seed in ((0.3, 1917), (0.1, 1848)):
        train, test = peer.train_test_split(examples, test_size=share, random_state=seed)
        assert train_test_split(examples, share, seed) == (train, test)
    found = split(examples)
    assert [len(part) for part in (found.train, found.valid, found.test)] == [630, 70, 301]


def test_texts_and_sentences(tmp_path):
    path = tmp_path / "texts.tsv"
    path.write_text("1\t10\tIt's good. Don't #39;miss#39; it\n0\t2\tBad!\n", encoding="utf-8")
    assert read_texts(path) == [
        Example(["it's", "good", ".", "don't", "'", "miss", "'", "it"], ["1"]),
        Example(["bad", "!"], ["0"]),
    ]
    path.write_text("The\tDT\tX\ncat\tNN\tY\n\n\nSat\tVB\tZ", encoding="utf-8")
    assert read_sentences(path, 2) == [Example(["the", "cat"], ["X", "Y"]), Example(["sat"], ["Z"])]
    assert read_sentences(path, 1)[1] == Example(["sat"], ["VB"])


def test_wrong_columns(tmp_path):
    path = tmp_path / "wrong"
    path.write_text("1\tfine\nno tab\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: expected a label, a tab and a text, got 'no tab'"):
        read_texts(path)
    path.write_text("cat\tNN\tY\ncat\tNN\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: expected a word and 2 tags between tabs"):
        read_sentences(path, 2)
    with pytest.raises(ValueError, match="0 examples to learn from"):
        split([])


def test_unknown_words_share_the_mean_and_punctuation_does_not(ten_vectors):
    rows = Rows(Words(ten_vectors), unit=False)
    numbers = [rows(word) for word in ("word1", "never", "seen", ".", ",", ".", "WORD1", "3rd")]
    assert numbers[1] == numbers[2] == numbers[7] == 0
    assert len(set(numbers[3:5])) == 2
    assert numbers[3] == numbers[5]
    matrix = rows.matrix()
    assert np.allclose(matrix[0], ten_vectors.vectors.mean(axis=0), atol=1e-6)
    assert np.array_equal(matrix[numbers[0]], matrix[numbers[6]])
    assert np.linalg.norm(matrix[numbers[3]]) == pytest.approx(
        np.linalg.norm(ten_vectors.vectors, axis=1).mean(), rel=1e-5
    )
    assert (rows.unknown, rows.tokens) == (3, 8)
    unit = Rows(Words(ten_vectors), unit=True)
    unit("word1")
    assert np.allclose(np.linalg.norm(unit.matrix(), axis=1), 1)
