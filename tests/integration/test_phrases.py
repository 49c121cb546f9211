"""Phrases from the text to the model and back: counts, models and commands join the same words as gensim."""

import json
from copy import deepcopy

import numpy as np
import pytest
from gensim.models.phrases import Phrases as GensimPhrases
from helpers import SMALL_OPTIONS, assert_same_counts
from shell import run_here

from gensim_hilbert import HilbertMLE, PairCounts, Phrases
from gensim_hilbert.counting.store import StoreError

pytestmark = pytest.mark.usefixtures("short_training")


@pytest.fixture
def path(some_news, tmp_path):
    path = tmp_path / "news.txt"
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in some_news), encoding="utf-8")
    return path


@pytest.fixture
def joined(some_news):
    return list(GensimPhrases(some_news).freeze()[some_news])


def test_counts_are_those_of_text_that_gensim_has_joined(some_news, joined, path, tmp_path):
    expected = PairCounts.from_corpus(joined)
    assert any("_" in word for word in expected.vocabulary.words)
    for corpus, phrases in ((some_news, "auto"), (path, "auto"), (path, GensimPhrases(some_news).freeze())):
        assert_same_counts(PairCounts.from_corpus(corpus, phrases=phrases, sample=0.0), expected)
    counts = PairCounts.from_corpus(path, phrases="auto", directory=tmp_path / "counts")
    assert PairCounts.open(tmp_path / "counts").phrases == Phrases.from_corpus(path)
    assert (counts + counts).phrases == counts.phrases
    with pytest.raises(ValueError, match="in its tokenizer or phrases"):
        counts + PairCounts.from_corpus(path, vocabulary=counts.vocabulary)
    (tmp_path / "counts" / "phrases.jsonl").write_text("{}")
    with pytest.raises(StoreError, match=r"phrases.jsonl has 2 bytes"):
        PairCounts.open(tmp_path / "counts")


@pytest.mark.parametrize("solver", ["factorization", "gibbs"])
def test_models_are_those_of_text_that_gensim_has_joined(solver, some_news, joined):
    options = {**SMALL_OPTIONS, "solver": solver, "workers": 1}
    model, expected = HilbertMLE(some_news, phrases="auto", **options), HilbertMLE(joined, **options)
    assert model.wv.index_to_key == expected.wv.index_to_key
    if solver == "factorization":
        assert np.array_equal(model.wv.vectors, expected.wv.vectors)
    assert model.tokenize("the prime minister") == ["the", "prime_minister"]
    before = model.wv.get_vecattr("prime_minister", "count")
    model.build_vocab([["prime", "minister"]] * 5, update=True)
    assert model.wv.get_vecattr("prime_minister", "count") == before + 5


def test_models_keep_their_phrases(some_news, tmp_path):
    model = HilbertMLE(some_news, phrases="auto", **SMALL_OPTIONS)
    assert isinstance(model.phrases, Phrases)
    model.save_pretrained(tmp_path / "folder")
    model.save(tmp_path / "saved")
    copies = [
        HilbertMLE.from_pretrained(tmp_path / "folder"),
        HilbertMLE.load(str(tmp_path / "saved")),
        deepcopy(model),
    ]
    copies.append(HilbertMLE.from_counts(model.counts, vector_size=4))
    for copy in copies:
        assert copy.phrases == model.phrases
    HilbertMLE(phrases="auto").save_pretrained(tmp_path / "untrained")
    assert HilbertMLE.from_pretrained(tmp_path / "untrained").phrases == "auto"
    (tmp_path / "folder" / "phrases.jsonl").write_text("{}")
    with pytest.raises(ValueError, match=r"phrases.jsonl"):
        HilbertMLE.from_pretrained(tmp_path / "folder")
    with pytest.raises(TypeError, match=r"phrases must be 'auto'"):
        HilbertMLE(phrases=3)


def test_counts_with_a_tokenizer_and_phrases_give_a_model_both(path, tmp_path):
    counts = PairCounts.from_corpus(path, tokenizer="words", phrases="auto")
    for options in ({}, {"tokenizer": "words"}, {"phrases": counts.phrases}):
        model = HilbertMLE.from_counts(counts, vector_size=4, **options)
        assert model.tokenize("The Prime-Minister") == ["the", "prime_minister"]
    for options in ({"tokenizer": "simple_preprocess"}, {"phrases": Phrases.from_corpus(path, threshold=100)}):
        with pytest.raises(ValueError, match="leave tokenizer, sentence_ends and phrases out"):
            HilbertMLE.from_counts(counts, vector_size=4, **options)


def test_fixed_covectors_bring_their_tokenizer_and_phrases(path):
    model = HilbertMLE(corpus_file=path, tokenizer="words", phrases="auto", **SMALL_OPTIONS)
    texts = [line.capitalize() + "!" for line in path.read_text(encoding="utf-8").splitlines()[:200]]
    found = HilbertMLE(texts, covectors=model, min_count=2)
    asked = HilbertMLE(texts, covectors=model, min_count=2, tokenizer="words", phrases=model.phrases)
    assert found.wv.index_to_key == asked.wv.index_to_key
    assert np.array_equal(found.wv.vectors, asked.wv.vectors)
    assert found.tokenize("The Prime Minister") == ["the", "prime_minister"]
    plain = HilbertMLE.from_counts(PairCounts.from_corpus(path), covectors=model)
    assert (plain.tokenizer, plain.phrases) == (None, None)


def test_a_text_that_is_read_once_has_no_phrases_of_its_own(some_news):
    with pytest.raises(ValueError, match="can be read only once, but phrases='auto' reads a text once more"):
        HilbertMLE(phrases="auto", **SMALL_OPTIONS).build_vocab(iter(some_news))


def test_commands_find_and_join_phrases(path, tmp_path):
    file, counts, model = (tmp_path / name for name in ("p.jsonl", "counts", "model"))
    facts = json.loads(run_here("phrases", path, "-o", file, "--connector-words", "english", "--json").stdout)
    phrases = Phrases.load(file)
    assert facts["phrases"] == len(phrases) > 10
    assert "of" in phrases.rounds[0].connector_words
    run_here("count", path, "-o", counts, "--phrases", file)
    assert PairCounts.open(counts).phrases == phrases
    run_here("train", path, "-o", model, "--phrases", file, "--vector-size", "4", "--passes", "1")
    assert HilbertMLE.from_pretrained(model).phrases == phrases
    assert f"with {len(phrases)} phrases joined" in run_here("info", counts).stdout
    refused = run_here("phrases", path, "-o", path)
    assert (refused.returncode, "cannot be the output" in refused.stderr) == (1, True)


def test_counts_that_are_given_as_a_text_are_named(path, tmp_path):
    run_here("count", path, "-o", tmp_path / "counts", "--phrases", "auto")
    refused = run_here("train", tmp_path / "counts", "-o", tmp_path / "model")
    assert refused.returncode == 2
    assert f"holds counts and no text: pass --counts {tmp_path / 'counts'}" in " ".join(refused.stderr.split())
