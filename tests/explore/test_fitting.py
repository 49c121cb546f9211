"""Words that could replace a word of a sentence."""

import numpy as np
import pytest

from gensim_hilbert.explore.fitting import fitting


def test_words_that_fit_are_like_the_word_and_as_probable_as_predicted(explorer, news_model):
    tokens, place = ["the", "prime", "minister", "of", "australia"], 2
    found = fitting(explorer.models[0], " ".join(tokens), place, 10)["fitting"]
    around = tokens[:place] + tokens[place + 1 :]
    like = [word for word, _ in news_model.wv.most_similar("minister", topn=100) if word not in around]
    predicted = dict(news_model.predict_output_word(around, topn=len(news_model.wv)))
    among = np.array([predicted[word] for word in like])
    expected = sorted(zip(like, among / among.sum(), strict=True), key=lambda pair: -pair[1])[:10]
    assert [item["word"] for item in found] == [word for word, _ in expected]
    assert [item["probability"] for item in found] == pytest.approx([share for _, share in expected], rel=1e-3)


def test_nothing_fits_where_nothing_is_known(explorer):
    news, odd = explorer.models
    assert fitting(news, "the prime xyzzy", 2)["fitting"] == []
    assert fitting(news, "xyzzy minister", 1)["fitting"] == []
    assert fitting(odd, "plain Plains", 0)["fitting"] == []
    with pytest.raises(ValueError, match="position must be from 0 to 1, got 2"):
        fitting(news, "prime minister", 2)
