"""What the explorer says about words, compared with what the model says."""

import math

import numpy as np
import pytest

from gensim_hilbert.explore import answers
from gensim_hilbert.explore.words import UnknownWordError


@pytest.fixture(scope="module")
def explored(explorer):
    return explorer.models[0]


@pytest.fixture(scope="module")
def odd(explorer):
    return explorer.models[1]


def test_both_kinds_of_neighbours_are_those_of_the_model(explored, news_model):
    found = answers.word(explored, "police", 7)
    assert [(near["word"], near["cosine"]) for near in found["like"]] == [
        (word, pytest.approx(cosine, abs=1e-6)) for word, cosine in news_model.wv.most_similar("police", topn=7)
    ]
    assert [(near["word"], near["pmi"]) for near in found["with_it"]] == [
        (word, pytest.approx(pmi, abs=1e-5)) for word, pmi in news_model.most_cooccurring("police", topn=7)
    ]
    for near in found["with_it"]:
        counts = news_model.fitted_counts
        assert near["count"] == pytest.approx(counts.count(near["word"], "police"))
        counted = counts.pmi(near["word"], "police")
        assert near["counted"] == (None if math.isinf(counted) else pytest.approx(counted))
        ends = counts.pmi(near["word"], "police", interval=0.95)
        assert near["low"] == (pytest.approx(ends.low) if near["count"] else None)
        assert near["high"] == pytest.approx(ends.high)
    assert found["occurrences"] == news_model.wv.get_vecattr("police", "count")
    assert found["rank"] == news_model.wv.get_index("police") + 1


def test_vectors_alone_have_one_kind_of_neighbours(odd):
    found = answers.word(odd, "plain")
    assert len(found["like"]) == len(odd) - 1
    assert found["with_it"] == []
    assert odd.facts()["pmi"] is False
    assert "no covectors" in odd.facts()["without_pmi"]
    assert answers.pair(odd, "plain", "Plains")["pmi"] is None


def test_a_pair_meets_as_often_as_its_pmi_says(explored, news_model):
    found = answers.pair(explored, "minister", "prime")
    assert found["pmi"] == pytest.approx(news_model.pmi("minister", "prime"), abs=1e-5)
    assert found["times"] == pytest.approx(math.exp(news_model.fitted_counts.pmi("minister", "prime")))
    assert found["sentence"] == f"minister is near prime {found['times']:,.0f} times as often as by chance."
    vectors, covectors = news_model.wv, news_model.syn1neg
    lower = np.minimum(*(covectors @ vectors[word] for word in ("minister", "prime"))) - news_model.psi_offset
    best = [vectors.index_to_key[row] for row in np.argsort(-lower)]
    expected = [word for word in best if word not in ("minister", "prime")][:12]
    assert [shared["word"] for shared in found["shared"]] == expected


def test_a_pair_that_was_never_seen(explored, news_model):
    words, counts = news_model.wv.index_to_key, news_model.fitted_counts
    other = next(word for word in words[::-1] if not counts.count(word, "police"))
    found = answers.pair(explored, other, "police")
    assert (found["count"], found["counted"], found["low"], found["times"]) == (0, None, None, None)
    assert found["high"] is not None
    assert found["sentence"] == f"{other} was never seen near police."


def test_words_are_completed_by_frequency_whatever_their_case(explored, odd, news_model):
    expected = [word for word in news_model.wv.index_to_key if word.startswith("po")]
    assert answers.complete(explored, "PO", 5)["words"] == expected[:5]
    assert answers.complete(explored, "po", 100)["words"] == expected[:100]
    assert answers.complete(odd, "pl")["words"] == ["plain", "Plains"]
    assert answers.complete(odd, "zzz")["words"] == []
    assert len(answers.complete(odd, "")["words"]) == len(odd)


def test_sums_are_gensims(explored, news_model):
    found = answers.word_sum(explored, "israel - palestinian + australia", 6)
    expected = news_model.wv.most_similar(positive=["israel", "australia"], negative=["palestinian"], topn=6)
    assert [(near["word"], near["cosine"]) for near in found["like"]] == [
        (word, pytest.approx(cosine)) for word, cosine in expected
    ]


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("king - man + woman", (["king", "woman"], ["man"])),
        ("- man + king", (["king"], ["man"])),
        ("king − man", (["king"], ["man"])),
        ("well-known", (["well-known"], [])),
        ("king man", None),
        ("king - - man", None),
        ("king +", None),
        ("", None),
    ],
)
def test_sums_are_read(expression, parts):
    if parts is None:
        with pytest.raises(ValueError, match="king"):
            answers.parse_sum(expression or " ")
    else:
        assert answers.parse_sum(expression) == parts


def test_substitutes_are_the_words_that_the_model_predicts(explored, news_model):
    found = answers.substitute(explored, "The prime xyzzy of Australia", 2, 5)
    assert found["tokens"] == ["The", "prime", "xyzzy", "of", "Australia"]
    assert found["known"] == [True, True, False, True, True]
    expected = news_model.predict_output_word(["the", "prime", "of", "australia"], topn=5)
    assert [(near["word"], near["probability"]) for near in found["substitutes"]] == [
        (word, pytest.approx(probability)) for word, probability in expected
    ]
    assert answers.substitute(explored, "the prime", None)["substitutes"] == []
    with pytest.raises(ValueError, match="position must be from 0 to 1, got 2"):
        answers.substitute(explored, "the prime", 2)


def test_mistakes_are_named(explored):
    with pytest.raises(UnknownWordError, match="'xyzzy' is not among the"):
        answers.word(explored, "xyzzy")
    with pytest.raises(ValueError, match="n must be from 1 to 100, got 101"):
        answers.word(explored, "police", 101)
    with pytest.raises(ValueError, match="at most 2,000 characters, got 3,000"):
        answers.word_sum(explored, "a" * 3000)
