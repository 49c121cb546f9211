"""What can be asked of `model.wv` after training: every public method of gensim's KeyedVectors."""

import copy
import functools

import numpy as np
from gensim.models import KeyedVectors
from gensim.test.utils import datapath

from situations.outcome import situation, trained

# The expressions are evaluated with `wv` and `np`.
QUESTIONS = {
    "item": "wv['human']",
    "items": "wv[['human', 'graph']]",
    "item_by_index": "wv[0]",
    "item_by_numpy_index": "wv[np.int64(1)]",
    "unknown_item": "wv['zebra']",
    "empty_items": "wv[[]]",
    "get_vector": "wv.get_vector('human')",
    "get_vector_norm": "abs(np.linalg.norm(wv.get_vector('human', norm=True)) - 1) < 1e-5",
    "word_vec": "wv.word_vec('human')",
    "get_mean_vector": "wv.get_mean_vector(['human', 'graph'])",
    "get_mean_vector_of_unknown": "wv.get_mean_vector(['human', 'zebra'], ignore_missing=False)",
    "contains": "('human' in wv, 'zebra' in wv, 0 in wv)",
    "has_index_for": "(wv.has_index_for('human'), wv.has_index_for('zebra'))",
    "get_index": "(wv.get_index('system'), wv.get_index('zebra', -1))",
    "get_index_of_unknown": "wv.get_index('zebra')",
    "length": "len(wv)",
    "text": "str(wv)",
    "vector_size": "wv.vector_size",
    "shape": "wv.vectors",
    "norms": "(wv.fill_norms(), wv.norms)[1]",
    "get_normed_vectors": "wv.get_normed_vectors()",
    "similarity": "wv.similarity('human', 'graph')",
    "similarity_of_unknown": "wv.similarity('human', 'zebra')",
    "n_similarity": "wv.n_similarity(['human'], ['graph', 'trees'])",
    "n_similarity_of_nothing": "wv.n_similarity([], ['graph'])",
    "distance": "wv.distance('human', 'graph')",
    "distances": "wv.distances('human', ['graph', 'trees'])",
    "distances_to_all": "wv.distances('human')",
    "most_similar": "wv.most_similar('human')",
    "most_similar_topn": "wv.most_similar('human', topn=3)",
    "most_similar_none": "wv.most_similar('human', topn=None)",
    "most_similar_zero": "wv.most_similar('human', topn=0)",
    "most_similar_more_than_there_are": "wv.most_similar('human', topn=100)",
    "most_similar_analogy": "wv.most_similar(positive=['human', 'graph'], negative=['trees'], topn=2)",
    "most_similar_weights": "wv.most_similar(positive=[('human', 0.5), 'graph'], topn=2)",
    "most_similar_vector": "wv.most_similar(wv['human'], topn=2)",
    "most_similar_vectors": "wv.most_similar(positive=[wv['human'], wv['graph']], topn=2)",
    "most_similar_clip": "wv.most_similar('human', clip_start=2, clip_end=6)",
    "most_similar_restricted": "wv.most_similar('human', restrict_vocab=5)",
    "most_similar_unknown": "wv.most_similar('zebra')",
    "most_similar_nothing": "wv.most_similar()",
    "most_similar_numpy_topn": "wv.most_similar('human', topn=np.int64(2))",
    "most_similar_to_given_text_topn": "wv.most_similar('human', topn='2')",
    "most_similar_cosmul": "wv.most_similar_cosmul(positive=['human'], negative=['graph'], topn=2)",
    "similar_by_word": "wv.similar_by_word('human', topn=2)",
    "similar_by_key": "wv.similar_by_key('human', topn=2)",
    "similar_by_vector": "wv.similar_by_vector(wv['human'], topn=2)",
    "most_similar_to_given": "wv.most_similar_to_given('human', ['graph', 'trees']) in ('graph', 'trees')",
    "closer_than": "isinstance(wv.closer_than('human', 'graph'), list)",
    "words_closer_than": "isinstance(wv.words_closer_than('human', 'graph'), list)",
    "rank": "wv.rank('human', 'graph') >= 1",
    "doesnt_match": "wv.doesnt_match(['human', 'graph', 'trees']) in ('human', 'graph', 'trees')",
    "doesnt_match_unknown": "wv.doesnt_match(['zebra'])",
    "vecattr": "wv.get_vecattr('human', 'count')",
    "unknown_vecattr": "wv.get_vecattr('human', 'colour')",
    "set_vecattr": "(wv.set_vecattr('human', 'colour', 3), wv.get_vecattr('human', 'colour'))",
    "expandos": "{name: values for name, values in wv.expandos.items()}",
    "wmdistance": "wv.wmdistance(['human', 'graph'], ['trees', 'system'])",
    "wmdistance_of_unknown": "wv.wmdistance(['zebra'], ['human'])",
    "old_vocab": "wv.vocab",
    "old_index2word": "wv.index2word",
    "old_syn0": "wv.vectors_norm",
    "init_sims": "wv.init_sims()",
    "unit_normalize_all": "(wv.unit_normalize_all(), wv.vectors)[1]",
    "vectors_for_all": "wv.vectors_for_all(['human', 'graph', 'zebra'])",
    "relative_cosine_similarity": "wv.relative_cosine_similarity('human', 'graph')",
    "cosine_similarities": "wv.cosine_similarities(wv['human'], wv.vectors)",
    "rank_by_centrality": "len(wv.rank_by_centrality(['human', 'graph', 'trees']))",
    "log_accuracy_is_there": "callable(wv.log_accuracy)",
    "add_vector": "(wv.add_vector('zebra', np.ones(8)), len(wv), wv['zebra'])",
    "add_vectors": "(wv.add_vectors(['zebra', 'yak'], np.ones((2, 8))), len(wv), wv['yak'])",
    "add_vectors_again": "(wv.add_vectors(['human'], np.ones((1, 8)), replace=True), wv['human'].tolist())",
    "set_item": "(wv.__setitem__('human', np.ones(8)), wv['human'].tolist())",
    "resize": "(wv.resize_vectors(), wv.vectors)[1]",
    "sort": "wv.sort_by_descending_frequency()",
    "intersect_nothing": "wv.intersect_word2vec_format('/nowhere/vectors.txt')",
    "lockf": "wv.vectors_lockf",
    "key_to_index": "sorted(wv.key_to_index.values())",
    "index_to_key": "sorted(wv.index_to_key)",
    "dtype": "str(wv.vectors.dtype)",
    "add_lifecycle_event": "wv.add_lifecycle_event('mine', note=1)",
    "next_index": "wv.next_index",
    "mapfile_path": "wv.mapfile_path",
}  # fmt: skip


@functools.cache
def vectors_of(kind):
    """Vectors that are copied for each question."""
    return trained(kind).wv


def add(name, expression):
    """Add the situation of a question."""

    def ask(kind, folder):
        return eval(expression, {"wv": copy.deepcopy(vectors_of(kind)), "np": np})

    ask.__name__ = f"wv_{name}"
    situation(ask)


for _name, _expression in QUESTIONS.items():
    add(_name, _expression)


@situation
def wv_evaluate_word_pairs(kind, folder):
    (folder / "pairs.tsv").write_text("human\tuser\t9\ngraph\ttrees\t8\nhuman\ttrees\t1\nzebra\tyak\t5\n")
    return [form is not None for form in trained(kind).wv.evaluate_word_pairs(str(folder / "pairs.tsv"))]


@situation
def wv_evaluate_word_analogies(kind, folder):
    (folder / "analogies.txt").write_text(": kinds\nhuman user graph trees\nsystem time eps survey\n")
    score, sections = trained(kind).wv.evaluate_word_analogies(str(folder / "analogies.txt"))
    return score >= 0, [section["section"] for section in sections]


@situation
def wv_evaluate_bundled_pairs(kind, folder):
    return trained(kind).wv.evaluate_word_pairs(datapath("wordsim353.tsv"))


@situation
def methods_that_gensim_4_removed(kind, folder):
    return trained(kind).most_similar("human")


@situation
def wv_is_keyed_vectors(kind, folder):
    return isinstance(trained(kind).wv, KeyedVectors)


@situation
def wv_is_copied(kind, folder):
    return copy.deepcopy(trained(kind).wv), copy.copy(trained(kind).wv)


@situation
def wv_is_replaced(kind, folder):
    model = trained(kind)
    plain = KeyedVectors(8)
    plain.add_vectors(model.wv.index_to_key, model.wv.vectors)
    model.wv = plain
    return model.wv.most_similar("human", topn=2)


@situation
def vectors_of_a_file_are_taken_over(kind, folder):
    model, other = trained(kind), trained(kind, seed=2)
    other.wv.save_word2vec_format(str(folder / "vectors.txt"))
    model.wv.intersect_word2vec_format(str(folder / "vectors.txt"), lockf=1.0)
    return np.allclose(model.wv["human"], other.wv["human"], atol=1e-5), model.wv.vectors_lockf
