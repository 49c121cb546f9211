"""`encode` and `rank` against slow oracles, gensim's own loop and what texts mean."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from text_oracle import sif_vectors

from gensim_hilbert import HilbertMLE
from gensim_hilbert.text_vectors import encoder

NOTHING = ["", "   ", "qqqqq zzzzz", "?!"]


@pytest.fixture(scope="module")
def model(small_model) -> HilbertMLE:
    return small_model


@pytest.fixture(scope="module")
def texts(some_news) -> list[list[str]]:
    return [*some_news[:600], [], ["qqqqq"]]


def oracle(model, texts, **settings):
    words = model.wv.index_to_key
    vectors = {word: model.wv[word].astype(np.float64) for word in words}
    counts = {word: model.wv.get_vecattr(word, "count") for word in words}
    return sif_vectors(texts, vectors, counts, **settings)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("remove", [0, 1])
def test_vectors_are_those_of_the_formulas(model, texts, whiten, remove):
    expected = oracle(model, texts, a=2e-3, whiten=whiten, remove=remove)
    found = model.encode(texts, a=2e-3, whiten=whiten, remove=remove)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=2e-5)
    assert not found[-2:].any()


def test_the_plain_mean_is_gensims(model, texts):
    found = model.encode(texts, weighting="mean", normalize=False)
    for row, text in zip(found, texts, strict=True):
        known = [word for word in text if word in model.wv]
        expected = model.wv.get_mean_vector(known, pre_normalize=False) if known else np.zeros(model.vector_size)
        np.testing.assert_allclose(row, expected, atol=1e-6)


def test_text_gives_the_same_vectors_as_its_words(model, texts):
    np.testing.assert_array_equal(model.encode([" \t".join(text) for text in texts]), model.encode(texts))


def test_the_result_is_the_same_for_any_number_of_threads_and_texts_around(model, texts, monkeypatch):
    lines = ["\n".join(text) for text in texts]
    expected = model.encode(lines, workers=1)
    monkeypatch.setattr(encoder, "TEXTS_AT_A_TIME", 7)
    for workers in (1, 2, 5):
        model.wv.fill_norms(force=True)  # and everything is computed again
        np.testing.assert_array_equal(model.encode(iter(lines), workers=workers), expected)
    np.testing.assert_array_equal([model.encode(line) for line in lines[:20]], expected[:20])


def test_one_text_gives_one_vector_and_no_text_none(model):
    assert model.encode("court police").shape == (model.vector_size,)
    assert model.encode([]).shape == (0, model.vector_size)
    assert model.encode(["court"]).shape == (1, model.vector_size)


@pytest.mark.parametrize("settings", [{}, {"weighting": "mean"}, {"common": "texts"}, {"normalize": False}])
def test_texts_without_known_words_have_zeros(model, settings):
    found = model.encode([*NOTHING, "the court said"], **settings)
    assert found.shape == (5, model.vector_size)
    assert np.isfinite(found).all()
    assert not found[:4].any()


def test_unknown_words_are_looked_up_in_lower_case_and_without_punctuation(model):
    plain = model.encode("the police said the court")
    np.testing.assert_allclose(model.encode('"The POLICE," said\nthe (court)!'), plain, atol=1e-6)
    np.testing.assert_allclose(model.encode("The police/said the-court"), plain, atol=1e-6)
    # What the user has cut into words is taken as it is.
    np.testing.assert_array_equal(model.encode([["The", "police"]]), model.encode([["police"]]))


@given(st.lists(st.text(st.sampled_from("ab \n\u2003.A-'\x85é\ud800\x00"), max_size=12), max_size=6))
def test_any_text_is_read_as_python_splits_it(texts):
    words = KeyedVectors(3)
    words.add_vectors(["a", "b", "ab", "é"], np.arange(12, dtype=np.float32).reshape(4, 3))
    settings = encoder.Weighting("mean", 1.0, whiten=False, remove=0)
    sums = encoder.TextEncoder(words, settings).encode(texts)

    def known(word):
        parts = encoder.PARTS.findall(word.lower())
        return [word] if word in words else [part for part in parts if part in words]

    for row, number, text in zip(sums.rows, sums.words, texts, strict=True):
        found = [word for token in text.split() for word in known(token)]
        np.testing.assert_array_equal(row, sum((words[word] for word in found), np.zeros(3)))
        assert number == len(found)


def test_texts_are_cut_by_the_tokenizer_of_the_model(news):
    raw = [" ".join(words).capitalize() + "!" for words in news[:150]]
    texts = [*raw[:20], "", "?!", " \n", "COURT;\nthe-police", "qqqqq"]
    for tokenizer in ("words", str.split):
        model = HilbertMLE(raw, min_count=2, vector_size=8, passes=1, tokenizer=tokenizer)
        expected = model.encode([model.tokenize(text) for text in texts])
        np.testing.assert_array_equal(model.encode(texts), expected)
        np.testing.assert_array_equal(model.encode(texts[-2]), expected[-2])
    assert not expected[-2:].any()  # str.split leaves the words as they are, and they are not looked at again


def test_phrases_are_joined_in_texts_and_in_lists(news):
    model = HilbertMLE(news, min_count=2, vector_size=8, passes=1, phrases="auto")
    expected = model.encode([["the", "prime_minister", "said"]])[0]
    assert "prime_minister" in model.wv
    for text in (
        "the prime minister said",
        ["the", "prime", "minister", "said"],
        ["the", "prime", "minister", 5, "said"],
    ):
        np.testing.assert_array_equal(model.encode([text])[0], expected)
    # There is no tokenizer, so that unknown words are looked up once more, whether there are phrases or not.
    np.testing.assert_allclose(model.encode("The, prime minister SAID!"), expected, atol=1e-6)
    with pytest.raises(TypeError, match="texts must be"):
        model.encode([["the"], "court"])


def test_columns_of_tables_are_texts(model):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    datasets = pytest.importorskip("datasets")
    texts = [None, "the court said", None, "police"]
    expected = model.encode([text or "" for text in texts])
    dataset = datasets.Dataset.from_dict({"text": texts})
    for column in (pd.Series(texts), pl.Series(texts), pa.array(texts), pa.chunked_array([texts, []]), dataset["text"]):
        np.testing.assert_array_equal(model.encode(column), expected)
    np.testing.assert_array_equal(model.encode_documents(pd.Series(texts)).any(axis=1), expected.any(axis=1))
    lists = pa.array([None, ["the", "court", "said"], [], ["police"]])
    np.testing.assert_array_equal(model.encode(lists), expected)
    with pytest.raises(TypeError, match=r"texts must be one column of <pandas DataFrame>: choose one of 'a', 'b'"):
        model.encode(pd.DataFrame({"a": ["x"], "b": ["y"]}))


def test_unknown_words_have_the_vectors_of_their_ngrams(subword_model):
    word = "policewomanly"
    assert word not in subword_model.wv.key_to_index
    vector = subword_model.wv[word]
    np.testing.assert_allclose(subword_model.encode([[word]], weighting="mean", normalize=False)[0], vector, rtol=1e-5)
    found = subword_model.encode(word, whiten=False, remove=0)
    np.testing.assert_allclose(found, vector / np.linalg.norm(vector), atol=1e-5)
    assert np.linalg.norm(subword_model.encode(f"{word}!")) == pytest.approx(1, abs=1e-5)


def test_what_the_texts_have_in_common_is_removed(model, texts):
    plain = model.encode(texts, remove=0, normalize=False).astype(np.float64)
    first = np.linalg.svd(plain, full_matrices=False)[2][0]
    expected = plain - np.outer(plain @ first, first)
    np.testing.assert_allclose(model.encode(texts, common="texts", normalize=False), expected, atol=1e-5)
    component = model.common_components(texts)
    np.testing.assert_array_equal(model.encode(texts, common=component), model.encode(texts, common="texts"))


def test_components_of_random_texts_are_those_of_sentences_that_are_drawn(model):
    rng = np.random.default_rng(1)
    counts = np.array([model.wv.get_vecattr(word, "count") for word in model.wv.index_to_key])
    drawn = rng.choice(len(counts), size=(12_000, 200), p=counts / counts.sum())
    texts = [[model.wv.index_to_key[row] for row in text] for text in drawn]
    common = model.common_components(texts, whiten=False)[0]
    expected = model.encode(texts, whiten=False, remove=0, normalize=False)
    left = model.encode(texts, whiten=False, remove=1, normalize=False)
    removed = np.linalg.svd(expected - left, full_matrices=False)[2][0]
    assert abs(common @ removed) > 0.99


def test_changed_vectors_are_noticed(some_news):
    model = HilbertMLE(some_news[:300], min_count=2, vector_size=8, passes=1)
    before = model.encode("the court")
    model.wv.vectors[:] = np.random.default_rng(1).standard_normal(model.wv.vectors.shape)
    model.wv.fill_norms(force=True)
    assert not np.allclose(model.encode("the court"), before)


def test_copies_saves_and_pickles_give_the_same_vectors(model, tmp_path):
    expected = model.encode("the court said")
    model.save(str(tmp_path / "saved"))
    model.save_pretrained(tmp_path / "folder")
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), HilbertMLE.load(str(tmp_path / "saved"))]
    for other in [*others, HilbertMLE.from_pretrained(tmp_path / "folder")]:
        np.testing.assert_array_equal(other.encode("the court said"), expected)


@pytest.mark.parametrize(
    ("error", "message", "options"),
    [
        (ValueError, "weighting must be one of sif, mean, got 'idf'", {"weighting": "idf"}),
        (ValueError, "a must be a positive number", {"a": 0}),
        (ValueError, "a must be a positive number", {"a": float("nan")}),
        (ValueError, "remove must be", {"remove": -1}),
        (ValueError, "remove=2 is too much", {"remove": 2}),
        (ValueError, "common must be 'corpus', 'texts' or an array", {"common": "all"}),
        (ValueError, "common must be rows of 8 numbers", {"common": np.ones((1, 3))}),
    ],
)
def test_wrong_settings_are_named(model, error, message, options):
    with pytest.raises(error, match=message):
        model.encode(["the court"], **options)


@pytest.mark.parametrize("texts", [["a", None], ["a", ["b"]], [["a"], "b"], [5], [None], [b"bytes"], 5])
def test_what_is_no_text_is_named(model, texts):
    with pytest.raises(TypeError, match="texts must be"):
        model.encode(texts)


# ---------------------------------------------------------------------------------------------------- rank


def test_rank_is_the_cosine_of_vectors_and_covectors(model, texts):
    words = model.wv.index_to_key
    counts = {word: model.wv.get_vecattr(word, "count") for word in words}
    sides = [
        sif_vectors(
            some, dict(zip(words, matrix.astype(np.float64), strict=True)), counts, a=1e-3, whiten=False, remove=1
        )
        for some, matrix in (([["police", "court"]], model.wv.vectors), (texts, model.syn1neg))
    ]
    expected = sides[1] @ sides[0][0]
    found = model.rank("Police, court", texts)
    assert [place for place, _ in found] == sorted(range(len(texts)), key=lambda place: -dict(found)[place])
    np.testing.assert_allclose([score for _, score in found], np.sort(expected)[::-1], atol=2e-5)
    encoded = model.encode_documents(texts)
    assert model.rank(["police", "court"], encoded, topn=3) == found[:3]


def test_documents_with_the_words_that_follow_the_query_come_first(news_model, news):
    """The beginning of an article finds its end, with none of the words of the beginning in it."""
    beginnings = [article[:30] for article in news if len(article) >= 60]
    ends = [[word for word in article[30:] if word not in article[:30]] for article in news if len(article) >= 60]
    documents = news_model.encode_documents(ends)
    places = [
        [place for place, _ in news_model.rank(query, documents)].index(number)
        for number, query in enumerate(beginnings)
    ]
    assert np.median(places) < len(ends) / 10


def test_rank_of_documents_of_another_size_is_refused(model):
    with pytest.raises(ValueError, match="rows of 8 numbers"):
        model.rank("court", np.ones((2, 3)))
