"""Words that stand for others."""

from gensim_hilbert.report.words import content_words, typical


def test_content_words_are_those_with_long_vectors(news_model):
    words = [news_model.wv.index_to_key[k] for k in content_words(news_model.wv, 100)]
    assert len(words) == 100
    assert not {"the", "to", "of", "in", "and", "is", "that", "was"} & set(words)


def test_words_that_stand_for_groups(groups):
    assert [row // 30 for row in typical(groups, 6)] == list(range(6))
    assert typical(groups[:2], 6) == [0, 1]
