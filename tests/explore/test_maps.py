"""The map: its layout is computed once, and its colours are the model's numbers."""

import logging
import sys
import time

import numpy as np
import pytest
from helpers import keyed

from gensim_hilbert.explore import maps
from gensim_hilbert.explore.maps import WordMap, layout_beside
from gensim_hilbert.explore.steps import alone
from gensim_hilbert.explore.words import ExploredModel
from gensim_hilbert.report import plane
from gensim_hilbert.report.words import unit_rows


@pytest.fixture
def vectors():
    random = np.random.default_rng(4)
    return keyed([f"w{k}" for k in range(60)], random.normal(size=(60, 5)))


def test_a_layout_is_kept_beside_the_model_until_its_vectors_change(vectors, tmp_path, monkeypatch):
    path = tmp_path / "some.model"
    first = WordMap(ExploredModel(vectors, "some"), path).answer()
    assert (first["method"], first["final"]) == ("t-SNE", True)
    assert [file.name for file in tmp_path.iterdir()] == ["some.model.layout.npz"]
    calls = []
    monkeypatch.setattr(maps, "lay_out", lambda unit: calls.append(len(unit)) or plane.lay_out(unit))
    again = WordMap(ExploredModel(vectors, "some"), path).answer()
    np.testing.assert_allclose(again["x"], first["x"], atol=2e-4)
    assert calls == []
    vectors.vectors[3] += 1
    WordMap(ExploredModel(vectors, "some"), path)
    assert calls == [60]
    layout_beside(path).write_bytes(b"damaged")
    WordMap(ExploredModel(vectors, "some"), path)
    assert calls == [60, 60]


def test_all_places_are_on_the_map(vectors):
    found = WordMap(ExploredModel(vectors, "some")).answer()
    assert max(map(abs, found["x"] + found["y"])) == 1
    assert len(found["words"]) == len(found["x"]) == len(found["y"]) == 60


def test_colours_are_the_numbers_of_the_model(explorer, news_model):
    word_map = explorer.maps[0]
    words = word_map.answer()["words"]
    pmi = alone(word_map.paint("pmi", "police"))["values"]
    assert pmi[:50] == pytest.approx(news_model.pmi(words[:50], ["police"] * 50), abs=1e-3)
    cosine = alone(word_map.paint("similarity", "police"))["values"]
    assert cosine[:50] == pytest.approx([news_model.wv.similarity("police", word) for word in words[:50]], abs=1e-3)
    counts = [news_model.wv.get_vecattr(word, "count") for word in words]
    assert alone(word_map.paint("frequency", None))["values"] == pytest.approx(np.log(counts), abs=1e-3)
    for by, word, message in [("pmi", None, "needs a word"), ("colour", "police", "must be one of"),
                              ("difference", None, "compares two models")]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            alone(word_map.paint(by, word))
    with pytest.raises(ValueError, match="no covectors"):
        alone(explorer.maps[1].paint("pmi", "plain"))


def test_many_words_without_the_extra_lie_on_principal_axes(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "umap", None)
    monkeypatch.setattr(plane, "EXACT_WORDS", 10)
    unit = unit_rows(np.random.default_rng(5).normal(size=(40, 6)))
    with caplog.at_level(logging.WARNING):
        found = plane.lay_out(unit)
    assert found.method == "PCA"
    assert "pip install 'gensim-hilbert[explore]'" in caplog.text
    centred = unit - unit.mean(axis=0)
    strongest = np.sort(np.linalg.eigvalsh(centred.T @ centred))[::-1][:2]
    spread = (found.places**2).sum(axis=0)
    assert spread[0] / spread[1] == pytest.approx(strongest[0] / strongest[1])


@pytest.mark.slow
def test_another_process_computes_the_layout_of_many_words(groups_of_words, tmp_path):
    pytest.importorskip("umap", reason="umap-learn is not installed: pip install 'gensim-hilbert[explore]'")
    word_map = WordMap(ExploredModel(groups_of_words, "groups"), tmp_path / "groups.model")
    assert (word_map.answer()["method"], word_map.answer()["final"]) == ("PCA", False)
    word_map.start()
    word_map._process.join(120)
    for _ in range(100):  # The thread that receives it may need a moment.
        if word_map.final:
            break
        time.sleep(0.1)
    found = word_map.answer()
    assert found["method"] == "UMAP"
    places = np.column_stack([found["x"], found["y"]])[::10]
    distances = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(len(places), np.inf))
    group = np.arange(0, len(groups_of_words), 10) // 200
    assert np.mean(group[distances.argmin(axis=1)] == group) > 0.97
    assert WordMap(ExploredModel(groups_of_words, "groups"), tmp_path / "groups.model").final


@pytest.fixture
def groups_of_words():
    random = np.random.default_rng(6)
    middles = np.repeat(np.linalg.qr(random.normal(size=(20, 10)))[0].T, 200, axis=0)
    return keyed([f"w{k}" for k in range(2000)], middles + 0.1 * random.normal(size=(2000, 20)))


def test_words_whose_vectors_are_not_finite_do_not_keep_others_from_the_map(vectors):
    vectors.vectors[7, 2], vectors.vectors[8, 0] = np.nan, np.inf
    for model in (vectors, keyed(list("abcde"), np.full((5, 3), np.nan))):
        word_map = WordMap(ExploredModel(model, "some"))
        word_map.compute()
        found = word_map.answer()
        assert np.isfinite([found["x"], found["y"]]).all()
