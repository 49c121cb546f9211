"""An explorer that is shown in a notebook answers about its models as they are now, not as they were."""

import copy
import gc
import json

import pytest
from helpers import keyed

from gensim_hilbert.explore.endpoints import Explorer
from gensim_hilbert.explore.notebook.live import LiveExplorer, shared_explorer


def asked(explorer, name, **query):
    version, answer = explorer.answer(name, query)
    return version, json.loads(answer)


def test_answers_are_those_of_the_server(news_model):
    server, live = Explorer([("news", news_model)]), LiveExplorer([("news", news_model)])
    for name, query in [("models", {}), ("word", {"word": "police"}), ("pair", {"context": "police", "term": "killed"}),
                        ("sum", {"expression": "police - killed"}), ("complete", {"prefix": "po"})]:  # fmt: skip
        assert live.answer(name, query) == (0, server.encoded(name, query))


@pytest.mark.parametrize(
    ("name", "query", "error"),
    [
        ("word", {"word": "<script>"}, "'<script>' is not among the"),
        ("word", {}, "the parameter word is missing"),
        ("nothing", {}, "there is no endpoint 'nothing'"),
        ("compare", {}, "there is only one model"),
    ],
)
def test_mistakes_are_told_in_a_sentence(news_model, name, query, error):
    _, answer = asked(LiveExplorer([("news", news_model)]), name, **query)
    assert answer["error"].startswith(error)


def test_an_unexpected_error_is_told_too(news_model, monkeypatch, caplog):
    """Otherwise the page would wait for its answer, and the notebook say that Python is busy."""
    live = LiveExplorer([("news", news_model)])

    def damaged(*args):
        raise OSError("the counts are damaged")

    monkeypatch.setattr(live.current, "encoded", damaged)
    assert asked(live, "word", word="police")[1] == {"error": "this could not be answered: the counts are damaged"}
    assert "damaged" in caplog.text


def test_a_model_that_is_trained_further_is_shown_as_it_is_now(small_model, some_news):
    model = copy.deepcopy(small_model)
    live = LiveExplorer([("news", model)])
    before = asked(live, "models")
    assert asked(live, "models") == before
    fresh = [["zeppelin", "police", "said"]] * 10
    model.build_vocab(fresh, update=True)
    model.train(fresh, total_examples=len(fresh), epochs=1)
    version, answer = asked(live, "word", word="zeppelin")
    assert version == 1
    assert answer["with_it"][0]["pmi"] == pytest.approx(model.most_cooccurring("zeppelin", topn=1)[0][1], abs=1e-5)
    assert asked(live, "models")[1]["models"][0]["words"] == len(model.wv) > before[1]["models"][0]["words"]


def test_vectors_that_are_changed_in_place_are_noticed():
    vectors = keyed(["a", "b", "c"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    live = LiveExplorer([("three", vectors)])
    assert asked(live, "word", word="a")[1]["like"][0]["word"] == "b"
    vectors.vectors[:] = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]]
    vectors.fill_norms(force=True)
    version, answer = asked(live, "word", word="a")
    assert (version, answer["like"][0]["word"]) == (1, "c")


def test_cells_that_show_the_same_models_share_an_explorer_until_none_shows_them(monkeypatch):
    ended = []
    monkeypatch.setattr(Explorer, "stop", lambda explorer: ended.append(explorer))
    vectors, others = keyed(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), keyed(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    one = shared_explorer([("v", vectors)])
    assert shared_explorer([("v", vectors)]) is one
    assert shared_explorer([("w", vectors)]).current is not one.current
    assert shared_explorer([("v", others)]).current is not one.current
    current = one.current
    assert current not in ended
    del one
    gc.collect()
    assert current in ended
