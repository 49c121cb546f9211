"""Evaluation of word embeddings on the paper's data sets, and on any others of their form."""

from gensim_hilbert.evaluation.analogy import AnalogyScore, SectionScore, analogies, compare_analogies
from gensim_hilbert.evaluation.classification import classification
from gensim_hilbert.evaluation.data import Data, find_data
from gensim_hilbert.evaluation.extrinsic import ExtrinsicScore, compare_extrinsic
from gensim_hilbert.evaluation.similarity import SimilarityScore, compare_similarity, similarity
from gensim_hilbert.evaluation.tagging import most_frequent_tag, tagging

__all__ = [
    "AnalogyScore",
    "Data",
    "ExtrinsicScore",
    "SectionScore",
    "SimilarityScore",
    "analogies",
    "classification",
    "compare_analogies",
    "compare_extrinsic",
    "compare_similarity",
    "find_data",
    "most_frequent_tag",
    "similarity",
    "tagging",
]
