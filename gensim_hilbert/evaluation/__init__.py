"""Evaluation of word embeddings on the paper's data sets, and on any others of their form."""

from gensim_hilbert.evaluation.analogy import AnalogyScore, SectionScore, analogies, compare_analogies
from gensim_hilbert.evaluation.data import Data, find_data
from gensim_hilbert.evaluation.similarity import SimilarityScore, compare_similarity, similarity

__all__ = [
    "AnalogyScore",
    "Data",
    "SectionScore",
    "SimilarityScore",
    "analogies",
    "compare_analogies",
    "compare_similarity",
    "find_data",
    "similarity",
]
