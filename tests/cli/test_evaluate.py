"""`gensim-hilbert evaluate`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from shell import assert_one_sentence, run, run_here

from gensim_hilbert import HilbertMLE
from gensim_hilbert.evaluation import find_data, similarity


@pytest.fixture(autouse=True)
def only_sets_of_gensim(monkeypatch):
    monkeypatch.delenv("GENSIM_HILBERT_DATA", raising=False)


@pytest.fixture
def model(saved_news_model):
    return saved_news_model


def noisy(model, path, **options):
    """The same vectors with much noise, as a file of word2vec's."""
    vectors = HilbertMLE.load(str(model)).wv
    vectors.vectors += np.random.default_rng(1).normal(size=vectors.vectors.shape, scale=vectors.vectors.std())
    vectors.save_word2vec_format(str(path), **options)
    return path


def test_several_embeddings_side_by_side(model, tmp_path):
    other = noisy(model, tmp_path / "noisy.bin", binary=True)
    done = run("evaluate", "--trust-pickle", f"ours={model}", other, "--what", "vectors", "--sections")
    assert done.returncode == 0, done.stderr
    similar, analogous, sections = done.stdout.split("\n\n")
    rows = [line.split() for line in similar.splitlines()]
    assert rows[0] == ["Spearman", "ours", "noisy.bin", "covered"]
    assert [row[0] for row in rows[1:4]] == ["S999", "WS353", "mean"]
    assert "Holm's correction over this table: 3 comparisons" in similar
    assert analogous.startswith("Analogies (3CosMul, accuracy)")
    assert "capital-common-countries" in sections
    assert "Not here: B143" in done.stderr
    (expected,) = (s for s in similarity(HilbertMLE.load(str(model)).wv, find_data()) if s.name == "S999")
    assert rows[1][1].rstrip("*↓") == f"{expected.rho:.3f}".replace("0.", ".")


def test_parts_of_a_model_in_json(model):
    done = run_here(
        "evaluate",
        "--trust-pickle",
        model,
        "--what",
        "vectors,covectors,sum",
        "--json",
        "--sets",
        "WS353,Google",
        "--method",
        "mul,add",
    )
    facts = json.loads(done.stdout)
    assert list(facts["embeddings"]) == [model.name, f"{model.name}, covectors", f"{model.name}, sum"]
    loaded = HilbertMLE.load(str(model))
    for name, vectors in ((model.name, loaded.wv), (f"{model.name}, covectors", loaded.covectors)):
        found = facts["embeddings"][name]
        rho = vectors.evaluate_word_pairs(datapath("wordsim353.tsv"))[1][0]
        assert found["similarity"][0]["rho"] == pytest.approx(rho, abs=1e-6)
        accuracy = vectors.evaluate_word_analogies(datapath("questions-words.txt"))[0]
        assert [score["method"] for score in found["analogy"]] == ["mul", "add"]
        assert found["analogy"][1]["accuracy"] == pytest.approx(accuracy)
        assert len(found["analogy"][0]["sections"]) == 14
    assert {entry["column"] for entry in facts["comparisons"]} >= {"WS353"}
    assert done.stderr == ""


@pytest.mark.parametrize(("style", "sign"), [("--markdown", "| --- |"), ("--latex", r"\toprule")])
def test_tables_for_papers(style, sign, model):
    assert sign in run_here("evaluate", "--trust-pickle", model, style, "--tasks", "similarity").stdout


def test_sets_of_ones_own(model, tmp_path):
    pairs, questions = tmp_path / "mine.tsv", tmp_path / "asked.txt"
    pairs.write_text("Prime\tMinister\t10\nprime\tsunday\t1\nminister\tgovernment\t7\n", encoding="utf-8")
    questions.write_text(": s\nprime minister sunday monday/tuesday\n", encoding="utf-8")
    done = run_here(
        "evaluate",
        "--trust-pickle",
        model,
        "--pairs",
        pairs,
        "--questions",
        questions,
        "--sets",
        "mine,asked",
        "--json",
    )
    (found,) = json.loads(done.stdout)["embeddings"].values()
    assert found["similarity"][0]["covered"] == 3
    assert found["analogy"][0]["questions"] == 1


def test_duplicate_words_count_once(tmp_path, caplog):
    path = tmp_path / "vectors.txt"
    path.write_text("love 1 0\nsex 1 1\nlove 0 1\ntiger 1 .5\ncat 0 1\n", encoding="utf-8")
    done = run_here("evaluate", path, "--sets", "WS353", "--json")
    found = json.loads(done.stdout)["embeddings"]["vectors.txt"]
    assert (found["words"], found["similarity"][0]["covered"]) == (4, 3)
    assert "repeats 1 words; the first vector of each is used" in caplog.text


def test_networks_and_pictures(model, tmp_path):
    folder = tmp_path / "data" / "extrinsic"
    folder.mkdir(parents=True)
    random = np.random.default_rng(1)
    sentences = [random.choice(["prime", "minister", "said", "monday"], size=6) for _ in range(60)]
    tagged = ["".join(f"{word}\tX\t{word[0]}\n" for word in words) for words in sentences]
    (folder / "brown.txt").write_text("\n".join(tagged), encoding="utf-8")
    for name in ("imdb_train.tsv", "imdb_test.tsv"):
        rows = [f"{int('said' in words)}\t1\t{' '.join(words)}\n" for words in sentences]
        (folder / name).write_text("".join(rows), encoding="utf-8")
    command = (
        "evaluate",
        "--trust-pickle",
        f"a={model}",
        f"b={model}",
        "--data",
        folder.parent,
        "--tasks",
        "classification,tagging",
    )
    options = ("--quick", "--seeds", 2, "--cache", tmp_path / "cache", "--plot", tmp_path / "scores.svg")
    done = run_here(*command, *options, "--markdown")
    assert done.returncode == 0, done.stderr
    classified, _, tagged_table, _ = done.stdout.split("\n\n")
    assert classified.startswith("| Classification | IMDB |")
    assert "| most frequent tag | **1.0000** |" in tagged_table
    assert (tmp_path / "scores.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert len(list((tmp_path / "cache").iterdir())) == 4  # a and b are the same vectors: computed once
    again = json.loads(run_here(*command, *options, "--json").stdout)
    (score,) = again["embeddings"]["a"]["tagging"]
    assert score["metric"] == "accuracy"
    assert again["embeddings"]["b"]["tagging"] == [score]
    assert again["most_frequent_tag"] == {"Brown": 1.0}


@pytest.mark.parametrize(
    ("name", "message"),
    [("scores.xyz", "must tell the format"), ("missing/scores.svg", "there is no folder"), ("", "is a folder")],
)
def test_a_picture_that_cannot_be_drawn_is_refused_before_there_are_scores(model, tmp_path, name, message):
    pytest.importorskip("matplotlib")
    done = run_here("evaluate", "--trust-pickle", model, "--plot", tmp_path / name)
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    assert message in done.stderr


def test_where_data_are_to_be_had():
    done = run_here("evaluate", "--sources")
    assert done.returncode == 0
    assert "SimLex-999" in done.stdout
    assert "eval/similarity/NAME.tsv" in done.stdout


def test_errors_are_one_sentence(model, tmp_path):
    assert_one_sentence(run_here("evaluate", tmp_path / "nowhere"), "nowhere does not exist")
    assert_one_sentence(
        run_here("evaluate", "--trust-pickle", model, "--sets", "S99"),
        "there is no set 'S99' among S999, WS353, Google",
    )
    assert_one_sentence(
        run_here("evaluate", "--trust-pickle", model, "--tasks", "tagging"),
        "there are no data sets for tagging: --data",
    )
    assert_one_sentence(
        run_here("evaluate", "--trust-pickle", model, "--tasks", "analogies"), "did you mean analogy?", code=2
    )
    assert_one_sentence(
        run_here("evaluate", "--trust-pickle", f"a={model}", f"a={model}"), "two of VECTORS are called 'a'", code=2
    )
    assert_one_sentence(run_here("evaluate", "--trust-pickle", model, "--data", tmp_path), "there are no data sets in")
    uneven = tmp_path / "uneven.txt"
    uneven.write_text("cat 1 2 3\ndog 1 2\n", encoding="utf-8")
    assert_one_sentence(run_here("evaluate", uneven), "line 2: there are 2 numbers, not 3")
    vectors = KeyedVectors(3)
    vectors.add_vectors(["chat", "chien"], np.ones((2, 3), dtype=np.float32))
    vectors.save_word2vec_format(str(tmp_path / "french.txt"))
    assert_one_sentence(run_here("evaluate", tmp_path / "french.txt"), "none of the 1352 pairs has both words")
    plain = noisy(model, tmp_path / "plain.txt")
    assert_one_sentence(run_here("evaluate", plain, "--what", "sum"), "what='sum' needs a model with covectors")
