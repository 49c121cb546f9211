"""Parts of gensim that take a model or its vectors."""

import numpy as np
import pytest
from gensim import corpora
from gensim.models import Phrases, TranslationMatrix, Word2Vec
from gensim.models.word2vec import LineSentence
from gensim.scripts.word2vec2tensor import word2vec2tensor
from gensim.similarities import SoftCosineSimilarity, SparseTermSimilarityMatrix, WmdSimilarity
from gensim.similarities.termsim import WordEmbeddingSimilarityIndex
from gensim.test.utils import common_texts, datapath

from gensim_hilbert import HilbertMLE


def test_soft_cosine_similarity_prefers_related_texts(news_model):
    texts = [["police", "attack"], ["test", "match"], ["government", "minister"]]
    query = ["people", "killed"]
    assert all(word in news_model.wv for text in (*texts, query) for word in text)
    words = corpora.Dictionary([*texts, query])
    matrix = SparseTermSimilarityMatrix(WordEmbeddingSimilarityIndex(news_model.wv), words)
    found = SoftCosineSimilarity([words.doc2bow(text) for text in texts], matrix)[words.doc2bow(query)]
    assert np.isfinite(found).all()
    assert np.argmax(found) == 0


def test_word_movers_distance_prefers_related_texts(news_model):
    pytest.importorskip("ot")
    texts = [["police", "attack", "dead"], ["test", "match", "team"], ["government", "minister", "states"]]
    found = WmdSimilarity(texts, news_model.wv)[["people", "killed", "security", "forces"]]
    assert found[0] == max(found)
    assert news_model.wv.wmdistance(texts[0], texts[0]) == pytest.approx(0, abs=1e-6)


def test_a_translation_matrix_finds_a_word_in_a_turned_space(news_model):
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(20, 20)))
    target = HilbertMLE(vector_size=20, min_count=1)
    target.build_vocab([[word.upper() for word in news_model.wv.index_to_key]])
    target.wv.vectors = np.array([news_model.wv[word.lower()] for word in target.wv.index_to_key]) @ turn
    words = news_model.wv.index_to_key
    translation = TranslationMatrix(news_model.wv, target.wv, [(word, word.upper()) for word in words[:300]])
    for word, found in translation.translate(words[310:320], topn=1).items():
        assert found == [word.upper()]


def test_annoy_finds_the_neighbours(news_model):
    pytest.importorskip("annoy")
    from gensim.similarities.annoy import AnnoyIndexer

    for indexer in (AnnoyIndexer(news_model, num_trees=20), AnnoyIndexer(news_model.wv, num_trees=20)):
        found = {word for word, _ in news_model.wv.most_similar("police", topn=10, indexer=indexer)}
        assert len(found & {word for word, _ in news_model.wv.most_similar("police", topn=10)}) >= 7


def test_phrases_are_words(news):
    bigrams = Phrases(news, min_count=5, threshold=10).freeze()
    model = HilbertMLE(bigrams[news], vector_size=10, min_count=5, workers=1)
    assert "prime_minister" in model.wv
    assert model.wv.similarity("prime_minister", "minister") > model.wv.similarity("prime_minister", "bowler")


def test_word2vec2tensor_writes_what_tensorboard_reads(news_model, tmp_path):
    news_model.wv.save_word2vec_format(str(tmp_path / "vectors.bin"), binary=True)
    word2vec2tensor(str(tmp_path / "vectors.bin"), str(tmp_path / "out"), binary=True)
    words = (tmp_path / "out_metadata.tsv").read_text().split("\n")[:-1]
    assert words == news_model.wv.index_to_key
    np.testing.assert_allclose(np.loadtxt(tmp_path / "out_tensor.tsv"), news_model.wv.vectors, atol=1e-5)


def test_the_script_of_gensims_own_page_runs(tmp_path):
    model = HilbertMLE(sentences=common_texts, vector_size=100, window=5, min_count=1, workers=4)
    model.save(str(tmp_path / "word2vec.model"))
    model = HilbertMLE.load(str(tmp_path / "word2vec.model"))
    model.train([["hello", "world"]], total_examples=1, epochs=1)
    assert len(model.wv.most_similar("computer", topn=10)) == 10


@pytest.mark.slow
def test_bundled_questions_are_answered_at_least_as_well_as_by_word2vec():
    options = {"vector_size": 50, "min_count": 5, "workers": 1, "seed": 1}
    texts = LineSentence(datapath("lee_background.cor"))
    scores = []
    for kind, more in ((Word2Vec, {"sg": 1}), (HilbertMLE, {})):
        model = kind(texts, **options, **more)
        scores.append(model.wv.evaluate_word_pairs(datapath("wordsim353.tsv"))[1][0])
    assert scores[1] > scores[0]
