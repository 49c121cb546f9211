"""The widget: what it tells notebooks, and what it answers."""

import copy
import gc
import sys
import weakref

import pytest
from gensim.models import Word2Vec
from helpers import keyed

from gensim_hilbert import explore
from gensim_hilbert.explore.notebook import view

from .conftest import ask


def test_a_model_and_vectors_are_explored_by_messages(news_model, connections):
    shown = news_model.explore("police", height=700)
    assert (shown.state, shown.height, shown.title) == ("#word=police", 700, "Explorer of HilbertMLE")
    message, answer = ask(shown, "word", view="left", number=7, word="police")
    assert message == {"view": "left", "number": 7, "version": 0}
    assert answer["word"] == "police"
    pmi = {context["word"]: context["pmi"] for context in answer["with_it"]}
    assert pmi == pytest.approx(dict(news_model.most_cooccurring("police", topn=20)), abs=1e-4)
    _, answer = ask(explore.widget(news_model.wv), "word", word="police")
    assert (answer["with_it"], answer["like"][0]["word"]) == ([], news_model.wv.most_similar("police", topn=1)[0][0])


def test_a_cell_that_is_run_again_after_training_knows_the_new_words(small_model, connections):
    model = copy.deepcopy(small_model)
    first = model.explore()
    model.build_vocab([["zeppelin"] * 10], update=True)
    again = model.explore("zeppelin")
    assert ask(again, "word", word="zeppelin")[1]["word"] == "zeppelin"
    assert ask(first, "word", word="zeppelin")[0]["version"] == 1


def test_a_model_without_counts_has_fitted_pmi_only(stream_model, connections):
    _, answer = ask(stream_model.explore(), "word", word="police")
    assert answer["with_it"]
    assert {context["counted"] for context in answer["with_it"]} == {None}


def test_models_are_compared_by_their_names(news_model, news, connections):
    other = Word2Vec(news, vector_size=5, min_count=10, workers=1)
    shown = explore.widget({"ours": news_model, "gensim's": other})
    assert repr(shown) == "<Explorer of ours, gensim's>"
    assert [fact["name"] for fact in ask(shown, "models")[1]["models"]] == ["ours", "gensim's"]


def test_places_that_do_not_run_notebooks_show_a_table(connections):
    data, _ = explore.widget(
        {"<script>alert(1)</script>": keyed(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])}
    )._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == "<Explorer of <script>alert(1)</script>>"
    assert "<script" not in data["text/html"]
    assert "&lt;script&gt;" in data["text/html"]


def test_a_closed_widget_lets_go_of_its_model(small_model, connections):
    model = copy.deepcopy(small_model)
    shown, known = model.explore(), weakref.ref(model)
    shown.close()
    assert repr(shown).endswith(", closed>")
    del model
    gc.collect()
    assert known() is None


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"word": "zyzzyva"}, r"'zyzzyva' is not among the [\d,]+ words of HilbertMLE"),
        ({"height": 10}, "height must be a number of pixels from 200, got 10"),
        ({"height": "tall"}, "height must be a number of pixels from 200, got 'tall'"),
    ],
)
def test_mistakes_are_told_at_once(small_model, connections, arguments, error):
    with pytest.raises((KeyError, ValueError), match=error):
        small_model.explore(**arguments)


def test_only_models_and_vectors_can_be_explored(connections):
    with pytest.raises(TypeError, match="a model or KeyedVectors, got str"):
        explore.widget("news.model")
    with pytest.raises(ValueError, match="at least one model"):
        explore.widget({})


def test_a_missing_extra_is_named(small_model, monkeypatch):
    monkeypatch.delitem(sys.modules, view.__name__, raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"pip install 'gensim-hilbert\[notebook\]'"):
        small_model.explore()
