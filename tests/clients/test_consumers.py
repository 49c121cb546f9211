"""Packages that take vectors, as KeyedVectors or from a file."""

import subprocess
import sys

import numpy as np
import pytest

from gensim_hilbert import HilbertMLE
from gensim_hilbert.export import export

pytestmark = pytest.mark.slow
RELATED = (("killed", "dead"), ("minister", "government"), ("palestinian", "israeli"))


def test_spacy_init_vectors(news_model, tmp_path):
    spacy = pytest.importorskip("spacy")
    news_model.wv.save_word2vec_format(str(tmp_path / "vectors.txt"))
    command = [sys.executable, "-m", "spacy", "init", "vectors", "en", tmp_path / "vectors.txt", tmp_path / "pipeline"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    words = spacy.load(tmp_path / "pipeline").vocab
    np.testing.assert_allclose(words["police"].vector, news_model.wv["police"], atol=1e-5)
    for one, other in RELATED:
        assert words[one].similarity(words[other]) == pytest.approx(news_model.wv.similarity(one, other), abs=1e-4)


def test_sentence_transformers_static_embedding(news_model, tmp_path):
    package = pytest.importorskip("sentence_transformers")
    export(news_model, tmp_path / "static", format="model2vec")
    module = package.sentence_transformer.modules if hasattr(package, "sentence_transformer") else package.models
    model = package.SentenceTransformer(modules=[module.StaticEmbedding.from_model2vec(str(tmp_path / "static"))])
    texts = ["police killed attack", "security forces dead", "test match team"]
    similarities = np.asarray(model.similarity(model.encode(texts), model.encode(texts)))
    assert similarities[0, 1] > similarities[0, 2]


def test_model2vec_encodes_texts(news_model, tmp_path):
    package = pytest.importorskip("model2vec")
    export(news_model, tmp_path / "static", format="model2vec")
    texts = ["killed", "dead", "match"]
    vectors = package.StaticModel.from_pretrained(tmp_path / "static").encode(texts)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ours = news_model.encode(texts)
    np.testing.assert_allclose(vectors @ vectors.T, ours @ ours.T, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


def test_fasttext_loads_a_model_of_subwords(news, tmp_path):
    package = pytest.importorskip("fasttext")
    model = HilbertMLE(news, vector_size=20, min_count=10, subwords=True, bucket=5000, workers=1, seed=1)
    export(model, tmp_path / "model.bin", format="fasttext")
    loaded = package.load_model(str(tmp_path / "model.bin"))
    assert loaded.get_words() == model.wv.index_to_key
    for word in ("police", "policemen"):  # the second is not in the vocabulary
        np.testing.assert_allclose(loaded.get_word_vector(word), model.wv[word], atol=1e-5)
    assert "policemen" not in model.wv.key_to_index


def test_wefe_measures_associations(news_model, monkeypatch):
    monkeypatch.setattr(np, "float_", np.float64, raising=False)  # a name that numpy 2 has removed
    pytest.importorskip("wefe")
    from wefe.metrics import WEAT
    from wefe.query import Query
    from wefe.word_embedding_model import WordEmbeddingModel

    query = Query(
        [["police", "killed", "attack"], ["match", "team", "test"]],
        [["security", "dead", "forces"], ["cricket", "wickets", "play"]],
    )
    result = WEAT().run_query(query, WordEmbeddingModel(news_model.wv, "HilbertMLE"), lost_vocabulary_threshold=0.5)
    assert result["weat"] > 0


def test_scikit_learn_classifies_mean_vectors(news, news_model):
    linear = pytest.importorskip("sklearn.linear_model")
    is_war = np.array(["killed" in text for text in news])
    means = np.array([news_model.wv.get_mean_vector([word for word in text if word != "killed"]) for text in news])
    model = linear.LogisticRegression(class_weight="balanced", max_iter=1000).fit(means[::2], is_war[::2])
    assert model.score(means[1::2], is_war[1::2]) > 0.75
